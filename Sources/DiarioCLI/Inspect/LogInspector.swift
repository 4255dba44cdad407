import DiarioCore
import DiarioFormat

/// Inspects the frames of a file of the write-ahead log: schema/format/frames.md.
struct LogInspector {
    private let bytes: [UInt8]
    /// The offset of the bytes in their file.
    private let base: Int
    private let blocks: BlockInspector

    private static let headerSize = 4096
    /// Bytes that may be hashed to find frames after damage, so that no file takes for ever.
    private static let searchSizeMax = 512 * 1024 * 1024

    init(_ bytes: [UInt8], base: Int, showsRows: Bool) {
        self.bytes = bytes
        self.base = base
        blocks = BlockInspector(showsRows: showsRows)
    }

    func inspectFile(_ take: ([InspectLine]) throws -> Void) throws {
        let end = min(Self.headerSize, bytes.count)
        var reader = FieldReader(bytes, 0..<end, section: "F2")
        reader.note("header", at: 0, size: end)
        reader.depth = 1
        let isWhole = (try? reader.read(FileKind.logHeader)) != nil
        let generation = reader.last("generation")
        try take(reader.takeLines())
        guard bytes.count > Self.headerSize else { return }
        try inspectFrames(from: Self.headerSize, generation: isWhole ? generation : nil, take)
    }

    func inspectFrames(
        from start: Int,
        generation: UInt64?,
        _ take: ([InspectLine]) throws -> Void
    ) throws {
        var offset = start
        var number: UInt64?
        while offset < bytes.count {
            if let frame = Frame(bytes, at: offset, generation: generation), frame.isVerified {
                try take(lines(of: frame, expected: number))
                number = frame.number &+ 1
                offset += frame.size
                continue
            }
            let next = nextFrame(after: offset, generation: generation)
            try take(gap(offset..<(next ?? bytes.count), generation, isLast: next == nil))
            guard let next else { return }
            // The frames between are lost, and with them the count.
            number = nil
            offset = next
        }
    }

    private func lines(of frame: Frame, expected: UInt64?) -> [InspectLine] {
        let end = min(frame.offset + frame.size, bytes.count)
        var reader = FieldReader(bytes, frame.offset..<end, base: base, section: "F3")
        reader.note("frame", "\(frame.number)", at: frame.offset, size: frame.size)
        reader.depth = 1
        let place = UInt64(base + frame.offset)
        let fields: [Field] = [
            .magic("dfrm"), .checksumOfRest,
            .hex("generation"),
            .number("number of the frame").wrong { value, _ in
                expected == nil || value == expected ? nil : "not the number that follows"
            },
            .number("durableBefore").wrong { value, _ in value > place ? "after this frame" : nil },
            .number("length of the body", 4).from(
                0,
                to: UInt64(Limits.frameSizeMax),
                "above the limit"
            ),
            .number("number of records", 4),
        ]
        do throws(InspectStop) {
            try reader.read(fields)
            let bodyEnd = min(reader.offset + frame.bodySize, end)
            for _ in 0..<frame.recordCount where reader.offset < bodyEnd {
                inspectRecord(&reader, end: bodyEnd)
            }
            if reader.offset < bodyEnd {
                let rest = bodyEnd - reader.offset
                let check = InspectLine.Check.bad("bytes follow after the last record")
                reader.note("rest of the body", at: reader.offset, size: rest, check: check)
                reader.offset = bodyEnd
            }
            if reader.remaining > 0 { try reader.read([.zeros(nil)]) }
        } catch {
            // The line that was noted last says why.
        }
        return reader.takeLines()
    }

    /// Reads the record at the reader's place, which must end by `end`.
    private func inspectRecord(_ reader: inout FieldReader, end: Int) {
        let start = reader.offset
        let room = max(0, end - start - FileKind.recordHeadSize)
        let stated = room == 0 ? 0 : FieldReader.littleEndian(bytes, at: start + 4, size: 4)
        let recordEnd = min(end, start + FileKind.recordHeadSize + min(room, Int(stated)))
        let kind = UInt64(bytes[start])
        let record = FileKind.records[kind]
        reader.note("record", record?.name ?? "unknown kind", at: start, size: recordEnd - start)
        var part = FieldReader(
            bytes,
            start..<recordEnd,
            base: base,
            depth: reader.depth + 1,
            section: "F4"
        )
        if (try? part.read(FileKind.recordHead)) != nil {
            if kind == 1 {
                blocks.inspect(&part)
            } else if (try? part.read(record?.fields ?? [.rest("content")])) != nil {
                part.noteRest("the record says more than its kind does")
            }
        }
        reader.append(part.takeLines(), through: recordEnd)
    }

    /// The part of the file in which no frame verifies.
    private func gap(_ range: Range<Int>, _ generation: UInt64?, isLast: Bool) -> [InspectLine] {
        if let frame = Frame(bytes, at: range.lowerBound, generation: generation) {
            let lines = lines(of: frame, expected: nil)
            let end = min(frame.offset + frame.size, range.upperBound)
            guard end < range.upperBound else { return lines }
            return lines + gap(end..<range.upperBound, generation, isLast: isLast)
        }
        var reader = FieldReader(bytes, range, base: base, section: "F3")
        func note(_ name: String, _ value: String, _ check: InspectLine.Check = .none) {
            reader.note(name, value, at: range.lowerBound, size: range.count, check: check)
        }
        if !isLast {
            note(
                "damage",
                "goes on at \(base + range.upperBound), where a frame verifies",
                .bad("no frame verifies here")
            )
        } else if bytes[range].allSatisfy({ $0 == 0 }) {
            note("unused", "zeros")
        } else if let old = Frame(bytes, at: range.lowerBound, generation: nil) {
            note("unused", "of an earlier use of the file, generation \(Show.long(old.generation))")
        } else {
            // A reused file ends its new frames in the middle of old ones.
            note("unused", "no frame starts here")
        }
        return reader.takeLines()
    }

    private func nextFrame(after offset: Int, generation: UInt64?) -> Int? {
        var searched = 0
        var place = (offset + 8) & ~7
        while place + Frame.headerSize <= bytes.count, searched < Self.searchSizeMax {
            if let frame = Frame(bytes, at: place, generation: generation) {
                searched += frame.size
                if frame.isVerified { return place }
            }
            place += 8
        }
        return nil
    }
}

/// The header at a place where a frame may start.
private struct Frame {
    let offset: Int
    let generation: UInt64
    let number: UInt64
    let bodySize: Int
    let recordCount: Int
    let isVerified: Bool

    static let headerSize = 40

    /// Bytes up to the next frame.
    var size: Int { (Self.headerSize + bodySize + 7) & ~7 }

    /// Nil unless a frame of this generation, or of any, seems to start at `offset`.
    init?(_ bytes: [UInt8], at offset: Int, generation: UInt64?) {
        guard bytes.count - offset >= Self.headerSize, bytes[offset] == UInt8(ascii: "d"),
            bytes[offset..<offset + 4].elementsEqual("dfrm".utf8)
        else { return nil }
        func number(_ place: Int, _ size: Int) -> UInt64 {
            FieldReader.littleEndian(bytes, at: offset + place, size: size)
        }
        self.offset = offset
        self.generation = number(8, 8)
        guard generation == nil || generation == self.generation else { return nil }
        self.number = number(16, 8)
        bodySize = Int(number(32, 4))
        recordCount = Int(number(36, 4))
        let end = offset + (Self.headerSize + bodySize + 7) & ~7
        guard bodySize <= Limits.frameSizeMax, end <= bytes.count else {
            isVerified = false
            return
        }
        let computed = Checksum.crc32c(bytes.span.raw.extracting(offset + 8..<end))
        isVerified = number(4, 4) == UInt64(computed)
    }
}
