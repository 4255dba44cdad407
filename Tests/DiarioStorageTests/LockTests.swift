import DiarioCore
import DiarioStorage
import DiarioTestSupport
import Foundation
import Synchronization
import Testing

/// A number that two threads count up.
private final class Tally: Sendable {
    let count = Mutex(0)
}

@Suite(.waits) struct LockTests {
    enum Kind: CaseIterable { case posix, crash }

    /// Calls `body` with two ways to one empty directory, as two processes have them.
    private func withDirectories(
        _ kind: Kind,
        _ body: (any LogDirectory, any LogDirectory) throws -> Void
    ) throws {
        switch kind {
        case .posix:
            let folder = try TemporaryFolder()
            try withExtendedLifetime(folder) {
                try body(folder.directory(), folder.directory())
            }
        case .crash:
            let disk = CrashDisk(machineID: "test")
            try body(disk.process(1), disk.process(2))
        }
    }

    @Test(arguments: Kind.allCases) func oneLockExcludesAnother(_ kind: Kind) throws {
        try withDirectories(kind) { one, two in
            let first = try one.lock("lock")
            let second = try two.lock("lock")
            let third = try one.lock("lock")
            try first.acquire(waitSeconds: 0)
            #expect(try !Files.tryAcquire(second))
            #expect(try !Files.tryAcquire(third))
            first.release()
            #expect(try Files.tryAcquire(second))
            #expect(try !Files.tryAcquire(first))
            second.release()
            try third.acquire(waitSeconds: 0)
            third.release()
        }
    }

    @Test(arguments: Kind.allCases) func theErrorNamesTheOwner(_ kind: Kind) throws {
        try withDirectories(kind) { one, two in
            let first = try one.lock("lock")
            let second = try two.lock("lock")
            try first.acquire(waitSeconds: 0)
            let error = #expect(throws: StorageError.self) {
                try second.acquire(waitSeconds: 0)
            }
            guard case .locked(let path, let owner) = error else {
                Issue.record("the error is another one")
                return
            }
            #expect(path.hasSuffix("lock"))
            #expect(owner == (kind == .posix ? ProcessInfo.processInfo.processIdentifier : 1))
            first.release()
        }
    }

    @Test(arguments: Kind.allCases) func theNoteOutlivesItsHolder(_ kind: Kind) throws {
        try withDirectories(kind) { one, two in
            let first = try one.lock("lock")
            try first.acquire(waitSeconds: 0)
            #expect(try first.note == 0)
            try first.setNote(0x1122_3344_5566_7788)
            #expect(try first.note == 0x1122_3344_5566_7788)
            first.release()
            let second = try two.lock("lock")
            try second.acquire(waitSeconds: 0)
            #expect(try second.note == 0x1122_3344_5566_7788)
            try second.setNote(.max)
            second.release()
            try first.acquire(waitSeconds: 0)
            #expect(try first.note == .max)
            first.release()
        }
    }

    @Test(arguments: Kind.allCases) func aLockEndsWithItsObject(_ kind: Kind) throws {
        try withDirectories(kind) { one, two in
            var first: (any DirectoryLock)? = try one.lock("lock")
            try first?.acquire(waitSeconds: 0)
            let second = try two.lock("lock")
            #expect(try !Files.tryAcquire(second))
            first = nil
            #expect(try Files.tryAcquire(second))
            second.release()
        }
    }

    @Test(arguments: [0, 1, 4, 9, 15, 16, 40])
    func aLockFileOfAnyLengthServes(length: Int) throws {
        let folder = try TemporaryFolder()
        let directory = try folder.directory()
        let bytes = (0..<length).map { UInt8($0 + 1) }
        try Files.replace("lock", with: bytes, in: directory)
        let lock = try directory.lock("lock")
        try lock.acquire(waitSeconds: 0)
        // Little-endian from offset 8, zeros where the file ends.
        let noteBytes = Array(bytes.dropFirst(8).prefix(8).reversed())
        let missing = 8 - noteBytes.count
        let note = ([UInt8](repeating: 0, count: missing) + noteBytes).reduce(UInt64(0)) {
            $0 << 8 | UInt64($1)
        }
        #expect(try lock.note == note)
        try lock.setNote(3)
        lock.release()
        #expect(try directory.open("lock", .read).size() == max(length, 16))
    }

    @Test func aWaiterGetsTheLockOnceItIsFree() async throws {
        let folder = try TemporaryFolder()
        let first = try folder.directory().lock("lock")
        let second = try folder.directory().lock("lock")
        let tally = Tally()
        // Each adds to the counter in two steps, so that a failure to exclude would lose counts.
        try await withThrowingTaskGroup { group in
            for lock in [first, second] {
                group.addTask {
                    for _ in 0..<50 {
                        try lock.acquire(waitSeconds: 10)
                        let count = tally.count.withLock { $0 }
                        tally.count.withLock { $0 = count + 1 }
                        lock.release()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(tally.count.withLock { $0 } == 100)
    }

    @Test func misuseTraps() async throws {
        await #expect(processExitsWith: .failure) {
            attempt {
                let lock = try CrashDisk(machineID: "").lock("lock")
                try lock.acquire(waitSeconds: 0)
                try lock.acquire(waitSeconds: 0)
            }
        }
        await #expect(processExitsWith: .failure) {
            attempt { try CrashDisk(machineID: "").lock("lock").release() }
        }
        // Made here, because a process that traps does not clear up.
        let folder = try TemporaryFolder()
        await #expect(processExitsWith: .failure) { [path = folder.path as String] in
            attempt {
                let directory = try POSIXDirectory(path: path, access: .readWrite)
                let lock = try directory.lock("lock")
                try lock.acquire(waitSeconds: 0)
                lock.release()
                lock.release()
            }
        }
        await #expect(processExitsWith: .failure) { [path = folder.path as String] in
            attempt {
                let directory = try POSIXDirectory(path: path, access: .readWrite)
                _ = try directory.lock("lock").note
            }
        }
    }
}
