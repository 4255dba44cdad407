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
        let index = try sealed.reader().index
        let pool = index.blocks[try #require(index.block(.pool))]
        // Sixty points of 16 bytes, 500 choices of one of them, and a bit for each event.
        #expect(pool.rowCount == 60 && pool.storedSize < 60 * 18 + 500 + 1500 / 8 + 100)
        // Depths and whether they are there, and no points.
        let left = try #require(index.fieldBlocks(ofType: Sample.left).first)
        #expect(index.blocks[left].storedSize < 500)
    }

    /// A type alone, or subjects that hardly come again, have nothing to share.
    @Test func whatIsNotSharedHasNoPool() throws {
        var alone = try Sample(seed: 4, count: 200).sample
        alone.rows.removeAll { $0.type == Sample.left || $0.type == Sample.measured }
        let sealed = try alone.seal()
        #expect(try sealed.reader().index.block(.pool) == nil)
        #expect(try sealed.rows(alone.types) == alone.rows)
        let few = try Sample(seed: 4, count: 4, sameCount: 0).sample.seal()
        #expect(try few.reader().index.block(.pool) == nil)
    }

    /// What stands in front of a shared column and of a block that uses it, changed.
    @Test(arguments: 0..<9) func wrongReferencesAreRefused(number: Int) throws {
        let made = try Sample(seed: 6, count: 400, hasDepths: false)
        var sealed = try made.sample.seal()
        #expect(try Self.readLeft(sealed) == 100)
        let index = try sealed.reader().index
        let pool = index.blocks[try #require(index.block(.pool))].offset
        let fields = index.blocks[try #require(index.fieldBlocks(ofType: Sample.left).first)].offset
        // Three types, then texts as bytes; no notes, no depths, all points by pool 0.
        try #require(Array(sealed.segment[pool..<pool + 5]) == [3, 0, 1, 2, 1])
        try #require(Array(sealed.segment[fields..<fields + 5]) == [0, 0, 1, 4, 0])
        let changes: [(offset: Int, bytes: [UInt8])] = [
            (pool, [0]),  // no type
            (pool, [2]),  // fewer types than values
            (pool + 1, [1, 0]),  // not ascending
            (pool + 2, [1, 1]),  // a type twice
            (pool + 3, [100]),  // a type that the segment does not have
            (pool + 2, [2, 3]),  // a type with as many events, and no longer that of the block
            (pool + 4, [9]),  // a form that there is not
            (fields + 4, [1]),  // another pool
            (fields, [1, 4, 0, 0, 0]),  // a field that is an array
        ]
        let change = changes[number]
        sealed.segment.replaceSubrange(
            change.offset..<change.offset + change.bytes.count,
            with: change.bytes
        )
        #expect(throws: SegmentError.self) { try Self.readLeft(sealed) }
    }

    /// How many rows of the second type a reader gets that does not look at checksums.
    private static func readLeft(_ sealed: SealedSegment) throws(SegmentError) -> Int {
        var reader = try SegmentReader(
            SegmentMemory(.segment, sealed.segment),
            sidecar: nil,
            checksums: .ignored
        )
        var count = 0
        for block in reader.index.fieldBlocks(ofType: Sample.left) {
            count += try reader.fields(inBlock: block).rowCount
        }
        return count
    }
}
