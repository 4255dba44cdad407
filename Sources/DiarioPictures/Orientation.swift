/// How a picture has to be turned to be upright, as EXIF numbers it.
///
/// The names say where the first row and the first column of the file belong.
enum Orientation: UInt8, CaseIterable {
    case topLeft = 1
    case topRight = 2
    case bottomRight = 3
    case bottomLeft = 4
    case leftTop = 5
    case rightTop = 6
    case rightBottom = 7
    case leftBottom = 8

    /// True if the file's rows are columns.
    var swapsSides: Bool { rawValue > 4 }

    /// The pixel at which a row of the file begins, in the upright picture, and how far it is to
    /// the next one.
    func places(row y: Int, width: Int, height: Int) -> (start: Int, step: Int) {
        switch self {
        case .topLeft: (y * width, 1)
        case .topRight: (y * width + width - 1, -1)
        case .bottomRight: ((height - 1 - y) * width + width - 1, -1)
        case .bottomLeft: ((height - 1 - y) * width, 1)
        case .leftTop: (y, height)
        case .rightTop: (height - 1 - y, height)
        case .rightBottom: ((width - 1) * height + height - 1 - y, -height)
        case .leftBottom: ((width - 1) * height + y, -height)
        }
    }
}

/// Finds the orientation in a file; whatever is not as it should be means that there is none.
enum EXIF {
    private static let mark = Array("Exif\0\0".utf8)

    /// Looks at the segments before the first scan of a JPEG.
    static func orientation(jpeg bytes: [UInt8]) -> Orientation {
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
            if kind == 0xe1, bytes[(offset + 4)..<end].starts(with: mark) {
                return orientation(tiff: bytes[(offset + 4 + mark.count)..<end])
            }
            offset = end
        }
        return .topLeft
    }

    /// Looks at the chunks before the first pixel of a PNG.
    static func orientation(png bytes: [UInt8]) -> Orientation {
        var offset = 8
        while offset + 8 <= bytes.count {
            let size = bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
            let kind = bytes[(offset + 4)..<(offset + 8)]
            // Four more bytes are its checksum.
            guard size <= bytes.count - offset - 8, !kind.elementsEqual("IDAT".utf8) else { break }
            if kind.elementsEqual("eXIf".utf8) {
                return orientation(tiff: bytes[(offset + 8)..<(offset + 8 + size)])
            }
            offset += 12 + size
        }
        return .topLeft
    }

    /// The value of tag 274 in the first directory.
    private static func orientation(tiff bytes: ArraySlice<UInt8>) -> Orientation {
        guard bytes.count >= 8 else { return .topLeft }
        let isLittle = bytes.starts(with: [0x49, 0x49, 0x2a, 0])
        guard isLittle || bytes.starts(with: [0x4d, 0x4d, 0, 0x2a]) else { return .topLeft }

        func number(_ offset: Int, _ count: Int) -> Int {
            let part = bytes[(bytes.startIndex + offset)...].prefix(count)
            return isLittle
                ? part.reversed().reduce(0) { $0 << 8 | Int($1) }
                : part.reduce(0) { $0 << 8 | Int($1) }
        }

        let directory = number(4, 4)
        guard directory <= bytes.count - 2 else { return .topLeft }
        for index in 0..<number(directory, 2) {
            let entry = directory + 2 + 12 * index
            guard entry <= bytes.count - 12 else { break }
            // One number of 16 bits.
            guard number(entry, 2) == 274, number(entry + 2, 2) == 3, number(entry + 4, 4) == 1
            else { continue }
            return Orientation(rawValue: UInt8(clamping: number(entry + 8, 2))) ?? .topLeft
        }
        return .topLeft
    }
}
