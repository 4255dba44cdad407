import DiarioPictures
import Testing

@Suite struct NetpbmTests {
    private func picture(_ text: String, _ bytes: [UInt8] = []) throws -> Picture {
        try Picture(Array(text.utf8) + bytes)
    }

    @Test func allFourFormsAreRead() throws {
        let grey = Picture(width: 3, height: 2, form: .grey, samples: [0, 128, 255, 1, 2, 3])
        #expect(try picture("P2\n3 2\n255\n0 128 255\n1 2 3\n") == grey)
        #expect(try picture("P2 3 2 255 0 128 255 1 2 3") == grey)
        #expect(try picture("P5\n3 2\n255\n", grey.samples) == grey)
        let colour = Picture(width: 2, height: 1, form: .colour, samples: [0, 128, 255, 1, 2, 3])
        #expect(try picture("P3\n2 1\n255\n0 128 255\n1 2 3\n") == colour)
        #expect(try picture("P6\n2 1\n255\n", colour.samples) == colour)
    }

    @Test func commentsAndBlanksAreSkipped() throws {
        let grey = Picture(width: 2, height: 1, form: .grey, samples: [7, 35])
        #expect(try picture("P5# of a robot\n#2 9\n 2\t\r\n1#\n255 ", [7, 35]) == grey)
        #expect(try picture("P2\n2 1 # wide\n255\n7 # 8\n35\n") == grey)
        // A sample that looks like a comment or a blank is a sample.
        #expect(try picture("P5 2 1 255\n", [0x23, 0x0a]).samples == [0x23, 0x0a])
    }

    @Test func otherMaximaAreRounded() throws {
        #expect(try picture("P2 4 1 1000 0 2 500 1000").samples == [0, 1, 128, 255])
        #expect(try picture("P2 2 1 1 0 1").samples == [0, 255])
        #expect(
            try picture("P5 3 1 65535\n", [0, 0, 0x80, 0, 0xff, 0xff]).samples == [0, 128, 255]
        )
        #expect(try picture("P6 1 1 300\n", [0, 0, 0, 150, 1, 44]).samples == [0, 128, 255])
    }

    @Test(arguments: [
        "P5", "P5 2", "P5 2 1", "P5 2 1 255", "P5 2 1 255\n", "P5 2 1 255\n1", "P2 2 1 255 1",
        "P2 2 1 255 1 256", "P2 2 1 255 1 -1", "P2 2 1 255 1 x", "P5 0 1 255\n", "P5 1 0 255\n",
        "P5 1 1 0\n1", "P5 1 1 65536\n11", "P52 1 255\n11", "P5 2x1 255\n11", "P5 2 1 255#\n",
        "P2 1 1 99999999999999999999 1", "P6 1 1 300\n\u{1}\u{0}\u{0}\u{0}\u{0}",
        "P2 2 1 255 12345",
        "P6 1 1 300\n\u{7f}\u{0}\u{0}\u{0}\u{0}\u{0}", "P2 #",
    ])
    func wrongFilesAreDamaged(text: String) {
        let error = #expect(throws: PictureError.self) { try picture(text) }
        guard case .damaged = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    /// What follows is another picture, or nothing.
    @Test func moreBytesAreIgnored() throws {
        #expect(try picture("P5 1 1 255\n\u{7}P5 1 1 255\n").samples == [7])
    }
}
