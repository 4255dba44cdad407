import DiarioCore
import DiarioLog
import DiarioStorage

/// One data directory with every fault drawn from one seed: processes write to it on a disk that
/// tears, loses and refuses, and of which bits flip.
///
/// A model remembers requests and answers. The state of the log is known but for a tail of changes:
/// those written and not synced, which a power cut may take, and those whose answer got lost. Some
/// prefix of the tail is always there.
final class World: Machine {
    var trace: Trace
    var random: SeededRandom
    let kinds: EventKinds
    /// True if most spaces have lanes, of which little is accepted at a time, so that they seal.
    let hasLongLanes: Bool
    /// The running processes that use the directory.
    var stores: [Int32: LogStore] = [:]
    var known = KnownDirectory()
    var tail: [Effect] = []
    /// True if a space may have been made whose id got lost with the answer.
    var mayHaveLostSpaces = false
    var keptPacks: Set<Int> = []
    /// The space that steps are about; nil if each draws one.
    var focus: SpaceID?

    init(seed: UInt64, kinds: EventKinds, lineCountMax: Int) {
        self.kinds = kinds
        trace = Trace(lineCountMax: lineCountMax)
        var random = SeededRandom(seed: seed)
        var sizes = LogSizes(frameMax: 16 * 1024 << random.below(2), using: &random)
        hasLongLanes = random.oneIn(2)
        sizes.segmentCount = 4 << random.below(hasLongLanes ? 2 : 3)
        sizes.mergedCount = sizes.segmentCount * (1 + random.below(4))
        if random.oneIn(3) { sizes.segmentMax = 500 + random.below(3000) }
        self.random = random
        let disk = CrashDisk(machineID: "simulated")
        super.init(disk, sizes, entropySeed: seed ^ 0x5eed, kinds.engine, kinds.types)
        clock.set(milliseconds: Self.start)
    }

    /// A world that continues in a copy of another one's directory.
    init(copyOf original: World, on disk: CrashDisk) {
        kinds = original.kinds
        hasLongLanes = original.hasLongLanes
        random = SeededRandom(seed: original.random.next())
        trace = Trace(lineCountMax: 20)
        known = original.known
        known.frailSpaces = Set(original.known.state.ids)
        // Only durable bytes were copied.
        tail = original.tail
        keptPacks = original.keptPacks
        let seed = original.random.next()
        super.init(disk, original.sizes, entropySeed: seed, kinds.engine, kinds.types)
        clock.set(milliseconds: original.clock.now.milliseconds)
    }

    /// Lives through `stepCount` operations, and checks all that is there at the end.
    func run(stepCount: Int) throws {
        try begin()
        for _ in 0..<stepCount { try step() }
        try finish()
    }

    /// Makes the directory, and a first space in it.
    func begin() throws {
        try attempt("create") { try LogStore.create(in: disk) }
        try open(0)
        try makeSpace(0)
    }

    /// Ends all faults, and checks all that is there.
    func finish() throws {
        if plannedCut != nil { try crash() }
        clearFaults()
        try settle()
        for process in stores.keys.sorted() { try close(process) }
        try open(0)
        try settle()
        try checkRoots(process: 0)
        try checkPacks(process: 0)
        try close(0)
        let counters = disk.counters
        trace.add("end \(counters.operations) operations, \(counters.bytesWritten) bytes")
    }

    /// The state if the first `count` changes of the tail are there.
    func state(withTail count: Int) -> ModelState {
        var state = known.state
        for effect in tail.prefix(count) { state.apply(effect) }
        return state
    }

    /// The state that a process sees that knows everything, if no answer got lost.
    var current: ModelState { state(withTail: tail.count) }

    /// All changes are on the disk, and maybe one more.
    func acknowledge(_ effect: Effect? = nil) {
        known.state = current
        if let effect { known.state.apply(effect) }
        tail = []
    }

    /// A running process, drawn by chance.
    func drawProcess() -> Int32? { stores.isEmpty ? nil : random.pick(stores.keys.sorted()) }

    func store(_ process: Int32) throws -> LogStore {
        guard let store = stores[process] else {
            throw Broken(.log, "process \(process) runs not")
        }
        return store
    }

    func drawSpace() -> SpaceID? {
        if let focus { return focus }
        let ids = known.state.ids
        return ids.isEmpty ? nil : random.pick(ids)
    }

    /// Does something through a process; nil if it failed as it may.
    func tried<Result>(
        _ process: Int32,
        _ what: String,
        orNote note: (LogError) -> Void = { _ in },
        _ body: (LogStore) throws -> Result
    ) throws -> Result? {
        do { return try body(store(process)) } catch let error as LogError {
            trace.add("p\(process) \(what): \(name(error))")
            note(error)
            try judge(error, of: process, what)
            return nil
        }
    }
}
