import Diario
import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioStorage
import DiarioSync

// The end of a world: nothing fails any more, so everything must be settled soon, and equal.

extension SyncWorld {
    /// Milliseconds within which all is settled once the network heals.
    ///
    /// The longest wait is a minute, and each of a few rounds may begin with one.
    private static let healingTime: Int64 = 15 * 60_000
    private static let healingCount = 20_000
    /// The most by which blocks of these worlds grow when they are unpacked.
    private static let expansionMax = 16

    /// Ends all faults, and waits until every event has its verdict everywhere.
    func heal() throws {
        trace.add("\(now) healing")
        endFaults()
        for device in [nil] + devices.map(Optional.some) {
            let machine = device?.machine ?? server.machine
            machine.clearFaults()
            if let cut = machine.plannedCut {
                // A planned cut comes now, so that nothing fails after this point.
                machine.takeCut(cut, using: &random)
                try goDown(device)
            } else if machine.mayOweFailures {
                machine.kill()
                try goDown(device)
            }
            machine.forgetFailures()
        }
        for device in devices where !device.machine.isOn {
            try start(device)
        }
        try start(nil)
        try resume()
        let end = now + Self.healingTime
        try settle(until: end)
        try sendKept(until: end)
        trace.add("\(now) settled")
    }

    private func settle(until end: Int64) throws {
        for _ in 0..<Self.healingCount where !isSettled {
            guard try advanceOnce(until: end) else { break }
        }
        guard isSettled else {
            throw Broken(.settled, "not settled after \(Self.healingTime / 60_000) min: \(rest)")
        }
    }

    /// Administrators send the kept events of others, as long as that helps: those of one may have
    /// to come before those of another.
    private func sendKept(until end: Int64) throws {
        var before = Int.max
        while true {
            var count = 0
            for device in devices {
                guard let store = device.machine.store else { continue }
                count += try readKept(of: device, store).count
            }
            guard count > 0, count < before else { return }
            before = count
            for device in devices {
                relay(device)
                try settle(until: end)
            }
        }
    }

    /// Events that cannot be sent: the server lacks earlier ones of their replicas that no disk has
    /// any more, or has others under their origins.
    private func stuck() throws -> Set<Int64> {
        var stuck: Set<Int64> = []
        for device in devices {
            guard let store = device.machine.store else { continue }
            for (token, origin) in try readKept(of: device, store) {
                let last = ledger.last[origin.replica, default: 0]
                if origin.sequence > last + 1 || sharedReplicas.contains(origin.replica) {
                    stuck.insert(token)
                }
            }
        }
        return stuck
    }

    private var isSettled: Bool {
        guard server.machine.isOn, !server.isWaiting else { return false }
        return devices.allSatisfy { device in
            guard device.request == nil, let store = device.machine.store,
                device.seen.epoch == ledger.epoch
            else { return false }
            let standing = store[device.space].standing()
            guard case .live = device.session?.machine.state,
                device.session?.isRelaying == false
            else { return false }
            return standing.head == ledger.head && standing.pending.isEmpty
        }
    }

    /// Everything that is not settled.
    private var rest: String {
        devices.map { device in
            guard let store = device.machine.store else { return "\(device.name) is off" }
            let standing = store[device.space].standing()
            let state = device.session.map { "\($0.machine.state)" } ?? "no session"
            return "\(device.name) at \(standing.head) of \(ledger.head) with "
                + "\(standing.pending.count) runs pending, \(state)"
        }.joined(separator: "; ")
    }

    // MARK: The end

    func checkAtEnd() throws {
        // Programs that start again find the same.
        for device in devices { try restart(device) }
        try restart(nil)
        // Where two disks used one id, a refusal may be of an event of the other disk. Nothing
        // shows that, so the author finds it in the inbox.
        var mistaken: Set<Int64> = []
        for device in devices {
            for (origin, token) in device.kept where sharedReplicas.contains(origin.replica) {
                mistaken.insert(token)
            }
        }
        let stuck = try stuck()
        for (token, entry) in book.entries.sorted(by: { $0.key < $1.key })
        where entry.fate == .synced && !stuck.contains(token) {
            guard ledger.hasVerdict(token) || mistaken.contains(token) else {
                throw Broken(.settled, "event \(token) has no verdict")
            }
        }
        guard let serverStore = server.machine.store else {
            throw Broken(.works, "the server does not start")
        }
        try verify(serverStore, space, of: server.machine)
        for device in devices {
            guard let store = device.machine.store else {
                throw Broken(.works, "\(device.name) does not start")
            }
            try checkReplica(device)
            try checkKept(device)
            try checkRoot(device, store)
            try checkInbox(device, store)
            try verify(store, device.space, of: device.machine)
        }
        if plan.traits.contains(.models) { try checkModelsAtEnd() }
    }

    /// Compares the root of a replica with that of so many events of the server.
    func checkRoot(_ device: Device, _ store: LogStore) throws {
        guard let serverStore = server.machine.store, server.machine.plannedCut == nil else {
            return
        }
        // Before it knows of a new epoch, it may have events that the authority lost.
        guard device.seen.epoch == ledger.epoch else { return }
        let head = store[device.space].standing().head
        let (own, other) = try attempt("a root") { () throws(LogError) in
            (try store[device.space].root(), try serverStore[space].proofs.root(size: head))
        }
        guard let other, own == other else {
            throw Broken(.equal, "\(device.name) has another root at \(head)")
        }
    }

    /// Everything in the inbox was refused, and everything refused is there.
    private func checkInbox(_ device: Device, _ store: LogStore) throws {
        let inbox = try readInbox(of: device, store)
        // The verdict of an event of others may be lost with a restored server.
        for (origin, token) in inbox
        where ledger.refusal(of: origin) == nil && device.replicas.contains(origin.replica) {
            throw Broken(.once, "event \(token) is in an inbox, and nobody refused it")
        }
        for (origin, token) in device.kept.sorted(by: { $0.key < $1.key })
        where inbox[origin] != token {
            throw Broken(
                .kept,
                "event \(token) was refused, and is not in the inbox of \(device.name)"
            )
        }
    }

    private func verify(_ store: LogStore, _ space: SpaceID, of machine: Machine) throws {
        let found = try attempt("verifying \(machine.name)") { () throws(LogError) in
            try store.verify(space) { _ in nil }
        }
        if let fault = found.faults.first {
            throw Broken(.works, "\(machine.name): \(fault.message)")
        }
    }

    /// A session holds no more than one answer with its unpacked blocks, and a little for each
    /// replica that it speaks for.
    func checkMemory(_ device: Device) throws(Broken) {
        guard let session = device.session else { return }
        let size = Reach.size(of: session)
        guard size <= Self.expansionMax * device.answerSizeMax + 16_384 else {
            throw Broken(
                .bounded,
                "the session of \(device.name) holds \(size) bytes, and the largest answer has "
                    + "\(device.answerSizeMax)"
            )
        }
    }
}

/// The memory that a value reaches, by reflection.
enum Reach {
    /// Bytes of a value and all values in it, without the contents of objects.
    static func size(of value: Any) -> Int {
        if let bytes = value as? [UInt8] { return bytes.count }
        let mirror = Mirror(reflecting: value)
        guard mirror.displayStyle != .class else { return 8 }
        guard !mirror.children.isEmpty else { return 8 }
        return mirror.children.reduce(8) { $0 + size(of: $1.value) }
    }
}
