import DiarioCore
import DiarioStorage
import DiarioTestSupport
import Testing

/// The faults that a `CrashDisk` is told to have, and the processes that use it.
@Suite struct CrashFaultTests {
    private let disk = CrashDisk(machineID: "test")

    @Test func aCutStopsEverythingUntilTheCrash() throws {
        let file = try disk.open("file", .create)
        let lock = try disk.lock("lock")
        try lock.acquire(waitSeconds: 0)
        disk.cutAfter(operations: 2, .before)
        try file.write([1], at: 0)
        #expect(throws: StorageError.cut) { try file.write([2], at: 0) }
        #expect(throws: StorageError.cut) { try file.size() }
        #expect(throws: StorageError.cut) { try file.allBytes() }
        #expect(throws: StorageError.cut) { try file.sync() }
        #expect(throws: StorageError.cut) { try disk.list("") }
        #expect(throws: StorageError.cut) { try disk.exists("file") }
        #expect(throws: StorageError.cut) { try disk.open("file", .read) }
        #expect(throws: StorageError.cut) { try disk.process(1).syncDirectory("") }
        #expect(throws: StorageError.cut) { try lock.note }
        lock.release()
        var random = SeededRandom(seed: 1)
        disk.crash(using: &random)
        #expect(throws: StorageError.cut) { try file.size() }
        #expect(throws: StorageError.cut) { try Files.tryAcquire(lock) }
        #expect(try Files.tryAcquire(disk.lock("lock")))
    }

    @Test func theMomentOfACutDecidesWhatIsWritten() throws {
        let written: [CrashDisk.CutMoment: [UInt8]] = [
            .before: [], .torn: [1, 2], .after: [1, 2, 3, 4],
        ]
        for moment in CrashDisk.CutMoment.allCases {
            let disk = CrashDisk(machineID: "test")
            let file = try disk.process(1).open("file", .create)
            disk.cutAfter(operations: 1, moment, process: 1)
            #expect(throws: StorageError.cut) { try file.write([1, 2, 3, 4], at: 0) }
            #expect(try disk.open("file", .read).allBytes() == written[moment])
        }
    }

    @Test func aKilledProcessLeavesItsBytesAndItsLocks() throws {
        let one = disk.process(1)
        let file = try one.open("file", .create)
        try file.write([1, 2], at: 0)
        let lock = try one.lock("lock")
        try lock.acquire(waitSeconds: 0)
        let other = try disk.process(2).open("file", .read)
        let waiting = try disk.process(2).lock("lock")
        disk.kill(1)
        #expect(throws: StorageError.cut) { try file.write([3], at: 0) }
        #expect(throws: StorageError.cut) { try one.list("") }
        #expect(throws: StorageError.cut) { try lock.setNote(1) }
        lock.release()
        #expect(try other.allBytes() == [1, 2])
        #expect(try Files.tryAcquire(waiting))
        #expect(try disk.process(1).open("file", .read).allBytes() == [1, 2])
    }

    @Test func aPlannedDeathTakesOneProcessOnly() throws {
        let one = try disk.process(1).open("file", .create)
        let two = try disk.process(2).open("file", .readWrite)
        disk.cutAfter(operations: 2, .before, process: 1)
        try two.write([1], at: 0)
        try two.write([1], at: 1)
        try one.write([2], at: 2)
        #expect(throws: StorageError.cut) { try one.write([2], at: 3) }
        try two.write([1], at: 3)
        #expect(try two.allBytes() == [1, 1, 2, 1])
    }

    @Test func aFailedSyncLosesItsBytesForGood() throws {
        var keptCount = 0
        var lostCount = 0
        for seed in UInt64(0)..<60 {
            var random = SeededRandom(seed: seed)
            let disk = CrashDisk(machineID: "test")
            let file = try disk.open("file", .create)
            try disk.syncDirectory("")
            try file.write([UInt8](repeating: 1, count: 512), at: 0)
            disk.failNextSyncs(1)
            #expect(failure { try file.sync() } == "failed")
            // The kernel shows them and takes them for clean.
            try file.write([UInt8](repeating: 2, count: 512), at: 512)
            try file.sync()
            #expect(try file.size() == 1024)
            #expect(try file.allBytes().first == 1)
            disk.crash(using: &random)
            let bytes = try disk.open("file", .read).allBytes()
            #expect(bytes.count == 1024)
            #expect(bytes[512...].allSatisfy { $0 == 2 })
            if bytes.first == 1 { keptCount += 1 } else { lostCount += 1 }
        }
        #expect(keptCount > 10)
        #expect(lostCount > 10)
    }

    @Test func writingAgainHealsAFailedSync() throws {
        for seed in UInt64(0)..<60 {
            var random = SeededRandom(seed: seed)
            let disk = CrashDisk(machineID: "test")
            let file = try disk.open("file", .create)
            try disk.syncDirectory("")
            try file.write([UInt8](repeating: 1, count: 700), at: 100)
            disk.failNextSyncs(1)
            #expect(failure { try file.sync() } == "failed")
            try file.write([UInt8](repeating: 1, count: 700), at: 100)
            try file.sync()
            let bytes = try file.allBytes()
            disk.crash(using: &random)
            #expect(try disk.open("file", .read).allBytes() == bytes)
        }
    }

    @Test func aFullDiskTakesWhatFits() throws {
        let file = try disk.open("file", .create)
        disk.setCapacity(10)
        try file.write([1, 2, 3, 4, 5, 6], at: 0)
        #expect(throws: StorageError.full("other")) {
            try disk.open("other", .create).write([1, 2, 3, 4, 5, 6], at: 0)
        }
        #expect(try Files.contents(of: "other", in: disk, sizeMax: 9) == [1, 2, 3, 4])
        try file.write([7, 7, 7, 7, 7, 7], at: 0)
        #expect(throws: StorageError.full("file")) { try file.write([8, 8, 8], at: 4) }
        #expect(try file.allBytes() == [7, 7, 7, 7, 8, 8])
        #expect(throws: StorageError.full("file")) { try file.truncate(to: 7) }
        try file.truncate(to: 2)
        try file.write([9], at: 5)
        #expect(try file.allBytes() == [7, 7, 0, 0, 0, 9])
        disk.setCapacity(nil)
        try file.write([1], at: 99)
    }

    @Test func everySoManyWritesFailHalfWay() throws {
        let file = try disk.open("file", .create)
        disk.failWrites(every: 3)
        let outcomes = (0..<7).map { index in
            failure { try file.write([1, 1], at: 2 * index) } == "failed"
        }
        #expect(outcomes == [false, false, true, false, false, true, false])
        #expect(try file.allBytes() == [1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1])
        disk.failWrites(every: nil)
        for _ in 0..<5 { try file.write([1], at: 0) }
    }

    @Test func everySoManyOfSomeOperationsFail() throws {
        try Files.replace("file", with: [1], in: disk)
        disk.failing = CrashDisk.Failing([.rename, .remove, .syncDirectory], every: 2)
        try disk.rename("file", to: "other")
        #expect(failure { try disk.remove("other") } == "failed")
        try disk.syncDirectory("")
        #expect(failure { try disk.rename("other", to: "file") } == "failed")
        disk.failing = CrashDisk.Failing([.open, .read], every: 2)
        let file = try disk.open("other", .read)
        #expect(failure { _ = try Files.contents(of: file, at: "other", sizeMax: 1) } == "failed")
        disk.failing = nil
        #expect(try Files.contents(of: "other", in: disk, sizeMax: 1) == [1])
    }

    @Test func aFlippedBitStays() throws {
        try Files.replace("file", with: [0, 0, 0], in: disk)
        try disk.flipBit(3, at: 1, of: "file")
        var random = SeededRandom(seed: 1)
        disk.crash(using: &random)
        #expect(try Files.contents(of: "file", in: disk, sizeMax: 3) == [0, 8, 0])
        #expect(failure { try disk.flipBit(0, at: 0, of: "none") } == "notFound")
    }

    @Test func aReadOnlyDiskRefusesChanges() throws {
        try Files.replace("file", with: [1], in: disk)
        disk.setReadOnly(true)
        let view = disk.process(1)
        #expect(view.isReadOnly)
        #expect(failure { try view.open("file", .readWrite) } == "readOnly")
        #expect(failure { try view.lock("lock") } == "readOnly")
        #expect(failure { try view.remove("file") } == "readOnly")
        #expect(failure { try view.rename("file", to: "x") } == "readOnly")
        #expect(failure { try view.makeDirectory("x") } == "readOnly")
        #expect(try view.open("file", .read).allBytes() == [1])
    }

    @Test func aCopyHasWhatIsDurableUnderOtherIdentities() throws {
        try Files.makeDirectoryDurably("a", in: disk)
        try Files.replace("a/file", with: [1], in: disk)
        let lock = try disk.lock("lock")
        try lock.acquire(waitSeconds: 0)
        try lock.setNote(5)
        try disk.syncDirectory("")
        try disk.open("a/file", .readWrite).write([2], at: 1)
        _ = try disk.open("a/unsynced", .create)
        let copy = disk.copy()
        #expect(try copy.list("") == ["a", "lock"])
        #expect(try copy.list("a") == ["file"])
        #expect(try Files.contents(of: "a/file", in: copy, sizeMax: 9) == [1])
        let identity = try copy.open("a/file", .read).identity
        #expect(try disk.open("a/file", .read).identity != identity)
        let copiedLock = try copy.lock("lock")
        try copiedLock.acquire(waitSeconds: 0)
        #expect(try copiedLock.note == 5)
        #expect(copy.machineID == disk.machineID)
        #expect(disk.copy(machineID: "other").machineID == Array("other".utf8))
        // Each goes its own way.
        try Files.replace("a/file", with: [9], in: copy)
        #expect(try Files.contents(of: "a/file", in: disk, sizeMax: 9) == [1, 2])
    }

    /// As Linux does: who wrote to the file learns of it even if another one's sync failed.
    @Test func eachHandleLearnsOnceOfAFailedSync() throws {
        let first = try disk.open("file", .create)
        let second = try disk.open("file", .readWrite)
        disk.failNextSyncs(1)
        #expect(failure { try first.sync() } == "failed")
        #expect(failure { try second.sync() } == "failed")
        try first.sync()
        try second.sync()
        try disk.open("file", .read).sync()
    }

    @Test func everythingIsCounted() throws {
        let file = try disk.open("file", .create)
        try file.write([1, 2, 3], at: 0)
        try file.sync()
        try disk.syncDirectory("")
        var bytes: [UInt8] = []
        try file.read(at: 1, count: 10, into: &bytes)
        try disk.rename("file", to: "other")
        try disk.remove("other")
        let counters = disk.counters
        #expect(counters.operations == 6)
        #expect(counters.operations == disk.operationCount)
        #expect(counters.writes == 1)
        #expect(counters.bytesWritten == 3)
        #expect(counters.reads == 1)
        #expect(counters.bytesRead == 2)
        #expect(counters.syncs == 1)
        #expect(counters.directorySyncs == 1)
    }

    @Test func aRemovedFileStaysForItsHandles() throws {
        let file = try disk.open("file", .create)
        try file.write([1], at: 0)
        try disk.remove("file")
        try disk.syncDirectory("")
        #expect(try file.allBytes() == [1])
        #expect(failure { try disk.open("file", .read) } == "notFound")
    }

    @Test func anOldNoteMayComeBackAfterACrash() throws {
        var notes: Set<UInt64> = []
        for seed in UInt64(0)..<60 {
            var random = SeededRandom(seed: seed)
            let disk = CrashDisk(machineID: "test")
            let lock = try disk.lock("lock")
            try disk.syncDirectory("")
            try lock.acquire(waitSeconds: 0)
            for note in UInt64(1)...3 { try lock.setNote(note) }
            disk.crash(using: &random)
            let again = try disk.lock("lock")
            try again.acquire(waitSeconds: 0)
            notes.insert(try again.note)
        }
        #expect(notes == [0, 1, 2, 3])
    }

    /// A handle is free again when no power cut brings its file back.
    @Test func filesNeedHandlesThatArePreparedBeforehand() throws {
        let disk = CrashDisk(machineID: "test")
        disk.prepareSlots(2)
        try disk.lock("lock").acquire(waitSeconds: 0)
        for name in ["a", "b"] { _ = try disk.open(name, .create) }
        #expect(failure { _ = try disk.open("c", .create) } == "noSlots")
        #expect(failure { try disk.prepare(files: 1) } == "noSlots")
        try disk.syncDirectory("")
        try disk.remove("b")
        #expect(failure { _ = try disk.open("c", .create) } == "noSlots")
        try disk.syncDirectory("")
        try disk.prepare(files: 1)
        _ = try disk.open("c", .create)
        disk.prepareSlots(4)
        try disk.prepare(files: 2)
        #expect(try disk.list("") == ["a", "c", "lock"])
    }
}
