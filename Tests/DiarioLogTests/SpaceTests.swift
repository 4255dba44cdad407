import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioSchema
import DiarioSimulation
import DiarioStorage
import DiarioTestSupport
import Testing

/// Spaces come, take the place of others, and go; packs are kept. Each step may be the last one.
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
                for seed in 0..<UInt64(3) {
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
                    #expect(reopened.report.fault == nil)
                    try check(log, reopened, space, !isCut)
                    #expect(reopened.validate() == [])
                }
            }
            #expect(count > 2)
        }
    }

    @Test func whoFillsAStagedSpaceKeepsItFromBeingClearedAway() throws {
        let (log, store) = try make()
        let space = try store.makeSpace(isAuthority: true, isStaging: true).space
        let lock = try store.stagingLock(of: space)
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
            try store.remove(space)
        }
        #expect(store.validate() == [])
        #expect(try store.logBytes() <= log.sizes.quietMax + 2 * log.sizes.fileMax)
        #expect(try log.numbers(kept, in: store) == [1, 2, 3])
        #expect(try log.numbers(kept, in: log.open(process: 2)) == [1, 2, 3])
    }

    @Test func manySpacesShareOneLog() throws {
        let (log, store) = try make()
        let spaces = try (0..<30).map { try store.makeSpace(isAuthority: $0 % 2 == 0).space }
        for _ in 0..<3 {
            for outcome in try store.append(spaces.map { log.append(1, to: $0) }) {
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
            if isDone { #expect(try store.packFiles(fingerprint) == files) }
            try store.keep(files, fingerprint: fingerprint)
            log.disk.crash(using: &log.random)
            #expect(try log.open().packFiles(fingerprint) == files)
        }
    }

    /// A folder that a process had renamed before it died was taken for kept, and could be lost.
    @Test func aPackThatADeadProcessLeftIsMadeToLast() throws {
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
                try log.open(process: 2).keep(files, fingerprint: fingerprint)
                log.disk.crash(using: &log.random)
                #expect(throws: Never.self) { try log.open().packFiles(fingerprint) }
            }
        }
    }

    @Test func aPackWithOtherBytesIsNotTakenForTheOneKept() throws {
        let (log, store) = try make()
        let fingerprint = Fingerprint.pack(files)
        try store.keep(files, fingerprint: fingerprint)
        try log.disk.flipBit(0, at: 1, of: LogPaths.pack(fingerprint) + "/pack.json")
        let error = #expect(throws: LogError.self) { try store.packFiles(fingerprint) }
        guard case .corrupt = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
