import DiarioCore
import DiarioFormat

/// Tells what a file of the write-ahead log says: schema/format/log.md, section 8.
struct LogFileInspector {
    private let bytes: [UInt8]
    /// Where the bytes lie in their file.
    private let base: Int
    private let records: RecordInspector

    private static let headerSize = 4096
    private static let frameHeaderSize = 40
    /// Bytes that may be hashed to find frames behind damage, so that no file takes for ever.
    private static let searchSizeMax = 512 * 1024 * 1024

    init(_ bytes: [UInt8], base: Int, showsRows: Bool) {
        self.bytes = bytes
        self.base = base
        records = RecordInspector(showsRows: showsRows)
    }

    func inspect<Failure: Error>(
        _ take: ([InspectLine]) throws(Failure) -> Void
    ) throws(Failure) {
        var reader = FieldReader(bytes, range: 0..<bytes.count, section: "8")
        reader.heading("header", size: min(Self.headerSize, bytes.count))
        let generation = try? header(&reader)
        try take(reader.takeLines())
        guard bytes.count > Self.headerSize else { return }
        try inspectFrames(from: Self.headerSize, generation: generation, take)
    }

    /// The generation, or nil if the header does not verify.
    private func header(_ reader: inout FieldReader) throws(InspectStop) -> UInt64? {
        try reader.magic("DWAL")
        try SmallFiles.version(&reader)
        try reader.zeros(3)
        try reader.number("number of this file", size: 8)
        let generation = try reader.number(
            "generation",
            size: 8,
            show: Show.long,
            problem: { $0 == 0 ? "zero" : nil }
        )
        try reader.number("generation of the file before", size: 8, show: Show.long)
        try reader.number("synced length of the file before", size: 8)
        try reader.number("number of the first frame", size: 8)
        try reader.number("begun", size: 8, show: Show.time)
        try reader.zeros(4)
        let stored =
            reader.remaining >= 4
            ? FieldReader.littleEndian(bytes, at: reader.offset, size: 4) : 0
        try reader.checksum(of: 0..<60)
        try reader.zeros(min(Self.headerSize, bytes.count) - 64)
        let computed = Checksum.crc32c(bytes.span.raw.extracting(0..<60))
        return stored == UInt64(computed) && generation != 0 ? generation : nil
    }

    /// Frame by frame; where one does not verify, from the next that does.
    func inspectFrames<Failure: Error>(
        from start: Int,
        generation known: UInt64?,
        _ take: ([InspectLine]) throws(Failure) -> Void
    ) throws(Failure) {
        var generation = known
        var offset = start
        var number: UInt64?
        while offset < bytes.count {
            if let frame = Frame(bytes, at: offset, generation: generation), frame.isVerified {
                try take(lines(of: frame, expected: number))
                generation = frame.generation
                number = frame.number &+ 1
                offset += frame.size
                continue
            }
            let next = nextFrame(after: offset, generation: generation)
            try take(gap(offset..<(next ?? bytes.count), generation, isLast: next == nil))
            guard let next else { return }
            // What lies between is lost, and with it the count.
            number = nil
            offset = next
        }
    }

    private func lines(of frame: Frame, expected: UInt64?) -> [InspectLine] {
        var reader = FieldReader(
            bytes,
            range: frame.offset..<min(frame.offset + frame.size, bytes.count),
            base: base,
            section: "8"
        )
        reader.heading("frame", "\(frame.number)", size: frame.size)
        do throws(InspectStop) {
            try reader.magic("DFRM")
            try reader.checksum(of: frame.offset + 8..<reader.end)
            try reader.number("generation", size: 8, show: Show.long)
            try reader.number(
                "number of the frame",
                size: 8,
                problem: { expected == nil || $0 == expected ? nil : "not the number that follows" }
            )
            try reader.number(
                "durableBefore",
                size: 8,
                problem: { $0 > UInt64(base + frame.offset) ? "behind this frame" : nil }
            )
            try reader.number(
                "length of the body",
                size: 4,
                problem: { $0 > UInt64(Limits.frameSizeMax) ? "above the limit" : nil }
            )
            try reader.number("number of records", size: 4)
            let end = min(reader.offset + frame.bodySize, reader.end)
            for _ in 0..<frame.recordCount where reader.offset < end {
                try records.inspect(&reader, end: end)
            }
            if reader.offset < end {
                reader.note(
                    "rest of the body",
                    at: reader.offset,
                    size: end - reader.offset,
                    check: .bad("bytes follow after the last record")
                )
                reader.offset = end
            }
            if reader.remaining > 0 { try reader.zeros(reader.remaining) }
        } catch {
            // What stopped it has its line already.
        }
        return reader.takeLines()
    }

    /// What stands where no frame verifies.
    private func gap(
        _ range: Range<Int>,
        _ generation: UInt64?,
        isLast: Bool
    ) -> [InspectLine] {
        var reader = FieldReader(bytes, range: range, base: base, section: "8")
        if let frame = Frame(bytes, at: range.lowerBound, generation: generation) {
            let lines = lines(of: frame, expected: nil)
            let end = min(frame.offset + frame.size, range.upperBound)
            guard end < range.upperBound else { return lines }
            return lines + gap(end..<range.upperBound, generation, isLast: isLast)
        }
        let size = range.count
        if isLast, bytes[range].allSatisfy({ $0 == 0 }) {
            reader.note("unused", "zeros", at: range.lowerBound, size: size)
        } else if isLast, let old = Frame(bytes, at: range.lowerBound, generation: nil) {
            let value = "of an earlier use of the file, generation \(Show.long(old.generation))"
            reader.note("unused", value, at: range.lowerBound, size: size)
        } else if isLast {
            // A reused file ends its new frames in the middle of old ones.
            reader.note("unused", "no frame starts here", at: range.lowerBound, size: size)
        } else {
            reader.note(
                "damage",
                "goes on at \(base + range.upperBound), where a frame verifies",
                at: range.lowerBound,
                size: size,
                check: .bad("no frame verifies here")
            )
        }
        return reader.takeLines()
    }

    private func nextFrame(after offset: Int, generation: UInt64?) -> Int? {
        var searched = 0
        var place = (offset + 8) & ~7
        while place + Self.frameHeaderSize <= bytes.count, searched < Self.searchSizeMax {
            if let frame = Frame(bytes, at: place, generation: generation) {
                searched += frame.size
                if frame.isVerified { return place }
            }
            place += 8
        }
        return nil
    }
}

/// What the bytes at a place say where a frame may start.
private struct Frame {
    let offset: Int
    let generation: UInt64
    let number: UInt64
    let bodySize: Int
    let recordCount: Int
    let isVerified: Bool

    /// Bytes up to the next frame.
    var size: Int { (40 + bodySize + 7) & ~7 }

    /// Nil unless a frame of this generation, or of any, seems to start at `offset`.
    init?(_ bytes: [UInt8], at offset: Int, generation: UInt64?) {
        guard bytes.count - offset >= 40, bytes[offset] == UInt8(ascii: "D"),
            bytes[offset..<offset + 4].elementsEqual("DFRM".utf8)
        else { return nil }
        self.offset = offset
        self.generation = FieldReader.littleEndian(bytes, at: offset + 8, size: 8)
        guard generation == nil || generation == self.generation else { return nil }
        number = FieldReader.littleEndian(bytes, at: offset + 16, size: 8)
        bodySize = Int(FieldReader.littleEndian(bytes, at: offset + 32, size: 4))
        recordCount = Int(FieldReader.littleEndian(bytes, at: offset + 36, size: 4))
        let end = offset + (40 + bodySize + 7) & ~7
        guard bodySize <= Limits.frameSizeMax, end <= bytes.count else {
            isVerified = false
            return
        }
        let stored = FieldReader.littleEndian(bytes, at: offset + 4, size: 4)
        let computed = Checksum.crc32c(bytes.span.raw.extracting(offset + 8..<end))
        isVerified = stored == UInt64(computed)
    }
}
