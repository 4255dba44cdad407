import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSimulation
import DiarioStorage
import DiarioTestSupport
import Testing

/// Several processes that write to one directory.
@Suite struct SharedLogTests {
    /// Two processes with small files, and a space whose authority is here.
    private func makeTwo(
        isAuthority: Bool = true
    ) throws -> (TestLog, LogStore, LogStore, SpaceID) {
        let log = try TestLog()
        log.sizes = TestLog.small
        let first = try log.open(process: 1)
        let second = try log.open(process: 2)
        let space = try first.makeSpace(isAuthority: isAuthority).space
        return (log, first, second, space)
    }

    @Test(arguments: [true, false])
    func twoProcessesNeverUseASequenceOrPositionTwice(isAuthority: Bool) throws {
        let (log, first, second, space) = try makeTwo(isAuthority: isAuthority)
        var batches: [AppendedBatch] = []
        for step in 0..<40 {
            let store = log.random.oneIn(2) ? first : second
            batches += try store.append(log.append(1 + step % 3, to: space))
        }
        var sequence: UInt64 = 1
        for batch in batches {
            #expect(batch.firstOrigin.sequence == sequence)
            #expect(batch.firstPosition == (isAuthority ? sequence : nil))
            sequence += UInt64(batch.count)
        }
        _ = try first.refresh()
        _ = try second.refresh()
        let expected = Array(1..<Int64(sequence))
        #expect(try log.numbers(space, in: first) == expected)
        #expect(try log.numbers(space, in: second) == expected)
        #expect(try first.root(of: space) == log.plainRoot(space, in: first))
        #expect(try first.root(of: space) == second.root(of: space))
        #expect(try log.numbers(space, in: log.open(process: 3)) == expected)
    }

    @Test func aRefreshShowsWhatOthersAppended() throws {
        let (log, first, second, space) = try makeTwo()
        _ = try first.append(log.append(2, to: space))
        #expect(try log.numbers(space, in: second) == [])
        #expect(try second.refresh())
        #expect(try log.numbers(space, in: second) == [1, 2])
        #expect(try !second.refresh())
    }

    /// A refresh that read all files anew left the newest one open for reading alone, and the next
    /// append of that process trapped.
    @Test func aProcessThatRefreshedCanStillAppend() throws {
        let (log, first, second, space) = try makeTwo()
        _ = try first.append(log.append(1, to: space))
        #expect(try second.refresh())
        _ = try second.append(log.append(1, to: space))
        #expect(try first.refresh())
        _ = try first.append(log.append(1, to: space))
        #expect(try log.numbers(space, in: first) == [1, 2, 3])
    }

    /// A process that died after it began a file, and before it told the others, let them go on in
    /// the file before: what they appended there lay beyond the length that the new file states.
    @Test(arguments: CrashDisk.CutMoment.allCases)
    func aFileBegunByADeadProcessIsNoticed(moment: CrashDisk.CutMoment) throws {
        var isCut = true
        var count = 0
        while isCut {
            count += 1
            let (log, first, second, space) = try makeTwo()
            for _ in 0..<2 { _ = try second.append(log.append(1, textSize: 25_000, to: space)) }
            _ = try first.append(log.append(1, to: space))
            log.disk.cutAfter(operations: count, moment, process: 1)
            isCut = false
            do {
                _ = try first.append(log.append(1, textSize: 25_000, to: space))
            } catch {
                #expect(error == .storage(.cut))
                isCut = true
            }
            log.disk.kill(1)
            _ = try second.append(log.append(1, to: space))
            let numbers = try log.numbers(space, in: second)
            #expect(numbers.last == 5)
            log.disk.crash(using: &log.random)
            let store = try log.open()
            #expect(store.report.fault == nil)
            #expect(try log.numbers(space, in: store) == numbers, "operation \(count)")
        }
        #expect(count > 3)
    }

    /// Only an append told the others of a file that a failed sync made it begin.
    @Test func aFrameThatMovedToANewFileIsNoticed() throws {
        let (log, first, second, space) = try makeTwo()
        _ = try second.append(log.append(1, to: space))
        _ = try first.append(log.append(1, to: space, .written))
        log.disk.failNextSyncs(1)
        try first.sync()
        _ = try second.append(log.append(1, to: space))
        #expect(try log.numbers(space, in: second) == [1, 2, 3])
        log.disk.crash(using: &log.random)
        #expect(try log.numbers(space, in: log.open()) == [1, 2, 3])
    }

    @Test func aLockThatIsHeldNamesItsOwner() throws {
        let (log, first, _, space) = try makeTwo()
        let lock = try log.disk.process(7).lock("lock")
        try lock.acquire(waitSeconds: 0)
        #expect(throws: LogError.storage(.locked("lock", owner: 7))) {
            try first.append(log.append(1, to: space))
        }
        lock.release()
        _ = try first.append(log.append(1, to: space))
    }
}
