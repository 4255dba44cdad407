import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSimulation
import DiarioStorage
import DiarioTestSupport
import Testing

/// Pending events that get their positions: schema/format/frames.md, F6.
@Suite struct PromotionTests {
    /// A log with `counts` pending events in batches, and the replica that wrote them.
    private func make(
        _ counts: [Int],
        secret: Bool = false
    ) throws -> (TestLog, LogStore, SpaceID, ReplicaID) {
        let log = try TestLog()
        log.sizes = TestLog.small
        let store = try log.open()
        let space = try store.makeSpace(isAuthority: false).space
        for count in counts { _ = try store.append(log.append(count, secret: secret, to: space)) }
        return (log, store, space, try store[space].status().replica)
    }

    private func run(
        _ replica: ReplicaID,
        _ firstSequence: UInt64,
        _ count: UInt64,
        at position: UInt64,
        _ acceptedAt: Int64 = 500
    ) -> PromotedRun {
        PromotedRun(
            replica: replica,
            firstSequence: firstSequence,
            count: count,
            firstPosition: position,
            acceptedAt: Timestamp(milliseconds: acceptedAt)
        )
    }

    @Test func pendingEventsHaveNoPositions() throws {
        let (log, store, space, replica) = try make([2, 3])
        let view = try log.kinds.view(of: space, in: store)
        #expect(view.canonical.isEmpty)
        #expect(view.pending.map(\.origin.sequence) == [1, 2, 3, 4, 5])
        #expect(view.pending.allSatisfy { $0.origin.replica == replica && $0.acceptedAt == nil })
        #expect(try store[space].status().pending == 5)
        #expect(try store[space].root() == log.plainRoot(space, in: store))
    }

    @Test(arguments: [false, true])
    func aPrefixOfTheLaneBecomesCanonicalEvenInTheMiddleOfABlock(isReopened: Bool) throws {
        let (log, first, space, replica) = try make([4, 3], secret: true)
        var store = first
        let before = try log.kinds.view(of: space, in: store).pending
        // Cuts the block of four and that of three.
        try store.promote(
            [run(replica, 1, 2, at: 1, 10), run(replica, 3, 3, at: 3, 20)],
            in: space
        )
        if isReopened {
            try store.close()
            store = try log.open()
        }
        let view = try log.kinds.view(of: space, in: store)
        #expect(view.canonical.map(\.position) == [1, 2, 3, 4, 5])
        #expect(view.canonical.map(\.acceptedAt) == [10, 10, 20, 20, 20])
        #expect(view.events.map(\.hash) == before.map(\.hash))
        #expect(view.pending.map(\.origin.sequence) == [6, 7])
        #expect(try store[space].status().head == 5)
        #expect(try store[space].root() == log.plainRoot(space, in: store))
        #expect(store.validate() == [])
        _ = try store.append(log.append(1, to: space))
        let sequences = try log.kinds.view(of: space, in: store).pending.map(\.origin.sequence)
        #expect(sequences == [6, 7, 8])
    }

    @Test func whatDoesNotContinueTheLogIsRefusedAndChangesNothing() throws {
        let (log, store, space, replica) = try make([3, 3])
        try store.promote([run(replica, 1, 1, at: 1)], in: space)
        let stranger = try #require(ReplicaID(rawValue: 12345))
        let wrong: [[PromotedRun]] = [
            [run(replica, 2, 1, at: 1)], [run(replica, 2, 1, at: 3)],
            [run(replica, 3, 1, at: 2)], [run(replica, 1, 1, at: 2)],
            [run(replica, 2, 6, at: 2)], [run(replica, 2, 1, at: 2, 499)],
            [run(stranger, 1, 1, at: 2)],
            [run(replica, 2, 1, at: 2), run(replica, 4, 1, at: 3)],
            [run(replica, 2, 1, at: 2, 600), run(replica, 3, 1, at: 3, 599)],
        ]
        for runs in wrong {
            let error = #expect(throws: LogError.self) { try store.promote(runs, in: space) }
            guard case .outOfOrder = error else {
                Issue.record("\(runs): \(String(describing: error))")
                continue
            }
            #expect(try store[space].status().head == 1)
            #expect(try store[space].status().pending == 5)
        }
        try store.promote([run(replica, 2, 5, at: 2)], in: space)
        #expect(try log.numbers(space, in: log.open(process: 2)) == [1, 2, 3, 4, 5, 6])
    }

    /// A run of no events was taken, and made the whole log unreadable at the next start; sums that
    /// do not fit in 64 bits trapped.
    @Test func runsOfNoEventsAndWithoutBoundsAreRefused() throws {
        let (log, store, space, replica) = try make([3])
        for (first, count) in [(1, 0), (1, UInt64.max), (2, UInt64.max - 1), (UInt64.max, 2)] {
            #expect(throws: LogError.self) {
                try store.promote([run(replica, first, count, at: 1)], in: space)
            }
        }
        #expect(throws: LogError.self) {
            try store.promote(
                [run(replica, 1, 3, at: 1), run(replica, 4, 0, at: 4)],
                in: space
            )
        }
        #expect(try log.numbers(space, in: log.open(process: 2)) == [1, 2, 3])
    }

    /// Such a time trapped whoever showed the events.
    @Test(arguments: [
        .min, CivilTime.millisecondsMin - 1, CivilTime.millisecondsMax + 1, .max,
    ])
    func timesOutsideTheCalendarAreRefused(time: Int64) throws {
        let (log, store, space, replica) = try make([3])
        let promoted = run(replica, 1, 3, at: 1, time)
        #expect(throws: LogError.self) { try store.promote([promoted], in: space) }
        #expect(try store[space].status().pending == 3)
        #expect(try log.numbers(space, in: log.open(process: 2)) == [1, 2, 3])
        // Nor are they read from a log.
        var bytes: [UInt8] = []
        PromotedRun.append([promoted], to: &bytes)
        #expect(PromotedRun.read(bytes.span) == nil)
        bytes = []
        SealedRows(
            replica: replica,
            firstSequence: 1,
            count: 3,
            placed: SealedRows.Placed(firstPosition: 1, acceptedAt: time),
            clock: HybridTime(rawValue: 0)
        ).append(to: &bytes)
        #expect(SealedRows(bytes.span) == nil)
    }

    @Test func anAuthorityPromotesNothing() throws {
        let log = try TestLog()
        let store = try log.open()
        let space = try store.makeSpace(isAuthority: true).space
        let replica = try store[space].status().replica
        #expect(throws: LogError.isAuthority(space)) {
            try store.promote([run(replica, 1, 1, at: 1)], in: space)
        }
    }

    @Test func aLaneGivesNoPositionsAndTakesNoRowsThatHaveThem() throws {
        let (log, store, space, _) = try make([1])
        let batch = log.kinds.batch(log.notes(1))
        for content in [
            Append.Content.new([batch], .authority),
            .preserved(
                [
                    PreservedRows(
                        batch: batch,
                        envelopes: [try envelope(1, 1)],
                        acceptedAt: [nil],
                        isAuthority: false
                    )
                ]),
        ] {
            #expect(throws: LogError.notAuthority(space)) {
                try store.append(Append(space: space, content: content))
            }
        }
    }

    private func envelope(_ replica: UInt64, _ sequence: UInt64) throws -> RowEnvelope {
        RowEnvelope(
            replica: try #require(ReplicaID(rawValue: replica)),
            sequence: sequence,
            batchFirst: sequence,
            batchCount: 1,
            clock: HybridTime(rawValue: 1000 + sequence),
            at: Timestamp(milliseconds: 3),
            base: 0
        )
    }

    /// Several events that were only written are promoted by another process after it read them.
    @Test func pendingEventsKeepTheirOriginsInACopyOfTheDirectory() throws {
        let (log, store, space, replica) = try make([3])
        try store.close()
        let copy = TestLog(disk: log.disk.copy(), seed: 9)
        copy.sizes = log.sizes
        let cloned = try copy.open()
        #expect(try cloned[space].status().replica == replica)
        let batches = try cloned.append(copy.append(2, to: space))
        let origin = try #require(batches.first).firstOrigin
        #expect(origin.replica != replica)
        #expect(origin.sequence == 1)
        let origins = try copy.kinds.view(of: space, in: cloned).pending.map(\.origin)
        #expect(
            origins.map(\.replica) == [replica, replica, replica] + [
                origin.replica, origin.replica,
            ]
        )
        #expect(origins.map(\.sequence) == [1, 2, 3, 1, 2])
        // Both lanes become canonical, each in its own order.
        try cloned.promote(
            [
                run(origin.replica, 1, 1, at: 1), run(replica, 1, 3, at: 2),
                run(origin.replica, 2, 1, at: 5),
            ],
            in: space
        )
        let positions = try copy.kinds.view(of: space, in: cloned).canonical
        #expect(positions.map(\.origin.sequence) == [1, 1, 2, 3, 2])
        #expect(try cloned[space].root() == copy.plainRoot(space, in: cloned))
        try cloned.close()
        let again = try copy.open()
        #expect(try again[space].status().replica == origin.replica)
        #expect(try copy.kinds.view(of: space, in: again).canonical == positions)
    }
}
