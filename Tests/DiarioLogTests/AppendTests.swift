import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioSimulation
import DiarioStorage
import DiarioTestSupport
import Testing

/// What an append gives and leaves: positions, origins, times, roots.
@Suite struct AppendTests {
    private func make(isAuthority: Bool = true) throws -> (TestLog, LogStore, SpaceID) {
        let log = try TestLog()
        let store = try log.open()
        return (log, store, try store.makeSpace(isAuthority: isAuthority).space)
    }

    @Test func positionsAndSequencesAreDense() throws {
        let (log, store, space) = try make()
        var next: UInt64 = 1
        for count in [1, 3, 1000, 2] {
            let batches = try store.append(log.append(count, to: space))
            #expect(batches.count == 1)
            let batch = try #require(batches.first)
            #expect(batch.firstOrigin.sequence == next)
            #expect(batch.firstPosition == next)
            #expect(batch.count == count)
            next += UInt64(count)
        }
        let view = try log.kinds.view(of: space, in: store)
        #expect(view.canonical.map(\.position) == (1..<next).map { $0 })
        #expect(view.canonical.map(\.origin.sequence) == Array(1..<next))
        #expect(view.canonical.map(\.event.number) == (1..<Int64(next)).map { $0 })
        #expect(view.canonical.map(\.envelope.batchIndex).prefix(5) == [0, 0, 1, 2, 0])
        #expect(view.canonical.map(\.envelope.batchCount).prefix(5) == [1, 3, 3, 3, 1000])
    }

    /// After an append that no space took, the first space of the next frame was forgotten when
    /// another one came between, and gave its sequences and positions twice.
    @Test func spacesInTurnShareAFrameAfterARefusal() throws {
        let (log, store, first) = try make()
        let second = try store.makeSpace(isAuthority: true).space
        let nowhere = try #require(SpaceID(rawValue: 1))
        #expect(throws: LogError.unknownSpace(nowhere)) {
            try store.append(log.append(1, to: nowhere))
        }
        let outcomes = store.commit([first, second, first].map { log.append(2, to: $0) })
        let origins = try outcomes.map { try #require(try $0.get().first).firstOrigin }
        #expect(origins.map(\.sequence) == [1, 1, 3])
        let positions = try outcomes.map { try #require(try $0.get().first).firstPosition }
        #expect(positions == [1, 1, 3])
        #expect(store.validate() == [])
    }

    @Test func severalAppendsShareOneSync() throws {
        let (log, store, first) = try make()
        let second = try store.makeSpace(isAuthority: false).space
        _ = try store.append(log.append(1, to: first))
        let syncs = log.disk.counters.syncs
        let outcomes = store.commit(
            (0..<20).map { log.append(2, to: $0.isMultiple(of: 2) ? first : second) }
        )
        #expect(log.disk.counters.syncs == syncs + 1)
        #expect(outcomes.count == 20)
        #expect(try RawLog(log.disk).files[0].frames.count == 2)
        for (index, outcome) in outcomes.enumerated() {
            let batch = try #require(try outcome.get().first)
            let isAuthority = index.isMultiple(of: 2)
            let sequence = UInt64(1 + 2 * (index / 2)) + (isAuthority ? 1 : 0)
            #expect(batch.firstOrigin.sequence == sequence)
            #expect(batch.firstPosition == (isAuthority ? sequence : nil))
        }
        #expect(try store[first].root() == log.plainRoot(first, in: store))
    }

    /// A process makes sure once that the folder of a space is on disk, before it first writes.
    @Test func theFolderOfASpaceIsSyncedOnceByEachProcess() throws {
        let (log, store, space) = try make()
        try store.close()
        let reopened = try log.open()
        let syncs = log.disk.counters.directorySyncs
        for _ in 0..<3 { _ = try reopened.append(log.append(1, to: space)) }
        // That of the space, and that of all spaces; the log may have needed another file.
        #expect((2...3).contains(log.disk.counters.directorySyncs - syncs))
        log.disk.crash(using: &log.random)
        #expect(try log.numbers(space, in: log.open()).count == 3)
    }

    /// Whoever made the directory may have died before its name was on disk.
    @Test func theDirectoryIsMadeToLastByWhoWritesFirst() throws {
        let log = try TestLog()
        _ = try log.open(access: .readOnly)
        // Its name is another one soon.
        try log.open(isDraft: true).close()
        let before = log.disk.counters.directorySyncs
        try log.open().close()
        #expect(log.disk.counters.directorySyncs > before)
    }

    @Test func anAppendThatIsRefusedLeavesTheOthersInItsFrame() throws {
        let (log, store, space) = try make()
        let nowhere = try #require(SpaceID(rawValue: 77))
        let outcomes = store.commit(
            [log.append(1, to: space), log.append(1, to: nowhere), log.append(1, to: space)]
        )
        #expect(throws: LogError.unknownSpace(nowhere)) { try outcomes[1].get() }
        #expect(try outcomes[0].get().first?.firstPosition == 1)
        #expect(try outcomes[2].get().first?.firstPosition == 2)
        #expect(try log.numbers(space, in: store) == [1, 3])
    }

    @Test func eventsOfTheAuthorityHaveAnIdOfTheirOwn() throws {
        let (log, store, space) = try make()
        let adoption = log.kinds.batch([SimulatedEvent(kind: .adoption, number: 900)])
        let batches = try store.append(
            Append(
                space: space,
                contents: [.new([adoption], .authority), .new([log.kinds.batch(log.notes(2))])]
            )
        )
        let status = try store[space].status()
        #expect(batches.map(\.firstPosition) == [1, 2])
        #expect(batches[0].firstOrigin.replica == status.manifest.authority)
        #expect(batches[1].firstOrigin.replica == status.replica)
        #expect(status.events == 2)
        let expected = [Adoption(position: 1, fingerprint: EventKinds.fingerprint(of: 900))]
        #expect(status.adoptions == expected)
        #expect(try store[space].root() == log.plainRoot(space, in: store))
        #expect(try log.open(process: 2)[space].status().adoptions == expected)
    }

    @Test func anExpectedSequenceThatIsNotNextRefusesTheAppend() throws {
        let (log, store, space) = try make()
        func append(_ sequence: UInt64) -> Append {
            Append(
                space: space,
                contents: [.new([log.kinds.batch(log.notes(2))])],
                firstSequence: sequence
            )
        }
        _ = try store.append(append(1))
        for sequence: UInt64 in [1, 2, 4] {
            #expect(throws: LogError.self) { try store.append(append(sequence)) }
        }
        #expect(try store.append(append(3)).first?.firstPosition == 3)
    }

    // MARK: Rows that keep their origins

    private func preserved(
        _ log: TestLog,
        _ rows: [(replica: UInt64, sequence: UInt64, acceptedAt: Int64?)],
        textSize: Int = 4
    ) throws -> PreservedRows {
        var batch = DraftBatch()
        var envelopes: [RowEnvelope] = []
        for (row, event) in zip(rows, log.notes(rows.count, textSize: textSize)) {
            let replica = try #require(ReplicaID(rawValue: row.replica))
            let origin = Origin(replica: replica, sequence: row.sequence)
            log.kinds.append(event, to: &batch, origin: origin)
            envelopes.append(
                RowEnvelope(
                    replica: replica,
                    sequence: row.sequence,
                    batchFirst: row.sequence,
                    batchCount: 1,
                    clock: HybridTime(
                        milliseconds: 1000,
                        counter: UInt16(truncatingIfNeeded: row.sequence)
                    ),
                    at: Timestamp(milliseconds: 77),
                    base: 5
                )
            )
        }
        return PreservedRows(
            batch: batch,
            envelopes: envelopes,
            acceptedAt: rows.map { $0.acceptedAt.map { Timestamp(milliseconds: $0) } },
            isAuthority: false
        )
    }

    private func append(_ rows: PreservedRows, to space: SpaceID) -> Append {
        Append(space: space, content: .preserved([rows]))
    }

    @Test func preservedRowsKeepOriginsAndTimes() throws {
        let (log, store, space) = try make()
        let rows = try preserved(log, [(7, 3, 100), (8, 1, 100), (7, 9, 200), (7, 10, nil)])
        let batches = try store.append(append(rows, to: space))
        #expect(batches.first?.firstPosition == 1)
        let view = try log.kinds.view(of: space, in: store)
        #expect(view.canonical.map(\.origin.sequence) == [3, 1, 9, 10])
        #expect(view.canonical.map(\.envelope.replica.rawValue) == [7, 8, 7, 7])
        #expect(
            view.canonical.map(\.acceptedAt) == [100, 100, 200, log.clock.now.milliseconds]
        )
        #expect(view.canonical.allSatisfy { $0.envelope.base == 5 && $0.event.at == 77 })
        #expect(try store[space].root() == log.plainRoot(space, in: store))
        let reopened = try log.open(process: 2)
        #expect(try log.kinds.view(of: space, in: reopened) == view)
        #expect(try reopened[space].root() == store[space].root())
    }

    @Test func preservedRowsThatContradictTheLogAreRefused() throws {
        let (log, store, space) = try make()
        _ = try store.append(append(preserved(log, [(7, 3, 100)]), to: space))
        let wrong: [[(UInt64, UInt64, Int64?)]] = [
            [(7, 3, 200)], [(7, 2, 200)], [(8, 1, 99)], [(8, 2, 200), (8, 1, 200)],
            [(8, 1, 200), (8, 2, 199)],
        ]
        for rows in wrong {
            let error = #expect(throws: LogError.self) {
                try store.append(append(preserved(log, rows), to: space))
            }
            guard case .outOfOrder = error else {
                Issue.record("\(rows): \(String(describing: error))")
                continue
            }
        }
        #expect(try store[space].status().head == 1)
    }

    /// New events in front of preserved ones were not counted when those were checked.
    @Test func preservedRowsAreCheckedAgainstTheEventsInFrontOfThem() throws {
        let (log, store, space) = try make()
        let replica = try store[space].status().replica.rawValue
        let rows = try preserved(log, [(replica, 1, nil)])
        #expect(throws: LogError.self) {
            try store.append(
                Append(
                    space: space,
                    contents: [.new([log.kinds.batch(log.notes(2))]), .preserved([rows])]
                )
            )
        }
        #expect(try store[space].status().head == 0)
    }

    /// The bytes of so many times were not reckoned with: the block outgrew its limit, and the
    /// program trapped.
    @Test func rowsOfManyTimesKeepToTheLimitsOfABlock() throws {
        let (log, store, space) = try make()
        var appends: [Append] = []
        for start in 0..<UInt64(60) {
            let rows = (0..<UInt64(1000)).map { index in
                let number = 1000 * start + index
                return (
                    replica: UInt64(7), sequence: 1 + number,
                    acceptedAt: Optional(Int64(number) * 1_000_000_000)
                )
            }
            appends.append(append(try preserved(log, rows, textSize: 12), to: space))
        }
        for outcome in store.commit(appends) { _ = try outcome.get() }
        #expect(try store[space].status().head == 60_000)
        #expect(try log.open(process: 2)[space].root() == store[space].root())
    }

    /// A state that names many replicas came in front of rows that nearly filled the frame, and the
    /// program trapped: again after each restart.
    @Test func theStateOfManyReplicasFitsInSomeFrame() throws {
        let (log, _, space) = try make()
        log.sizes = TestLog.small
        let store = try log.open(process: 1)
        var next: UInt64 = 1
        for count in [150, 150, 150, 150, 150, 150, 150, 150] {
            // Nearly as much as a frame takes, so that no state of so many fits in front of it.
            let rows = (next..<next + UInt64(count)).map { ($0, UInt64(1), Int64?.none) }
            _ = try store.append(append(preserved(log, rows, textSize: 100), to: space))
            next += UInt64(count)
        }
        #expect(try store[space].status().head == next - 1)
        let reopened = try log.open(process: 2)
        #expect(try reopened[space].root() == store[space].root())
    }

    @Test func anAuthorityTakesEventsOfSoManyReplicas() throws {
        let (log, _, space) = try make()
        log.sizes.replicaCountMax = 5
        let store = try log.open(process: 1)
        _ = try store.append(append(preserved(log, (7...10).map { ($0, 1, nil) }), to: space))
        _ = try store.append(log.append(1, to: space))
        for rows in [[(UInt64(11), UInt64(1), Int64?.none)], [(7, 2, nil), (12, 1, nil)]] {
            let error = #expect(throws: LogError.self) {
                try store.append(append(preserved(log, rows), to: space))
            }
            #expect(error == .tooManyReplicas(countMax: 5))
        }
        _ = try store.append(append(preserved(log, [(7, 2, nil)]), to: space))
        #expect(try store[space].status().head == 6)
    }

    /// Behind a row with the highest clock there is, the next event had none left, and trapped.
    @Test func aRowWhoseClockLeavesNoneForLaterEventsIsRefused() throws {
        let (log, store, space) = try make()
        var rows = try preserved(log, [(7, 3, 100)])
        rows.envelopes[0].clock = HybridTime(rawValue: 1 << 63 - 1)
        rows.envelopes[0].at = Timestamp(milliseconds: 5)
        #expect(throws: LogError.self) { try store.append(append(rows, to: space)) }
        _ = try store.append(log.append(1, to: space))
        #expect(try store[space].root() == log.plainRoot(space, in: store))
    }

    /// Events were recorded that nobody could write out, or with the last clock there is, behind
    /// which no other event ever could be.
    @Test(arguments: [
        .min, CivilTime.millisecondsMin - 1, HybridTime.highest.milliseconds,
        HybridTime.millisecondsMax, CivilTime.millisecondsMax + 1, .max,
    ])
    func nothingIsRecordedWhenTheClockIsOutOfBounds(now: Int64) throws {
        for isAuthority in [true, false] {
            let log = try TestLog()
            let store = try log.open()
            let space = try store.makeSpace(isAuthority: isAuthority).space
            let right = log.clock.now.milliseconds
            log.clock.set(milliseconds: now)
            #expect(throws: LogError.unusableClock(Timestamp(milliseconds: now))) {
                try store.append(log.append(1, to: space))
            }
            log.clock.set(milliseconds: right)
            _ = try store.append(log.append(1, to: space))
            #expect(try log.numbers(space, in: store) == [2])
            #expect(try store[space].status().clock.milliseconds == right)
        }
    }

    /// Rows with such times trapped whoever showed them.
    @Test func preservedRowsHaveTimesOfTheCalendar() throws {
        let (log, store, space) = try make()
        for time in [.min, CivilTime.millisecondsMin - 1, CivilTime.millisecondsMax + 1, .max] {
            var rows = try preserved(log, [(7, 3, time)])
            #expect(throws: LogError.self) { try store.append(append(rows, to: space)) }
            rows = try preserved(log, [(7, 3, 100)])
            rows.envelopes[0].at = Timestamp(milliseconds: time)
            #expect(throws: LogError.self) { try store.append(append(rows, to: space)) }
        }
        #expect(try store[space].status().head == 0)
    }

    /// Numbers that leave none for what comes next trapped, in an import and in a damaged log.
    @Test(arguments: [UInt64.max, UInt64.max - 1, UInt64(1) << 63, UInt64(1) << 62])
    func sequencesWithoutBoundsAreRefused(sequence: UInt64) throws {
        let (log, store, space) = try make()
        #expect(throws: LogError.self) {
            try store.append(append(preserved(log, [(7, sequence, 100)]), to: space))
        }
        _ = try store.append(log.append(1, to: space))
        #expect(try store[space].status().head == 1)
    }

    @Test func aStateWithoutBoundsIsRefused() {
        for (size, acceptedAt): (UInt64, Int64) in [(1 << 63, 0), (1 << 62, 0), (1, .max)] {
            let range = try? CompactRange(size: size, nodes: [Hash32(words: (1, 2, 3, 4))])
            var bytes: [UInt8] = []
            guard let range else {
                Issue.record("a range has one node for each digit")
                return
            }
            SpaceState(
                released: 0,
                acceptedAt: acceptedAt,
                clock: 0,
                tallies: [],
                adoptions: [],
                range: range
            ).append(to: &bytes)
            #expect(SpaceState(bytes.span) == nil)
        }
    }

    // MARK: Roots

    /// A state is written from time to time, and reading starts there, not at the first event.
    @Test func aStateBoundsWhatIsHashedAgain() throws {
        let log = try TestLog()
        log.sizes = TestLog.small
        let store = try log.open()
        let space = try store.makeSpace(isAuthority: true).space
        for _ in 0..<40 { _ = try store.append(log.append(1, textSize: 4000, to: space)) }
        let states = try RawLog(log.disk).entries.filter { $0.kind == .state }
        #expect(states.count >= 5)
        let root = try store[space].root()
        try store.close()
        let reopened = try log.open()
        let before = log.disk.counters.bytesRead
        #expect(try reopened[space].root() == root)
        #expect(log.disk.counters.bytesRead - before < 3 * log.sizes.stateInterval)
        #expect(root == (try log.plainRoot(space, in: reopened)))
    }
}
