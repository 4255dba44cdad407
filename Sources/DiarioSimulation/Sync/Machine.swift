import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioStorage

/// A computer of a sync world: its disk, its clock, and the log that is open on it.
final class Machine {
    let name: String
    private(set) var disk: CrashDisk
    let sizes: LogSizes
    private let clock = ManualClock(milliseconds: 0)
    private let entropy: SeededEntropy
    private let kinds: SyncKinds
    /// Nil while the computer or its program is off.
    private(set) var store: LogStore?
    /// The directory as the running program sees it; nil if none runs.
    private var directory: (any LogDirectory)?
    /// The distance of its clock from that of the world, and its drift.
    var clockOffset: Int64 = 0
    var driftPerMillion: Int64 = 0
    /// The planned cut: of power, or of the process alone; nil if none is planned.
    private(set) var plannedCut: Cut?
    /// True while syncs or writes may fail, or the disk may be full.
    private(set) var hasFaults = false
    /// True if syncs failed that the program may be told of later.
    private(set) var mayOweFailures = false

    enum Cut {
        case power
        case process
    }

    init(
        _ name: String,
        _ disk: CrashDisk,
        sizes: LogSizes,
        entropySeed: UInt64,
        _ kinds: SyncKinds
    ) {
        self.name = name
        self.disk = disk
        self.sizes = sizes
        self.kinds = kinds
        entropy = SeededEntropy(seed: entropySeed)
    }

    var isOn: Bool { store != nil }

    /// When this machine's clock starts, so that times look like times.
    private static let start: Int64 = 1_700_000_000_000

    /// Sets the clock to its reading at `time` of the world.
    func setClock(_ time: Int64) {
        clock.set(
            milliseconds: Self.start + clockOffset + time + time * driftPerMillion / 1_000_000
        )
    }

    var now: Timestamp { clock.now }

    // MARK: Program

    /// Makes an empty directory.
    func create() throws(LogError) { try LogStore.create(in: disk) }

    /// Starts the program; nil if the disk failed.
    @discardableResult
    func start() throws(LogError) -> LogStore {
        let directory = disk.process(0)
        self.directory = directory
        let store = try LogStore(
            directory,
            access: .readWrite,
            time: clock,
            entropy: entropy,
            engine: kinds.engine,
            types: kinds.engineTypes,
            sizes: sizes
        )
        self.store = store
        return store
    }

    /// Ends the program in good order.
    func stop() throws(LogError) {
        guard let store else { return }
        self.store = nil
        try store.close()
    }

    /// Ends the program as SIGKILL does.
    func kill() {
        disk.kill(0)
        store = nil
    }

    /// Cuts the power; the machine stays off until it is started.
    func crash(using random: inout SeededRandom) {
        disk.crash(using: &random)
        store = nil
        plannedCut = nil
        clearFaults()
        mayOweFailures = false
    }

    /// The cut that happened since the last call, if any.
    func wasCut() -> Cut? {
        guard let directory, let cut = plannedCut else { return nil }
        do throws(StorageError) { _ = try directory.exists(LogPaths.format) } catch {
            return cut
        }
        return nil
    }

    /// Takes note of a cut that came.
    func takeCut(_ cut: Cut, using random: inout SeededRandom) {
        switch cut {
        case .power: crash(using: &random)
        case .process:
            // If it did not come yet, it never does.
            disk.cutAfter(operations: .max, .before)
            plannedCut = nil
            kill()
        }
    }

    /// Puts another disk into the machine; the program is started from it next.
    func replaceDisk(_ disk: CrashDisk) {
        kill()
        self.disk = disk
        plannedCut = nil
        hasFaults = false
        mayOweFailures = false
    }

    // MARK: Faults

    func planCut(_ cut: Cut, after operationCount: Int, _ moment: CrashDisk.CutMoment) {
        guard plannedCut == nil else { return }
        plannedCut = cut
        disk.cutAfter(
            operations: operationCount,
            moment,
            process: cut == .process ? 0 : nil
        )
    }

    func failSyncs(_ count: Int) {
        hasFaults = true
        mayOweFailures = true
        disk.failNextSyncs(count)
    }

    func failWrites(every period: Int) {
        hasFaults = true
        // Two in a row stop the log until it is opened again.
        mayOweFailures = true
        disk.failWrites(every: period)
    }

    /// Makes every `period`-th of these operations fail.
    func fail(_ operations: Set<StorageError.Operation>, every period: Int) {
        hasFaults = true
        mayOweFailures = true
        disk.failing = CrashDisk.Failing(operations, every: period)
    }

    /// Does `body` while nothing of that fails, as a look of the world itself must not.
    func withoutFailing<Result, Failure>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let failing = disk.failing
        disk.failing = nil
        defer { disk.failing = failing }
        return try body()
    }

    func fillDisk(_ capacity: Int) {
        hasFaults = true
        disk.setCapacity(capacity)
    }

    /// Everything that is open was opened after the last failure.
    func forgetFailures() { mayOweFailures = false }

    func clearFaults() {
        disk.failNextSyncs(0)
        disk.failWrites(every: nil)
        disk.failing = nil
        disk.setCapacity(nil)
        hasFaults = false
    }
}
