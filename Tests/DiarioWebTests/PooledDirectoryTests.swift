import DiarioCore
import DiarioStorage
import DiarioTestSupport
import DiarioWeb
import Testing

/// The data directory of a page, on slots of a disk whose power can be cut.
@Suite struct PooledDirectoryTests {
    private static func slots(_ disk: CrashDisk, _ count: Int = 12) throws -> [any LogFile] {
        let slots = try (0..<count).map { try disk.open("\($0)", .create) }
        // A browser keeps the files that a page made, if not what is in them.
        try disk.syncDirectory("")
        return slots
    }

    private static func contents(_ path: String, _ directory: any LogDirectory) throws -> [UInt8] {
        try Files.contents(of: path, in: directory, sizeMax: 1000)
    }

    @Test func whatWasWrittenIsThereAgain() throws {
        let disk = CrashDisk(machineID: "test")
        let directory = try PooledDirectory(Self.slots(disk))
        try directory.makeDirectory("a/b")
        try Files.replace("a/b/file", with: [1, 2, 3], in: directory)
        try Files.replace("a/b/file", with: [4], in: directory)
        _ = try directory.open("other", .create)
        try directory.rename("a/b", to: "a/c")
        let again = try PooledDirectory(Self.slots(disk))
        #expect(try again.list("") == ["a", "other"] && again.list("a") == ["c"])
        #expect(try Self.contents("a/c/file", again) == [4])
        #expect(again.slotCount == 12 && again.freeCount == 8)
    }

    @Test func aFileKeepsItsBytesUntilNobodyHasIt() throws {
        let disk = CrashDisk(machineID: "test")
        let directory = try PooledDirectory(Self.slots(disk, 4))
        do {
            let file = try directory.open("file", .create)
            try file.write([1, 2].span, at: 0)
            try directory.remove("file")
            #expect(throws: StorageError.removed("file")) { try file.checkName() }
            try directory.syncDirectory("")
            var bytes: [UInt8] = []
            try file.read(at: 0, count: 2, into: &bytes)
            #expect(bytes == [1, 2] && directory.freeCount == 1)
        }
        #expect(directory.freeCount == 2)
    }

    @Test func withoutASlotNothingIsMade() throws {
        let disk = CrashDisk(machineID: "test")
        let directory = try PooledDirectory(Self.slots(disk, 3))
        _ = try directory.open("a", .create)
        #expect(throws: StorageError.noSlots("b")) { _ = try directory.open("b", .create) }
        #expect(throws: StorageError.self) { try directory.prepare(files: 1) }
        #expect(try directory.list("") == ["a"])
        directory.add([try disk.open("3", .create)])
        try directory.prepare(files: 1)
        _ = try directory.open("b", .create)
        #expect(try PooledDirectory(Self.slots(disk, 4)).list("") == ["a", "b"])
    }

    @Test func aLockIsForOneAtATime() throws {
        let directory = try PooledDirectory(Self.slots(CrashDisk(machineID: "test")))
        let (first, second) = (try directory.lock("lock"), try directory.lock("lock"))
        try first.acquire(waitSeconds: 0)
        try first.setNote(7)
        #expect(throws: StorageError.self) { try second.acquire(waitSeconds: 0) }
        first.release()
        try second.acquire(waitSeconds: 0)
        #expect(try second.note == 7 && !second.wasLastHolder && !first.isOurs && second.isOurs)
        second.release()
    }

    // MARK: Damage

    /// Without a whole table, or with a slot that is gone, the directory says so.
    @Test func damageIsToldAndNotGuessedAt() throws {
        let disk = CrashDisk(machineID: "test")
        let directory = try PooledDirectory(Self.slots(disk))
        try Files.replace("file", with: [1], in: directory)
        try Files.replace("file", with: [2], in: directory)
        #expect(throws: StorageError.self) { _ = try PooledDirectory(Self.slots(disk, 3)) }
        let copies = try ["0", "1"].filter { try disk.open($0, .read).size() > 0 }
        #expect(copies.count == 1)
        try disk.flipBit(3, at: 9, of: copies[0])
        let error = #expect(throws: StorageError.self) {
            _ = try PooledDirectory(Self.slots(disk))
        }
        #expect(error.map { "\($0)".contains("damaged") } == true)
    }

    // MARK: Power cuts

    /// Files are replaced and removed durably, and others only begun.
    ///
    /// After a cut at any operation each has the bytes that it had last, or those of what was under
    /// way.
    @Test(arguments: 0..<25 as Range<UInt64>) func aCutLosesNothingThatIsDurable(
        seed: UInt64
    ) throws {
        var random = SeededRandom(seed: seed)
        let script = (0..<12).map { _ in Step(using: &random) }
        let whole = CrashDisk(machineID: "test")
        try Self.run(script, on: whole) { _, _ in }
        for _ in 0..<40 {
            let disk = CrashDisk(machineID: "test")
            var durable: [String: [UInt8]] = [:]
            var current: Step?
            let moment = CrashDisk.CutMoment.allCases[random.below(3)]
            disk.cutAfter(operations: 1 + random.below(whole.operationCount), moment)
            try? Self.run(script, on: disk) { step, isDone in
                current = isDone ? nil : step
                if isDone { durable[step.path] = step.bytes }
            }
            disk.crash(using: &random)
            let directory = try PooledDirectory(Self.slots(disk))
            for path in Step.paths {
                let found = try directory.exists(path) ? Self.contents(path, directory) : nil
                let isRight =
                    found == durable[path] || (path == current?.path && found == current?.bytes)
                #expect(isRight, "\(path): \(found ?? []), \(durable[path] ?? [])")
            }
        }
    }

    /// Replaces a file durably, or removes it.
    private struct Step {
        static let paths = ["a", "b", "folder/c"]

        let path: String
        let bytes: [UInt8]?
        let beginsAnother: Bool

        init(using random: inout SeededRandom) {
            path = Self.paths[random.below(3)]
            bytes = random.below(4) == 0 ? nil : makeBytes(1 + random.below(20), using: &random)
            beginsAnother = random.below(3) == 0
        }
    }

    private static func run(
        _ script: [Step],
        on disk: CrashDisk,
        told: (Step, _ isDone: Bool) -> Void
    ) throws {
        let directory = try PooledDirectory(slots(disk))
        try Files.makeDirectoryDurably("folder", in: directory)
        for step in script {
            told(step, false)
            if step.beginsAnother { _ = try directory.open("another", .create) }
            if let bytes = step.bytes {
                try Files.replace(step.path, with: bytes, in: directory)
            } else if try directory.exists(step.path) {
                try directory.remove(step.path)
                try directory.syncDirectory("")
            }
            told(step, true)
        }
    }
}
