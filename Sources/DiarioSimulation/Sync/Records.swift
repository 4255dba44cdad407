import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioProjection
import DiarioSync

/// All that was recorded, pushed and decided in a world; the server's log is checked with it here,
/// those of replicas in `Records+Replica.swift`, and answers in `Records+Answers.swift`.
final class Records {
    let trace: Trace
    var book = Book()
    /// Of the epoch that the authority has now, and of those before.
    var ledger: Ledger
    var histories: [UInt64: Ledger] = [:]
    /// Ids that more than one disk uses, and nothing shows it.
    var sharedReplicas: Set<ReplicaID> = []

    init(_ trace: Trace, _ kinds: SyncKinds) {
        self.trace = trace
        ledger = Ledger(fingerprints: kinds.plans.map(\.fingerprint))
    }

    /// Adds new events of the authority to the ledger, and checks them.
    func readLedger(_ server: Server) throws {
        guard server.isOn else { return }
        try readEpoch(server)
        let head = server.head
        guard head >= ledger.head else {
            throw Broken(.positions, "the head of the server went from \(ledger.head) to \(head)")
        }
        guard head > ledger.head else { return }
        for entry in try server.entries(ledger.head + 1...head) { try add(entry) }
        try server.checkIndex()
    }

    /// The epoch grows when a server was restored, and only then.
    private func readEpoch(_ server: Server) throws {
        let epoch = try server.epoch()
        // It says itself which one comes; it may have died while it took its new ids, and then it
        // takes some again.
        if server.isWaiting || server.hasNewEpoch, epoch > ledger.epoch { ledger.epoch = epoch }
        if !server.isWaiting { server.hasNewEpoch = false }
        guard epoch == ledger.epoch || server.isWaiting else {
            throw Broken(
                .positions,
                "the server is in epoch \(epoch), and was in \(ledger.epoch)"
            )
        }
    }

    /// The server came back: everything that a device may know must be as it was.
    func readLedgerAgain(_ server: Server, _ devices: [Device]) throws {
        guard server.isOn else { return }
        let head = server.head
        let old = ledger
        guard head >= server.shownHead else {
            throw Broken(
                .kept,
                "the server came back with \(head) of \(server.shownHead) positions"
            )
        }
        ledger = Ledger(fingerprints: old.fingerprints)
        ledger.epoch = old.epoch
        let all = try head == 0 ? [] : server.entries(1...head)
        for (index, entry) in all.enumerated() {
            if index < old.entries.count, index < server.shownHead, old.entries[index] != entry {
                throw Broken(.positions, "position \(index + 1) changed on the server")
            }
            try add(entry)
        }
        for entry in old.entries.dropFirst(ledger.entries.count) {
            guard case .event(let event) = entry.row.content, book[event.token]?.device == nil
            else { continue }
            guard server.isPutBack || book[event.token]?.fate != .synced else {
                throw Broken(.kept, "event \(event.token) of the server is gone")
            }
            // If a replica has it, it is owed; if it is still on its way, it may come to one.
            if !server.isPutBack { book.lose(event.token) }
        }
        if server.isPutBack {
            server.isPutBack = false
            ledger.epoch += 1
            server.hasNewEpoch = true
            abandonUnsecured(devices)
        }
        try server.checkIndex()
    }

    private func add(_ entry: Ledger.Entry) throws {
        try ledger.add(entry, book)
        switch entry.row.content {
        case .refused: trace.counts.refusals += 1
        // Shown events are synced.
        case .event(let event) where book[event.token]?.device == nil: book.settle(event.token)
        case .event, .adopted: break
        }
    }

    // MARK: What may be lost

    /// Abandons events that no disk certainly has any more, and that the authority does not have.
    ///
    /// These are events acknowledged to a device and not sent before its disk was restored, or sent
    /// only to a server that was restored as well, before another device got them.
    func abandonUnsecured(_ devices: [Device]) {
        var secured: Set<Int64> = []
        for device in devices {
            secured.formUnion(device.contents.holds.filter(\.value.isSynced).keys)
            secured.formUnion(device.contents.others)
            guard device.contents.epoch != ledger.epoch else { continue }
            secured.formUnion(heldByHistory(device).map(\.token))
            secured.formUnion(othersByHistory(device))
        }
        for (token, entry) in book.entries
        where entry.fate == .synced && !secured.contains(token) && !ledger.hasVerdict(token) {
            book.abandon(token)
        }
    }

    /// The events that a replica of another epoch has after those that the authority has too, and
    /// the position of the first of them.
    private func fork(_ device: Device, _ history: Ledger) -> ArraySlice<Ledger.Entry> {
        let common = zip(history.entries, ledger.entries).prefix { $0 == $1 }.count
        let end = min(Int(device.contents.head), history.entries.count)
        return history.entries[min(common, end)..<end]
    }

    /// Events that a replica of another epoch has with a verdict, which it has to take back.
    ///
    /// Events that another device recorded under its id are brought back by that one.
    private func heldByHistory(_ device: Device) -> [(origin: Origin, token: Int64)] {
        guard let history = histories[device.contents.epoch] else { return [] }
        let common = zip(history.entries, ledger.entries).prefix { $0 == $1 }.count
        var held: [(Origin, Int64)] = []
        for entry in fork(device, history) {
            guard case .event(let event) = entry.row.content, isOwn(event, entry, device) else {
                continue
            }
            held.append((entry.row.envelope.origin, event.token))
        }
        for (origin, token) in device.contents.refused.sorted(by: { $0.key < $1.key }) {
            // It is judged again where it may be refused at the same position, of another device.
            let refusal = history.refusal(of: origin)
            guard refusal != ledger.refusal(of: origin) || refusal?.position ?? 0 > common else {
                continue
            }
            held.append((origin, token))
        }
        return held
    }

    /// Events of others that a replica of another epoch has with a position, and the authority not.
    private func othersByHistory(_ device: Device) -> [Int64] {
        guard let history = histories[device.contents.epoch] else { return [] }
        return fork(device, history).compactMap { entry in
            guard case .event(let event) = entry.row.content, !isOwn(event, entry, device) else {
                return nil
            }
            return event.token
        }
    }

    private func isOwn(_ event: SyncEvent, _ entry: Ledger.Entry, _ device: Device) -> Bool {
        device.contents.replicas.contains(entry.row.envelope.origin.replica)
            && device.contents.recorded.contains(event.token)
    }

    /// A device adopted the epoch of the authority: events that it recorded and that the authority
    /// does not have any more are pending again.
    func takeBack(_ device: Device) {
        for (origin, token) in heldByHistory(device) {
            device.contents.refused[origin] = nil
            device.contents.hold(token, origin)
            book.settle(token)
        }
        device.contents.others.formUnion(othersByHistory(device))
    }

    /// Events that cannot be sent: the server lacks earlier ones of their replicas that no disk has
    /// any more, or has others under their origins.
    func stuck(_ devices: [Device]) throws -> Set<Int64> {
        var stuck: Set<Int64> = []
        for device in devices where device.isOn {
            for (token, origin) in try device.kept(book) {
                let last = ledger.last[origin.replica, default: 0]
                if origin.sequence > last + 1 || sharedReplicas.contains(origin.replica) {
                    stuck.insert(token)
                }
            }
        }
        return stuck
    }
}
