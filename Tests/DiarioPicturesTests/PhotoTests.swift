import DiarioPictures
import Testing

@Suite struct PhotoTests {
    /// The marks of the segments of a JPEG, up to its pixels.
    private func segments(_ bytes: [UInt8]) -> [UInt8] {
        var (marks, offset): ([UInt8], Int) = ([], 2)
        while offset + 4 <= bytes.count, bytes[offset] == 0xff {
            marks.append(bytes[offset + 1])
            guard bytes[offset + 1] != 0xda else { break }
            offset += 2 + Int(bytes[offset + 2]) << 8 + Int(bytes[offset + 3])
        }
        return marks
    }

    private func chunks(_ bytes: [UInt8]) -> [String] {
        var (names, offset): ([String], Int) = ([], 8)
        while offset + 8 <= bytes.count {
            let size = bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
            names.append(String(decoding: bytes[(offset + 4)..<(offset + 8)], as: UTF8.self))
            offset += 12 + size
        }
        return names
    }

    private func has(_ bytes: [UInt8], _ text: String) -> Bool {
        bytes.firstRange(of: Array(text.utf8)) != nil
    }

    @Test func nothingButPixelsIsLeftOfAPhoto() throws {
        let bytes = try PictureFiles.bytes("photo.jpg")
        #expect(has(bytes, "Model 9") && has(bytes, "taken at home") && has(bytes, "ICC_PROFILE"))
        let photo = try Photo.rewritten(bytes)
        #expect(photo.type == .jpeg && (photo.width, photo.height) == (24, 40))
        // JFIF, quantization, frame, Huffman codes, scan.
        #expect(Set(segments(photo.bytes)) == [0xe0, 0xdb, 0xc0, 0xc4, 0xda])
        for text in ["Exif", "Model 9", "taken at home", "ICC_PROFILE"] {
            #expect(!has(photo.bytes, text))
        }
        let again = try Picture(photo.bytes)
        #expect(try #require(again.distance(to: Picture(bytes))) <= 16)
    }

    @Test func nothingButPixelsIsLeftOfAPNG() throws {
        let bytes = try PictureFiles.bytes("turned.png")
        #expect(chunks(bytes).contains("eXIf") && chunks(bytes).contains("tEXt"))
        let photo = try Photo.rewritten(bytes)
        #expect(photo.type == .png && (photo.width, photo.height) == (7, 13))
        #expect(chunks(photo.bytes) == ["IHDR", "IDAT", "IEND"])
        #expect(try Picture(photo.bytes) == Picture(bytes))
    }

    @Test func otherPicturesBecomePNG() throws {
        let photo = try Photo.rewritten(Array("P2 2 1 255 7 9".utf8))
        #expect(photo.type == .png && (photo.width, photo.height) == (2, 1))
        #expect(try Picture(photo.bytes).samples == [7, 9])
    }

    @Test(arguments: PictureFiles.exact + PictureFiles.near)
    func whatIsReadIsRewritten(name: String) throws {
        let bytes = try PictureFiles.bytes(name)
        let (photo, picture) = (try Photo.rewritten(bytes), try Picture(bytes))
        #expect((photo.width, photo.height) == (picture.width, picture.height))
        #expect(try Picture(photo.bytes).form == picture.form)
    }
}
