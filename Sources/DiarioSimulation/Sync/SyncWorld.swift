import DiarioCore
import DiarioFrames
import DiarioLog
import DiarioStorage

/// Replicas and a server, with every fault drawn from one seed.
///
/// All code is the real one but disks, clocks and the network. Messages are late, lost, damaged or
/// doubled; links are cut, also in one direction; programs and machines die at any disk operation;
/// disks are full or fail; clocks jump; tokens lose rights; disks are copied or restored. `Records`
/// has every event and what it was promised, and every verdict of the authority.
///
/// Time is simulated: it advances from one happening to the next. 15 minutes after the last fault
/// every event must have a verdict everywhere, and all replicas one root and the same read models.
final class SyncWorld {
    let plan: SyncPlan
    let kinds: SyncKinds
    let trace: Trace
    let records: Records
    /// For all that no step draws by itself.
    var random: SeededRandom
    /// Milliseconds since the world began.
    private(set) var now: Int64 = 0 { didSet { trace.now = now } }
    var agenda = Agenda()
    let server: Server
    var devices: [Device] = []
    private(set) var lineage = Lineage(high: 0, low: 0)
    var lastRequest = 0

    init(_ plan: SyncPlan, kinds: SyncKinds, lineCountMax: Int) {
        self.plan = plan
        self.kinds = kinds
        random = SeededRandom(seed: plan.seed ^ 0x7ea1)
        trace = Trace(lineCountMax: lineCountMax)
        trace.now = 0
        records = Records(trace, kinds)
        let space = SpaceID(drawnFrom: SeededEntropy(seed: 0))
        server = Server(
            "server",
            CrashDisk(machineID: "server"),
            plan.sizes(using: &random),
            entropySeed: plan.seed ^ 0x5e17e1,
            space,
            kinds
        )
        for number in 0..<plan.deviceCount {
            devices.append(Device(number, of: plan, space, kinds, using: &random))
        }
    }

    var space: SpaceID { server.space }

    var peers: [Peer] { [server] + devices }

    // MARK: Life

    /// Lives through the plan, heals, and checks all that is there at the end.
    func run() throws {
        try begin()
        for step in plan.steps { try perform(step) }
        try heal()
        try checkAtEnd()
        trace.add("end \(records.book.entries.count) events, \(records.ledger.head) positions")
    }

    /// Makes the space and all replicas of it, before anything can fail.
    private func begin() throws {
        try server.attempt("create") {
            server.setClock(now)
            try LogStore.create(in: server.disk)
            let manifest = try server.start().makeSpace(isAuthority: true)
            server.space = manifest.space
            lineage = manifest.lineage
        }
        try startAuthority()
        try adopt(version: 1)
        for device in devices {
            device.setClock(now)
            try device.attempt("create") {
                try LogStore.create(in: device.disk)
                try device.start().makeReplica(of: space, lineage: lineage, epoch: 0)
            }
            device.space = space
            device.contents.space = space
            beginSync(device)
        }
        trace.add("\(devices.count) devices, traits \(plan.traits.rawValue)")
    }

    /// Handles everything due until a time, and advances to it.
    func advance(to time: Int64) throws {
        while try advanceOnce(until: time) {}
        now = max(now, time)
    }

    /// Handles the next thing; false if there is none until a time.
    func advanceOnce(until time: Int64) throws -> Bool {
        guard let (next, event) = agenda.next(until: time) else { return false }
        now = max(now, next)
        switch event {
        case .request(let device, let number, let bytes, let isDamaged):
            try answer(device, number, bytes, isDamaged: isDamaged)
        case .answer(let device, let number, let bytes): try receive(device, number, bytes)
        case .failure(let device, let number, let what): try fail(device, number, what)
        case .wake(let device, let number, let waking): try wake(device, number, waking)
        case .start(let peer): try start(peer)
        case .calm(let device):
            device.link = Link()
            trace.add("\(device.name) calm")
        case .mend(let peer): peer.clearFaults()
        case .allow(let device): device.isRevoked = false
        case .resume: try resume()
        }
        return true
    }
}
