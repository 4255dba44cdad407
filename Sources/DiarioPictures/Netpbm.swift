/// Reads PGM and PPM, with samples in digits (P2, P3) or in bytes (P5, P6), of up to 16 bits.
enum Netpbm {
    static func read(_ bytes: [UInt8], _ form: Picture.Form?) throws(PictureError) -> Picture {
        var reader = NetpbmReader(bytes)
        return try reader.read(form)
    }
}

private struct NetpbmReader {
    private let bytes: [UInt8]
    private let type: PictureType
    private let isInDigits: Bool
    private var offset = 2
    private var sampleMax = 255

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        let digit = bytes[1]
        type = digit == UInt8(ascii: "2") || digit == UInt8(ascii: "5") ? .pgm : .ppm
        isInDigits = digit < UInt8(ascii: "4")
    }

    mutating func read(_ form: Picture.Form?) throws(PictureError) -> Picture {
        let (width, height) = (try nextNumber(max: 99_999_999), try nextNumber(max: 99_999_999))
        sampleMax = try nextNumber(max: 65_535)
        guard width > 0, height > 0, sampleMax > 0 else { throw damaged("a zero in its head") }
        try Picture.check(width: width, height: height)
        let source: PictureRows.Source = type == .pgm ? .grey : .colour
        let (rowCount, size) = (width * source.rawValue, sampleMax > 255 ? 2 : 1)
        if isInDigits {
            // A digit and a blank for each but the last.
            try require(2 * rowCount * height - 1)
        } else {
            // One blank ends the head, and what comes then may look like more.
            guard offset < bytes.count, Self.isBlank(bytes[offset]) else {
                throw damaged("no blank after its head")
            }
            offset += 1
            try require(size * rowCount * height)
        }
        var rows = PictureRows(width: width, height: height, source, .topLeft, as: form)
        var row = [UInt8](repeating: 0, count: rowCount)
        for y in 0..<height {
            for index in 0..<rowCount {
                row[index] = try scaled(isInDigits ? nextNumber(max: 65_535) : nextBytes(size))
            }
            rows.put(row.span, at: y)
        }
        return rows.finish()
    }

    /// A sample with 8 bits, rounded.
    private func scaled(_ sample: Int) throws(PictureError) -> UInt8 {
        guard sample <= sampleMax else {
            throw damaged("a sample of \(sample), above the stated \(sampleMax)")
        }
        return UInt8((sample * 255 + sampleMax / 2) / sampleMax)
    }

    /// The next sample; `require` made sure that it is there.
    private mutating func nextBytes(_ size: Int) -> Int {
        defer { offset += size }
        return size == 1 ? Int(bytes[offset]) : Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
    }

    /// Skips blanks and comments, and reads digits.
    private mutating func nextNumber(max: Int) throws(PictureError) -> Int {
        let start = offset
        while offset < bytes.count {
            if bytes[offset] == UInt8(ascii: "#") {
                while offset < bytes.count, bytes[offset] != 0x0a { offset += 1 }
            } else if Self.isBlank(bytes[offset]) {
                offset += 1
            } else {
                break
            }
        }
        guard offset < bytes.count else { throw damaged("the file ends too early") }
        guard offset > start else { throw damaged("no blank before a number") }
        var number = 0
        let first = offset
        while offset < bytes.count, Self.isDigit(bytes[offset]) {
            number = number * 10 + Int(bytes[offset] - UInt8(ascii: "0"))
            guard number <= max else { throw damaged("a number above \(max)") }
            offset += 1
        }
        guard offset > first else { throw damaged("no number at byte \(offset)") }
        return number
    }

    private func require(_ count: Int) throws(PictureError) {
        guard bytes.count - offset >= count else { throw damaged("the file ends too early") }
    }

    private func damaged(_ detail: String) -> PictureError { .damaged(type, detail) }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || 0x09...0x0d ~= byte }

    private static func isDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }
}
