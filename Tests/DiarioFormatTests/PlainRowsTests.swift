import DiarioCore
import DiarioFormat
import DiarioSchema
import Testing

/// The short way to read the start of a block, against the long one.
@Suite struct PlainRowsTests {
    /// What the long way finds, if the block is of the kind that the short one is for.
    private func expected(_ block: [UInt8]) -> PlainRows? {
        guard let summary = try? BlockSummary.parse(block.span, verifyChecksum: false) else {
            return nil
        }
        var cursor = RunCursor(block.span, summary)
        guard summary.flags == .positioned, summary.runCount == 1, summary.replicaCount == 1,
            let run = try? cursor.next()
        else { return nil }
        return PlainRows(
            run: run,
            clock: summary.highestClock,
            position: summary.firstPosition,
            acceptedAt: summary.lastAcceptedAt?.milliseconds
        )
    }

    private func describe(_ rows: PlainRows?) -> String {
        guard let rows else { return "none" }
        return "\(rows.run) \(rows.clock) \(rows.position ?? 0) \(rows.acceptedAt ?? 0)"
    }

    /// Numbers of every length, up to those that only the long way reads.
    @Test(arguments: UInt64(0)..<32) func bothWaysFindTheSame(seed: UInt64) throws {
        var events = RandomEvents(seed: seed)
        let type = try events.type(name: "random.type")
        let replica = try events.replica()
        var foundCount = 0
        for _ in 0..<40 {
            var batch = DraftBatch()
            for _ in 0..<events.random.below(3) + 1 {
                try batch.append(events.payload(of: type), type: type)
            }
            var builder = BlockBuilder()
            builder.append(
                batch,
                replica: replica,
                firstSequence: 1 + events.random.next() >> UInt64(2 + events.random.below(62)),
                clock: HybridTime(rawValue: events.random.next() >> 2),
                base: 3
            )
            // Most are of the calendar; a block with another time is none.
            let shift = UInt64(14 + events.random.below(50))
            let time = Int64(bitPattern: events.random.next() >> shift)
            let block = builder.block(
                position: 1 + events.random.next() >> UInt64(2 + events.random.below(62)),
                acceptedAt: time
            )
            guard let found = PlainRows(block.span) else { continue }
            foundCount += 1
            #expect(describe(found) == describe(expected(block)))
        }
        #expect(foundCount > 10)
    }

    /// Whatever the bytes are: the short way may refuse what the long one takes, and finds nothing
    /// else in what both take.
    @Test func aDamagedStartIsReadAlikeOrRefused() throws {
        for (shows, block) in try SampleBlocks().all() {
            if let found = PlainRows(block.span) {
                #expect(describe(found) == describe(expected(block)), "\(shows)")
            }
            let wrong = (0..<min(block.count, 200) * 8).filter { bit in
                var changed = block
                changed[bit / 8] ^= 1 << UInt8(bit % 8)
                guard let found = PlainRows(changed.span), let known = expected(changed) else {
                    return false
                }
                return describe(found) != describe(known)
            }
            #expect(wrong.isEmpty, "\(shows)")
            let taken = (0..<block.count).filter { PlainRows(Array(block[..<$0]).span) != nil }
            #expect(taken.isEmpty, "\(shows)")
        }
    }
}
