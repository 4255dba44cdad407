import DiarioCore
import DiarioLog
import DiarioSync

// Checks of the logs of replicas.

extension Records {
    /// The ledger of the device's current epoch.
    private func history(of device: Device) throws -> Ledger {
        let epoch = try device.epoch()
        if device.contents.space != device.space {
            trace.counts.renewals += 1
            trace.add("\(device.name) is rebuilt in epoch \(epoch)")
            device.models = nil
            device.contents.compared = 0
        }
        if device.contents.epoch != epoch {
            // A renewal that was cut continues, even if the next epoch has begun meanwhile.
            guard epoch == ledger.epoch || histories[epoch] != nil, device.contents.epoch < epoch
            else {
                throw Broken(
                    .positions,
                    "\(device.name) went from epoch \(device.contents.epoch) to \(epoch)"
                )
            }
            takeBack(device)
            device.contents.compared = 0
            device.contents.head = 0
        }
        device.contents.space = device.space
        device.contents.epoch = epoch
        guard let history = epoch == ledger.epoch ? ledger : histories[epoch] else {
            throw Broken(.positions, "\(device.name) is in epoch \(epoch)")
        }
        return history
    }

    /// Compares the events that a replica received since it was last read.
    func checkReplica(_ device: Device) throws {
        guard device.isOn else { return }
        try device.checkIndex()
        let space = device.contents.space
        let history = try history(of: device)
        let head = device.head
        guard head <= history.head else {
            throw Broken(
                .positions,
                "\(device.name) has \(head) positions and the server \(history.head)"
            )
        }
        let compared = device.contents.compared
        guard head >= compared else {
            throw Broken(.positions, "the head of \(device.name) went back to \(head)")
        }
        guard head > compared || space != device.space else { return }
        let new = try head == compared ? [] : device.entries(compared + 1...head)
        for (position, entry) in zip((compared + 1)..., new) where entry != history[position] {
            throw Broken(.equal, "\(device.name) has something else at position \(position)")
        }
        device.contents.compared = head
        device.contents.head = head
        try checkKept(device)
    }

    /// Checks each event of others that a device must keep since the server lost it.
    private func checkOthers(
        _ device: Device,
        _ history: Ledger,
        pending: Set<Int64>
    ) throws {
        guard !device.contents.others.isEmpty else { return }
        let kept = try device.kept(book)
        let back = history.tokens(through: device.head)
        var inbox: Set<Int64>?
        for token in device.contents.others.sorted()
        where kept[token] == nil && !pending.contains(token) {
            let known = try inbox ?? Set(device.inbox(book).values)
            inbox = known
            guard back.contains(token) || known.contains(token) else {
                throw Broken(.kept, "event \(token) of others is not on \(device.name) any more")
            }
            // As with an own event, it is looked after where it is now.
            device.contents.others.remove(token)
        }
    }

    /// Checks each event of a device without a verdict there: it is in the lane, or has the place
    /// of its verdict.
    func checkKept(_ device: Device) throws {
        guard device.isOn else { return }
        let history = try history(of: device)
        let head = device.head
        let pending = try checkLane(device, history)
        try checkOthers(device, history, pending: pending)
        var inbox: [Origin: Int64]?
        for (token, hold) in device.contents.holds.sorted(by: { $0.key < $1.key })
        where !pending.contains(token) {
            if let position = hold.origin.flatMap({ history.positions[$0] }), position <= head {
                device.contents.holds[token] = nil
                continue
            }
            guard let origin = hold.origin, let refusal = history.refusal(of: origin),
                refusal.position <= head
            else {
                // Events that are not synced are not shown, and may be missing after a crash.
                guard hold.isSynced else { continue }
                throw Broken(.kept, "event \(token) is not on \(device.name) any more")
            }
            let known = try inbox ?? device.inbox(book)
            inbox = known
            guard known[origin] == token else {
                throw Broken(
                    .kept,
                    "event \(token), refused at \(refusal.position), is not in the inbox of "
                        + device.name
                )
            }
            device.contents.refused[origin] = token
            device.contents.holds[token] = nil
        }
    }

    /// Checks the lane of a device, learns its origins, and gives its tokens.
    @discardableResult
    private func checkLane(_ device: Device, _ history: Ledger) throws -> Set<Int64> {
        let head = device.head
        let lane = try device.lane()
        // Ids that changed are known by the events that make them, wherever these are.
        for (token, row) in lane where book[token] != nil {
            guard case .event(let event) = row.content else { continue }
            let what = Book.Known(token: token, event: event, base: row.envelope.base)
            book.learn(row.envelope.origin, what)
        }
        var counts: [Int64: Int] = [:]
        for (origin, token) in try book.recorded(lane.map(\.row), "pending on \(device.name)") {
            guard book[token]?.fate != .lost else {
                throw Broken(.content, "event \(token) came back on \(device.name)")
            }
            counts[token, default: 0] += 1
            guard counts[token, default: 0] <= book.placeCountMax(token) else {
                throw Broken(.once, "an event is pending twice on \(device.name)")
            }
            if let verdict = history.verdict(of: origin), verdict <= head {
                throw Broken(
                    .once,
                    "event \(token) is pending on \(device.name), which has its verdict at "
                        + "\(verdict)"
                )
            }
            device.contents.replicas.insert(origin.replica)
            // Events on a disk that was just restored were recorded there.
            if device.isPutBack { device.contents.recorded.insert(token) }
            guard device.contents.recorded.contains(token) else { continue }
            device.contents.hold(token, origin)
            book.settle(token)
        }
        return Set(counts.keys)
    }

    /// Finds out, after a program came back, which events it has.
    func resolve(_ device: Device) throws {
        guard device.isOn else { return }
        let history = try history(of: device)
        let pending = try checkLane(device, history)
        for (token, hold) in device.contents.holds.sorted(by: { $0.key < $1.key })
        where !pending.contains(token) {
            guard !hold.isSynced,
                // An earlier disk may have sent it; else a sent event is still there. Under its
                // origin another device may have sent another event.
                device.isPutBack || !history.hasVerdict(token)
                    || hold.origin.flatMap({ history.verdict(of: $0) }) == nil
            else { continue }
            trace.add("\(device.name) lost event \(token)")
            device.contents.holds[token] = nil
            device.contents.recorded.remove(token)
            book.drop(token)
        }
        device.isPutBack = false
        try checkReplica(device)
        try checkKept(device)
    }

    /// A new event is later than all that the device knew, whatever its own clock says.
    func checkClock(of origin: Origin, _ device: Device, _ base: UInt64) throws {
        let epoch = device.contents.epoch
        let history = epoch == ledger.epoch ? ledger : histories[epoch]
        guard device.isOn, let highest = history?.highestClock(through: base) else { return }
        let own = try device.lane().first { $0.row.envelope.origin == origin }?.row.envelope
        guard let own, own.clock > highest else {
            throw Broken(
                .clocks,
                "\(origin.text) is not later than all up to position \(base), which its device knew"
            )
        }
    }

    /// Compares the root of a replica with that of so many events of the server.
    func checkRoot(_ device: Device, _ server: Server) throws {
        // Before it knows of a new epoch, it may have events that the authority lost.
        guard server.isOn, server.plannedCut == nil, device.contents.epoch == ledger.epoch else {
            return
        }
        let head = device.head
        let own = try device.read("a root") { try $0[device.space].root() }
        let other = try server.read("a root") { try $0[server.space].proofs.root(size: head) }
        guard let other, own == other else {
            throw Broken(.equal, "\(device.name) has another root at \(head)")
        }
    }

    /// Everything in the inbox was refused, and everything refused is there.
    func checkInbox(_ device: Device) throws {
        let inbox = try device.inbox(book)
        // The verdict of an event of others may be lost with a restored server.
        for (origin, token) in inbox
        where ledger.refusal(of: origin) == nil
            && device.contents.replicas.contains(origin.replica)
        {
            throw Broken(.once, "event \(token) is in an inbox, and nobody refused it")
        }
        for (origin, token) in device.contents.refused.sorted(by: { $0.key < $1.key })
        where inbox[origin] != token {
            throw Broken(
                .kept,
                "event \(token) was refused, and is not in the inbox of \(device.name)"
            )
        }
    }
}
