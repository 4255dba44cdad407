import DiarioCore
import DiarioFormat
import DiarioEngine
import DiarioLog
import DiarioServer
import DiarioStorage

/// A machine that takes part in sync: a replica's or the server's, with the log that its program
/// has open.
class Peer: Machine {
    let name: String
    let kinds: SyncKinds
    /// Nil while the computer or its program is off.
    private(set) var store: LogStore?
    /// The directory as the running program sees it; nil if none runs.
    private var directory: (any LogDirectory)?
    /// The space; another one after a replica was rebuilt.
    var space: SpaceID
    /// The distance of its clock from that of the world, and its drift.
    var clockOffset: Int64 = 0
    var driftPerMillion: Int64 = 0

    init(
        _ name: String,
        _ disk: CrashDisk,
        _ sizes: LogSizes,
        entropySeed: UInt64,
        _ space: SpaceID,
        _ kinds: SyncKinds
    ) {
        self.name = name
        self.kinds = kinds
        self.space = space
        super.init(disk, sizes, entropySeed: entropySeed, kinds.engine, kinds.engineTypes)
    }

    var isOn: Bool { store != nil }

    var now: Timestamp { clock.now }

    /// Sets the clock to its reading at `time` of the world.
    func setClock(_ time: Int64) {
        clock.set(
            milliseconds: Self.start + clockOffset + time + time * driftPerMillion / 1_000_000
        )
    }

    // MARK: Program

    /// Starts the program.
    @discardableResult
    func start() throws(LogError) -> LogStore {
        let directory = disk.process(0)
        self.directory = directory
        let store = try open(directory)
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

    /// What is in the memory of the program is lost.
    func forgetProgram() {}

    /// Cuts the power; the machine stays off until it is started.
    override func cutPower(using random: inout SeededRandom) {
        super.cutPower(using: &random)
        store = nil
    }

    /// The planned cut, if it has come.
    func wasCut() -> Cut? {
        guard let directory, let cut = plannedCut else { return nil }
        do throws(StorageError) { _ = try directory.exists(LogPaths.format) } catch {
            return cut
        }
        return nil
    }

    /// Takes note of a cut that came.
    func takeCut(_ cut: Cut, using random: inout SeededRandom) {
        guard cut != .power else { return cutPower(using: &random) }
        // If it did not come yet, it never does.
        disk.cutAfter(operations: .max, .before)
        plannedCut = nil
        kill()
    }

    /// Puts another disk into the machine; the program is started from it next.
    func replaceDisk(_ disk: CrashDisk) {
        kill()
        forgetProgram()
        self.disk = disk
        plannedCut = nil
        hasFaults = false
        mayOweFailures = false
    }

    /// True if an operation may fail now.
    var mayFail: Bool { hasFaults || mayOweFailures }

    /// True if the log may fail in this way now.
    func isExcused(_ error: LogError) -> Bool {
        switch error {
        case .storage(.full), .storage(.failed), .stopped: mayFail
        default: false
        }
    }

    // MARK: Reading

    /// Reads something that must be there while the program runs; a failure breaks a promise.
    func read<Result>(_ what: String, _ body: (LogStore) throws -> Result) throws -> Result {
        guard let store else { throw Broken(.works, "\(name) is off") }
        return try attempt("\(what) of \(name)") { try body(store) }
    }

    var head: UInt64 { store?[space].standing().head ?? 0 }

    func epoch() throws -> UInt64 {
        try read("the status") { try $0[space].status().manifest.epoch }
    }

    /// The events at some positions, in order.
    func entries(_ positions: ClosedRange<UInt64>) throws -> [Ledger.Entry] {
        try read("a read") { store in
            var entries: [Ledger.Entry] = []
            var cursor = try store.cursor(space, positions: positions, .canonical)
            while let events = try cursor.next() {
                for stored in events.rows {
                    guard let position = stored.position, let acceptedAt = stored.acceptedAt,
                        position == positions.lowerBound + UInt64(entries.count)
                    else {
                        throw Broken(.positions, "an event of \(name) has no position of its own")
                    }
                    entries.append(
                        Ledger.Entry(
                            row: try kinds.read(stored, of: events),
                            acceptedAt: acceptedAt.milliseconds,
                            isAuthority: stored.isAuthority
                        )
                    )
                }
            }
            return entries
        }
    }

    /// Throws if the memory of the log is not as it has to be.
    func checkIndex() throws {
        if let problem = store?.validate().first {
            throw Broken(.works, "the index of \(name): \(problem)")
        }
    }

    /// Reads all of the space, as `diario verify` does.
    func verify() throws {
        let found = try read("a verification") { try $0.verify(space) { _ in nil } }
        if let fault = found.faults.first {
            throw Broken(.works, "\(name): \(fault.message)")
        }
    }
}

/// The server of a sync world.
final class Server: Peer {
    var authority: SpaceAuthority?
    /// Positions whose events some replica may know: they are there for ever.
    var shownHead: UInt64 = 0
    /// True from when its disk was put back until its log was read.
    var isPutBack = false
    /// True from when that was until its epoch was read after it went on.
    var hasNewEpoch = false
    /// True from the restore of its disk until its operator resumes it.
    var isWaiting = false
    /// An earlier state of the disk, and the head that was shown by then.
    var backup: (disk: CrashDisk, shownHead: UInt64)?
    /// Sealed files that are to be copied to a new device.
    var listing: SegmentListing?

    override func forgetProgram() { authority = nil }

    /// True if events are taken that are not pushed, and nothing keeps them from the log.
    var takesEvents: Bool { authority != nil && !isWaiting && !mayFail && plannedCut == nil }

    override func isExcused(_ error: LogError) -> Bool {
        if case .waiting = error { isWaiting } else { super.isExcused(error) }
    }
}

extension LogError {
    /// True if the log can only be opened again.
    var isStop: Bool { if case .stopped = self { true } else { false } }
}
