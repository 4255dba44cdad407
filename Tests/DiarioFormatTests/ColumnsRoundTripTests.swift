import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioSchema
import Testing

/// S1 of schema/format/segments.md: every row comes back as it was.
@Suite struct ColumnsRoundTripTests {
    @Test(arguments: UInt64(0)..<24) func everyRowComesBack(seed: UInt64) throws {
        let sample = try ColumnsSample(seed: seed, count: 1 + Int(seed) * 17)
        let sealed = try sample.seal()
        #expect(try sealed.rows(sample.types) == sample.rows)
    }

    @Test(arguments: UInt64(100)..<104) func pendingRowsComeBack(seed: UInt64) throws {
        let sample = try ColumnsSample(seed: seed, count: 150, isPositioned: false)
        let sealed = try sample.seal()
        #expect(try sealed.rows(sample.types) == sample.rows)
    }

    /// A plan of other events makes a larger segment, never a wrong one.
    @Test(arguments: UInt64(200)..<206) func anyPlanGivesTheSameRows(seed: UInt64) throws {
        var plan = SegmentPlan()
        _ = try ColumnsSample(seed: seed, count: 300).seal(&plan)
        // The same types with other values.
        var sample = try ColumnsSample(seed: seed, count: 400)
        sample.rows.removeFirst(250)
        sample.saltNodes = []
        let sealed = try sample.seal(&plan)
        #expect(try sealed.rows(sample.types) == sample.rows)
    }

    @Test(arguments: UInt64(300)..<306) func erasedRowsKeepTheirCommitment(seed: UInt64) throws {
        var sample = try ColumnsSample(seed: seed, count: 200)
        let before = try sample.seal()
        sample.erase { $0 % 3 != 0 }
        let after = try sample.seal()
        #expect(try after.rows(sample.types) == sample.rows)
        // S2: what is erased leaves no trace in the segment.
        #expect(after.segment == before.segment)
    }

    @Test func theSaltsComeBack() throws {
        for seed in UInt64(400)..<408 {
            let sample = try ColumnsSample(seed: seed, count: 20)
            var reader = try sample.seal().reader()
            #expect(try reader.saltNodes() == sample.saltNodes)
        }
    }
}
