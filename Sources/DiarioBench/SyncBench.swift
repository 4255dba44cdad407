import Diario
import DiarioFormat
import DiarioHost
import DiarioLog
import DiarioServer
import DiarioStorage
import DiarioSync

/// `diario-bench sync`: many pending events and as many of others, without a network.
enum SyncBench {
    static let help = """
        diario-bench sync [OPTIONS]
          A replica with many pending events syncs with the authority of its space, which has as
          many of others: until its read models show both, against applying all of them as events
          with positions. Each has a log of its own on disk; messages are handed over in memory.

          --events N      pending events, and as many of others (20000)
          --runs N        runs (5)
          --seed S        of the workload (1)

        """

    static func run(_ arguments: inout Arguments) async throws -> Report {
        let seed = UInt64(try arguments.count("--seed", 0...Int.max) ?? 1)
        let count = try arguments.count("--events", 1...10_000_000) ?? 20_000
        let runs = try arguments.count("--runs", 1...1000) ?? 5
        try arguments.finish()
        let events = try PreparedEvents(WorkloadOptions(eventCount: 20_000, seed: seed))
        let scratch = try Scratch()
        var pairs: [(ours: Sample, baseline: Sample)] = []
        for _ in 0..<runs {
            pairs.append(try await scratch.withFolder("sync") { try meet($0, events, count) })
        }
        let name = "\(count) pending and as many of others, against applying all"
        return Report(
            benchmark: "sync",
            settings: [("events", "\(count)"), ("runs", "\(runs)"), ("seed", "\(seed)")],
            measurements: [Measurement(name, pairs, goal: .atMost(2.2), isTime: true)]
        )
    }

    private static func meet(
        _ path: String,
        _ events: PreparedEvents,
        _ count: Int
    ) throws -> (ours: Sample, baseline: Sample) {
        let server = try BenchSpace.make(path + "/server")
        let authority = SpaceAuthority(server.store, server.id)
        var replica = try BenchReplica(at: path + "/replica", of: authority, server)
        let space = try replica.space()
        let models = try ReadModels(space)
        try space.record(0..<count, of: events, asSingles: true)
        try models.update()
        try server.record(0..<count, of: events, asSingles: false)
        var start = ContinuousClock.now
        try replica.sync(with: authority)
        try models.update()
        let ours = Sample(seconds: seconds(since: start), events: 2 * count)
        // The same events, as somebody has them who was never away.
        let all = try BenchReplica(at: path + "/all", of: authority, server)
        let fresh = try ReadModels(all.space())
        start = ContinuousClock.now
        try fresh.update()
        let baseline = Sample(seconds: seconds(since: start), events: 2 * count)
        try replica.store.close()
        try all.store.close()
        try server.close()
        return (ours, baseline)
    }
}

/// A replica of a space, with a log of its own.
struct BenchReplica {
    let store: LogStore
    let id: SpaceID
    private let directory: POSIXDirectory
    private var session: ReplicaSession

    /// Makes one that has what the authority in this process has.
    init(at path: String, of authority: SpaceAuthority, _ server: Space) throws {
        directory = try BenchSpace.directory(path, .create)
        try LogStore.create(in: directory)
        store = try Space.openStore(directory, access: .readWrite)
        id = server.id
        let lineage = try server.store[id].status().manifest.lineage
        try store.makeReplica(of: id, lineage: lineage, epoch: 0)
        session = ReplicaSession(store, id, seed: 1)
        try sync(with: authority)
    }

    /// The one that is in a folder.
    init(opening path: String) throws {
        directory = try BenchSpace.directory(path, .readWrite)
        store = try Space.openStore(directory, access: .readWrite)
        id = try BenchSpace.onlySpace(of: store)
        session = ReplicaSession(store, id, seed: 1)
    }

    /// The space with its types, as they are now.
    func space() throws -> Space { try Space(store: store, id: id) }

    /// Carries messages until nothing is left to say.
    mutating func sync(with authority: SpaceAuthority) throws {
        let caller = Caller(rights: [.read, .append])
        session.heardOfNews()
        while case .send(let request) = try session.next(at: store.now) {
            try session.receive(authority.answer(request, from: caller), at: store.now)
        }
        guard case .live = session.machine.state else {
            throw BenchError.failed("the sync ends in \(session.machine.state)")
        }
    }

    /// Records events, and gives for each a push of it alone, as it travels.
    func pushes(of events: Range<Int>, _ workload: PreparedEvents) throws -> [[UInt8]] {
        try space().record(events, of: workload, asSingles: true)
        guard let pending = store[id].standing().pending.first else {
            throw BenchError.failed("nothing is pending")
        }
        let first = pending.sequences.lowerBound + UInt64(events.lowerBound)
        let status = try store[id].status()
        let standing = Standing(
            lineage: status.manifest.lineage,
            epoch: status.manifest.epoch,
            size: status.head,
            root: try store[id].root()
        )
        return try (first..<first + UInt64(events.count)).map { sequence in
            let one = PendingEvents(replica: pending.replica, sequences: sequence...sequence)
            let blocks = try store[id].pendingBlocks(one).blocks
            let push = Push(standing: standing, replica: pending.replica, blocks: blocks)
            return SyncMessage.push(push).encoded()
        }
    }
}
