import DiarioCore
import DiarioFormat
import DiarioHost
import DiarioLog
import DiarioSimulation
import DiarioStorage
import DiarioTestSupport
import Synchronization
import Testing

/// Many who append at once, through the committer thread.
@Suite struct CommitterTests {
    private typealias Outcome = Result<AppendedBatches, LogError>

    /// Counts answers, and wakes who waits for all of them.
    private final class Answers: Sendable {
        private let outcomes = Mutex<[[Outcome]]>([])
        private let done = Signal()

        init(count: Int) {
            outcomes.withLock { $0 = Array(repeating: [], count: count) }
        }

        func take(_ outcome: Outcome, of index: Int) {
            let isComplete = outcomes.withLock { outcomes in
                outcomes[index].append(outcome)
                return !outcomes.contains(where: \.isEmpty)
            }
            if isComplete { done.raise() }
        }

        /// One outcome for each append, once all were answered.
        func wait() -> [Outcome?] {
            while outcomes.withLock({ $0.contains(where: \.isEmpty) }) {
                done.wait(nanosecondsMax: 1_000_000_000)
            }
            return outcomes.withLock { $0.map { $0.count == 1 ? $0[0] : nil } }
        }
    }

    private func enqueue(
        _ append: Append,
        in commits: GroupCommit,
        _ index: Int,
        _ answers: Answers
    ) {
        commits.append(append) { answers.take($0, of: index) }
    }

    /// A server tells by this that its disk has stopped.
    @Test func whileADiskSyncsTheCommitStandsStill() throws {
        let opened = Mutex<LogStore?>(nil)
        let times = Mutex<[Duration]>([])
        // Some syncs belong to opening the log.
        for count in 1...6 {
            let log = try TestLog()
            let meddling = MeddlingDirectory.Meddling(at: .sync, count) {
                let store = opened.withLock { $0 }
                let later = ContinuousClock.now + .seconds(11)
                if let store { times.withLock { $0.append(store.standstill(at: later)) } }
            }
            let store = try log.open(MeddlingDirectory(log.disk.process(2), meddling))
            let space = try store.makeSpace(isAuthority: true).space
            opened.withLock { $0 = store }
            for _ in 0..<4 { _ = try store.append(log.append(1, to: space)) }
            #expect(store.standstill(at: .now + .seconds(11)) == .zero)
            opened.withLock { $0 = nil }
        }
        let found = times.withLock { $0 }
        #expect(!found.isEmpty)
        #expect(found.allSatisfy { $0 >= .seconds(11) })
    }

    @Test func eachOfAThousandAppendsIsAnsweredOnce() async throws {
        let log = try TestLog()
        let store = try log.open(helper: LogThreads())
        let commits = GroupCommit(store)
        let space = try store.makeSpace(isAuthority: true).space
        let appends = (0..<1000).map { _ in log.append(1, to: space) }
        let answers = Answers(count: appends.count)
        await withTaskGroup(of: Void.self) { group in
            for (index, append) in appends.enumerated() {
                group.addTask { enqueue(append, in: commits, index, answers) }
            }
        }
        var positions: Set<UInt64> = []
        for outcome in answers.wait() {
            let batches = try #require(try outcome?.get())
            positions.insert(try #require(batches.first?.firstPosition))
        }
        #expect(positions == Set(1...1000))
        try store.close()
        #expect(Set(try log.numbers(space, in: log.open())) == Set(1...1000))
    }

    /// A close that found the writer busy gave up, and appends that waited were never answered.
    @Test(arguments: 0..<20, [false, true])
    func closingAnswersTheAppendsThatWait(round: Int, isEnded: Bool) async throws {
        let log = try TestLog()
        log.sizes = TestLog.small
        let store = try log.open(helper: LogThreads())
        let commits = GroupCommit(store)
        let space = try store.makeSpace(isAuthority: true).space
        let appends = (0..<100).map { _ in log.append(1, to: space) }
        let answers = Answers(count: appends.count)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, append) in appends.enumerated() {
                group.addTask { enqueue(append, in: commits, index, answers) }
                guard index == 5 * round else { continue }
                group.addTask {
                    if isEnded { commits.end() }
                    try store.close()
                }
            }
            try await group.waitForAll()
        }
        var count = 0
        for case .success(let batches)? in answers.wait() { count += batches.count }
        for case .failure(let error)? in answers.wait() { #expect(error == .closed) }
        #expect(!answers.wait().contains { $0 == nil })
        #expect(try log.numbers(space, in: log.open()).count == count)
        #expect(throws: LogError.closed) { try store.append(log.append(1, to: space)) }
        #expect(throws: LogError.closed) { try commits.commit(log.append(1, to: space)) }
    }

    @Test func blockingAppendsAndEnqueuedOnesShareTheWriter() async throws {
        let log = try TestLog()
        let store = try log.open(helper: LogThreads())
        let commits = GroupCommit(store)
        let space = try store.makeSpace(isAuthority: true).space
        let blocking = (0..<100).map { _ in log.append(1, to: space) }
        let enqueued = (0..<100).map { _ in log.append(1, to: space) }
        let answers = Answers(count: enqueued.count)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, append) in enqueued.enumerated() {
                group.addTask { enqueue(append, in: commits, index, answers) }
                let commit = index % 2 == 0 ? commits.commit : store.append
                group.addTask { _ = try commit(blocking[index]) }
                group.addTask { _ = try store[space].root() }
            }
            try await group.waitForAll()
        }
        _ = answers.wait()
        #expect(try store[space].status().head == 200)
    }

    @Test func aLogThatNobodyHoldsEndsItsThread() throws {
        let log = try TestLog()
        let space = try {
            let store = try log.open(helper: LogThreads())
            let commits = GroupCommit(store)
            let space = try store.makeSpace(isAuthority: true).space
            _ = try commits.commit(log.append(1, to: space))
            return space
        }()
        #expect(try log.numbers(space, in: log.open()) == [1])
    }
}
