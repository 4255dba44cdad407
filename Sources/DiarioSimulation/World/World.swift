import DiarioCore
import DiarioFormat
import DiarioFrames
import DiarioLog
package import DiarioStorage

/// One data directory with every fault drawn from one seed: processes write to it on a disk that
/// tears, loses and refuses, and of which bits flip.
///
/// A model remembers requests and answers. The state of the log is known but for a tail of changes:
/// those written and not synced, which a power cut may take, and those whose answer got lost. Some
/// prefix of the tail is always there.
package final class World {
    package let seed: UInt64
    package internal(set) var trace: Trace
    var random: SeededRandom
    package internal(set) var disk: CrashDisk
    let clock = ManualClock(milliseconds: 1_700_000_000_000)
    let entropy: SeededEntropy
    let kinds: EventKinds
    let sizes: LogSizes
    /// True if most spaces have lanes, of which little is accepted at a time, so that they seal.
    let hasLongLanes: Bool
    /// Promotions that took events out of private segments.
    var sealedPromotionCount = 0
    /// The running processes that use the directory.
    var stores: [Int32: LogStore] = [:]
    /// The state that is certain.
    var settled = ModelState()
    var tail: [Effect] = []
    var lastNumber: Int64 = 0
    /// Foreign replicas whose rows are received with their origins, and their last sequences.
    var strangers: [SpaceID: [ReplicaID: (sequence: UInt64, clock: UInt64)]] = [:]
    /// All origins that were ever seen, with the number of their event.
    var known: [SpaceID: [Origin: Int64]] = [:]
    /// True while syncs or writes may fail, or the disk may be full.
    var hasFaults = false
    /// True if syncs failed that not every process knows of yet.
    var mayOweFailures = false
    /// True while a cut of the power, or the end of a process, is planned.
    var hasPlannedCut = false
    /// The process that the planned cut ends; nil if it is the power for all.
    var cutVictim: Int32?
    /// True if a space may have been made whose id got lost with the answer.
    var mayHaveLostSpaces = false
    var keptPacks: Set<Int> = []
    /// Spaces that may be gone after a power cut: their maker died, and they are still empty.
    var frailSpaces: Set<SpaceID> = []
    /// Spaces that were sealed: positions are not released by hand there.
    var sealed: Set<SpaceID> = []
    /// Spaces whose removal was not acknowledged: a power cut may bring them back as they were.
    var ghosts: [SpaceID: ModelSpace] = [:]

    package init(seed: UInt64, kinds: EventKinds, lineCountMax: Int) {
        self.seed = seed
        self.kinds = kinds
        random = SeededRandom(seed: seed)
        entropy = SeededEntropy(seed: seed ^ 0x5eed)
        trace = Trace(lineCountMax: lineCountMax)
        disk = CrashDisk(machineID: "simulated")
        var sizes = LogSizes()
        sizes.frameMax = 16 * 1024 << random.below(2)
        sizes.fileMax = 2 * sizes.frameMax + LogFileHeader.size
        sizes.growthMin = 1024 << random.below(4)
        sizes.growthMax = 16 * 1024
        sizes.quietMax = sizes.fileMax * (1 + random.below(4))
        sizes.stateInterval = 2048 << random.below(3)
        sizes.reserve = 4096
        hasLongLanes = random.oneIn(2)
        sizes.segmentCount = 4 << random.below(hasLongLanes ? 2 : 3)
        sizes.mergedCount = sizes.segmentCount * (1 + random.below(4))
        if random.oneIn(3) { sizes.segmentMax = 500 + random.below(3000) }
        sizes.retirementMilliseconds = 1000
        self.sizes = sizes
    }

    /// Lives through `stepCount` operations, and checks all that is there at the end.
    package func run(stepCount: Int) throws {
        try begin()
        for _ in 0..<stepCount { try step() }
        try finish()
    }

    /// Makes the directory, and a first space in it.
    func begin() throws {
        try attempt("create") { () throws(LogError) in try LogStore.create(in: disk) }
        try open(0)
        try makeSpace(0)
    }

    /// A world that continues in a copy of another one's directory.
    init(copyOf original: World, on disk: CrashDisk) {
        seed = original.seed
        kinds = original.kinds
        sizes = original.sizes
        hasLongLanes = original.hasLongLanes
        random = SeededRandom(seed: original.random.next())
        entropy = SeededEntropy(seed: original.random.next())
        trace = Trace(lineCountMax: 20)
        clock.set(milliseconds: original.clock.now.milliseconds)
        self.disk = disk
        settled = original.settled
        // Only durable bytes were copied.
        tail = original.tail
        lastNumber = original.lastNumber
        strangers = original.strangers
        known = original.known
        keptPacks = original.keptPacks
        ghosts = original.ghosts
        sealed = original.sealed
        frailSpaces = Set(original.settled.ids)
    }

    /// Ends all faults, and checks all that is there.
    func finish() throws {
        if hasPlannedCut { try crash() }
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
        var state = settled
        for effect in tail.prefix(count) { state.apply(effect) }
        return state
    }

    /// The state that a process sees that knows everything, if no answer got lost.
    var current: ModelState { state(withTail: tail.count) }

    /// A running process, drawn by chance.
    func drawProcess() -> Int32? {
        let running = stores.keys.sorted()
        guard !running.isEmpty else { return nil }
        return running[random.below(running.count)]
    }

    func store(_ process: Int32) throws -> LogStore {
        guard let store = stores[process] else { throw Violation("process \(process) runs not") }
        return store
    }

    func drawSpace(_ state: ModelState) -> SpaceID? {
        let ids = state.ids
        guard !ids.isEmpty else { return nil }
        return ids[random.below(ids.count)]
    }

    /// Does something that must not fail, with all faults off; a failure breaks a promise.
    func attempt<Result>(
        _ what: String,
        _ body: () throws(LogError) -> Result
    ) throws -> Result {
        let failing = disk.failing
        disk.failing = nil
        defer { disk.failing = failing }
        do throws(LogError) { return try body() } catch {
            throw Violation("\(what) fails: \(error)")
        }
    }
}
