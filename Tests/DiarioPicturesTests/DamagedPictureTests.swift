import DiarioCore
import DiarioPictures
import DiarioTestSupport
import Testing

@Suite struct DamagedPictureTests {
    private static let all = PictureFiles.exact + PictureFiles.near + ["colour.ppm", "grey.pgm"]

    /// Half a picture is none: a file that is cut anywhere is an error.
    @Test(arguments: all)
    func aCutFileIsAnError(name: String) throws {
        let bytes = try PictureFiles.bytes(name)
        for count in bytes.indices {
            #expect(throws: PictureError.self, "\(count)") {
                try Picture(Array(bytes.prefix(count)))
            }
        }
    }

    /// A wrong byte gives an error, or a picture of a size that is allowed.
    @Test(arguments: all)
    func aWrongByteDoesNoHarm(name: String) throws {
        let bytes = try PictureFiles.bytes(name)
        var random = SeededRandom(seed: UInt64(bytes.count))
        for _ in 0..<400 {
            var damaged = bytes
            damaged[random.below(bytes.count)] = UInt8(random.below(256))
            guard let picture = try? Picture(damaged) else { continue }
            #expect(picture.width * picture.height <= Limits.picturePixelCountMax)
        }
    }

    @Test(arguments: PictureFiles.exact)
    func aWrongByteInTheChecksummedPartOfAPNGIsFound(name: String) throws {
        var bytes = try PictureFiles.bytes(name)
        let start = try #require(bytes.firstRange(of: Array("IDAT".utf8))).upperBound
        for place in start..<(bytes.count - 12) {
            bytes[place] ^= 0x10
            #expect(throws: PictureError.self, "\(place)") { try Picture(bytes) }
            bytes[place] ^= 0x10
        }
    }

    private static func png(_ width: UInt32, _ height: UInt32) -> [UInt8] {
        [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
            + PNGChunk.bytes(
                "IHDR",
                PNGChunk.number(width) + PNGChunk.number(height) + [8, 2, 0, 0, 0]
            ) + PNGChunk.bytes("IDAT", [0x78, 0x9c, 0x63, 0, 0, 0, 1, 0, 1])
            + PNGChunk.bytes("IEND", [])
    }

    /// The golden file with another size in its frame, which begins with the given mark.
    private static func jpeg(
        _ name: String,
        mark: UInt8,
        _ width: Int,
        _ height: Int
    ) throws
        -> [UInt8]
    {
        var bytes = try PictureFiles.bytes(name)
        let frame = try #require(bytes.firstRange(of: [0xff, mark, 0, 17, 8])).upperBound
        bytes.replaceSubrange(
            frame..<(frame + 4),
            with: [height >> 8, height & 255, width >> 8, width & 255].map { UInt8($0) }
        )
        return bytes
    }

    @Test(arguments: [(20_001, 1), (1, 20_001), (20_000, 2501), (65_500, 65_500)])
    func sizesAboveTheBoundsAreRefused(width: Int, height: Int) throws {
        let expected = PictureError.tooLarge(width: width, height: height)
        let files = [
            Self.png(UInt32(width), UInt32(height)),
            try Self.jpeg("baseline.jpg", mark: 0xc0, width, height),
            try Self.jpeg("progressive.jpg", mark: 0xc2, width, height),
            Array("P5 \(width) \(height) 255\n".utf8), Array("P3 \(width) \(height) 255\n".utf8),
        ]
        for file in files { #expect(throws: expected) { try Picture(file) } }
    }

    /// A few bytes cannot be so many pixels; no memory is asked for to find that out.
    @Test func hugeSizesOfTinyFilesAreRefused() throws {
        let (width, height) = (20_000, 2500)
        let files = [
            Self.png(UInt32(width), UInt32(height)),
            try Self.jpeg("baseline.jpg", mark: 0xc0, width, height),
            try Self.jpeg("progressive.jpg", mark: 0xc2, width, height),
            Array("P6 \(width) \(height) 255\n".utf8), Array("P2 \(width) \(height) 255\n".utf8),
        ]
        for file in files {
            let error = #expect(throws: PictureError.self) { try Picture(file) }
            #expect(try #require(error).message.contains("short") || file[0] == 0x50)
        }
        let endless = Self.png(.max, .max)
        #expect(throws: PictureError.self) { try Picture(endless) }
    }

    /// A scan may take two bytes and hours of work.
    @Test func tooManyScansAreRefused() throws {
        var bytes = try PictureFiles.bytes("progressive.jpg")
        let start = try #require(bytes.firstRange(of: [0xff, 0xda])).lowerBound
        let pixels = start + 2 + Int(bytes[start + 3])
        let end = try #require(
            bytes[pixels...].indices.first { bytes[$0] == 0xff && bytes[$0 + 1] != 0 }
        )
        // It gives the lowest bits at once, so that none is missing when it is there again.
        bytes[pixels - 1] = 0
        let scan = bytes[start..<end]
        let once = bytes[..<end] + [0xff, 0xd9]
        #expect(throws: Never.self) { try Picture(Array(once)) }
        let many = (0..<100).reduce(Array(bytes[..<end])) { all, _ in all + scan }
        let error = #expect(throws: PictureError.self) { try Picture(many + [0xff, 0xd9]) }
        #expect(try #require(error).message.contains("more than 64 scans"))
    }

    @Test func inksAreRefusedInWords() throws {
        let bytes = try PictureFiles.bytes("inks.jpg")
        let error = #expect(throws: PictureError.self) { try Picture(bytes) }
        #expect(try #require(error).message.contains("printing press"))
    }

    private static let others: [(String, [UInt8])] = [
        ("an empty file", []), ("a WebP picture", Array("RIFF\0\0\0\0WEBPVP8 ".utf8)),
        ("a GIF picture", Array("GIF89a".utf8)),
        ("a HEIC picture", [0, 0, 0, 24] + Array("ftypheic".utf8)),
        ("a HEIC picture", [0, 0, 0, 24] + Array("ftypmif1".utf8)),
        ("an AVIF picture", [0, 0, 0, 24] + Array("ftypavif".utf8)),
        ("a film", [0, 0, 0, 24] + Array("ftypisom".utf8)),
        ("a TIFF picture", Array("II*\0".utf8)), ("a BMP picture", Array("BM1234".utf8)),
        ("a PDF document", Array("%PDF-1.7".utf8)), ("an SVG picture", Array("<svg>".utf8)),
        ("a JPEG XL picture", [0xff, 0x0a]), ("a PBM picture", Array("P4 1 1\n".utf8)),
        ("no picture of a known type", Array("hello".utf8)), ("no picture of", [0x89, 0x50]),
    ]

    @Test(arguments: others)
    func otherFilesAreNamed(name: String, bytes: [UInt8]) throws {
        let error = try #require(#expect(throws: PictureError.self) { try Picture(bytes) })
        #expect(error.message.contains(name))
        #expect(error.message.contains("PNG, JPEG, PGM and PPM are read"))
    }
}
