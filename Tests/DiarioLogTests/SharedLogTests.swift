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
        #expect(try first[space].root() == log.plainRoot(space, in: first))
        #expect(try first[space].root() == second[space].root())
        #expect(try log.numbers(space, in: log.open(process: 3)) == expected)
    }

    /// Who opens the log without its lock reads it while others write: what comes between two looks
    /// at the same place is no damage.
    @Test(arguments: 1...40) func whatComesWhileALogIsOpenedIsNoDamage(read: Int) throws {
        let (log, first, _, space) = try makeTwo()
        // Of two files, the second with frames of its own.
        for _ in 0..<9 { _ = try first.append(log.append(8, textSize: 900, to: space)) }
        // With room behind the last frame, in which others come.
        _ = try first.append(log.append(1, to: space))
        let appends = (0..<4).map { _ in log.append(1, to: space) }
        let meddling = MeddlingDirectory.Meddling(read) {
            for append in appends {
                do { _ = try first.append(append) } catch { Issue.record(error) }
            }
        }
        let directory = MeddlingDirectory(log.disk.process(3), meddling)
        let reader = try log.open(directory, access: .readOnly)
        #expect(reader.fault == nil)
        // Perhaps it comes no sooner than here.
        for _ in 0..<2 {
            _ = try reader.refresh()
            #expect(reader.fault == nil)
            _ = try log.numbers(space, in: reader)
        }
        _ = try reader.refresh()
        #expect(try log.numbers(space, in: reader) == log.numbers(space, in: first))
    }

    /// A frame that went beyond where the file had ended was damage, if the log was closed then.
    @Test(arguments: 1...20, [100, 3000, 20_000])
    func aCleanStopWhileALogIsOpenedIsNoDamage(read: Int, size: Int) throws {
        let (log, first, _, space) = try makeTwo()
        for _ in 0..<3 { _ = try first.append(log.append(8, textSize: 900, to: space)) }
        let append = log.append(1, textSize: size, to: space)
        let meddling = MeddlingDirectory.Meddling(read) {
            do {
                _ = try first.append(append)
                try first.close()
            } catch {
                Issue.record(error)
            }
        }
        let directory = MeddlingDirectory(log.disk.process(3), meddling)
        let reader = try log.open(directory, access: .readOnly)
        #expect(reader.fault == nil)
        _ = try reader.refresh()
        #expect(reader.fault == nil)
    }

    /// The files that were being read were emptied and used again, which was damage as well.
    @Test(arguments: 1...30) func filesUsedAgainWhileALogIsOpenedAreNoDamage(read: Int) throws {
        let (log, first, _, space) = try makeTwo()
        for _ in 0..<9 { _ = try first.append(log.append(8, textSize: 900, to: space)) }
        let appends = (0..<9).map { _ in log.append(8, textSize: 900, to: space) }
        let meddling = MeddlingDirectory.Meddling(read) {
            do {
                for append in appends {
                    try first[space].release(upTo: first[space].head())
                    _ = try first.append(append)
                }
            } catch {
                Issue.record(error)
            }
        }
        let directory = MeddlingDirectory(log.disk.process(3), meddling)
        let reader = try log.open(directory, access: .readOnly)
        #expect(reader.fault == nil)
        // Perhaps it comes no sooner than here.
        for _ in 0..<2 {
            let head = first[space].head()
            _ = try reader.refresh()
            #expect(reader.fault == nil)
            #expect(reader[space].head() >= head)
        }
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

    /// Half of the log was known after that, and the next append began it anew from its first file.
    @Test(arguments: [false, true])
    func aCatchUpThatFailedIsDoneAgain(hasNewFile: Bool) throws {
        let (log, first, second, space) = try makeTwo()
        _ = try first.append(log.append(1, to: space))
        _ = try second.append(log.append(1, to: space))
        if hasNewFile {
            for _ in 0..<4 { _ = try second.append(log.append(1, textSize: 20_000, to: space)) }
        }
        let known = try log.numbers(space, in: second)
        log.disk.failNextSyncs(1)
        #expect(throws: LogError.self) { try first.refresh() }
        _ = try first.append(log.append(1, to: space))
        let numbers = try log.numbers(space, in: first)
        #expect(Array(numbers.dropLast()) == known)
        #expect(first.validate() == [])
        #expect(try log.numbers(space, in: log.open(process: 3)) == numbers)
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
            #expect(store.fault == nil)
            #expect(try log.numbers(space, in: store) == numbers, "operation \(count)")
        }
        #expect(count > 3)
    }

    /// Only an append told the others of a file that a failed sync made it begin.
    @Test func aFrameThatMovedToANewFileIsNoticed() throws {
        let (log, first, second, space) = try makeTwo()
        _ = try second.append(log.append(1, to: space))
        try first.catchUp()
        log.disk.failNextSyncs(1)
        _ = try first.append(log.append(1, to: space))
        _ = try second.append(log.append(1, to: space))
        #expect(try log.numbers(space, in: second) == [1, 2, 3])
        log.disk.crash(using: &log.random)
        #expect(try log.numbers(space, in: log.open()) == [1, 2, 3])
    }

    /// After a read that failed, a frame of others was taken for read that was not: its origin and
    /// its position were given again, and the event was gone.
    @Test(arguments: [false, true]) func aReadThatFailsPassesNoFrameOver(refreshes: Bool) throws {
        var failed = 0
        for count in 1...12 {
            let (log, first, second, space) = try makeTwo()
            _ = try first.append(log.append(1, to: space))
            for _ in 0..<3 { _ = try second.append(log.append(1, textSize: 9000, to: space)) }
            log.disk.failRead(count)
            do {
                if refreshes { _ = try first.refresh() }
                _ = try first.append(log.append(1, to: space))
            } catch {
                failed += 1
                _ = try first.append(log.append(1, to: space))
            }
            log.disk.failRead(nil)
            let numbers = try log.numbers(space, in: log.open(process: 3))
            #expect(Array(numbers.prefix(4)) == [1, 2, 3, 4], "read \(count)")
            #expect(numbers.count == 5, "read \(count)")
            #expect(try log.numbers(space, in: first) == numbers, "read \(count)")
            #expect(first.validate() == [])
        }
        #expect(failed > 3)
    }

    /// Who gives positions was kept in memory by a process that had looked at the frames of others
    /// before it appended.
    @Test func whoGivesPositionsIsReadAgainAfterARefresh() throws {
        let (log, first, second, space) = try makeTwo()
        _ = try first.append(log.append(1, to: space))
        try second[space].holdAuthority()
        _ = try first.refresh()
        #expect(throws: LogError.waiting(space)) { try first.append(log.append(1, to: space)) }
    }

    @Test func whatMustStandBehindAPositionDoesNotStandBehindAnother() throws {
        let (log, first, second, space) = try makeTwo()
        _ = try first.append(log.append(2, to: space))
        let contents = [Append.Content.new([log.kinds.batch(log.notes(1))])]
        _ = try second.append(log.append(1, to: space))
        #expect(throws: LogError.self) { try first[space].append(contents, behind: 2) }
        #expect(try first[space].status().head == 3)
        try first[space].append(contents, behind: 3)
        #expect(try first[space].status().head == 4)
    }

    /// The spares that a process knew of were still spares to it after others had used them.
    @Test func filesThatOthersUseAgainAreNoLongerSpare() throws {
        let (log, first, second, space) = try makeTwo()
        for _ in 0..<12 { _ = try first.append(log.append(1, textSize: 20_000, to: space)) }
        try first[space].release(upTo: 12)
        var store = second
        for step in 0..<24 {
            if step.isMultiple(of: 5) { store = store === first ? second : first }
            _ = try store.append(log.append(1, textSize: 20_000, to: space))
            #expect(store.validate() == [])
        }
        let numbers = try log.numbers(space, in: store)
        #expect(numbers == Array(13...36))
        #expect(try log.numbers(space, in: log.open(process: 3)) == numbers)
    }

    /// A reader that did not notice that a file was used again took its bytes for damaged, or for
    /// other events.
    @Test func aReaderNoticesThatAFileWasUsedAgain() throws {
        let (log, first, second, space) = try makeTwo()
        let other = try first.makeSpace(isAuthority: true).space
        for _ in 0..<4 { _ = try first.append(log.append(1, textSize: 16_000, to: other)) }
        _ = try first.append(log.append(5, to: space))
        for _ in 0..<8 { _ = try first.append(log.append(1, textSize: 16_000, to: other)) }
        #expect(try second.refresh())
        #expect(try log.numbers(space, in: second) == [5, 6, 7, 8, 9])
        // Turns over the whole log, with blocks of the same sizes at the same places.
        for _ in 0..<30 {
            _ = try first.append(log.append(1, textSize: 16_000, to: other))
            try first[other].release(upTo: first[other].status().head)
        }
        #expect(try log.numbers(space, in: second) == [5, 6, 7, 8, 9])
        #expect(try second[space].root() == first[space].root())
    }

    /// Its hashes had come less far than what was released then, so the events in between could not
    /// be read any more; the state that came with the release says what they hash to.
    @Test func hashesThatAreBehindAReleaseGoOnFromTheState() throws {
        let (log, first, second, space) = try makeTwo()
        _ = try first.append(log.append(3, to: space))
        _ = try first[space].root()
        _ = try second.append(log.append(5, to: space))
        try second[space].release(upTo: 7)
        try first.catchUp()
        #expect(try first[space].root() == second[space].root())
        _ = try second.append(log.append(3, to: space))
        try second[space].release(upTo: 10)
        try first[space].release(upTo: 11)
        try second.catchUp()
        #expect(try first[space].root() == second[space].root())
    }

    /// A process began a file and could write nothing to it; another one began it anew, and the
    /// first one then wrote over what it had appended.
    @Test func aFileThatOthersBeganAnewIsReadAnew() throws {
        let (log, first, second, space) = try makeTwo()
        for _ in 0..<2 { _ = try first.append(log.append(1, textSize: 25_000, to: space)) }
        _ = try second.append(log.append(1, to: space))
        // The header of the next file fits on the disk, and nothing more.
        let used = try log.disk.list("wal").reduce(0) { sum, name in
            sum + Int(try log.disk.open("wal/" + name, .read).size())
        }
        log.disk.setCapacity(used + 6000)
        #expect(throws: LogError.self) {
            try first.append(log.append(1, textSize: 25_000, to: space))
        }
        #expect(try log.disk.list("wal").contains("0000000000000002.dwal"))
        log.disk.setCapacity(nil)
        _ = try second.append(log.append(1, textSize: 25_000, to: space))
        _ = try first.append(log.append(1, to: space))
        let numbers = try log.numbers(space, in: first)
        #expect(numbers == [1, 2, 3, 5, 6])
        #expect(try log.numbers(space, in: log.open(process: 3)) == numbers)
    }

    /// A spare that another process had removed was missed when it was to be used again.
    @Test func aSpareThatOthersRemovedIsNotMissed() throws {
        let (log, first, second, space) = try makeTwo()
        for _ in 0..<14 { _ = try first.append(log.append(1, textSize: 20_000, to: space)) }
        _ = try second.append(log.append(1, to: space))
        try second[space].release(upTo: 3)
        try first[space].release(upTo: 15)
        try second[space].release(upTo: 15)
        for _ in 0..<8 {
            _ = try second.append(log.append(1, textSize: 20_000, to: space))
            _ = try first.append(log.append(1, to: space))
        }
        #expect(try log.numbers(space, in: first) == Array(16...31))
        #expect(try log.numbers(space, in: log.open(process: 3)) == Array(16...31))
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
