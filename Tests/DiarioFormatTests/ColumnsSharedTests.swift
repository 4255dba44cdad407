import DiarioCore
import DiarioFormat
import DiarioSchema
import Testing

/// Columns of several types: schema/format/segments.md, section 7.
@Suite struct ColumnsSharedTests {
    private typealias Sample = ColumnsSharedSample

    @Test(arguments: [0, 50, 90, 100], UInt64(0)..<4)
    func everyRowComesBack(sameCount: Int, seed: UInt64) throws {
        let made = try Sample(seed: seed, count: 8 + Int(seed) * 130, sameCount: sameCount)
        let sealed = try made.sample.seal()
        #expect(try sealed.rows(made.sample.types) == made.sample.rows)
    }

    /// A plan that knows the column, and one that was made of other rows.
    @Test(arguments: UInt64(10)..<14) func anyPlanGivesTheSameRows(seed: UInt64) throws {
        var plan = SegmentPlan()
        let first = try Sample(seed: seed, count: 400)
        let second = try Sample(seed: seed &+ 100, count: 300, sameCount: 10)
        for made in [first, second, first] {
            let sealed = try made.sample.seal(&plan)
            #expect(try sealed.rows(made.sample.types) == made.sample.rows)
        }
    }

    @Test func whatComesAgainTakesNextToNothing() throws {
        let sealed = try Sample(seed: 3, count: 2000, sameCount: 100).sample.seal()
        let reader = try sealed.reader()
        let shared = try #require(reader.index.block(.shared))
        #expect(reader.index.blocks[shared].rowCount == 1500)
        #expect(reader.index.block(.shared, key: 1) == nil)
        // Sixty points of 16 bytes, 500 choices of one of them, and a bit for each event.
        #expect(reader.index.blocks[shared].storedSize < 60 * 16 + 500 + 1500 / 8 + 100)
        // Depths and whether they are there, and no points.
        let left = try #require(reader.index.fieldBlocks(ofType: Sample.left).first)
        #expect(reader.index.blocks[left].storedSize < 500 / 8 + 250 + 50)
    }

    /// A type alone, or subjects that hardly come again, have nothing to share.
    @Test func whatIsNotSharedHasNoBlock() throws {
        var alone = try Sample(seed: 4, count: 200).sample
        alone.rows.removeAll { $0.type == Sample.left || $0.type == Sample.measured }
        let sealed = try alone.seal()
        #expect(try sealed.reader().index.block(.shared) == nil)
        #expect(try sealed.rows(alone.types) == alone.rows)
        let few = try Sample(seed: 4, count: 4, sameCount: 0).sample.seal()
        #expect(try few.reader().index.block(.shared) == nil)
    }

    /// One type is read without the blocks of the others.
    @Test func oneTypeNeedsTheSharedBlockAndItsOwn() throws {
        let made = try Sample(seed: 5, count: 400)
        var reader = try made.sample.seal().reader()
        for type in [Sample.left, Sample.measured] {
            let before = reader.blocksRead
            let columns = try #require(try reader.fields(ofType: type).first)
            // Schemas, types, origins, the shared block and the type's own; then its own alone.
            #expect(reader.blocksRead - before == (type == Sample.left ? 5 : 1))
            let subject = try #require(made.sample.types[type].subjectFieldIndex)
            let column = try #require(columns.columns.first { $0.field == subject })
            guard case .texts(let texts) = column.values else {
                Issue.record("points are texts")
                return
            }
            #expect(texts.count == 100)
            for index in 0..<texts.count {
                let text = texts[index]
                #expect(try reader.mayContain(text, type: type))
            }
        }
    }

    /// What stands in front of a shared column and of a block that uses it, changed.
    @Test(arguments: 0..<12) func wrongReferencesAreRefused(number: Int) throws {
        let made = try Sample(seed: 6, count: 400)
        var sealed = try made.sample.seal()
        #expect(try Self.readLeft(sealed) == 100)
        let index = try sealed.reader().index
        let shared = index.blocks[try #require(index.block(.shared))].offset
        let fields = index.blocks[try #require(index.fieldBlocks(ofType: Sample.left).first)].offset
        // Three types, then `dictionary`; needs, no pools, one shared block: number 0.
        try #require(Array(sealed.segment[shared..<shared + 5]) == [3, 0, 1, 2, 2])
        try #require(sealed.segment[fields] & 32 == 32)
        try #require(Array(sealed.segment[fields + 1..<fields + 4]) == [0, 1, 0])
        let changes: [(offset: Int, bytes: [UInt8])] = [
            (shared, [0]),  // no type
            (shared, [2]),  // fewer types than values
            (shared, [4]),  // the method as a type
            (shared + 1, [1, 0]),  // not ascending
            (shared + 2, [1, 1]),  // a type twice
            (shared + 3, [100]),  // a type that the segment does not have
            (shared + 2, [2, 3]),  // a type with as many events, and no longer that of the block
            (shared + 4, [1]),  // a method without indices
            (shared + 4, [5]),  // a shared column of a shared column
            (fields + 3, [1]),  // another shared block
            (fields + 2, [0]),  // none
            (fields, [0]),  // no need of one
        ]
        let change = changes[number]
        sealed.segment.replaceSubrange(
            change.offset..<change.offset + change.bytes.count,
            with: change.bytes
        )
        #expect(throws: SegmentError.self) { try Self.readLeft(sealed) }
    }

    /// A shared column is one of strings, and not of other fields that are texts.
    @Test func aFieldOfAnotherKindIsRefused() throws {
        let made = try Sample(seed: 7, count: 400, hasDepths: false)
        var sealed = try made.sample.seal()
        let index = try sealed.reader().index
        let block = index.blocks[try #require(index.fieldBlocks(ofType: Sample.left).first)]
        // Behind four bytes of needs, notes and depths are absent, and points, which are last, are
        // present in all rows, by a shared block, which is number 0.
        let start = block.offset + 4
        try #require(
            Array(sealed.segment[start...].prefix(block.storedSize - 4)) == [0, 0, 1, 5, 0]
        )
        // Now the notes are those texts, and depths and points are absent.
        sealed.segment.replaceSubrange(start..<start + 5, with: [1, 5, 0, 0, 0])
        do throws(SegmentError) {
            _ = try Self.readLeft(sealed)
            Issue.record("an array is no shared text")
        } catch {
            guard case .fault(let fault) = error else { throw error }
            #expect(fault.offset == block.offset + 5 && fault.reason == .malformed(.body, at: 5))
        }
    }

    /// How many rows of the second type a reader gets that does not look at checksums.
    private static func readLeft(_ sealed: SealedSegment) throws(SegmentError) -> Int {
        var reader = try SegmentReader(
            SegmentMemory(.segment, sealed.segment),
            sidecar: nil,
            checksums: .ignored
        )
        var count = 0
        for block in try reader.fields(ofType: Sample.left) { count += block.rowCount }
        return count
    }
}
