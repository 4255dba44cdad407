import DiarioCore
import DiarioLog
import DiarioStorage
import DiarioTestSupport
import Testing

/// Who clears up what others left, while spaces are made and take the place of others.
@Suite struct RemainsTests {
    private let log: TestLog

    init() throws {
        log = try TestLog()
        log.sizes = TestLog.small
    }

    /// Who clears up had looked before the space was there, and took it away with its events.
    @Test func aSpaceThatIsMadeMeanwhileIsNotClearedAway() throws {
        let cleaner = try log.open(process: 2)
        let meddling = MeddlingDirectory.Meddling(at: .manifest, 1) {
            #expect(throws: Never.self) { try cleaner.removeRemains() }
        }
        let store = try log.open(MeddlingDirectory(log.disk.process(3), meddling))
        let space = try store.makeSpace(isAuthority: true).space
        _ = try store.append(log.append(2, to: space))
        #expect(try log.numbers(space, in: log.open()) == [1, 2])
    }

    /// The same for one that is shown after it was looked at, as what it replaces was gone too.
    @Test func aSpaceThatIsShownMeanwhileIsNotClearedAway() throws {
        let store = try log.open()
        let old = try store.makeSpace(isAuthority: true).space
        let (new, lock) = try store.stageSpace()
        _ = try store.append(log.append(2, to: new))
        let meddling = MeddlingDirectory.Meddling(at: .staging, 1) {
            #expect(throws: Never.self) {
                try store[new].activate(inPlaceOf: old)
                lock.release()
            }
        }
        let cleaner = try log.open(MeddlingDirectory(log.disk.process(2), meddling))
        try cleaner.removeRemains()
        let reopened = try log.open()
        #expect(try reopened.manifests().map(\.space) == [new])
        #expect(try log.numbers(new, in: reopened) == [1, 2])
    }

    /// What a server fills comes in many requests, and others cleared it away between two.
    @Test func whatAServerFillsIsNotClearedAway() throws {
        let store = try log.open()
        let (space, lock) = try store.stageSpace()
        lock.release()
        _ = try log.disk.open(LogPaths.control, .create)
        try log.open(process: 2).removeRemains()
        #expect(try store.hasSpace(space))
        #expect(!store.hasRemains(beside: try store.manifests()))
    }

    @Test func spacesThatNobodyNamedAreFound() throws {
        let store = try log.open()
        let ids = try (0..<2).map { _ in try store.makeSpace(isAuthority: true).space }.sorted()
        let (_, lock) = try store.stageSpace()
        defer { lock.release() }
        #expect(try LogStore.spaces(in: log.disk, besides: []) == ids)
        #expect(try LogStore.spaces(in: log.disk, besides: [ids[0]]) == [ids[1]])
        #expect(try LogStore.spaces(in: log.disk, besides: Set(ids)) == [])
    }

    /// With its manifest all files of a space were gone as soon as another one was cleared away.
    @Test func aSpaceThatLostItsManifestIsNoRemain() throws {
        let store = try log.open()
        let space = try store.makeSpace(isAuthority: true).space
        _ = try store.append(log.append(2, to: space))
        try log.disk.remove(LogPaths.manifest(space))
        try log.open(process: 2).removeRemains()
        #expect(try log.disk.exists(LogPaths.replica(space)))
        #expect(throws: LogError.self) { try store.checkMaking(space) }
    }

    /// Its files stay while somebody seals it, and what was recorded into it then was acknowledged.
    @Test func nothingIsRecordedIntoASpaceThatWasReplaced() throws {
        let store = try log.open()
        let old = try store.makeSpace(isAuthority: true).space
        let other = try log.open(process: 2)
        _ = try other.append(log.append(1, to: old))
        let (new, lock) = try store.stageSpace()
        _ = try store.append(log.append(2, to: new))
        let sealing = try log.disk.process(3).lock(LogPaths.sealingLock(old))
        try sealing.acquire(waitSeconds: 0)
        try store[new].activate(inPlaceOf: old)
        lock.release()
        #expect(throws: LogError.unknownSpace(old)) { try other.append(log.append(1, to: old)) }
        sealing.release()
        try other.removeRemains()
        #expect(try log.disk.list("spaces") == [new.text])
        #expect(try log.numbers(new, in: log.open()) == [2, 3])
    }

    /// Whoever clears up did not wait for the lock, but made everybody wait who opened the space.
    @Test func whoClearsUpPassesByWhatIsBeingSealed() throws {
        let store = try log.open()
        let (space, lock) = try store.stageSpace()
        lock.release()
        let sealing = try log.disk.process(3).lock(LogPaths.sealingLock(space))
        try sealing.acquire(waitSeconds: 0)
        try log.open(process: 2).removeRemains()
        #expect(try store.manifests().map(\.space) == [space])
        sealing.release()
        try log.open(process: 2).removeRemains()
        #expect(try store.manifests().isEmpty)
    }
}
