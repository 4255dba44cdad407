import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSimulation
import DiarioStorage
import DiarioTestSupport
import Testing

/// Frames with plain rows that follow each other are taken up at once when a log is opened.
@Suite struct StretchTests {
    /// What memory knew of the spaces before the log was closed, it knows when it is opened again:
    /// spaces that take turns, copies of what was released in part, batches with secrets.
    @Test(arguments: UInt64(0)..<8) func whatWasKnownIsFoundAgain(seed: UInt64) throws {
        let log = try TestLog(seed: seed)
        log.sizes = TestLog.small
        let store = try log.open()
        let spaces = try (0..<4).map { try store.makeSpace(isAuthority: $0 != 3).space }
        for _ in 0..<600 {
            let space = spaces[log.random.oneIn(4) ? log.random.below(4) : 0]
            let append = log.append(
                log.random.oneIn(8) ? 1 + log.random.below(4) : 1,
                textSize: log.random.below(log.random.oneIn(10) ? 6000 : 300),
                secret: log.random.oneIn(20),
                to: space
            )
            _ = try store.append(append)
            let status = try store.status(of: space)
            if log.random.oneIn(60), status.head > 0 {
                try store.release(space, upTo: UInt64(log.random.below(Int(status.head))))
            }
            if log.random.oneIn(40) { log.clock.advance(milliseconds: 5) }
        }
        let found = try spaces.map { try store.status(of: $0) }
        let views = try spaces.map { try log.kinds.view(of: $0, in: store) }
        #expect(try RawLog(log.disk).files.count > 2)
        try store.close()
        let again = try log.open(process: 1)
        #expect(again.validate() == [])
        #expect(try spaces.map { try again.status(of: $0) } == found)
        #expect(try spaces.map { try log.kinds.view(of: $0, in: again) } == views)
        try again.close()
    }

    /// A reader takes up many frames of others at once, and then those that follow.
    @Test func framesOfOthersAreTakenUpAtOnce() throws {
        let log = try TestLog()
        let store = try log.open()
        let space = try store.makeSpace(isAuthority: true).space
        _ = try store.append(log.append(1, to: space))
        let reader = try log.open(process: 1, access: .readOnly)
        #expect(try log.numbers(space, in: reader) == [1])
        for count in [1, 40, 3] {
            for _ in 0..<count { _ = try store.append(log.append(1, to: space)) }
            #expect(try reader.refresh())
            let status = try store.status(of: space)
            #expect(try reader.status(of: space) == status)
            #expect(try log.numbers(space, in: reader) == Array(1...Int64(status.events)))
            #expect(reader.validate() == [])
        }
    }

    /// The last frames of a file may be ignored; those before them in the same piece count.
    @Test func framesBehindTheEndOfAFileAreIgnored() throws {
        let log = try TestLog()
        let store = try log.open()
        let space = try store.makeSpace(isAuthority: true).space
        for _ in 0..<20 { _ = try store.append(log.append(1, to: space)) }
        // The sync of the next frame fails, and so it goes to a new file.
        log.disk.failNextSyncs(1)
        _ = try store.append(log.append(1, to: space))
        _ = try store.append(log.append(1, to: space))
        #expect(try RawLog(log.disk).files.count == 2)
        try store.close()
        let again = try log.open(process: 1)
        #expect(again.fault == nil)
        #expect(try log.numbers(space, in: again) == Array(1...22))
        #expect(again.validate() == [])
    }
}
