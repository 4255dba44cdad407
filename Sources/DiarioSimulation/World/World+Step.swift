import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioStorage

extension World {
    /// Everything that can happen.
    enum Step: CaseIterable {
        case append, promote, release, seal, refresh, staleRead, check, root, makeSpace, remove
        case keep, reopen, open, kill, cut, crash, failSyncs, failWrites, fillDisk, clearFaults
        case clock, clone, flip, read

        var weight: Int {
            switch self {
            case .append: 40
            case .promote: 10
            case .seal: 8
            case .clock, .check: 6
            case .release, .refresh, .staleRead, .reopen, .open, .cut, .clearFaults: 5
            case .kill, .failSyncs, .root: 3
            case .makeSpace, .crash, .clone, .flip, .read: 2
            case .remove, .keep, .failWrites, .fillDisk: 1
            }
        }
    }

    private static let weightSum = Step.allCases.reduce(0) { $0 + $1.weight }

    private func drawStep() -> Step {
        var rest = random.below(Self.weightSum)
        for step in Step.allCases {
            rest -= step.weight
            if rest < 0 { return step }
        }
        return .append
    }

    /// Does one random step.
    func step() throws {
        if stores.isEmpty { return try open(Int32(random.below(3))) }
        try perform(drawStep())
    }

    /// Does one thing, through a process that is running.
    func perform(_ step: Step) throws {
        guard let process = drawProcess() else { return }
        switch step {
        case .append: try append(process)
        case .promote: try promote(process)
        case .release: try release(process)
        case .seal: try seal(process)
        case .refresh: try refresh(process)
        case .staleRead: try readStale(process)
        case .check: try check(process)
        case .root: try checkRoots(process: process)
        case .makeSpace: try makeSpace(process)
        case .remove: try remove(process)
        case .keep: try keepPack(process)
        case .reopen:
            try close(process)
            try open(process)
        case .open: try open(Int32(random.below(3)))
        case .kill: try kill(process)
        case .cut: planCut(process)
        case .crash: try crash()
        case .failSyncs, .failWrites, .fillDisk: planFault()
        case .clearFaults: clearFaults()
        case .clock: moveClock()
        case .clone: try clone()
        case .flip: try flip()
        case .read: try readOnly()
        }
    }

    /// Jumps in both directions, and a little drift in each step.
    private func moveClock() {
        let steps: [Int64] = [1, 20, 1000, 3_600_000, -1, -500, -3_600_000, 400 * 86_400_000]
        let step = steps[random.below(steps.count)]
        clock.advance(milliseconds: step)
        trace.add("clock \(step)")
    }

    // MARK: Faults

    private func planCut(_ process: Int32) {
        guard !hasPlannedCut else { return }
        let moments = CrashDisk.CutMoment.allCases
        let moment = moments[random.below(moments.count)]
        let count = 1 + random.below(random.oneIn(3) ? 40 : 8)
        let victim = random.oneIn(2) ? process : nil
        disk.cutAfter(operations: count, moment, process: victim)
        hasPlannedCut = true
        cutVictim = victim
        trace.add("plan cut \(moment) \(count) of \(victim.map { "p\($0)" } ?? "all")")
    }

    private func planFault() {
        hasFaults = true
        mayOweFailures = true
        switch random.below(7) {
        case 5...:
            let operations: [StorageError.Operation] = [
                .open, .read, .rename, .remove, .syncDirectory,
            ]
            let some = random.oneIn(3) ? operations : [operations[random.below(5)]]
            let period = 2 + random.below(12)
            disk.failing = CrashDisk.Failing(Set(some), every: period)
            trace.add("plan failing \(some.map(\.rawValue)) \(period)")
        case 0:
            let period = 3 + random.below(10)
            disk.failWrites(every: period)
            trace.add("plan failing writes \(period)")
        case 1:
            let size = 60_000 + random.below(200_000)
            disk.setCapacity(size)
            trace.add("plan full disk \(size)")
        default:
            let count = 1 + random.below(3)
            disk.failNextSyncs(count)
            trace.add("plan failing syncs \(count)")
        }
    }

    func clearFaults() {
        disk.failNextSyncs(0)
        disk.failWrites(every: nil)
        disk.failing = nil
        disk.setCapacity(nil)
        hasFaults = false
    }

    // MARK: Processes

    func open(_ process: Int32) throws {
        guard stores[process] == nil else { return }
        do throws(LogError) {
            stores[process] = try makeStore(disk.process(process), access: .readWrite)
            trace.add("p\(process) open")
        } catch {
            trace.add("p\(process) open: \(name(error))")
            try judge(error, of: process, "open")
            return
        }
        try checkReport(process)
        // Opening reads all there is and syncs it, so it tells which part of the tail is there.
        try resolve(process)
    }

    func makeStore(
        _ directory: any LogDirectory,
        access: LogStore.Access
    ) throws(LogError) -> LogStore {
        try LogStore(
            directory,
            access: access,
            time: clock,
            entropy: entropy,
            engine: kinds.engine,
            types: kinds.types,
            sizes: sizes
        )
    }

    func close(_ process: Int32) throws {
        let store = try self.store(process)
        do throws(LogError) {
            try store.close()
            trace.add("p\(process) close")
            stores[process] = nil
        } catch {
            trace.add("p\(process) close: \(name(error))")
            stores[process] = nil
            try judge(error, of: process, "close")
        }
    }

    private func kill(_ process: Int32) throws {
        disk.kill(process)
        stores[process] = nil
        trace.add("p\(process) killed")
    }

    /// Cuts the power now.
    func crash() throws {
        trace.add("power cut")
        disk.crash(using: &random)
        hasPlannedCut = false
        mayOweFailures = false
        stores = [:]
        clearFaults()
        let process = Int32(random.below(3))
        let copy = random.oneIn(2) ? disk.copy() : nil
        do throws(LogError) {
            stores[process] = try makeStore(disk.process(process), access: .readWrite)
        } catch {
            throw Violation("a log does not open after a power cut: \(error)")
        }
        trace.add("p\(process) open")
        try checkReport(process)
        try resolve(process)
        try checkPacks(process: process)
        if let copy { try flipAfterCrash(copy) }
    }

    /// A crash may tear frames; it never damages acknowledged ones.
    private func checkReport(_ process: Int32) throws {
        let store = try self.store(process)
        if let fault = store.fault { throw Violation("false damage: \(fault.message)") }
        if let cut = store.cut { trace.add("cut \(cut.file) \(cut.offset)") }
    }
}
