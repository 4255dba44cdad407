import DiarioCore
package import DiarioCrypto
import DiarioFormat

/// The hashes of schema/format/rows.md, section 5, computed a second time and in the plainest way,
/// so that a mistake in the engine's own shows.
///
/// Only SHA-256 is the same.
package enum PlainHashes {
    private static func number(_ value: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func varint(_ value: UInt64) -> [UInt8] {
        value < 128 ? [UInt8(value)] : [UInt8(value & 127) | 128] + varint(value >> 7)
    }

    private static func hash(_ bytes: [UInt8]) -> Hash32 { SHA256.hash(bytes.span) }

    /// The commitment of an event's personal part, if `seed` is that of its group.
    static func commitment(_ personal: [UInt8], seed: Salt, sequence: UInt64) -> [UInt8] {
        var node = number(seed.first) + number(seed.second)
        let index = (sequence - 1) % 1024
        for bit in (0..<10).reversed() {
            node = Array(hash([2, UInt8(index >> bit & 1)] + node).bytes.prefix(16))
        }
        return hash(node + personal).bytes
    }

    /// The hash of a canonical row; `rest` is its public part and the commitment, if it has one.
    static func event(
        _ type: (name: [UInt8], version: Int),
        _ origin: Origin,
        _ rest: [UInt8]
    ) -> Hash32 {
        let name = varint(UInt64(type.name.count)) + type.name + varint(UInt64(type.version))
        let author = number(origin.replica.rawValue) + varint(origin.sequence)
        return hash([1] + name + author + rest)
    }

    package static func leaf(_ event: Hash32, acceptedAt: Int64) -> Hash32 {
        hash([0] + event.bytes + number(UInt64(bitPattern: acceptedAt)))
    }

    /// The root of the Merkle tree of RFC 6962, by cutting the leaves in two as it is defined.
    package static func root(_ leaves: ArraySlice<Hash32>) -> Hash32 {
        guard let first = leaves.first else { return hash([]) }
        guard leaves.count > 1 else { return first }
        var half = 1
        while 2 * half < leaves.count { half *= 2 }
        let middle = leaves.startIndex + half
        return hash([1] + root(leaves[..<middle]).bytes + root(leaves[middle...]).bytes)
    }
}
