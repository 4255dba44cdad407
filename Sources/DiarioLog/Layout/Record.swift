package import DiarioCore
package import DiarioFormat

// Records are what frames hold: 16 bytes of header, then the content.
// Specified in schema/format/frames.md.

/// The kinds of records; the raw values are on disk.
package enum RecordKind: UInt8, Sendable {
    case rows = 1
    case seed = 2
    case promotion = 3
    case state = 4
    case dropped = 5
    case sealed = 6
}

/// A record of a frame: its kind, its space, and where its content lies in the frame.
package struct Record: Sendable {
    package static let headerSize = 16

    package let kind: RecordKind
    package let space: SpaceID
    /// The range of the content in the bytes that were read.
    package let content: Range<Int>

    /// Bytes on disk, the record's header included.
    package var size: Int { Self.headerSize + content.count }

    /// Appends a record whose content `write` appends.
    package static func append(
        _ kind: RecordKind,
        _ space: SpaceID,
        to frame: inout [UInt8],
        _ write: (inout [UInt8]) -> Void
    ) {
        let start = begin(in: &frame)
        write(&frame)
        end(kind, space, from: start, in: &frame)
    }

    /// Makes room for the header of a record, whose content is appended next; where it starts.
    static func begin(in frame: inout [UInt8]) -> Int {
        frame.append(repeating: 0, count: headerSize)
        return frame.count - headerSize
    }

    /// Writes the header of a record that starts at `start` and ends where the frame does.
    static func end(
        _ kind: RecordKind,
        _ space: SpaceID,
        from start: Int,
        in frame: inout [UInt8]
    ) {
        let size = frame.count - start - headerSize
        frame.store(littleEndian: UInt64(kind.rawValue) | UInt64(size) << 32, at: start)
        frame.store(littleEndian: space.rawValue, at: start + 8)
    }

    /// Reads the record at `offset`, which must end by `end`; nil if the bytes are none.
    @inline(__always)
    package static func read(_ bytes: Span<UInt8>, at offset: Int, end: Int) -> Record? {
        guard end - offset >= headerSize,
            bytes.littleEndian(UInt32.self, at: offset) <= 0xff,
            let kind = RecordKind(rawValue: bytes[offset]),
            let space = SpaceID(rawValue: bytes.littleEndian(UInt64.self, at: offset + 8))
        else { return nil }
        let size = Int(bytes.littleEndian(UInt32.self, at: offset + 4))
        let start = offset + headerSize
        guard size <= end - start else { return nil }
        return Record(kind: kind, space: space, content: start..<start + size)
    }
}

extension PromotedRun {
    /// True if it has events, and numbers that all of them can have.
    var isValid: Bool {
        LogNumber.isValid(firstSequence, count: count)
            && LogNumber.isValid(firstPosition, count: count)
    }

    static let size = 40

    package static func append(_ runs: [PromotedRun], to bytes: inout [UInt8]) {
        bytes.append(littleEndian: UInt32(runs.count))
        for run in runs {
            bytes.append(littleEndian: run.replica.rawValue)
            bytes.append(littleEndian: run.firstSequence)
            bytes.append(littleEndian: run.count)
            bytes.append(littleEndian: run.firstPosition)
            bytes.append(littleEndian: UInt64(bitPattern: run.acceptedAt.milliseconds))
        }
    }

    /// Nil unless `bytes` are what `append` writes.
    package static func read(_ bytes: Span<UInt8>) -> [PromotedRun]? {
        guard bytes.count >= 4 else { return nil }
        let count = Int(bytes.littleEndian(UInt32.self, at: 0))
        guard bytes.count == 4 + count * size else { return nil }
        var runs: [PromotedRun] = []
        runs.reserveCapacity(count)
        for index in 0..<count {
            let start = 4 + index * size
            let acceptedAt = Int64(bitPattern: bytes.littleEndian(UInt64.self, at: start + 32))
            let run = ReplicaID(rawValue: bytes.littleEndian(UInt64.self, at: start)).map {
                PromotedRun(
                    replica: $0,
                    firstSequence: bytes.littleEndian(UInt64.self, at: start + 8),
                    count: bytes.littleEndian(UInt64.self, at: start + 16),
                    firstPosition: bytes.littleEndian(UInt64.self, at: start + 24),
                    acceptedAt: Timestamp(milliseconds: acceptedAt)
                )
            }
            guard let run, run.isValid, CivilTime.contains(acceptedAt) else { return nil }
            runs.append(run)
        }
        return runs
    }
}
