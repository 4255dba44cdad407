import DiarioCore
import DiarioFormat
import DiarioSchema
import Testing

/// Events of every pack: sealed, they are what they were before, however they are cut.
@Suite struct ColumnsPackTests {
    @Test(arguments: UInt64(0)..<4) func anyCutGivesTheSameRows(seed: UInt64) throws {
        let made = try ColumnsPackSample(seed: seed, count: 1000)
        let rows = made.sample.rows
        var random = SeededRandom(seed: seed &+ 9)
        var plan = SegmentPlan()
        var found: [ColumnsSample.Row] = []
        var start = 0
        while start < rows.count {
            // From one event to all that are left.
            let most = random.oneIn(4) ? 3 : 700
            let end = min(rows.count, start + 1 + random.below(most))
            let sealed = try made.cut(start..<end).seal(&plan)
            found += try sealed.rows(made.sample.types)
            start = end
        }
        #expect(found == rows)
    }

    @Test(arguments: UInt64(0)..<4) func anyRangeGivesTheSameRows(seed: UInt64) throws {
        let made = try ColumnsPackSample(seed: seed &+ 50, count: 300)
        var random = SeededRandom(seed: seed)
        var rows = try SegmentRows(try made.sample.seal().reader())
        for _ in 0..<20 {
            let start = random.below(300)
            let range = start..<start + random.below(301 - start)
            for row in try rows.rows(in: range) {
                let publicPart = Array(rows.bytes[row.event.publicPart])
                #expect(publicPart == made.sample.rows[row.index].publicPart)
            }
        }
    }

    /// Blocks of types that no row asked for has are not read.
    @Test func otherTypesAreLeftAlone() throws {
        let made = try ColumnsPackSample(seed: 820, count: 1000)
        var rows = try SegmentRows(try made.sample.seal().reader())
        #expect(try rows.rows(in: 500..<501).count == 1)
        let blocks = rows.reader.index.blocks
        let fields = blocks.count { $0.kind == SegmentBlockKind.fields.rawValue }
        #expect(fields > 10 && rows.reader.blocksRead <= blocks.count - fields + 4)
    }

    /// From the first to the last event of a replica with some sequences.
    @Test func eventsOfAReplicaAreFound() throws {
        let made = try ColumnsPackSample(seed: 821, count: 300)
        var reader = try made.sample.seal().reader()
        let wanted = made.sample.rows[120]
        let found = try reader.events(wanted.sequence...wanted.sequence, of: wanted.replica)
        #expect(found == 120..<121)
        #expect(try reader.events(1 << 60...1 << 61, of: wanted.replica) == nil)
        #expect(try reader.events(1...2, of: try Fixtures.replica(99)) == nil)
    }

    /// B2 across segments: what came before is told apart by sequence and clock.
    @Test func whatDoesNotGoOnIsTold() throws {
        let made = try ColumnsPackSample(seed: 3, count: 40)
        let rows = try SegmentRows(try made.sample.seal().reader())
        var heads: [ReplicaID: ReplicaHead] = [:]
        let events = 0..<40
        #expect(rows.outOfOrder(in: events, after: &heads) == nil)
        for row in made.sample.rows {
            #expect(try #require(heads[row.replica]).sequence >= row.sequence)
        }
        // The same events cannot come again.
        let again = try #require(rows.outOfOrder(in: events, after: &heads))
        let first = made.sample.rows[0]
        let origin = Origin(replica: first.replica, sequence: first.sequence)
        let last = try #require(heads[first.replica]).sequence
        #expect(again.event == 0 && again.fault == .sequence(origin, after: last))
        heads[first.replica] = ReplicaHead(sequence: 0, clock: UInt64(Int64.max))
        let clock = try #require(rows.outOfOrder(in: events, after: &heads))
        #expect(clock.event == 0 && clock.fault == .clock(origin))
    }
}
