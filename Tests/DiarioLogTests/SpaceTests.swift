import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioSchema
import DiarioSimulation
import DiarioStorage
import DiarioTestSupport
import Testing

/// Spaces come, take the place of others, and go; packs are kept.
///
/// Each step may be the last one.
@Suite struct SpaceTests {
    private func make() throws -> (TestLog, LogStore) {
        let log = try TestLog()
        log.sizes = TestLog.small
        return (log, try log.open())
    }

    private func ids(_ store: LogStore) throws -> [SpaceID] {
        try store.manifests().filter { !$0.isStaging }.map(\.space)
    }

    /// Does `body` on a fresh log and cuts the power at each operation of it in turn, until it ends
    /// without a cut; `check` sees the log after each, once it is open again.
    private func forEachCut(
        prepare: (TestLog, LogStore) throws -> SpaceID,
        _ body: (LogStore, SpaceID) throws(LogError) -> Void,
        check: (TestLog, LogStore, SpaceID, Bool) throws -> Void
    ) throws {
        for moment in CrashDisk.CutMoment.allCases {
            var count = 0
            var isCut = true
            while isCut {
                count += 1
                for seed in 0..<UInt64(2) {
                    let (log, store) = try make()
                    log.random = SeededRandom(seed: seed)
                    let space = try prepare(log, store)
                    log.disk.cutAfter(operations: count, moment)
                    isCut = false
                    do {
                        try body(store, space)
                    } catch {
                        #expect(error == .storage(.cut))
                        isCut = true
                    }
                    log.disk.crash(using: &log.random)
                    let reopened = try log.open()
                    #expect(reopened.fault == nil)
                    try check(log, reopened, space, !isCut)
                    #expect(reopened.validate() == [])
                }
            }
            #expect(count > 2)
        }
    }

    @Test func aSpaceIsThereOnlyWhenItIsComplete() throws {
        try forEachCut { log, store in
            try store.makeSpace(isAuthority: true).space
        } _: { (store, _) throws(LogError) in
            _ = try store.makeSpace(isAuthority: false)
        } check: { log, store, space, isDone in
            var count = try ids(store).count
            #expect(count == 2 || !isDone)
            for id in try ids(store) { _ = try store.append(log.append(1, to: id)) }
            // A crash in the middle left files under temporary names, and nothing removed those.
            try store.removeRemains()
            #expect(try ids(store).count == count)
            #expect(try log.disk.list("spaces").count == count)
            _ = try store.makeSpace(isAuthority: false)
            count += 1
            #expect(try ids(store).count == count)
        }
    }

    /// The events went first: a crash left the space without them, and its replica counted from 1
    /// again.
    @Test func aSpaceIsRemovedWithAllItsEventsOrNotAtAll() throws {
        try forEachCut { log, store in
            let space = try store.makeSpace(isAuthority: true).space
            _ = try store.append(log.append(3, to: space))
            _ = try store.append(log.append(2, to: store.makeSpace(isAuthority: false).space))
            return space
        } _: { (store, space) throws(LogError) in
            try store[space].remove()
        } check: { log, store, space, isDone in
            let isThere = try ids(store).contains(space)
            #expect(!isThere || !isDone)
            if isThere { #expect(try log.numbers(space, in: store) == [1, 2, 3]) }
            try store.removeRemains()
            #expect(try log.disk.list("spaces").count == (isThere ? 2 : 1))
            if !isThere {
                #expect(throws: LogError.unknownSpace(space)) {
                    try store.append(log.append(1, to: space))
                }
            }
        }
    }

    @Test func aStagedSpaceTakesThePlaceOfAnotherAtOnce() throws {
        var staged: SpaceID?
        try forEachCut { log, store in
            let old = try store.makeSpace(isAuthority: true).space
            _ = try store.append(log.append(3, to: old))
            let new = try store.stageSpace().space
            _ = try store.append(log.append(2, to: new))
            #expect(try ids(store) == [old])
            staged = new
            return old
        } _: { (store, old) throws(LogError) in
            guard let staged else { return }
            try store[staged].activate(inPlaceOf: old)
            // Which it does already; but whether it could, it does not tell.
            try store[old].remove()
        } check: { log, store, old, isDone in
            let new = try #require(staged)
            let shown = try #require(try ids(store).first)
            #expect(try ids(store).count == 1)
            #expect(shown == new || !isDone)
            #expect(try log.numbers(shown, in: store) == (shown == old ? [1, 2, 3] : [4, 5]))
            try store.removeRemains()
            #expect(try ids(store) == [shown])
            #expect(try log.disk.list("spaces") == [shown.text])
        }
    }

    /// The name of the manifest was not synced by who made the space and died; another process saw
    /// it, and what it appended was in no space after a power cut.
    @Test func eventsOfASpaceThatADeadProcessMadeSurviveAPowerCut() throws {
        var found = 0
        for (count, seed) in (1...30).flatMap({ count in (0..<4).map { (count, UInt64($0)) } }) {
            let (log, store) = try make()
            log.random = SeededRandom(seed: seed)
            log.disk.cutAfter(operations: count, .before, process: 0)
            do { _ = try store.makeSpace(isAuthority: true) } catch {
                #expect(error == .storage(.cut))
            }
            log.disk.kill(0)
            let other = try log.open(process: 2)
            guard let space = try ids(other).first else { continue }
            found += 1
            _ = try other.append(log.append(2, to: space))
            log.disk.crash(using: &log.random)
            #expect(try log.numbers(space, in: log.open()) == [1, 2])
        }
        #expect(found > 0)
    }

    /// A process died while it removed a space, another one cleared up, and then the power went.
    @Test func aSpaceThatADeadProcessBeganToRemoveIsRemovedForGood() throws {
        for count in 1...8 {
            for (seed, later) in (1...12).flatMap({ later in (0..<2).map { (UInt64($0), later) } })
            {
                let (log, store) = try make()
                log.random = SeededRandom(seed: seed)
                let space = try store.makeSpace(isAuthority: true).space
                _ = try store.append(log.append(3, to: space))
                log.disk.cutAfter(operations: count, .after, process: 0)
                do { try store[space].remove() } catch { #expect(error == .storage(.cut)) }
                log.disk.kill(0)
                let other = try log.open(process: 2)
                log.disk.cutAfter(operations: later, .before)
                do { try other.removeRemains() } catch { #expect(error == .storage(.cut)) }
                log.disk.crash(using: &log.random)
                let reopened = try log.open()
                guard try ids(reopened) == [space] else { continue }
                #expect(try log.numbers(space, in: reopened) == [1, 2, 3])
            }
        }
    }

    /// Rows of it are live in the log until it is dropped there, and without its manifest nobody
    /// finds its private segments: the log could not be copied forward, nor anything be sealed.
    @Test func whatIsLeftOfASpaceIsNotInTheWayOfOthers() throws {
        var count = 0
        var isCut = true
        while isCut {
            count += 1
            var lane = try LaneLog()
            try lane.append(20)
            _ = try lane.store.seal(lane.space, all: true)
            try lane.promote(9)
            let (log, removed) = (lane.log, lane.space)
            let busy = try lane.store.makeSpace(isAuthority: true).space
            log.disk.cutAfter(operations: count, .before)
            do throws(LogError) {
                try lane.store[removed].remove()
                isCut = false
            } catch {
                #expect(error == .storage(.cut))
            }
            log.disk.crash(using: &log.random)
            let store = try log.open()
            let isThere = try ids(store).contains(removed)
            for _ in 0..<40 {
                _ = try store.append(log.append(1, textSize: 12_000, secret: true, to: busy))
                try store[busy].release(upTo: store[busy].head())
            }
            #expect(store.validate() == [], "operation \(count)")
            if isThere { #expect(try log.numbers(removed, in: store) == Array(1...20)) }
        }
        #expect(count > 4)
    }

    /// The log still has events of the first one, if its removal was cut short.
    @Test func aSpaceThatIsMadeAgainIsAnotherOne() throws {
        var count = 0
        var isCut = true
        while isCut {
            count += 1
            let (log, store) = try make()
            let manifest = try store.makeSpace(isAuthority: false)
            let space = manifest.space
            let busy = try store.makeSpace(isAuthority: true).space
            _ = try store.append(log.append(3, to: space))
            log.disk.cutAfter(operations: count, .before)
            do throws(LogError) {
                try store[space].remove()
                isCut = false
            } catch {
                #expect(error == .storage(.cut))
            }
            log.disk.crash(using: &log.random)
            let reopened = try log.open()
            guard try !ids(reopened).contains(space) else { continue }
            try reopened.makeReplica(of: space, lineage: manifest.lineage, epoch: 0)
            #expect(try log.numbers(space, in: reopened) == [], "operation \(count)")
            _ = try reopened.append(log.append(2, to: space))
            for _ in 0..<40 {
                _ = try reopened.append(log.append(1, textSize: 12_000, to: busy))
                try reopened[busy].release(upTo: reopened[busy].head())
            }
            #expect(try log.numbers(space, in: reopened) == [4, 5], "operation \(count)")
            #expect(reopened.validate() == [], "operation \(count)")
        }
        #expect(count > 4)
    }

    /// A space that took the place of another one and is removed does not give it back.
    @Test func aDeadSpaceStaysDeadWhenItsSuccessorIsRemoved() throws {
        var found = 0
        for count in 1...24 {
            let (log, store) = try make()
            let old = try store.makeSpace(isAuthority: true).space
            let new = try store.stageSpace().space
            log.disk.cutAfter(operations: count, .before)
            do { try store[new].activate(inPlaceOf: old) } catch {
                #expect(error == .storage(.cut))
            }
            log.disk.crash(using: &log.random)
            let reopened = try log.open()
            guard try ids(reopened) == [new] else { continue }
            found += 1
            try reopened[new].remove()
            #expect(try ids(reopened).isEmpty)
        }
        #expect(found > 0)
    }

    /// The manifest of the new space had its name and the power might still take it back, when
    /// another process cleared the old one away: then there was neither.
    @Test(arguments: UInt64(0)..<4)
    func aSpaceIsNotClearedAwayBeforeItsSuccessorLasts(seed: UInt64) throws {
        for count in 1...24 {
            let (log, store) = try make()
            log.random = SeededRandom(seed: seed)
            let old = try store.makeSpace(isAuthority: true).space
            _ = try store.append(log.append(3, to: old))
            let new = try store.stageSpace().space
            _ = try store.append(log.append(2, to: new))
            log.disk.cutAfter(operations: count, .before, process: 0)
            do { try store[new].activate(inPlaceOf: old) } catch {
                #expect(error == .storage(.cut))
            }
            let other = try log.open(process: 2)
            try other.removeRemains()
            log.disk.crash(using: &log.random)
            let reopened = try log.open()
            let shown = try ids(reopened)
            #expect(shown == [old] || shown == [new], "operation \(count)")
            guard let space = shown.first else { return }
            #expect(
                try log.numbers(space, in: reopened) == (space == old ? [1, 2, 3] : [4, 5]),
                "operation \(count)"
            )
        }
    }

    /// A process died right after it put another space in the place of one.
    ///
    /// Who had that one open went on recording into it, and whoever cleared up removed it with what
    /// was acknowledged.
    @Test func aSpaceThatWasReplacedTakesNoEvents() throws {
        var isCut = true
        var count = 0
        var outcomes: Set<Bool> = []
        while isCut {
            count += 1
            let (log, store) = try make()
            let other = try log.open(process: 2)
            let old = try store.makeSpace(isAuthority: true).space
            _ = try other.append(log.append(1, to: old))
            let new = try store.stageSpace().space
            _ = try store.append(log.append(2, to: new))
            log.disk.cutAfter(operations: count, .after, process: 0)
            isCut = false
            do { try store[new].activate(inPlaceOf: old) } catch { isCut = true }
            log.disk.kill(0)
            let isRecorded = (try? other.append(log.append(1, to: old))) != nil
            outcomes.insert(isRecorded)
            let last = try log.open(process: 3)
            try last.removeRemains()
            #expect(try ids(last) == [isRecorded ? old : new], "operation \(count)")
            if isRecorded { #expect(try log.numbers(old, in: last).count == 2) }
        }
        #expect(outcomes.count == 2)
    }

    @Test func whoFillsAStagedSpaceKeepsItFromBeingClearedAway() throws {
        let (log, store) = try make()
        let (space, lock) = try store.stageSpace()
        let other = try log.open(process: 2)
        try other.removeRemains()
        #expect(try store.manifests().map(\.space) == [space])
        lock.release()
        try other.removeRemains()
        #expect(try store.manifests().isEmpty)
    }

    @Test func whatIsLeftOfRemovedSpacesIsNotLive() throws {
        let (log, store) = try make()
        let kept = try store.makeSpace(isAuthority: true).space
        _ = try store.append(log.append(3, to: kept))
        for _ in 0..<12 {
            let space = try store.makeSpace(isAuthority: true).space
            for _ in 0..<3 { _ = try store.append(log.append(1, textSize: 20_000, to: space)) }
            try store[space].remove()
        }
        #expect(store.validate() == [])
        #expect(try store.logBytes() <= log.sizes.quietMax + 2 * log.sizes.fileMax)
        #expect(try log.numbers(kept, in: store) == [1, 2, 3])
        #expect(try log.numbers(kept, in: log.open(process: 2)) == [1, 2, 3])
    }

    /// A copy waits before it was used, as its operator has to see, and writes that down then.
    @Test func aCopyOfAServedSpaceWaitsFromTheStart() throws {
        let (log, store) = try make()
        let spaces = try (0..<3).map { try store.makeSpace(isAuthority: $0 != 2).space }
        for space in [spaces[0], spaces[2]] { try store[space].markServed() }
        #expect(try spaces.map { try store[$0].isWaiting() } == [false, false, false])
        try store.close()
        let copy = TestLog(disk: log.disk.copy(), seed: 2)
        let reader = try copy.open(access: .readOnly)
        #expect(try spaces.map { try reader[$0].isWaiting() } == [true, false, false])
        let manifests = try reader.manifests()
        #expect(manifests.allSatisfy { !$0.isWaiting })
        try reader.close()
        let used = try copy.open()
        for space in spaces { _ = try used[space].author() }
        #expect(try spaces.map { try used[$0].isWaiting() } == [true, false, false])
        try used[spaces[0]].resumeAuthority()
        #expect(try !used[spaces[0]].isWaiting())
    }

    @Test func manySpacesShareOneLog() throws {
        let (log, store) = try make()
        let spaces = try (0..<30).map { try store.makeSpace(isAuthority: $0 % 2 == 0).space }
        for _ in 0..<3 {
            for outcome in store.commit(spaces.map { log.append(1, to: $0) }) {
                _ = try outcome.get()
            }
        }
        let reopened = try log.open(process: 2)
        for (index, space) in spaces.enumerated() {
            let numbers = (0..<3).map { Int64(30 * $0 + index + 1) }
            #expect(try log.numbers(space, in: reopened) == numbers)
        }
        #expect(try reopened.manifests().map(\.space) == spaces.sorted())
    }

    // MARK: Packs

    private let files = [
        PackFile(path: "events/a.made.1.json", bytes: Array("{}".utf8)),
        PackFile(path: "pack.json", bytes: Array("{ \"name\": \"a\" }".utf8)),
    ]

    @Test func aPackIsKeptWholeOrNotAtAll() throws {
        let fingerprint = Fingerprint.pack(files)
        try forEachCut { log, store in
            try store.makeSpace(isAuthority: true).space
        } _: { (store, _) throws(LogError) in
            try store.keep(files, fingerprint: fingerprint)
        } check: { log, store, _, isDone in
            if isDone { #expect(try store.packs.files(fingerprint) == files) }
            try store.keep(files, fingerprint: fingerprint)
            log.disk.crash(using: &log.random)
            #expect(try log.open().packs.files(fingerprint) == files)
        }
    }

    /// A folder that a process had renamed before it died was taken for kept, and could be lost.
    @Test(arguments: [false, true])
    func aPackThatADeadProcessLeftIsMadeToLast(isAskedFor: Bool) throws {
        let fingerprint = Fingerprint.pack(files)
        var count = 0
        var isCut = true
        while isCut {
            count += 1
            for seed in 0..<UInt64(8) {
                let (log, store) = try make()
                log.random = SeededRandom(seed: seed)
                log.disk.cutAfter(operations: count, .after, process: 0)
                isCut = false
                do { try store.keep(files, fingerprint: fingerprint) } catch { isCut = true }
                log.disk.kill(0)
                let other = try log.open(process: 2)
                if try !isAskedFor || !other.packs.has(fingerprint) {
                    try other.keep(files, fingerprint: fingerprint)
                }
                log.disk.crash(using: &log.random)
                #expect(throws: Never.self) { try log.open().packs.files(fingerprint) }
            }
        }
    }

    /// Each of two that adopted one pack at once removed what the other had put into its folder.
    @Test func aPackThatTwoKeepAtOnceIsWhole() async throws {
        let files = files
        let fingerprint = Fingerprint.pack(files)
        for _ in 0..<10 {
            let folder = try TemporaryFolder()
            let log = try TestLog()
            try LogStore.create(in: folder.directory())
            let stores = try (0..<2).map { _ in try log.open(folder.directory()) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for store in stores {
                    group.addTask { try store.keep(files, fingerprint: fingerprint) }
                }
                try await group.waitForAll()
            }
            #expect(try stores[0].packs.files(fingerprint) == files)
        }
    }

    @Test func aPackWithOtherBytesIsNotTakenForTheOneKept() throws {
        let (log, store) = try make()
        let fingerprint = Fingerprint.pack(files)
        try store.keep(files, fingerprint: fingerprint)
        try log.disk.flipBit(0, at: 1, of: LogPaths.pack(fingerprint) + "/pack.json")
        let error = #expect(throws: LogError.self) { try store.packs.files(fingerprint) }
        guard case .corrupt = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func aPackIsReadOnce() throws {
        let schema = """
            { "title": "a.note.made", "x-diario-version": 1, "type": "object",
              "additionalProperties": false, "properties": {} }
            """
        let good = [
            PackFile(path: "events/note.made.1.json", bytes: Array(schema.utf8)),
            PackFile(path: "pack.json", bytes: Array(#"{"name":"a","version":1}"#.utf8)),
        ]
        let (log, store) = try make()
        let fingerprint = Fingerprint.pack(good)
        #expect(throws: LogError.self) { try store.packs.pack(fingerprint) }
        try store.keep(good, fingerprint: fingerprint)
        #expect(try store.packs.pack(fingerprint).types.map(\.name) == ["a.note.made"])
        try log.disk.flipBit(0, at: 1, of: LogPaths.pack(fingerprint) + "/pack.json")
        #expect(try store.packs.pack(fingerprint).name == "a")
        // Whoever looks at the files sees what is there.
        #expect(throws: LogError.self) { try store.packs.files(fingerprint) }
        #expect(throws: LogError.self) { try log.open().packs.pack(fingerprint) }
    }

    @Test func aPackThatThisProgramCannotReadIsNamed() throws {
        let (_, store) = try make()
        let fingerprint = Fingerprint.pack(files)
        try store.keep(files, fingerprint: fingerprint)
        let error = #expect(throws: LogError.self) { try store.packs.pack(fingerprint) }
        guard case .corrupt(let fault) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(fault.file == LogPaths.pack(fingerprint))
        #expect(fault.what.contains("cannot be read"))
    }
}
