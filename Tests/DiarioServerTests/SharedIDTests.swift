import Diario
import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSchema
import DiarioServer
import DiarioStorage
import DiarioSync
import Testing

/// Two devices under one id, which nothing shows: schema/format/sync.md, section 7.
struct SharedIDTests {
    private static let alice = Caller(rights: [.read, .append], actor: "alice")

    /// What is pending here under the first origin of a refused batch of two is another event.
    ///
    /// It was put into the inbox as a part of that batch, which nobody could read.
    @Test func aRefusalOfOthersIsNotTakenForOurs() throws {
        var pair = try Pair()
        try pair.sync()
        var twin = try pair.replica.snapshot()
        try pair.replica.record(["bad", "worse"], actor: "mallory")
        try pair.sync(as: Self.alice)
        try twin.record("good")
        twin.session.heardOfNews()
        try twin.sync(with: pair.authority, as: Self.alice, at: pair.now)
        #expect(try twin.texts == ["good"])
        #expect(try twin.store[twin.space].inbox.entries().isEmpty)
        #expect(try pair.replica.store[pair.replica.space].inbox.entries().count == 1)
        #expect(try twin.root == pair.authorityRoot)
    }

    /// The first event was told that it had been refused, because the other device's had been; the
    /// rest of what that device pushed then never fitted.
    @Test func aRefusalOfOthersIsNotRepeatedForOurs() throws {
        var pair = try Pair()
        try pair.sync()
        var twin = try pair.replica.snapshot()
        try pair.replica.record("bad", actor: "mallory")
        try pair.replica.record("fine")
        try pair.sync(as: Self.alice)
        try twin.record("good")
        twin.session.heardOfNews()
        try twin.sync(with: pair.authority, as: Self.alice, at: pair.now)
        #expect(try twin.texts == ["fine", "good"])
        #expect(try twin.store[twin.space].inbox.entries().isEmpty)
        #expect(try twin.root == pair.authorityRoot)
    }

    /// A seed was kept of which no event had a salt any more: events of the other device under the
    /// old id have another one, and never fitted.
    @Test(arguments: [false, true])
    func aSeedThatNothingNeedsGivesWay(comesWithTheRefusal: Bool) throws {
        var pair = try Pair()
        try pair.sync()
        var twin = try pair.replica.snapshot()
        try twin.record("bad", actor: "mallory")
        try twin.store.recordNotes(["plain"], in: twin.space, isPersonal: false)
        twin.session.heardOfNews()
        try twin.sync(with: pair.authority, as: Self.alice, at: pair.now)
        // Its first event is taken for the one that was refused, and leaves; the second is not.
        try pair.replica.record("worse", actor: "mallory")
        if !comesWithTheRefusal {
            try pair.replica.record("mine")
            try pair.sync(as: Self.alice)
            #expect(pair.replica.session.moved.recordedAgain == 1)
        }
        try twin.record("personal")
        twin.session.heardOfNews()
        try twin.sync(with: pair.authority, as: Self.alice, at: pair.now)
        try pair.sync(as: Self.alice)
        let expected = comesWithTheRefusal ? ["plain", "personal"] : ["plain", "mine", "personal"]
        #expect(try pair.replica.texts == expected)
        #expect(try pair.replica.root == pair.authorityRoot)
        #expect(try pair.replica.inboxCount == 1)
        #expect(pair.replica.store.validate() == [])
        try pair.replica.reopen()
        #expect(try pair.replica.texts == expected)
        #expect(pair.replica.store.validate() == [])
        // A personal event of its own that has a position needs its seed.
        try pair.replica.record("last")
        try pair.sync(as: Self.alice)
        #expect(try pair.replica.root == pair.authorityRoot)
    }

    /// A batch of the other device was refused, so what came behind it could not be pushed under
    /// its origins: the copy recorded it again, and once more each time that the server was put
    /// back.
    @Test(arguments: [false, true])
    func whatTheOtherDeviceRecordedIsNotRecordedAgain(isSnapshot: Bool) throws {
        var pair = try Pair()
        try pair.sync()
        try pair.replica.record("before")
        try pair.sync()
        let space = pair.replica.space
        var backup = pair.authorityDisk.copy()
        var copy = isSnapshot ? try pair.replica.snapshot() : try pair.replica.copy()
        try pair.replica.record("bad", actor: "mallory")
        try pair.replica.record("theirs")
        try pair.sync(as: Self.alice)
        try copy.sync(with: pair.authority, as: Self.alice, at: pair.now)
        try copy.record("mine")
        try copy.sync(with: pair.authority, as: Self.alice, at: pair.now)
        for _ in 0..<2 {
            let next = backup.copy()
            try pair.restoreAuthority(from: backup)
            backup = next
            try pair.authorityStore[space].resumeAuthority()
            try copy.sync(with: pair.authority, as: Self.alice, at: pair.now)
            try pair.sync(as: Self.alice)
            try copy.sync(with: pair.authority, as: Self.alice, at: pair.now)
            #expect(try copy.root == pair.authorityRoot)
            #expect(try copy.texts.sorted() == ["before", "mine", "theirs"])
            pair.clock.advance(milliseconds: 100_000)
        }
        #expect(try pair.replica.inboxCount == 1)
        #expect(try copy.inboxCount == 0)
        #expect(copy.store.validate() == [])
    }

    /// The run of own events that a pull names ended within a batch of the other device.
    ///
    /// The rest of that batch could not be read, and the two never came together.
    @Test func aRunMayEndWithinABatchOfOthers() throws {
        var pair = try Pair()
        try pair.sync()
        var twin = try pair.replica.snapshot()
        try pair.replica.record(["one", "two", "three"])
        try pair.sync()
        try twin.record("four")
        twin.session.heardOfNews()
        try twin.sync(with: pair.authority, at: pair.now)
        #expect(try twin.texts == ["one", "two", "three", "four"])
        #expect(try twin.root == pair.authorityRoot)
    }

    /// The push that was to tell of the fork got lost, and the pull that came next was believed to
    /// show that the authority had nothing to tell.
    @Test func aSuspicionOutlivesALostAnswer() throws {
        var pair = try Pair()
        try pair.sync()
        var twin = try pair.replica.snapshot()
        try pair.replica.record("one")
        try pair.sync()
        try twin.record("two")
        twin.session.heardOfNews()
        let pull = try twin.request(at: pair.now)
        try twin.session.receive(pair.authority.answer(pull, from: Pair.anyone), at: pair.now)
        _ = try twin.request(at: pair.now)
        twin.lose(at: pair.now)
        pair.clock.advance(milliseconds: 100_000)
        try twin.sync(with: pair.authority, at: pair.now)
        #expect(try twin.texts == ["one", "two"])
        #expect(try twin.root == pair.authorityRoot)
    }

    /// The first of two pushes had nothing to tell, the answer to the second got lost, and the
    /// replica believed that the authority contradicts itself, and stopped.
    @Test func aSuspicionIsOverWhenAllOfItWasPushed() throws {
        var pair = try Pair()
        try pair.sync()
        try pair.replica.record("one")
        try pair.replica.record("two")
        try pair.replica.record("three")
        var twin = try pair.replica.snapshot()
        try pair.replica.record("four")
        try pair.sync()
        try twin.record("five")
        twin.session.pushCountMax = 2
        twin.session.heardOfNews()
        for _ in 0..<2 {
            let request = try twin.request(at: pair.now)
            try twin.session.receive(
                pair.authority.answer(request, from: Pair.anyone),
                at: pair.now
            )
        }
        _ = try twin.request(at: pair.now)
        twin.lose(at: pair.now)
        pair.clock.advance(milliseconds: 100_000)
        try twin.sync(with: pair.authority, at: pair.now)
        #expect(try twin.texts == ["one", "two", "three", "four", "five"])
        #expect(try twin.root == pair.authorityRoot)
    }

    /// Events that follow those of another device by their sequences may be older than these.
    ///
    /// Who looked at the clocks later, as `verify` does, took the log for damaged.
    @Test func aClockThatGoesBackIsThatOfAnotherDevice() throws {
        var pair = try Pair()
        try pair.sync()
        try pair.replica.record("zero")
        try pair.sync()
        let twin = try pair.replica.snapshot()
        try twin.record("two")
        let origin = try twin.record("three")
        pair.clock.advance(milliseconds: 5000)
        try pair.replica.record("one")
        try pair.sync()
        let last = origin.sequence
        // A server that was started since has to look for the clock in its log.
        for authority in [pair.authority, SpaceAuthority(pair.authorityStore, twin.space)] {
            let verdicts = try push(origin, of: twin, to: authority)
            #expect(verdicts == [Verdict(firstSequence: last, count: 0, kind: .forked)])
        }
    }

    /// The salts showed another device, so the push was called forked from an event on that it did
    /// not have.
    @Test func aGapIsOneThoughTheSaltsAreThoseOfAnotherDevice() throws {
        var pair = try Pair()
        try pair.sync()
        let twin = try pair.replica.snapshot()
        let known = try pair.replica.record("one").sequence
        try pair.sync()
        try twin.record("two")
        let second = try twin.record("three")
        let third = try twin.record("four")
        #expect(
            try push(third, of: twin, to: pair.authority)
                == [Verdict(firstSequence: known + 1, count: 0, kind: .gap)]
        )
        #expect(
            try push(second, of: twin, to: pair.authority)
                == [Verdict(firstSequence: known + 1, count: 0, kind: .forked)]
        )
    }

    /// Each block was compared with the log, and none with the others: an authority took both, and
    /// the second event had another hash there than with whoever pushed it.
    @Test func blocksThatComeTogetherHaveOneSeedForAGroup() throws {
        var pair = try Pair()
        try pair.sync()
        let twin = try pair.replica.snapshot()
        let first = try pair.replica.record("one")
        try twin.record("other")
        let second = try twin.record("two")
        let blocks = try block(first, of: pair.replica) + block(second, of: twin)
        var unpacker = BlockUnpacker()
        let rows = try blocks.map { block in
            let (bytes, head) = try unpacker.unpack(block)
            return Append.Content.received(ReceivedRows(bytes, head))
        }
        #expect(throws: LogError.self) { try pair.authorityStore[twin.space].append(rows) }
        let answer = try answer(to: blocks, of: twin, pair.authority)
        guard case .refusal(let refusal) = answer else {
            Issue.record("nobody takes two seeds for one group: \(answer)")
            return
        }
        #expect(refusal.reason == .malformed)
        #expect(pair.authorityStore[twin.space].head() == 1)
        try pair.sync()
        #expect(try pair.replica.root == pair.authorityRoot)
    }

    /// Pushes one pending event alone.
    private func push(
        _ origin: Origin,
        of replica: TestReplica,
        to authority: SpaceAuthority
    ) throws -> [Verdict] {
        let answer = try answer(to: block(origin, of: replica), of: replica, authority)
        guard case .verdicts(let verdicts) = answer else {
            Issue.record("a push gets verdicts, and not \(answer)")
            return []
        }
        return verdicts.list
    }

    /// A pending event as it is pushed.
    private func block(_ origin: Origin, of replica: TestReplica) throws -> [[UInt8]] {
        let events = PendingEvents(
            replica: origin.replica,
            sequences: origin.sequence...origin.sequence
        )
        return try replica.store[replica.space].pendingBlocks(events).blocks
    }

    private func answer(
        to blocks: [[UInt8]],
        of replica: TestReplica,
        _ authority: SpaceAuthority
    ) throws -> SyncMessage {
        let status = try replica.store[replica.space].status()
        let push = Push(
            standing: Standing(
                lineage: status.manifest.lineage,
                epoch: status.manifest.epoch,
                size: replica.head,
                root: try replica.root
            ),
            replica: status.replica,
            blocks: blocks
        )
        let answer = authority.answer(SyncMessage.push(push).encoded(), from: Pair.anyone)
        return try SyncMessage(answer.span)
    }

    /// What earlier appends had left in memory knew the old id still.
    @Test func theNewIDHoldsForTheNextEvent() throws {
        var pair = try Pair()
        try pair.sync()
        var twin = try pair.replica.snapshot()
        try pair.replica.record(["bad", "worse"], actor: "mallory")
        try pair.sync(as: Self.alice)
        try twin.sync(with: pair.authority, as: Self.alice, at: pair.now)
        #expect(try twin.record("good").replica != pair.replica.store[twin.space].author().0)
        try twin.sync(with: pair.authority, as: Self.alice, at: pair.now)
        #expect(try twin.texts == ["good"])
        #expect(try twin.root == pair.authorityRoot)
    }

    /// Own events of several ids come together under one when all of them are recorded again.
    ///
    /// Their clocks did not go on then, and the authority's log was not valid.
    @Test func clocksGoOnWhenEventsAreRecordedAgain() throws {
        var pair = try Pair()
        try pair.sync()
        var twin = try pair.replica.snapshot()
        try pair.replica.record("one")
        try pair.sync()
        let start = pair.now.milliseconds
        pair.clock.advance(milliseconds: 3_600_000)
        try twin.record("two")
        pair.clock.set(milliseconds: start)
        let own = try twin.store[twin.space].status().replica
        try twin.store[twin.space].takeNewReplica(inPlaceOf: own)
        try twin.record("three")
        try twin.sync(with: pair.authority, at: pair.now)
        #expect(try twin.texts == ["one", "two", "three"])
        #expect(try twin.root == pair.authorityRoot)
        #expect(try pair.authorityStore.verify(pair.replica.space) { _ in nil }.faults == [])
    }

    /// The clock of the other device was far ahead, so ours stayed behind it.
    ///
    /// The next event under the same id had an earlier one, and the authority's log was not valid.
    @Test func whoFindsOthersUnderItsIDTakesANewOne() throws {
        var pair = try Pair()
        try pair.sync()
        var twin = try pair.replica.snapshot()
        let start = pair.now.milliseconds
        pair.clock.advance(milliseconds: 3_600_000)
        let other = try pair.replica.record("one")
        pair.clock.set(milliseconds: start)
        try pair.sync()
        try twin.sync(with: pair.authority, at: pair.now)
        let own = try twin.record("two")
        #expect(own.replica != other.replica)
        try twin.sync(with: pair.authority, at: pair.now)
        #expect(try twin.texts == ["one", "two"])
        #expect(try twin.root == pair.authorityRoot)
        #expect(try pair.authorityStore.verify(pair.replica.space) { _ in nil }.faults == [])
    }

    /// Such an event was read by the schema that the space has, which may be another one.
    ///
    /// One of a type that no pack has let the whole fail for ever.
    @Test func eventsOfUnknownSchemasAreRecordedAgainAsTheyAre() throws {
        var pair = try Pair()
        try pair.sync()
        var twin = try pair.replica.snapshot()
        try pair.replica.record("one")
        try pair.sync()
        try twin.recordStranger("note.made", "two")
        try twin.recordStranger("memo.made", "three")
        try twin.sync(with: pair.authority, at: pair.now)
        #expect(twin.session.moved.recordedAgain == 2)
        #expect(twin.pendingCount == 0)
        let (texts, inbox) = (try twin.texts, try twin.store[twin.space].inbox.entries())
        #expect(texts == ["one"])
        #expect(inbox.count == 2)
        #expect(try twin.root == pair.authorityRoot)
        #expect(twin.store.validate() == [])
    }

    /// A write may fail just after the new space has taken the place of the old one.
    ///
    /// Both were removed then.
    @Test func aFailingDiskLeavesTheOldSpaceOrTheNewOne() throws {
        for period in 1...60 {
            var pair = try Pair(seed: UInt64(period))
            try pair.sync()
            var twin = try pair.replica.snapshot()
            try pair.replica.record("one")
            try pair.sync()
            try twin.record("two")
            twin.disk.failWrites(every: period)
            do {
                try twin.sync(with: pair.authority, at: pair.now)
            } catch let error as LogError {
                switch error {
                case .storage(.failed), .stopped: break
                default: throw error
                }
            }
            twin.disk.failWrites(every: nil)
            twin.disk.kill(0)
            try twin.openAgain()
            pair.clock.advance(milliseconds: 100_000)
            try twin.sync(with: pair.authority, at: pair.now)
            #expect(try twin.texts == ["one", "two"], "every write number \(period) fails")
            #expect(try twin.root == pair.authorityRoot)
        }
    }
}

extension TestReplica {
    /// Records one batch of notes.
    fileprivate func record(_ texts: [String], actor: String = "alice") throws {
        let catalog = try Space(store: store, id: space).catalog
        try record(texts, of: try #require(catalog.newest("test.note.made")), actor: actor)
    }

    /// Records an event of a type that the space does not have, or not with this schema.
    fileprivate func recordStranger(_ type: String, _ text: String) throws {
        let schema = """
            { "title": "test.\(type)", "x-diario-version": 1, "type": "object",
              "additionalProperties": false, "required": ["text"],
              "properties": {
                "alias": { "type": "string" }, "text": { "type": "string", "maxLength": 40 } } }
            """
        let pack = try Pack(
            files: [
                PackFile(path: "events/\(type).1.json", bytes: Array(schema.utf8)),
                PackFile(path: "pack.json", bytes: Array(#"{"name":"test","version":1}"#.utf8)),
            ]
        )
        try record([text], of: pack.types[0], actor: "alice")
    }

    private func record(_ texts: [String], of type: EventType, actor: String) throws {
        var batch = DraftBatch()
        for text in texts {
            var line = EventLine(type: type)
            var reader = PayloadReader()
            try reader.read(Array(#"{"text":"\#(text)"}"#.utf8).span, as: type, into: &line.payload)
            line.actor = line.keep(Array(actor.utf8).span)
            try batch.append(line)
        }
        let append = Append(space: space, content: .new([batch]))
        _ = try store.append(append)
    }
}
