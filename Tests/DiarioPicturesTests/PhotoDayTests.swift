import DiarioCore
import DiarioPictures
import Testing

/// The day of a photo, which its metadata say before they are taken out.
@Suite struct PhotoDayTests {
    /// A file of TIFF: the first directory with the time of the last change, and one behind it with
    /// that of the photo; the texts come last.
    private static func tiff(taken: String?, changed: String?, _ isLittle: Bool) -> [UInt8] {
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            return isLittle ? bytes : bytes.reversed()
        }
        func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: Int) -> [UInt8] {
            number(tag, 2) + number(type, 2) + number(count, 4) + number(value, 4)
        }
        let size = (taken ?? "").utf8.count
        let texts = Array((taken ?? "").utf8) + Array((changed ?? "").utf8)
        // Three directories of 2 + 12 n + 4 bytes: the texts begin at 8 + 30 + 18.
        let first =
            number(2, 2) + entry(changed == nil ? 1 : 0x0132, 2, 20, 56 + size)
            + entry(taken == nil ? 1 : 0x8769, 4, 1, 38) + number(0, 4)
        let second = number(1, 2) + entry(0x9003, 2, 20, 56) + number(0, 4)
        return Array((isLittle ? "II*\0" : "MM\0*").utf8) + number(8, 4) + first + second + texts
    }

    private static func day(_ tiff: [UInt8], isPNG: Bool) throws -> String? {
        let picture = PictureFiles.gradient(3, 2, .colour)
        let bytes: [UInt8]
        if isPNG {
            let png = try picture.png()
            bytes = png.prefix(33) + PNGChunk.bytes("eXIf", tiff) + png.dropFirst(33)
        } else {
            let jpeg = try picture.jpeg()
            bytes = jpeg.prefix(2) + TIFF.segment(tiff) + jpeg.dropFirst(2)
        }
        return try Photo.rewritten(bytes).day?.text
    }

    @Test(
        arguments: [
            ("2026:04:30 18:05:59\0", "2026:05:02 09:00:00\0", "2026-04-30"),
            (nil, "2026:05:02 09:00:00\0", "2026-05-02"),
            ("    :  :     :  :  \0", "2026:05:02 09:00:00\0", "2026-05-02"),
            ("0000:00:00 00:00:00\0", nil, nil), ("2026:02:30 18:05:59\0", nil, nil),
            ("2026-04-30 18:05:59\0", nil, nil), ("2026:4:30: 18:05:59\0", nil, nil),
            (nil, nil, nil),
        ] as [(String?, String?, String?)]
    )
    func theDayIsWhenItWasTaken(taken: String?, changed: String?, day: String?) throws {
        for isLittle in [true, false] {
            let tiff = Self.tiff(taken: taken, changed: changed, isLittle)
            #expect(try Self.day(tiff, isPNG: true) == day)
            #expect(try Self.day(tiff, isPNG: false) == day)
        }
    }

    /// Whatever is in it, the picture is read.
    @Test func brokenDaysAreIgnored() throws {
        let whole = Self.tiff(
            taken: "2026:04:30 18:05:59\0",
            changed: "2026:05:02 09:00:00\0",
            true
        )
        for count in 0..<whole.count {
            #expect(throws: Never.self) { try Self.day(Array(whole.prefix(count)), isPNG: false) }
        }
        for place in 0..<whole.count {
            for byte: UInt8 in [0, 0x7f, 0xff] {
                var bytes = whole
                bytes[place] = byte
                #expect(throws: Never.self) { try Self.day(bytes, isPNG: true) }
            }
        }
    }

    @Test func otherPicturesSayNoDay() throws {
        #expect(try Photo.rewritten(Array("P2 2 1 255 7 9".utf8)).day == nil)
    }
}
