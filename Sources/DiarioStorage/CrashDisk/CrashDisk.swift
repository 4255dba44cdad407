package import DiarioCore
import Synchronization

/// A disk in memory whose power can be cut; for tests and the simulator.
///
/// It tells apart what is durable and what is only written (`CrashFileImage` and
/// `CrashFolderImage` say how), and fails as planned. All chance comes from the generators passed
/// in, so a seed repeats a run. Several processes may use it, each through its own `process(_:)`;
/// the disk itself is the directory of process 0, and the one to open again after a crash.
package final class CrashDisk: LogDirectory {
    /// When the power goes, seen from the operation at which it does.
    package enum CutMoment: Sendable, CaseIterable {
        case before
        /// Half of a write is made. Other operations are not made at all.
        case torn
        /// The operation is made, but its caller does not get to know.
        case after
    }

    /// Operations of which every so many fail: `open`, `read`, `rename`, `remove` and
    /// `syncDirectory`, of which nothing is done then.
    package struct Failing: Sendable {
        let operations: Set<StorageError.Operation>
        let period: Int
        var count = 0

        package init(_ operations: Set<StorageError.Operation>, every period: Int) {
            precondition(period > 0, "a period is at least one operation")
            self.operations = operations
            self.period = period
        }
    }

    /// What was done on the disk since it was made.
    package struct Counters: Hashable, Sendable {
        /// All that a planned cut counts: whatever changes the disk or makes a change durable.
        package internal(set) var operations = 0
        package internal(set) var writes = 0
        package internal(set) var bytesWritten = 0
        package internal(set) var reads = 0
        package internal(set) var bytesRead = 0
        /// Syncs of files.
        package internal(set) var syncs = 0
        package internal(set) var directorySyncs = 0
    }

    package let machineID: [UInt8]
    package let hasFewFiles = false
    private let state: Mutex<CrashState>

    /// An empty disk in the machine of that name.
    package convenience init(machineID: String) {
        self.init(machineID: Array(machineID.utf8), state: CrashState(lastNode: 1))
    }

    private init(machineID: [UInt8], state: sending CrashState) {
        self.machineID = machineID
        self.state = Mutex(state)
    }

    func withState<Result, Failure>(
        _ body: (inout CrashState) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try state.withLock { (state: inout CrashState) throws(Failure) in try body(&state) }
    }
}

// MARK: - Power and processes

extension CrashDisk {
    /// The directory as process `number` sees it in its present life; of no use once that ends.
    package func process(_ number: Int32) -> any LogDirectory {
        CrashProcess(disk: self, session: withState { $0.session(of: number) })
    }

    /// Ends process `number` as SIGKILL does.
    ///
    /// What it wrote stays, its locks are free, its files and views throw `.cut`.
    package func kill(_ number: Int32) {
        withState { $0.kill(number) }
    }

    /// Cuts the power and switches it on again; what is not durable survives by chance.
    ///
    /// All files, locks and views of before throw `.cut` from now on. A planned cut is forgotten;
    /// other plans stay.
    package func crash(using random: inout SeededRandom) {
        withState { $0.losePower(using: &random) }
    }

    /// Another disk of this machine, with what is durable on this one, as a restored backup has it.
    ///
    /// Its files have other inodes and times of birth. Plans and counters stay behind.
    package func copy() -> CrashDisk {
        CrashDisk(machineID: machineID, state: withState { $0.copy() })
    }

    /// The same as `copy()`, but with the inodes and times of birth of this one: the snapshot of a
    /// virtual machine, of which nothing shows that there are two.
    package func snapshot() -> CrashDisk {
        CrashDisk(machineID: machineID, state: withState { $0.copy(keepsNodes: true) })
    }

    /// As `copy()`, but in a machine of that name, as a cloned or moved disk is.
    package func copy(machineID: String) -> CrashDisk {
        CrashDisk(machineID: Array(machineID.utf8), state: withState { $0.copy() })
    }
}

// MARK: - Faults

extension CrashDisk {
    /// Plans that the power goes at the `count`-th of the operations to come.
    ///
    /// That operation and all after it throw `.cut`, until `crash`. With `process`, only the
    /// operations of that process count, and only it dies, as by `kill`.
    package func cutAfter(operations count: Int, _ moment: CutMoment, process: Int32? = nil) {
        precondition(count > 0, "an operation of the past cannot be cut")
        withState { state in
            state.faults.cut = CrashFaults.Cut(
                operationsLeft: count,
                moment: moment,
                process: process
            )
        }
    }

    /// Lets the next `count` syncs of files fail, as a disk does that loses what it was given.
    ///
    /// What was written to such a file since its last sync will be taken for written by later
    /// syncs, and will survive a crash or not.
    package func failNextSyncs(_ count: Int) {
        withState { $0.faults.failingSyncCount = count }
    }

    /// Lets the `count`-th of the reads to come fail; none for nil.
    package func failRead(_ count: Int?) {
        precondition(count ?? 1 > 0, "a read of the past cannot fail")
        withState { $0.faults.readsToFailure = count }
    }

    /// Lets every `period`-th write fail half-way; none for nil.
    package func failWrites(every period: Int?) {
        precondition(period ?? 1 > 0, "a period is at least one write")
        withState { state in
            state.faults.writeFailurePeriod = period
            state.faults.writesSinceFailure = 0
        }
    }

    /// Which operations fail besides writes and syncs of files; nil for none.
    ///
    /// Who sets it to nil for a look at the disk and back again does not disturb the count.
    package var failing: Failing? {
        get { withState { $0.faults.failing } }
        set { withState { $0.faults.failing = newValue } }
    }

    /// Bytes that the files may have together; nil for as many as memory holds.
    package func setCapacity(_ capacity: Int?) {
        withState { $0.faults.capacity = capacity }
    }

    /// Prepares handles for `count` files, as a page does that cannot open them during a call; nil
    /// for as many as are wanted.
    ///
    /// The handle of a removed file is free again once its folder is synced. Locks need none.
    package func prepareSlots(_ count: Int?) { withState { $0.faults.slotCount = count } }

    /// Refuses all that would change the disk from now on, or allows it again.
    package func setReadOnly(_ isReadOnly: Bool) {
        withState { $0.isReadOnly = isReadOnly }
    }

    /// Spoils one bit of a file, durably: bit 0 is the lowest of the byte at `offset`.
    package func flipBit(_ bit: Int, at offset: Int, of path: String) throws(StorageError) {
        try withState { state throws(StorageError) in
            let node = try state.node(at: path)
            guard state.files[node] != nil else { throw .notFound(path) }
            state.files[node]?.flipBit(bit, at: offset)
        }
    }

    /// How often what was done.
    package var counters: Counters { withState { $0.faults.counters } }

    /// How many operations there were, so that a test can count them and then cut at each.
    package var operationCount: Int { counters.operations }
}

// MARK: - The directory of process 0

extension CrashDisk {
    package var isReadOnly: Bool { withState { $0.isReadOnly } }

    private var present: CrashProcess {
        CrashProcess(disk: self, session: withState { $0.session(of: 0) })
    }

    package func open(_ path: String, _ access: FileAccess) throws(StorageError) -> any LogFile {
        try present.open(path, access)
    }

    package func exists(_ path: String) throws(StorageError) -> Bool {
        try present.exists(path)
    }

    package func list(_ path: String) throws(StorageError) -> [String] {
        try present.list(path)
    }

    package func makeDirectory(_ path: String) throws(StorageError) {
        try present.makeDirectory(path)
    }

    package func rename(_ old: String, to new: String) throws(StorageError) {
        try present.rename(old, to: new)
    }

    package func remove(_ path: String) throws(StorageError) {
        try present.remove(path)
    }

    package func syncDirectory(_ path: String) throws(StorageError) {
        try present.syncDirectory(path)
    }

    package func prepare(files count: Int) throws(StorageError) {
        try present.prepare(files: count)
    }

    package func lock(_ path: String) throws(StorageError) -> any DirectoryLock {
        try present.lock(path)
    }
}
