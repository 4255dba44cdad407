import DiarioCore
import DiarioFormat
import DiarioTestSupport
import Testing

/// Blocks of the log whose rows alone are compressed.
@Suite struct CondensedBlockTests {
    struct Vectors: Codable {
        var comment: String
        var condensed: [Condensed]
        var corrupt: [Corrupt]
    }

    struct Condensed: Codable {
        var shows: String
        var block: String
        var expanded: String
    }

    struct Corrupt: Codable {
        var shows: String
        var block: String
        var failure: String
    }

    private static let comment = """
        schema/format/log.md, section 6. condensed: blocks of the log whose rows are compressed, \
        and the same as they were before. corrupt: blocks that a reader refuses, with the failure \
        that this program gives; the checksum fits. Bytes are hexadecimal.
        """

    private static func condense(_ block: [UInt8]) throws -> [UInt8] {
        var condenser = try BlockCondenser()
        var output: [UInt8] = []
        try condenser.condense(block.span, into: &output)
        return output
    }

    private static func expand(_ block: [UInt8]) throws(FormatError) -> [UInt8] {
        var expander = try BlockExpander()
        var output: [UInt8] = []
        try expander.expand(block.span, into: &output)
        return output
    }

    private static func failure(of block: [UInt8]) -> String? {
        do throws(FormatError) {
            let plain = try expand(block)
            _ = try Block.check(plain.span)
            return nil
        } catch {
            return switch error {
            case .malformed(let part, _): "malformed: \(part.rawValue)"
            case .compression: "compression"
            default: "another: \(error.message)"
            }
        }
    }

    /// Condensed blocks with one thing wrong each.
    private static func corrupt() throws -> [(shows: String, block: [UInt8])] {
        let plain = try SampleBlocks().repetitive()
        let condensed = try condense(plain)
        let head = try BlockSummary.parseStored(condensed.span, verifyChecksum: true).rowsOffset
        var raw = try RawBlock(plain)
        raw.compression = 2
        func stored(_ rows: some Sequence<UInt8>) -> [UInt8] {
            raw.bytes(storedBody: condensed[BlockHeader.size..<head] + Array(rows))
        }
        let rows = condensed[head...]
        var examples = [
            ("rows that are not zstd", stored([0x29] + rows.dropFirst())),
            ("rows that are cut", stored(rows.dropLast())),
            ("no rows", stored([])),
        ]
        raw.bodySize = UInt32(raw.body.count + 1)
        examples.append(("rows of another size", stored(rows)))
        raw.bodySize = UInt32(raw.body.count)
        raw.flags |= 4
        examples.append(("an authority's block", stored(rows)))
        raw.flags = 0
        examples.append(("a block without positions", stored(rows)))
        return examples
    }

    private func makeVectors() throws -> Vectors {
        let plain = try SampleBlocks().repetitive()
        return Vectors(
            comment: Self.comment,
            condensed: [
                Condensed(
                    shows: "rows that zstd makes smaller",
                    block: Hex.text(try Self.condense(plain)),
                    expanded: Hex.text(plain)
                )
            ],
            corrupt: try Self.corrupt().map { shows, block in
                Corrupt(
                    shows: shows,
                    block: Hex.text(block),
                    failure: Self.failure(of: block) ?? "none"
                )
            }
        )
    }

    @Test func condensedBlocksMatchTheVectors() throws {
        let vectors = try VectorFile.load("blocks-2.json", make: makeVectors)
        #expect(vectors.condensed.count == 1)
        for example in vectors.condensed {
            #expect(try Hex.text(Self.expand(Hex.bytes(example.block))) == example.expanded)
        }
        #expect(vectors.corrupt.count == 6)
        for example in vectors.corrupt {
            #expect(try Self.failure(of: Hex.bytes(example.block)) == example.failure)
            #expect(example.failure != "none", "\(example.shows)")
        }
    }

    @Test func aCondensedBlockIsAsItWasOnceExpanded() throws {
        let plain = try SampleBlocks().repetitive()
        let condensed = try Self.condense(plain)
        #expect(condensed.count < plain.count)
        let marks = [Block.isCondensed(condensed.span), Block.isCondensed(plain.span)]
        #expect(marks == [true, false])
        #expect(try Self.expand(condensed) == plain)
        #expect(try Self.expand(plain) == plain)
    }

    /// Recovery reads no more than that of a block.
    @Test func theHeadIsReadWithoutDecompressing() throws {
        let plain = try SampleBlocks().repetitive()
        let condensed = try Self.condense(plain)
        let before = try BlockSummary.parse(plain.span, verifyChecksum: true)
        let after = try BlockSummary.parseStored(condensed.span, verifyChecksum: true)
        #expect(after.isCondensed && !before.isCondensed)
        #expect(after.eventCount == before.eventCount)
        #expect(after.firstPosition == before.firstPosition)
        #expect(after.lastAcceptedAt == before.lastAcceptedAt)
        #expect(after.highestClock == before.highestClock)
        #expect(after.rowsOffset == before.rowsOffset)
        #expect(BlockVectorTests.failure(of: condensed) == "malformed: compression of a block")
    }

    @Test func rowsThatDoNotShrinkStayAsTheyAre() throws {
        let plain = try SampleBlocks().last()
        #expect(try Self.condense(plain) == plain)
    }

    @Test func everyDamagedByteIsFound() throws {
        let condensed = try Self.condense(try SampleBlocks().repetitive())
        for index in condensed.indices {
            for bit in 0..<8 {
                var flipped = condensed
                flipped[index] ^= 1 << UInt8(bit)
                #expect(Self.failure(of: flipped) != nil)
            }
        }
        for count in condensed.indices {
            #expect(Self.failure(of: Array(condensed[..<count])) != nil)
        }
    }
}
