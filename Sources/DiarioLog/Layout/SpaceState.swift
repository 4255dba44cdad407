package import DiarioCore
package import DiarioCrypto
package import DiarioFormat

// The state that a space writes from time to time, so that opening it need not read and hash all of
// it again. Specified in schema/format/frames.md, section 5.

/// The last sequence of a replica, and whether it writes for an authority.
package struct ReplicaTally: Hashable, Sendable {
    package let replica: ReplicaID
    package internal(set) var lastSequence: UInt64
    package internal(set) var isAuthority: Bool

    package init(replica: ReplicaID, lastSequence: UInt64, isAuthority: Bool) {
        self.replica = replica
        self.lastSequence = lastSequence
        self.isAuthority = isAuthority
    }
}

/// A pack that the space uses from a position on.
package struct Adoption: Hashable, Sendable {
    package let position: UInt64
    package let fingerprint: Hash32

    package init(position: UInt64, fingerprint: Hash32) {
        self.position = position
        self.fingerprint = fingerprint
    }
}

/// The state of a space after its first `range.size` positions.
package struct SpaceState: Equatable, Sendable {
    package var released: UInt64
    package var acceptedAt: Int64
    package var clock: UInt64
    /// In order of replica.
    package var tallies: [ReplicaTally]
    /// In order of position.
    package var adoptions: [Adoption]
    package var range: CompactRange

    private static let fixedSize = 48
    private static let tallySize = 24
    private static let adoptionSize = 40
    private static let nodeSize = 32

    /// Bytes of a record with so many entries.
    static func size(tallies: Int, adoptions: Int, nodes: Int) -> Int {
        Record.headerSize + fixedSize + tallies * tallySize + adoptions * adoptionSize
            + nodes * nodeSize
    }

    package func append(to bytes: inout [UInt8]) {
        bytes.append(littleEndian: released)
        bytes.append(littleEndian: range.size)
        bytes.append(littleEndian: acceptedAt)
        bytes.append(littleEndian: clock)
        bytes.append(littleEndian: UInt32(tallies.count))
        bytes.append(littleEndian: UInt32(adoptions.count))
        bytes.append(littleEndian: UInt32(range.nodes.count))
        bytes.append(littleEndian: UInt32(0))
        for tally in tallies {
            bytes.append(littleEndian: tally.replica.rawValue)
            bytes.append(littleEndian: tally.lastSequence)
            bytes.append(littleEndian: UInt64(tally.isAuthority ? 1 : 0))
        }
        for adoption in adoptions {
            bytes.append(littleEndian: adoption.position)
            adoption.fingerprint.append(to: &bytes)
        }
        for node in range.nodes { node.append(to: &bytes) }
    }

    package init(
        released: UInt64,
        acceptedAt: Int64,
        clock: UInt64,
        tallies: [ReplicaTally],
        adoptions: [Adoption],
        range: CompactRange
    ) {
        self.released = released
        self.acceptedAt = acceptedAt
        self.clock = clock
        self.tallies = tallies
        self.adoptions = adoptions
        self.range = range
    }

    /// Nil unless `bytes` are what `append` writes.
    package init?(_ bytes: Span<UInt8>) {
        guard bytes.count >= Self.fixedSize, bytes.littleEndian(UInt32.self, at: 44) == 0 else {
            return nil
        }
        let size = bytes.littleEndian(UInt64.self, at: 8)
        let tallyCount = Int(bytes.littleEndian(UInt32.self, at: 32))
        let adoptionCount = Int(bytes.littleEndian(UInt32.self, at: 36))
        let nodeCount = Int(bytes.littleEndian(UInt32.self, at: 40))
        let adoptionsStart = Self.fixedSize + tallyCount * Self.tallySize
        let nodesStart = adoptionsStart + adoptionCount * Self.adoptionSize
        guard bytes.count == nodesStart + nodeCount * Self.nodeSize else { return nil }

        released = bytes.littleEndian(UInt64.self, at: 0)
        acceptedAt = Int64(bitPattern: bytes.littleEndian(UInt64.self, at: 16))
        guard size == 0 || CivilTime.contains(acceptedAt) else { return nil }
        clock = bytes.littleEndian(UInt64.self, at: 24)
        tallies = []
        for index in 0..<tallyCount {
            let start = Self.fixedSize + index * Self.tallySize
            let flag = bytes.littleEndian(UInt64.self, at: start + 16)
            guard let id = ReplicaID(rawValue: bytes.littleEndian(UInt64.self, at: start)),
                flag <= 1,
                bytes.littleEndian(UInt64.self, at: start + 8) <= LogNumber.max
            else { return nil }
            tallies.append(
                ReplicaTally(
                    replica: id,
                    lastSequence: bytes.littleEndian(UInt64.self, at: start + 8),
                    isAuthority: flag == 1
                )
            )
        }
        adoptions = []
        for index in 0..<adoptionCount {
            let start = adoptionsStart + index * Self.adoptionSize
            adoptions.append(
                Adoption(
                    position: bytes.littleEndian(UInt64.self, at: start),
                    fingerprint: bytes.hash(at: start + 8)
                )
            )
        }
        var nodes: [Hash32] = []
        for index in 0..<nodeCount {
            let start = nodesStart + index * Self.nodeSize
            nodes.append(bytes.hash(at: start))
        }
        guard let range = try? CompactRange(size: size, nodes: nodes), released <= size,
            size <= LogNumber.max, clock >> 63 == 0
        else {
            return nil
        }
        self.range = range
    }
}
