import Diario
import DiarioCore
import DiarioFormat
import DiarioFrames
import DiarioLog
import DiarioProjection
import DiarioServer
import DiarioStorage
import DiarioSync

/// Replicas and a server, with every fault drawn from one seed.
///
/// All code is the real one but disks, clocks and the network. Messages are late, lost, damaged or
/// doubled; links are cut, also in one direction; programs and machines die at any disk operation;
/// disks are full or fail; clocks jump; tokens lose rights; disks are copied or restored. `Book`
/// records every event and what it was promised, `Ledger` every verdict of the authority.
///
/// Time is simulated: it advances from one happening to the next. 15 minutes after the last fault
/// every event must have a verdict everywhere, and all replicas one root and the same read models.
final class SyncWorld {
    let plan: SyncPlan
    let kinds: SyncKinds
    var trace: Trace
    /// For all that no step draws by itself.
    var random: SeededRandom
    /// Milliseconds since the world began.
    private(set) var now: Int64 = 0
    var agenda = Agenda<Event>()
    let server: Server
    private(set) var devices: [Device] = []
    private(set) var space = SpaceID(drawnFrom: SeededEntropy(seed: 0))
    private(set) var lineage = Lineage(high: 0, low: 0)
    var book = Book()
    /// Of the epoch that the authority has now, and of those before.
    var ledger: Ledger
    var histories: [UInt64: Ledger] = [:]
    /// Ids that more than one disk uses, and nothing shows it.
    var sharedReplicas: Set<ReplicaID> = []
    var lastRequest = 0
    /// Counts of what happened, so that tests can tell that worlds are useful.
    var counts = SyncCounts()
    /// True once nothing fails any more.
    private(set) var isHealed = false

    /// Something that is still to come.
    enum Event {
        case request(device: Int, number: Int, bytes: [UInt8], isDamaged: Bool)
        case answer(device: Int, number: Int, bytes: [UInt8])
        /// No answer comes to a request any more, or it cannot be carried at all.
        case failure(device: Int, number: Int, what: String)
        case wake(device: Int, number: Int, Waking)
        /// A machine is switched on, or its program is started; nil for the server.
        case start(device: Int?)
        case calm(device: Int)
        /// A disk works again.
        case mend(device: Int?)
        /// A token gives rights again.
        case allow(device: Int)
        /// The operator resumes the server.
        case resume
    }

    /// Why a device is woken.
    enum Waking {
        /// A time came, or something was recorded.
        case time
        /// There may be news.
        case news
        /// A person ends a pause.
        case person
    }

    init(_ plan: SyncPlan, kinds: SyncKinds, lineCountMax: Int) {
        self.plan = plan
        self.kinds = kinds
        random = SeededRandom(seed: plan.seed ^ 0x7ea1)
        trace = Trace(lineCountMax: lineCountMax)
        ledger = Ledger(fingerprints: kinds.plans.map(\.fingerprint))
        server = Server(
            Machine(
                "server",
                CrashDisk(machineID: "server"),
                sizes: Self.sizes(plan, &random),
                entropySeed: plan.seed ^ 0x5e17e1,
                kinds
            )
        )
        for number in 0..<plan.deviceCount {
            let machine = Machine(
                "device\(number)",
                CrashDisk(machineID: "device\(number)"),
                sizes: Self.sizes(plan, &random),
                entropySeed: plan.seed ^ UInt64(number + 1) << 32,
                kinds
            )
            if plan.traits.contains(.wildClocks) {
                machine.driftPerMillion = Int64(random.below(2001)) - 1000
                machine.clockOffset = Int64(random.below(7_200_000)) - 3_600_000
            }
            let actor = random.oneIn(2) ? "actor\(number)" : nil
            let hasOther = plan.traits.contains(.refusals) && random.oneIn(8)
            devices.append(
                Device(number, machine, space, actor: actor, hasOtherSchema: hasOther)
            )
        }
    }

    private static func sizes(_ plan: SyncPlan, _ random: inout SeededRandom) -> LogSizes {
        var sizes = LogSizes()
        sizes.frameMax = 32 * 1024 << random.below(2)
        // A frame takes a block of news: some batches, and then one that may be long.
        if plan.traits.contains(.longBatches) { sizes.frameMax *= 32 }
        sizes.fileMax = 2 * sizes.frameMax + LogFileHeader.size
        sizes.growthMin = 1024 << random.below(4)
        sizes.growthMax = 16 * 1024
        sizes.quietMax = sizes.fileMax * (1 + random.below(4))
        sizes.stateInterval = 2048 << random.below(3)
        sizes.reserve = 4096
        sizes.segmentCount = 4 << random.below(3)
        sizes.mergedCount = sizes.segmentCount * (1 + random.below(4))
        sizes.retirementMilliseconds = 1000
        // Not random, so that the worlds of known seeds stay the same.
        sizes.columnsCountMin = 2 * sizes.segmentCount
        sizes.contextCountMin = 3
        if plan.traits.contains(.smallExchanges) {
            sizes.exchangeCount = 1 + random.below(12)
        }
        return sizes
    }

    // MARK: Life

    /// Lives through the plan, heals, and checks all that is there at the end.
    func run() throws {
        try begin()
        for step in plan.steps { try perform(step) }
        try heal()
        try checkAtEnd()
        trace.add("end \(book.entries.count) events, \(ledger.head) positions")
    }

    /// Makes the space and all replicas of it, before anything can fail.
    private func begin() throws {
        try attempt("create") { () throws(LogError) in
            server.machine.setClock(now)
            try server.machine.create()
            let manifest = try server.machine.start().makeSpace(isAuthority: true)
            space = manifest.space
            lineage = manifest.lineage
        }
        try startAuthority()
        try adopt(version: 1)
        for device in devices {
            device.machine.setClock(now)
            try attempt("create") { () throws(LogError) in
                try device.machine.create()
                let store = try device.machine.start()
                try store.makeReplica(of: space, lineage: lineage, epoch: 0)
            }
            device.space = space
            device.seen.space = space
            beginSync(device)
        }
        trace.add("\(devices.count) devices, traits \(plan.traits.rawValue)")
    }

    /// Handles everything due until a time, and advances to it.
    func advance(to time: Int64) throws {
        while let (next, event) = agenda.next(until: time) {
            now = max(now, next)
            try handle(event)
        }
        now = max(now, time)
    }

    /// Handles the next thing; false if there is none until a time.
    func advanceOnce(until time: Int64) throws -> Bool {
        guard let (next, event) = agenda.next(until: time) else { return false }
        now = max(now, next)
        try handle(event)
        return true
    }

    private func handle(_ event: Event) throws {
        switch event {
        case .request(let device, let number, let bytes, let isDamaged):
            try answer(devices[device], number, bytes, isDamaged: isDamaged)
        case .answer(let device, let number, let bytes):
            try receive(devices[device], number, bytes)
        case .failure(let device, let number, let what): try fail(devices[device], number, what)
        case .wake(let device, let number, let waking):
            try wake(devices[device], number, waking)
        case .start(let device): try start(device.map { devices[$0] })
        case .calm(let device):
            devices[device].link = Link()
            trace.add("\(now) \(devices[device].name) calm")
        case .mend(let device): machine(device).clearFaults()
        case .allow(let device): devices[device].isRevoked = false
        case .resume: try resume()
        }
    }

    func add(_ device: Device) { devices.append(device) }

    func machine(_ device: Int?) -> Machine {
        device.map { devices[$0].machine } ?? server.machine
    }

    /// Ends all faults, so that from now on everything works.
    func endFaults() {
        isHealed = true
        for device in devices {
            device.link = Link()
            device.isRevoked = false
        }
    }
}

/// Counts of what happened in a world.
package struct SyncCounts: Equatable, Sendable {
    package var events = 0
    package var pushes = 0
    package var refusals = 0
    package var cuts = 0
    package var requestsLost = 0
    package var answersLost = 0
    package var copies = 0
    package var damages = 0
    package var modelChecks = 0
    package var clones = 0
    /// Devices that began with sealed files of the server.
    package var joins = 0
    package var restores = 0
    /// Answers to relays of events of others.
    package var relays = 0
    /// Spaces of devices that were rebuilt.
    package var renewals = 0
}
