import DiarioPictures
import DiarioTestSupport
import Testing

@Suite struct PictureTests {
    @Test(arguments: PictureFiles.exact)
    func pixelsAreThoseOfTheVectors(name: String) throws {
        #expect(try Picture(PictureFiles.bytes(name)) == PictureFiles.pixels(name))
    }

    @Test(arguments: PictureFiles.near)
    func pixelsOfJPEGAreNearThoseOfTheVectors(name: String) throws {
        let picture = try Picture(PictureFiles.bytes(name))
        let distance = try #require(picture.distance(to: try PictureFiles.pixels(name)))
        #expect(distance <= 3)
    }

    @Test(arguments: PictureFiles.exact + PictureFiles.near)
    func aFormCanBeWanted(name: String) throws {
        let bytes = try PictureFiles.bytes(name)
        let (grey, colour) = (try Picture(bytes, as: .grey), try Picture(bytes, as: .colour))
        #expect(grey.form == .grey && colour.form == .colour)
        for pixel in 0..<(grey.width * grey.height) {
            let (red, green, blue) = (
                Int(colour.samples[3 * pixel]), Int(colour.samples[3 * pixel + 1]),
                Int(colour.samples[3 * pixel + 2])
            )
            let expected = (19_595 * red + 38_470 * green + 7471 * blue + 32_768) / 65_536
            #expect(Int(grey.samples[pixel]) == expected)
        }
    }

    @Test(arguments: [(1, 1), (1, 9), (9, 1), (7, 5), (64, 33)], Picture.Form.allCases)
    func whatIsWrittenIsRead(size: (Int, Int), form: Picture.Form) throws {
        let picture = PictureFiles.gradient(size.0, size.1, form)
        #expect(try Picture(picture.png()) == picture)
        let jpeg = try Picture(picture.jpeg())
        #expect((jpeg.width, jpeg.height, jpeg.form) == (size.0, size.1, form))
    }

    /// A smooth picture comes through JPEG nearly as it was.
    @Test func jpegKeepsSmoothPictures() throws {
        var samples: [UInt8] = []
        for pixel in 0..<(48 * 32) {
            samples += [UInt8(pixel % 48 * 5), UInt8(pixel / 48 * 7), 128]
        }
        let picture = Picture(width: 48, height: 32, form: .colour, samples: samples)
        #expect(try #require(Picture(picture.jpeg()).distance(to: picture)) <= 12)
    }

    /// A PNG of 3 x 2 pixels is turned in each of the eight ways, and a JPEG by the same number.
    @Test(arguments: 1...8, [false, true])
    func photosAreTurnedUpright(orientation: Int, isLittle: Bool) throws {
        let picture = PictureFiles.gradient(3, 2, .grey)
        let png = try TIFF.insert(orientation: orientation, isLittle, inPNG: picture.png())
        let turned = try Picture(png)
        let samples = picture.samples
        let expected: [[Int]] =
            switch orientation {
            case 1: [[0, 1, 2], [3, 4, 5]]
            case 2: [[2, 1, 0], [5, 4, 3]]
            case 3: [[5, 4, 3], [2, 1, 0]]
            case 4: [[3, 4, 5], [0, 1, 2]]
            case 5: [[0, 3], [1, 4], [2, 5]]
            case 6: [[3, 0], [4, 1], [5, 2]]
            case 7: [[5, 2], [4, 1], [3, 0]]
            default: [[2, 5], [1, 4], [0, 3]]
            }
        #expect((turned.width, turned.height) == (expected[0].count, expected.count))
        #expect(turned.samples == expected.flatMap { $0.map { samples[$0] } })

        let plain = try PictureFiles.bytes("baseline.jpg")
        let jpeg = TIFF.insert(orientation: orientation, isLittle, inJPEG: plain)
        let (upright, before) = (try Picture(jpeg), try Picture(plain))
        #expect((upright.width == before.height) == (orientation > 4))
        #expect(upright.samples.count == before.samples.count)
    }

    /// What a file says wrongly about its orientation is no reason to refuse it.
    @Test func brokenOrientationsAreIgnored() throws {
        let plain = try PictureFiles.bytes("baseline.jpg")
        let expected = try Picture(plain)
        for orientation in [0, 9, 255, 65_535] {
            let jpeg = TIFF.insert(orientation: orientation, true, inJPEG: plain)
            #expect(try Picture(jpeg) == expected)
        }
        let whole = TIFF.bytes(orientation: 6, true)
        for count in 0..<whole.count {
            let segment = TIFF.segment(Array(whole.prefix(count)))
            let jpeg = plain.prefix(2) + segment + plain.dropFirst(2)
            #expect(throws: Never.self) { try Picture(Array(jpeg)) }
        }
        for place in 0..<whole.count {
            for byte: UInt8 in [0, 0xff] {
                var bytes = whole
                bytes[place] = byte
                let jpeg = plain.prefix(2) + TIFF.segment(bytes) + plain.dropFirst(2)
                #expect(throws: Never.self) { try Picture(Array(jpeg)) }
            }
        }
    }
}

/// Orientations as EXIF writes them, in a directory of one entry.
enum TIFF {
    static func bytes(orientation: Int, _ isLittle: Bool) -> [UInt8] {
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            return isLittle ? bytes : bytes.reversed()
        }
        let head = isLittle ? Array("II*\0".utf8) : Array("MM\0*".utf8)
        let entry = number(274, 2) + number(3, 2) + number(1, 4) + number(orientation, 2) + [0, 0]
        return head + number(8, 4) + number(1, 2) + entry + number(0, 4)
    }

    static func segment(_ tiff: [UInt8]) -> [UInt8] {
        let content = Array("Exif\0\0".utf8) + tiff
        return [0xff, 0xe1, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 255)]
            + content
    }

    static func insert(orientation: Int, _ isLittle: Bool, inJPEG jpeg: [UInt8]) -> [UInt8] {
        jpeg.prefix(2) + segment(bytes(orientation: orientation, isLittle)) + jpeg.dropFirst(2)
    }

    /// After the first chunk, which has 25 bytes.
    static func insert(
        orientation: Int,
        _ isLittle: Bool,
        inPNG png: [UInt8]
    ) throws -> [UInt8] {
        png.prefix(33) + PNGChunk.bytes("eXIf", bytes(orientation: orientation, isLittle))
            + png.dropFirst(33)
    }
}

enum PNGChunk {
    static func bytes(_ kind: String, _ content: [UInt8]) -> [UInt8] {
        let body = Array(kind.utf8) + content
        return number(UInt32(content.count)) + body + number(checksum(body))
    }

    static func number(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }

    /// CRC-32 as in ISO 3309, bit by bit.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var crc = UInt32.max
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0xedb8_8320 }
        }
        return ~crc
    }
}
