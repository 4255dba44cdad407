import DiarioCore
import DiarioFormat
import DiarioFrames
import DiarioLog
import DiarioSchema
import DiarioStorage

/// A computer of a world: a disk with the faults that are planned for it, and a clock.
class Machine {
    var disk: CrashDisk
    let clock = ManualClock(milliseconds: 0)
    let sizes: LogSizes
    private let entropy: SeededEntropy
    private let engine: EngineReader
    private let types: [EventType]
    /// The cut that is planned; nil if none is, or it came.
    var plannedCut: Cut?
    /// True while operations may fail, or the disk may be full.
    var hasFaults = false
    /// True if operations failed that not every process knows of yet.
    var mayOweFailures = false

    enum Cut: Equatable {
        /// Of all processes.
        case power
        /// The end of one.
        case process(Int32)
    }

    enum Fault {
        case syncs
        case writes
        case files
        case space
    }

    /// When clocks start, so that times look like times.
    static let start: Int64 = 1_700_000_000_000

    init(
        _ disk: CrashDisk,
        _ sizes: LogSizes,
        entropySeed: UInt64,
        _ engine: EngineReader,
        _ types: [EventType]
    ) {
        self.disk = disk
        self.sizes = sizes
        entropy = SeededEntropy(seed: entropySeed)
        self.engine = engine
        self.types = types
    }

    func open(
        _ directory: any LogDirectory,
        _ access: LogStore.Access = .readWrite
    ) throws(LogError) -> LogStore {
        try LogStore(
            directory,
            access: access,
            time: clock,
            entropy: entropy,
            engine: engine,
            types: types,
            sizes: sizes
        )
    }

    /// Does something that must not fail while no operation of the disk does; a failure breaks a
    /// promise.
    func attempt<Result>(_ what: String, _ body: () throws -> Result) throws -> Result {
        do { return try withoutFailing(body) } catch let error where !(error is Broken) {
            throw Broken(.works, "\(what) fails: \(error)")
        }
    }

    func withoutFailing<Result, Failure>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let failing = disk.failing
        disk.failing = nil
        defer { disk.failing = failing }
        return try body()
    }

    // MARK: Faults

    /// Plans a cut of the power or of a process some operations from now, unless one is planned,
    /// and tells which.
    func planCut(of process: Int32, using random: inout SeededRandom) -> String {
        let moment = random.pick(CrashDisk.CutMoment.allCases)
        let count = 1 + random.below(random.oneIn(3) ? 40 : 8)
        planCut(random.oneIn(2) ? .process(process) : .power, after: count, moment)
        return "\(moment) \(count)"
    }

    func planCut(_ cut: Cut, after count: Int, _ moment: CrashDisk.CutMoment) {
        guard plannedCut == nil else { return }
        plannedCut = cut
        if case .process(let process) = cut {
            disk.cutAfter(operations: count, moment, process: process)
        } else {
            disk.cutAfter(operations: count, moment)
        }
    }

    /// Makes the disk fail in some way from now on, and tells how.
    func fail(_ fault: Fault, using random: inout SeededRandom) -> String {
        hasFaults = true
        if fault != .space { mayOweFailures = true }
        switch fault {
        case .syncs:
            let count = 1 + random.below(3)
            disk.failNextSyncs(count)
            return "failing syncs \(count)"
        case .writes:
            let period = 3 + random.below(10)
            // Two in a row stop the log until it is opened again.
            disk.failWrites(every: period)
            return "failing writes \(period)"
        case .files:
            let operations: [StorageError.Operation] = [
                .open, .read, .rename, .remove, .syncDirectory,
            ]
            let some = random.oneIn(3) ? operations : [random.pick(operations)]
            let period = 2 + random.below(12)
            disk.failing = CrashDisk.Failing(Set(some), every: period)
            return "failing \(some.map(\.rawValue)) \(period)"
        case .space:
            let size = 60_000 + random.below(200_000)
            disk.setCapacity(size)
            return "full disk \(size)"
        }
    }

    func clearFaults() {
        disk.failNextSyncs(0)
        disk.failWrites(every: nil)
        disk.failing = nil
        disk.setCapacity(nil)
        hasFaults = false
    }

    /// Cuts the power of all processes now.
    func cutPower(using random: inout SeededRandom) {
        disk.crash(using: &random)
        plannedCut = nil
        mayOweFailures = false
        clearFaults()
    }
}

extension LogSizes {
    /// Small ones, of which some are drawn, so that a world comes to the end of all of them.
    init(frameMax: Int, using random: inout SeededRandom) {
        self.init()
        self.frameMax = frameMax
        fileMax = 2 * frameMax + LogFileHeader.size
        growthMin = 1024 << random.below(4)
        growthMax = 16 * 1024
        quietMax = fileMax * (1 + random.below(4))
        stateInterval = 2048 << random.below(3)
        reserve = 4096
        // Not drawn, so that the worlds of known seeds stay the same.
        authorCountMax = 1 + quietMax / 1024 % 12
        authorIntervalMax = 1 + UInt64(fileMax / 1024 % 60)
        retirementMilliseconds = 1000
    }
}
