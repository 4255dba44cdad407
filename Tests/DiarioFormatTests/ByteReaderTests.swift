import DiarioCore
import DiarioFormat
import Testing

@Suite struct ByteReaderTests {
    private func varint(_ bytes: [UInt8]) throws(FormatError) -> UInt64 {
        var reader = ByteReader(bytes.span.raw)
        let value = try reader.nextVarint()
        guard reader.isAtEnd else { throw .trailingBytes(at: reader.offset) }
        return value
    }

    /// Each width's first and last value, and what lies beside them.
    private var edges: [UInt64] {
        var edges: [UInt64] = []
        for bit in 0...63 {
            let power = UInt64(1) << bit
            edges += [power - 1, power, power + 1]
        }
        return edges + [.max - 1, .max]
    }

    @Test func varintsAreReadAsTheyWereWritten() throws {
        for value in edges {
            var bytes: [UInt8] = []
            bytes.append(varint: value)
            #expect(bytes.count == Varint.size(value))
            #expect(try varint(bytes) == value)
            for end in 0..<bytes.count {
                #expect(throws: FormatError.truncated(at: end)) {
                    try varint(Array(bytes[..<end]))
                }
            }
        }
    }

    @Test func zigzagsAreReadAsTheyWereWritten() throws {
        for value in edges.flatMap({ [Int64(bitPattern: $0), -Int64(bitPattern: $0 >> 1)] }) {
            var bytes: [UInt8] = []
            bytes.append(zigzag: value)
            var reader = ByteReader(bytes.span.raw)
            #expect(try reader.nextZigzag() == value)
        }
        #expect(Varint.zigzag(-1) == 1)
        #expect(Varint.zigzag(1) == 2)
        #expect(Varint.zigzag(.min) == .max)
    }

    @Test func aVarintHasOneForm() {
        let malformed = FormatError.malformed(.varint, at: 0)
        #expect(throws: malformed) { try varint([0x80, 0x00]) }
        #expect(throws: malformed) { try varint([0xff, 0x80, 0x00]) }
        let tenth = [UInt8](repeating: 0xff, count: 9)
        #expect(throws: malformed) { try varint(tenth + [0x02]) }
        #expect(throws: malformed) { try varint(tenth + [0x81, 0x01]) }
        #expect(throws: malformed) { try varint(tenth + [0x00]) }
        #expect(throws: Never.self) { try varint(tenth + [0x01]) }
    }

    @Test func integersAreLittleEndian() throws {
        let bytes: [UInt8] = [1, 2, 0, 3, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0]
        var reader = ByteReader(bytes.span.raw)
        #expect(try reader.next(UInt8.self) == 1)
        #expect(try reader.next(UInt16.self) == 2)
        #expect(try reader.next(UInt32.self) == 3)
        #expect(try reader.next(UInt64.self) == 4)
        let rest = reader.remaining
        #expect(rest == 0)
        #expect((try? reader.next(UInt8.self)) == nil)
    }

    @Test func aReaderOfARangeStopsAtItsEnd() throws {
        let bytes: [UInt8] = [1, 2, 3, 4]
        var reader = ByteReader(bytes.span.raw, range: 1..<3)
        #expect(try reader.nextRange(count: 2) == 1..<3)
        let rest = reader.remaining
        #expect(rest == 0)
        var short = ByteReader(bytes.span.raw, range: 1..<3)
        #expect((try? short.nextRange(count: 3)) == nil)
        #expect((try? short.nextRange(count: -1)) == nil)
    }

    @Test func aLengthBeyondTheEndIsRefused() {
        for size in [UInt64(3), 1 << 31, 1 << 63, .max] {
            var bytes: [UInt8] = []
            bytes.append(varint: size)
            bytes += [0x61, 0x62]
            var reader = ByteReader(bytes.span.raw)
            #expect((try? reader.nextBytes()) == nil)
        }
    }

    /// The standard library decides what is valid; U+0000 is refused besides.
    @Test(arguments: UInt64(0)..<16) func textIsUTF8WithoutZero(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let starts: [[UInt8]] = [
            [], Array("abcdefgh".utf8), Array("ab\u{e9}\u{20ac}".utf8), Array("\u{1f600}".utf8),
        ]
        let leads: [UInt8] = [
            0x00, 0x41, 0x7f, 0x80, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xed, 0xef, 0xf0,
            0xf1, 0xf4, 0xf5, 0xff, 0x9f, 0xa0, 0x8f, 0x90,
        ]
        for _ in 0..<2_000 {
            var bytes = starts[random.below(starts.count)]
            for _ in 0..<random.below(5) { bytes.append(leads[random.below(leads.count)]) }
            if random.oneIn(2) { bytes += Array("tail of ascii".utf8) }
            let isValid = String(validating: bytes, as: UTF8.self) != nil && !bytes.contains(0)
            let isTaken = Text.isValid(bytes.span.raw, 0..<bytes.count)
            #expect(isTaken == isValid, "\(bytes)")
        }
    }

    @Test func anOriginHasTheTextThatItShows() throws {
        var random = SeededRandom(seed: 9)
        var sequences: [UInt64] = [1, 9, 10, 99, 100, 12_345_678_901_234_567_890, .max]
        for _ in 0..<100 { sequences.append(random.next() >> UInt64(random.below(63)) | 1) }
        for sequence in sequences {
            let replica = try #require(ReplicaID(rawValue: random.next() | 1))
            let origin = Origin(replica: replica, sequence: sequence)
            let bytes = OriginText.bytes(origin)
            #expect(String(decoding: bytes, as: UTF8.self) == origin.text)
            let other = Origin(replica: replica, sequence: sequence ^ 1)
            let matches = [origin, other].map {
                OriginText.matches($0, bytes.span, 0..<bytes.count)
            }
            #expect(matches == [true, false])
        }
    }
}
