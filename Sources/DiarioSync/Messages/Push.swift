package import DiarioCore
import DiarioFormat

/// Pending events of one replica, in order of sequence.
package struct Push: Equatable, Sendable {
    package var standing: Standing
    package var replica: ReplicaID
    /// Blocks without positions.
    package var blocks: [[UInt8]]

    package init(standing: Standing, replica: ReplicaID, blocks: [[UInt8]]) {
        self.standing = standing
        self.replica = replica
        self.blocks = blocks
    }
}

/// Events of another replica that the authority lost, sent by a replica that kept them.
package struct Relay: Equatable, Sendable {
    package var push: Push
    /// A pack that they need and that the space does not use.
    package var pack: NamedPack?

    package init(_ push: Push, pack: NamedPack? = nil) {
        self.push = push
        self.pack = pack
    }
}

extension Relay {
    init(_ reader: inout ByteReader) throws(FormatError) {
        push = try Push(&reader)
        pack = try reader.nextNamedPack()
    }

    func write(into output: inout [UInt8]) {
        push.write(into: &output)
        output.append(pack)
    }
}

extension Push {
    init(_ reader: inout ByteReader) throws(FormatError) {
        standing = try Standing(&reader)
        replica = try reader.nextReplica()
        let count = try reader.nextCount(entrySizeMin: 1 + BlockHeader.size, .message)
        blocks = []
        for _ in 0..<count { blocks.append(try reader.nextBlob()) }
    }

    func write(into output: inout [UInt8]) {
        standing.write(into: &output)
        output.append(littleEndian: replica.rawValue)
        output.append(varint: UInt64(blocks.count))
        for block in blocks { output.append(counted: block.span.raw) }
    }
}

extension ByteReader {
    @_lifetime(self: copy self)
    mutating func nextBlob() throws(FormatError) -> [UInt8] {
        copy(try nextBytes())
    }
}
