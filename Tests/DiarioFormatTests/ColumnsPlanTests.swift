import DiarioCore
import DiarioFormat
import DiarioSchema
import Testing

/// One plan for the segments of all spaces: what was found for one serves the others.
@Suite struct ColumnsPlanTests {
    private static let spaces: [UInt64] = [900, 901, 902]

    /// Two cuts of each space in turn: searches are those of the first ones.
    @Test func spacesInTurnAreNotSearchedAgain() throws {
        let made = try Self.spaces.map { try ColumnsPackSample(seed: $0, count: 1000) }
        var plan = SegmentPlan()
        for space in made { _ = try space.cut(0..<500).seal(&plan) }
        let first = plan.searchCount
        for space in made { _ = try space.cut(500..<1000).seal(&plan) }
        #expect(first > 100 && (plan.searchCount - first) * 5 < first)
    }

    /// Bytes by one plan, against a plan for each space.
    @Test func aSharedPlanCostsFewBytes() throws {
        var (shared, own) = (0, 0)
        let made = try Self.spaces.map { try ColumnsPackSample(seed: $0, count: 1000) }
        var plan = SegmentPlan()
        for range in [0..<100, 100..<1000] {
            for space in made { shared += try space.cut(range).seal(&plan).segment.count }
        }
        for space in made {
            var plan = SegmentPlan()
            for range in [0..<100, 100..<1000] {
                own += try space.cut(range).seal(&plan).segment.count
            }
        }
        #expect(shared * 100 <= own * 102)
    }

    /// What was learned of a few events is not held on to.
    @Test func aPlanOfFewIsOutgrown() throws {
        let made = try ColumnsPackSample(seed: 903, count: 2000)
        var plan = SegmentPlan()
        _ = try made.cut(0..<40).seal(&plan)
        let late = try made.sample.seal(&plan).segment.count
        #expect(late * 100 <= (try made.sample.seal().segment.count) * 102)
    }

    /// A space of one replica and one of many have one plan in turn.
    @Test(arguments: UInt64(0)..<3) func rowsAreTheSameByAnyPlan(seed: UInt64) throws {
        var plan = SegmentPlan()
        let many = try ColumnsPackSample(seed: seed &+ 910, count: 300).sample
        let pending = try ColumnsSample(seed: seed &+ 920, count: 300, isPositioned: false)
        for _ in 0..<2 {
            for sample in [many, pending] {
                #expect(try sample.seal(&plan).rows(sample.types) == sample.rows)
            }
        }
    }
}
