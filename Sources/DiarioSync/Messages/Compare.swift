package import DiarioCore
package import DiarioCrypto
import DiarioFormat

/// Asks up to which of some sizes the authority has the same log.
package struct Compare: Equatable, Sendable {
    /// A size, and the Merkle root of so many events.
    package struct Point: Hashable, Sendable {
        package var size: UInt64
        package var root: Hash32

        package init(size: UInt64, root: Hash32) {
            self.size = size
            self.root = root
        }
    }

    package var lineage: Lineage
    /// In order of size, from 1.
    package var points: [Point]

    package init(lineage: Lineage, points: [Point]) {
        self.lineage = lineage
        self.points = points
    }
}

extension Compare {
    init(_ reader: inout ByteReader) throws(FormatError) {
        lineage = try reader.nextLineage()
        let start = reader.offset
        let count = try reader.nextCount(entrySizeMin: 33, .message)
        guard count <= Limits.comparedSizeCountMax else { throw .malformed(.message, at: start) }
        points = []
        for _ in 0..<count {
            let start = reader.offset
            let size = try reader.nextNumber(.position)
            guard size > points.last?.size ?? 0 else { throw .malformed(.position, at: start) }
            points.append(Point(size: size, root: try reader.nextHash()))
        }
    }

    func write(into output: inout [UInt8]) {
        output.append(lineage)
        output.append(varint: UInt64(points.count))
        for point in points {
            output.append(varint: point.size)
            output.append(point.root)
        }
    }
}

/// The answer to a comparison.
package struct Common: Equatable, Sendable {
    package var epoch: UInt64
    /// Of the authority.
    package var head: UInt64
    /// The largest size that was asked about with the same root; 0 if there is none.
    package var size: UInt64

    package init(epoch: UInt64, head: UInt64, size: UInt64) {
        self.epoch = epoch
        self.head = head
        self.size = size
    }
}

extension Common {
    init(_ reader: inout ByteReader) throws(FormatError) {
        epoch = try reader.nextVarint()
        let start = reader.offset
        head = try reader.nextNumber(.position)
        size = try reader.nextNumber(.position)
        guard size <= head else { throw .malformed(.position, at: start) }
    }

    func write(into output: inout [UInt8]) {
        output.append(varint: epoch)
        output.append(varint: head)
        output.append(varint: size)
    }
}
