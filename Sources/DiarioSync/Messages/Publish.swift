package import DiarioCore
import DiarioCrypto
import DiarioFormat

// Publishing a space, and restoring one: schema/format/sync.md, sections 10 and 11.

/// Sends a part of a space that is published or restored, and asks what is missing.
package struct Publish: Equatable, Sendable {
    package var attempt: AttemptID
    /// Of the whole space.
    package var standing: Standing
    /// Of its last event.
    package var acceptedAt: Timestamp
    /// The number of events before those of the blocks.
    package var before: UInt64
    /// Blocks with positions.
    package var blocks: [[UInt8]]
    package var pack: NamedPack?

    package init(
        attempt: AttemptID,
        standing: Standing,
        acceptedAt: Timestamp,
        before: UInt64 = 0,
        blocks: [[UInt8]] = [],
        pack: NamedPack? = nil
    ) {
        self.attempt = attempt
        self.standing = standing
        self.acceptedAt = acceptedAt
        self.before = before
        self.blocks = blocks
        self.pack = pack
    }
}

/// Asks to end an attempt to publish.
package struct Abandon: Equatable, Sendable {
    package var attempt: AttemptID
    package var standing: Standing

    package init(attempt: AttemptID, standing: Standing) {
        self.attempt = attempt
        self.standing = standing
    }
}

extension AttemptID {
    /// The attempt to restore a space from what a replica has of it.
    ///
    /// With a name, the attempt as the authority stores it: a caller that may restore one space
    /// must not reach the stored parts of another one.
    package init(restoring standing: Standing, under name: String = "") {
        var bytes = Array("diario restore".utf8) + Array(name.utf8) + [0]
        standing.write(into: &bytes)
        var hash: [UInt8] = []
        hash.append(SHA256.hash(bytes.span))
        // As the message has them.
        func number(at offset: Int) -> UInt64 {
            hash[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        self.init(high: number(at: 0), low: number(at: 8))
    }
}

extension Publish {
    init(_ reader: inout ByteReader) throws(FormatError) {
        attempt = try reader.nextAttempt()
        standing = try Standing(&reader)
        acceptedAt = try reader.nextTime()
        let start = reader.offset
        before = try reader.nextNumber(.position)
        guard before <= standing.size else { throw .malformed(.position, at: start) }
        let count = try reader.nextCount(entrySizeMin: 1 + BlockHeader.size, .message)
        blocks = []
        for _ in 0..<count { blocks.append(try reader.nextBlob()) }
        pack = try reader.nextNamedPack()
    }

    func write(into output: inout [UInt8]) {
        output.append(attempt)
        standing.write(into: &output)
        output.append(zigzag: acceptedAt.milliseconds)
        output.append(varint: before)
        output.append(varint: UInt64(blocks.count))
        for block in blocks { output.append(counted: block.span.raw) }
        output.append(pack)
    }
}

extension Abandon {
    init(_ reader: inout ByteReader) throws(FormatError) {
        attempt = try reader.nextAttempt()
        standing = try Standing(&reader)
    }

    func write(into output: inout [UInt8]) {
        output.append(attempt)
        standing.write(into: &output)
    }
}

extension ByteReader {
    @_lifetime(self: copy self)
    mutating func nextAttempt() throws(FormatError) -> AttemptID {
        AttemptID(high: try next(UInt64.self), low: try next(UInt64.self))
    }
}

extension [UInt8] {
    mutating func append(_ attempt: AttemptID) {
        append(littleEndian: attempt.high)
        append(littleEndian: attempt.low)
    }
}
