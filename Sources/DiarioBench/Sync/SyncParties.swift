import Diario
import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioServer
import DiarioStorage
import DiarioSync

/// The authority of a space, in process.
struct BenchAuthority {
    static let caller = Caller(rights: [.read, .append])

    let space: Space
    let authority: SpaceAuthority

    init(at path: String) throws(BenchError) {
        space = try BenchSpace.make(path)
        authority = SpaceAuthority(space.store, space.id)
    }

    func answer(_ request: [UInt8]) -> [UInt8] { authority.answer(request, from: Self.caller) }

    /// Records events of the workload here, in batches.
    func record(_ count: Int, of events: PreparedEvents) throws(BenchError) {
        var index = 0
        while index < count {
            var draft = DraftBatch()
            let end = min(count, index + Limits.batchCountMax / 2)
            while index < end {
                events.add(index % events.count, to: &draft)
                index += 1
            }
            try LaneReplica.append(.batch(draft), to: space)
        }
    }

    func close() throws(BenchError) {
        try BenchSpace.diario { () throws(DiarioError) in try space.close() }
    }
}

/// A replica of its space, with a log of its own.
struct BenchReplica {
    let store: LogStore
    let id: SpaceID
    private let directory: POSIXDirectory
    var session: ReplicaSession

    /// Makes one that has what the authority has.
    init(at path: String, of authority: BenchAuthority) throws(BenchError) {
        let (server, id) = (authority.space.store, authority.space.id)
        let lineage = try BenchSpace.log { () throws(LogError) in
            try server.status(of: id).manifest.lineage
        }
        try self.init(at: path, of: id, lineage)
        try sync(with: authority)
    }

    /// Makes one that has nothing yet.
    init(at path: String, of id: SpaceID, _ lineage: Lineage) throws(BenchError) {
        do throws(StorageError) {
            directory = try POSIXDirectory(path: path + "/.diario", access: .create)
        } catch {
            throw .failed(error.message)
        }
        let directory = directory
        store = try BenchSpace.diario { () throws(DiarioError) in
            do throws(LogError) { try LogStore.create(in: directory) } catch {
                throw DiarioError(error)
            }
            return try Space.openStore(directory, access: .readWrite)
        }
        let store = store
        try BenchSpace.log { () throws(LogError) in
            try store.makeReplica(of: id, lineage: lineage, epoch: 0)
        }
        self.id = id
        session = ReplicaSession(store, id, seed: 1)
    }

    /// The one that is in a folder.
    init(opening path: String) throws(BenchError) {
        do throws(StorageError) {
            directory = try POSIXDirectory(path: path + "/.diario", access: .readWrite)
        } catch {
            throw .failed(error.message)
        }
        let directory = directory
        store = try BenchSpace.diario { () throws(DiarioError) in
            try Space.openStore(directory, access: .readWrite)
        }
        id = try BenchSpace.onlySpace(of: store)
        session = ReplicaSession(store, id, seed: 1)
    }

    /// The space with its types, as they are now.
    func space() throws(BenchError) -> Space {
        try BenchSpace.diario { () throws(DiarioError) in
            try Space(store: store, id: id, directory: directory)
        }
    }

    /// Records events of the workload, each a batch of its own.
    func record(_ range: Range<Int>, of events: PreparedEvents) throws(BenchError) {
        let space = try space()
        var index = range.lowerBound
        while index < range.upperBound {
            var draft = DraftBatch()
            let end = min(range.upperBound, index + Limits.batchCountMax / 2)
            while index < end {
                events.add(index % events.count, to: &draft)
                index += 1
            }
            try LaneReplica.append(.singles([draft]), to: space)
        }
    }

    /// Carries messages until nothing is left to say.
    mutating func sync(with authority: BenchAuthority) throws(BenchError) {
        session.heardOfNews()
        while case .send(let request) = try next() {
            try receive(authority.answer(request))
        }
        guard case .live = session.machine.state else {
            throw .failed("the sync ends in \(session.machine.state)")
        }
    }

    mutating func next() throws(BenchError) -> ReplicaSession.Action {
        let now = store.now
        do throws(LogError) { return try session.next(at: now) } catch {
            throw .failed(error.message)
        }
    }

    mutating func receive(_ answer: [UInt8]) throws(BenchError) {
        let now = store.now
        do throws(LogError) { try session.receive(answer, at: now) } catch {
            throw .failed(error.message)
        }
    }

    /// A push of some of the pending events, as it travels.
    func push(_ pending: PendingEvents) throws(BenchError) -> [UInt8] {
        try BenchSpace.log { () throws(LogError) in
            let status = try store.status(of: id)
            let push = Push(
                standing: Standing(
                    lineage: status.manifest.lineage,
                    epoch: status.manifest.epoch,
                    size: status.head,
                    root: try store.root(of: id)
                ),
                replica: pending.replica,
                blocks: try store.pendingBlocks(of: id, pending).blocks
            )
            return SyncMessage.push(push).encoded()
        }
    }

    /// All that is pending, which is of one replica.
    func pending() throws(BenchError) -> PendingEvents {
        guard let pending = store.standing(of: id).pending.first else {
            throw .failed("nothing is pending")
        }
        return pending
    }

    func close() throws(BenchError) {
        try BenchSpace.log { () throws(LogError) in try store.close() }
    }
}
