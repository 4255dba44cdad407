import DiarioCore
import DiarioFormat
import DiarioSchema
import Testing

/// Some rows of a segment, without those around them.
@Suite struct ColumnsPartTests {
    @Test(arguments: UInt64(0)..<4) func rowsOfAllPacksAreTheSame(seed: UInt64) throws {
        let made = try ColumnsPackSample(seed: seed &+ 800, count: 1500)
        try check(made.sample, seed: seed)
    }

    /// Batches, gaps, authorities, other numbers, and rows whose personal part is gone.
    @Test(arguments: UInt64(0)..<8) func rowsOfAnyKindAreTheSame(seed: UInt64) throws {
        var sample = try ColumnsSample(seed: seed &+ 700, count: 100 + Int(seed) * 90)
        if seed % 2 == 1 { sample.erase { $0 % 5 == 0 } }
        try check(sample, seed: seed)
    }

    @Test func pendingRowsAreTheSame() throws {
        try check(try ColumnsSample(seed: 710, count: 300, isPositioned: false), seed: 1)
    }

    @Test(arguments: [0, 50, 100]) func sharedColumnsAreTheSame(sameCount: Int) throws {
        let made = try ColumnsSharedSample(seed: 9, count: 700, sameCount: sameCount)
        try check(made.sample, seed: 2)
    }

    /// Blocks that no wanted row is in are not read.
    @Test func otherTypesAreLeftAlone() throws {
        let made = try ColumnsPackSample(seed: 820, count: 1000)
        let sealed = try made.sample.seal()
        var reader = try sealed.reader()
        let typeCount = reader.index.types.count
        reader.want(500..<501)
        var rows = try SegmentRows(reader)
        _ = try rows.next()
        // The envelope, schemas, pools and shared columns, and two blocks of the row itself.
        let blocks = rows.reader.index.blocks
        let fieldsCount = blocks.count { $0.kind == SegmentBlockKind.fields.rawValue }
        #expect(typeCount > 10 && fieldsCount >= typeCount)
        #expect(rows.reader.blocksRead <= blocks.count - fieldsCount + 4)
        #expect(try rows.next() == nil)
    }

    /// Personal columns that are predicted from public ones do not have those read again.
    @Test(arguments: [0..<1000, 100..<900, 400..<656]) func noBlockIsReadTwice(
        wanted: Range<Int>
    ) throws {
        let made = try ColumnsPackSample(seed: 830, count: 1000)
        var reader = try made.sample.seal().reader()
        // Filters and salts are not asked for.
        let filters = reader.index.blocks.filter { $0.kind == SegmentBlockKind.filter.rawValue }
        let salts = reader.sidecarBlocks.filter { $0.kind == SidecarBlockKind.salts.rawValue }
        let most =
            reader.index.blocks.count - filters.count + reader.sidecarBlocks.count - salts.count
        reader.want(wanted)
        var rows = try SegmentRows(reader)
        var count = 0
        while try rows.next() != nil { count += 1 }
        #expect(count == wanted.count)
        #expect(rows.reader.blocksRead <= most)
    }

    private func check(_ sample: ColumnsSample, seed: UInt64) throws {
        let sealed = try sample.seal()
        let count = sample.rows.count
        var random = SeededRandom(seed: seed)
        var ranges = [0..<count, 0..<1, count - 1..<count, count / 2..<count / 2]
        for _ in 0..<12 {
            let start = random.below(count)
            let most = random.oneIn(2) ? 10 : count
            ranges.append(start..<start + 1 + random.below(min(most, count - start)))
        }
        for range in ranges {
            let rows = try sealed.rows(sample.types, of: range)
            #expect(rows == Array(sample.rows[range]), "events \(range)")
        }
        // A range within the wanted ones, and one that was passed already.
        var reader = try sealed.reader()
        let wanted = count / 4..<count * 3 / 4
        reader.want(wanted)
        var rows = try SegmentRows(reader)
        for _ in 0..<6 {
            let start = wanted.lowerBound + random.below(wanted.count)
            for row in try rows.rows(in: start..<wanted.upperBound) {
                let publicPart = Array(rows.bytes[row.event.publicPart])
                #expect(publicPart == sample.rows[row.index].publicPart)
            }
        }
    }
}
