import DiarioCore

/// What a camera wrote into a file, as far as it is asked for; whatever is not as it should be
/// means that there is none.
struct EXIF {
    /// A file of TIFF, to which all offsets belong.
    private let bytes: ArraySlice<UInt8>
    private let isLittle: Bool

    private static let mark = Array("Exif\0\0".utf8)

    private init?(tiff bytes: ArraySlice<UInt8>) {
        let isLittle = bytes.starts(with: [0x49, 0x49, 0x2a, 0])
        guard bytes.count >= 8, isLittle || bytes.starts(with: [0x4d, 0x4d, 0, 0x2a]) else {
            return nil
        }
        (self.bytes, self.isLittle) = (bytes, isLittle)
    }

    /// Looks at the segments before the first scan of a JPEG.
    init?(jpeg bytes: [UInt8]) {
        var offset = 2
        while offset + 4 <= bytes.count, bytes[offset] == 0xff {
            let kind = bytes[offset + 1]
            // Fill bytes may come before a mark, and these marks have no length.
            if kind == 0xff {
                offset += 1
                continue
            }
            if kind == 0x01 || 0xd0...0xd7 ~= kind {
                offset += 2
                continue
            }
            let size = Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
            let end = offset + 2 + size
            guard kind != 0xda, kind != 0xd9, size >= 2, end <= bytes.count else { break }
            if kind == 0xe1, bytes[(offset + 4)..<end].starts(with: Self.mark) {
                self.init(tiff: bytes[(offset + 4 + Self.mark.count)..<end])
                return
            }
            offset = end
        }
        return nil
    }

    /// Looks at the chunks before the first pixel of a PNG.
    init?(png bytes: [UInt8]) {
        var offset = 8
        while offset + 8 <= bytes.count {
            let size = bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
            let kind = bytes[(offset + 4)..<(offset + 8)]
            // Four more bytes are its checksum.
            guard size <= bytes.count - offset - 8, !kind.elementsEqual("IDAT".utf8) else { break }
            if kind.elementsEqual("eXIf".utf8) {
                self.init(tiff: bytes[(offset + 8)..<(offset + 8 + size)])
                return
            }
            offset += 12 + size
        }
        return nil
    }

    var orientation: Orientation {
        // One number of 16 bits.
        let value = value(of: 274, type: 3, count: 1...1, in: number(4, 4))
        return value.flatMap { number($0, 2) }.flatMap { UInt8(exactly: $0) }
            .flatMap { Orientation(rawValue: $0) } ?? .topLeft
    }

    /// The day on which the photo was taken, else on which the file was written, where the camera
    /// was.
    var day: CivilDay? {
        let first = number(4, 4)
        let more = value(of: 0x8769, type: 4, count: 1...1, in: first).flatMap { number($0, 4) }
        return text(of: 0x9003, in: more).flatMap { Self.day($0) }
            ?? text(of: 0x0132, in: first).flatMap { Self.day($0) }
    }

    /// The day of a time as in `2026:04:30 18:05:59`.
    private static func day(_ text: ArraySlice<UInt8>) -> CivilDay? {
        let parts = text.prefix(10).split(separator: 0x3a, omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Int(String(decoding: $0, as: UTF8.self)) }
        guard parts.map(\.count) == [4, 2, 2], numbers.count == 3 else { return nil }
        return CivilDay(year: numbers[0], month: numbers[1], day: numbers[2])
    }

    // MARK: TIFF

    /// The number at an offset; nil outside of the file.
    private func number(_ offset: Int, _ count: Int) -> Int? {
        guard offset <= bytes.count - count else { return nil }
        let part = bytes[(bytes.startIndex + offset)...].prefix(count)
        return isLittle
            ? part.reversed().reduce(0) { $0 << 8 | Int($1) }
            : part.reduce(0) { $0 << 8 | Int($1) }
    }

    /// Where the value of a tag of a directory stands, or its offset if it is longer than 4 bytes.
    private func value(
        of tag: Int,
        type: Int,
        count: ClosedRange<Int>,
        in directory: Int?
    ) -> Int? {
        guard let directory, let entryCount = number(directory, 2) else { return nil }
        for index in 0..<entryCount {
            let entry = directory + 2 + 12 * index
            guard number(entry + 8, 4) != nil else { return nil }
            guard number(entry, 2) == tag, number(entry + 2, 2) == type,
                let found = number(entry + 4, 4), count.contains(found)
            else { continue }
            return entry + 8
        }
        return nil
    }

    /// A text that is long enough for a time.
    private func text(of tag: Int, in directory: Int?) -> ArraySlice<UInt8>? {
        guard let place = value(of: tag, type: 2, count: 11...64, in: directory),
            let offset = number(place, 4), offset <= bytes.count - 10
        else { return nil }
        return bytes[(bytes.startIndex + offset)...].prefix(10)
    }
}
