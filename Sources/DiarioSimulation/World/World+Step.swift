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

    /// Does one random step.
    func step() throws {
        if stores.isEmpty { return try open(Int32(random.below(3))) }
        try perform(random.pick(Step.allCases) { $0.weight })
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
        case .cut: planCut(of: process)
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
        let step = random.pick(steps)
        clock.advance(milliseconds: step)
        trace.add("clock \(step)")
    }

    // MARK: Faults

    private func planCut(of process: Int32) {
        guard plannedCut == nil else { return }
        let what = planCut(of: process, using: &random)
        let victim = plannedCut == .power ? "all" : "p\(process)"
        trace.add("plan cut \(what) of \(victim)")
    }

    private func planFault() {
        let faults: [Fault] = [.writes, .space, .syncs, .syncs, .syncs, .files, .files]
        trace.add("plan \(fail(random.pick(faults), using: &random))")
    }

    // MARK: Processes

    func open(_ process: Int32) throws {
        guard stores[process] == nil else { return }
        do throws(LogError) {
            stores[process] = try open(disk.process(process))
            trace.add("p\(process) open")
        } catch {
            trace.add("p\(process) open: \(name(error))")
            return try judge(error, of: process, "open")
        }
        try checkReport(process)
        // Opening reads all there is and syncs it, so it tells which part of the tail is there.
        try resolve(process)
    }

    func close(_ process: Int32) throws {
        let done: Void? = try tried(process, "close", orNote: { _ in stores[process] = nil }) {
            try $0.close()
        }
        guard done != nil else { return }
        trace.add("p\(process) close")
        stores[process] = nil
    }

    private func kill(_ process: Int32) throws {
        disk.kill(process)
        stores[process] = nil
        trace.add("p\(process) killed")
    }

    /// Cuts the power now.
    func crash() throws {
        trace.add("power cut")
        cutPower(using: &random)
        stores = [:]
        let process = Int32(random.below(3))
        let copy = random.oneIn(2) ? disk.copy() : nil
        do throws(LogError) {
            stores[process] = try open(disk.process(process))
        } catch {
            throw Broken(.log, "a log does not open after a power cut: \(error)")
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
        if let fault = store.fault { throw Broken(.log, "false damage: \(fault.message)") }
        if let cut = store.cut { trace.add("cut \(cut.file) \(cut.offset)") }
    }
}
