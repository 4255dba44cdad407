package import DiarioCore
package import DiarioCrypto
import DiarioFormat

/// The state of a replica's copy of a space: its lineage, epoch, size and root.
package struct Standing: Equatable, Sendable {
    package var lineage: Lineage
    package var epoch: UInt64
    /// Its head.
    package var size: UInt64
    /// The Merkle root of so many events.
    package var root: Hash32

    package init(lineage: Lineage, epoch: UInt64, size: UInt64, root: Hash32) {
        self.lineage = lineage
        self.epoch = epoch
        self.size = size
        self.root = root
    }
}

extension Standing {
    init(_ reader: inout ByteReader) throws(FormatError) {
        lineage = try reader.nextLineage()
        epoch = try reader.nextVarint()
        size = try reader.nextNumber(.position)
        root = try reader.nextHash()
    }

    func write(into output: inout [UInt8]) {
        output.append(lineage)
        output.append(varint: epoch)
        output.append(varint: size)
        output.append(root)
    }
}

extension ByteReader {
    @_lifetime(self: copy self)
    mutating func nextLineage() throws(FormatError) -> Lineage {
        Lineage(high: try next(UInt64.self), low: try next(UInt64.self))
    }

    @_lifetime(self: copy self)
    mutating func nextReplica() throws(FormatError) -> ReplicaID {
        let start = offset
        guard let replica = ReplicaID(rawValue: try next(UInt64.self)) else {
            throw .malformed(.replica, at: start)
        }
        return replica
    }

    /// A position or a sequence, or how many there are; sums of two do not overflow.
    @_lifetime(self: copy self)
    mutating func nextNumber(_ part: FormatPart) throws(FormatError) -> UInt64 {
        let start = offset
        let value = try nextVarint()
        guard value < UInt64(1) << 62 else { throw .malformed(part, at: start) }
        return value
    }

    /// The number of entries that follow, each of at least so many bytes.
    @_lifetime(self: copy self)
    mutating func nextCount(entrySizeMin: Int, _ part: FormatPart) throws(FormatError) -> Int {
        let start = offset
        let count = try nextVarint()
        guard count <= UInt64(remaining / entrySizeMin) else { throw .malformed(part, at: start) }
        return Int(count)
    }

    /// A time in the years 1 to 9999, which can be written out and added to others.
    @_lifetime(self: copy self)
    mutating func nextTime() throws(FormatError) -> Timestamp {
        let start = offset
        let time = Timestamp(milliseconds: try nextZigzag())
        guard CivilTime.contains(time) else { throw .malformed(.acceptedTimes, at: start) }
        return time
    }
}

extension [UInt8] {
    mutating func append(_ lineage: Lineage) {
        append(littleEndian: lineage.high)
        append(littleEndian: lineage.low)
    }
}
