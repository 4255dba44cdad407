import DiarioCore
package import DiarioCrypto
package import DiarioFormat

/// The answer to a pull: the events after the size that it named.
package struct News: Equatable, Sendable {
    package enum Piece: Equatable, Sendable {
        /// A block with positions.
        case block([UInt8])
        /// Events of the asking replica, which has their rows, and the hash of their hashes.
        case own(PromotedRun, Hash32)
    }

    package var epoch: UInt64
    /// Of the authority.
    package var head: UInt64
    /// The position of the last event that came.
    package var end: UInt64
    /// The Merkle root of the events up to `end`.
    package var root: Hash32
    /// In order of position.
    package var pieces: [Piece]

    package init(epoch: UInt64, head: UInt64, end: UInt64, root: Hash32, pieces: [Piece]) {
        self.epoch = epoch
        self.head = head
        self.end = end
        self.root = root
        self.pieces = pieces
    }
}

extension News {
    init(_ reader: inout ByteReader) throws(FormatError) {
        epoch = try reader.nextVarint()
        let start = reader.offset
        head = try reader.nextNumber(.position)
        end = try reader.nextNumber(.position)
        guard end <= head else { throw .malformed(.position, at: start) }
        root = try reader.nextHash()
        let count = try reader.nextCount(entrySizeMin: 13, .news)
        pieces = []
        for _ in 0..<count {
            let start = reader.offset
            switch try reader.next(UInt8.self) {
            case 1: pieces.append(.block(try reader.nextBlob()))
            case 2:
                let run = try PromotedRun(&reader)
                pieces.append(.own(run, try reader.nextHash()))
            default: throw .malformed(.news, at: start)
            }
        }
    }

    func write(into output: inout [UInt8]) {
        output.append(varint: epoch)
        output.append(varint: head)
        output.append(varint: end)
        output.append(root)
        output.append(varint: UInt64(pieces.count))
        for piece in pieces {
            switch piece {
            case .block(let block):
                output.append(1)
                output.append(counted: block.span.raw)
            case .own(let run, let hash):
                output.append(2)
                run.write(into: &output)
                output.append(hash)
            }
        }
    }
}

extension PromotedRun {
    fileprivate init(_ reader: inout ByteReader) throws(FormatError) {
        let start = reader.offset
        self.init(
            replica: try reader.nextReplica(),
            firstSequence: try reader.nextNumber(.sequence),
            count: try reader.nextNumber(.eventCount),
            firstPosition: try reader.nextNumber(.position),
            acceptedAt: try reader.nextTime()
        )
        guard firstSequence > 0, count > 0, firstPosition > 0 else {
            throw .malformed(.news, at: start)
        }
    }

    fileprivate func write(into output: inout [UInt8]) {
        output.append(littleEndian: replica.rawValue)
        output.append(varint: firstSequence)
        output.append(varint: count)
        output.append(varint: firstPosition)
        output.append(zigzag: acceptedAt.milliseconds)
    }
}
