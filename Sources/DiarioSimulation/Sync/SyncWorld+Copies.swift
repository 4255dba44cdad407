import Diario
import DiarioCore
import DiarioLog
import DiarioStorage
import DiarioSync

// Disks that are copied while both devices go on, or restored from a backup.
//
// A restored disk may lose acknowledged events that no other disk has: those recorded after the
// backup that were not sent yet, and those that the server recorded, or received from a device that
// was restored as well, before any other device got them. Everything else is still owed: all that
// is in the backup, a replica's own events, and its copies of other authors' events, which it keeps
// until administrators send them. An event may stay there only if it follows a sequence that
// nobody has any more.
//
// An event may have a second verdict only where disks were copied, since each copy may record it
// again; a refusal may be mistaken for that of another event only under an id that two disks used.

extension SyncWorld {
    /// The most devices that a world may come to have.
    static let deviceCountMax = 10
    /// The most milliseconds after which the operator resumes a restored server.
    private static let resumeTimeMax = 120_000

    // MARK: Devices

    /// Copies the disk of a device to a new one, and both go on.
    ///
    /// The files show that it is a copy, or nothing does.
    func clone(_ device: Device, _ draw: inout SeededRandom) throws {
        guard devices.count < Self.deviceCountMax else { return }
        let number = devices.count
        let name = "device\(number)"
        let isSnapshot = draw.oneIn(2)
        let disk = device.machine.disk
        let machine = Machine(
            name,
            isSnapshot ? disk.snapshot() : disk.copy(machineID: name),
            sizes: device.machine.sizes,
            entropySeed: draw.next(),
            kinds
        )
        let copy = Device(
            number,
            machine,
            device.space,
            actor: device.actor,
            hasOtherSchema: device.hasOtherSchema
        )
        copy.things = device.things
        copy.kept = device.kept
        copy.others = device.others
        copy.replicas = device.replicas
        copy.recorded = device.recorded.subtracting(book.unsecured(on: device.number))
        copy.seen = device.seen
        copy.isPutBack = true
        book.copy(device.number, to: number)
        book.holds[number] = book.copiedHolds(of: device.number)
        add(copy)
        if isSnapshot { sharedReplicas.formUnion(device.replicas) }
        counts.clones += 1
        trace.add(
            "\(now) \(name) is a \(isSnapshot ? "snapshot" : "copy") of \(device.name)"
        )
        try start(copy)
        if isSnapshot { try noteShared(copy) }
    }

    /// Restores a device from an earlier copy of its disk, or makes such a copy.
    func revert(_ device: Device, _ draw: inout SeededRandom) throws {
        guard let backup = device.backup else {
            let isSnapshot = draw.oneIn(2)
            let disk = device.machine.disk
            book.copy(device.number)
            device.backup = Device.Backup(
                disk: isSnapshot ? disk.snapshot() : disk.copy(),
                isSnapshot: isSnapshot,
                holds: book.copiedHolds(of: device.number),
                kept: device.kept,
                others: device.others,
                replicas: device.replicas,
                recorded: device.recorded.subtracting(book.unsecured(on: device.number)),
                seen: device.seen
            )
            trace.add("\(now) \(device.name) is backed up")
            return
        }
        device.backup = nil
        counts.clones += 1
        trace.add("\(now) \(device.name) is put back")
        device.machine.replaceDisk(backup.disk)
        device.session = nil
        device.request = nil
        device.wakeNumber += 1
        device.models = nil
        book.holds[device.number] = backup.holds
        device.kept = backup.kept
        device.others = backup.others
        if backup.isSnapshot { sharedReplicas.formUnion(device.replicas) }
        device.replicas = backup.replicas
        device.recorded = backup.recorded
        device.seen = backup.seen
        device.isPutBack = true
        abandonUnsecured()
        try start(device)
        if backup.isSnapshot { try noteShared(device) }
    }

    /// Nothing shows that the id of a device was used before, or is used by another one.
    private func noteShared(_ device: Device) throws {
        guard let store = device.machine.store else { return }
        let status = try attempt("the status of \(device.name)") { () throws(LogError) in
            try store[device.space].status()
        }
        sharedReplicas.insert(status.replica)
    }

    // MARK: The server

    /// Restores the server from an earlier copy of its disk, or makes such a copy.
    func restore(_ draw: inout SeededRandom) throws {
        guard let backup = server.backup else {
            // Before others know of the space, nothing has to show that the server was restored.
            guard try isServed() else { return }
            server.backup = (server.machine.disk.copy(), server.shownHead)
            trace.add("\(now) server is backed up at \(server.shownHead)")
            return
        }
        server.backup = nil
        counts.restores += 1
        trace.add("\(now) server is put back from \(ledger.head)")
        server.machine.replaceDisk(backup.disk)
        server.authority = nil
        server.shownHead = backup.shownHead
        server.isWaiting = true
        server.isPutBack = true
        histories[ledger.epoch] = ledger
        try start(nil)
        agenda.add(.resume, at: now + Int64(draw.below(Self.resumeTimeMax)))
    }

    private func isServed() throws -> Bool {
        guard let store = server.machine.store, !server.isWaiting else { return false }
        return try attempt("the status of the server") { () throws(LogError) in
            try store[space].status().manifest.isServed
        }
    }

    /// The operator resumes a restored server.
    func resume() throws {
        guard server.isWaiting else { return }
        guard let store = server.machine.store else { return resumeLater() }
        server.machine.setClock(now)
        do throws(LogError) { try store[space].resumeAuthority() } catch {
            try judge(error, of: nil, "resume")
            return resumeLater()
        }
        // Also if it died before it could say so, it was done.
        let isCut = try takeCut(of: nil)
        guard !isCut else { return resumeLater() }
        server.isWaiting = false
        trace.add("\(now) server goes on")
        try readLedger()
    }

    private func resumeLater() { agenda.add(.resume, at: now + 2000) }

    /// An administrator at a device sends the events of others that it keeps.
    func relay(_ device: Device) {
        guard device.session != nil else { return }
        device.session?.relay()
        schedule(device, .news, in: 1)
    }

    // MARK: What may be lost

    /// Abandons events that no disk certainly has any more, and that the authority does not have.
    ///
    /// These are events acknowledged to a device and not sent before its disk was restored, or sent
    /// only to a server that was restored as well, before another device got them.
    func abandonUnsecured() {
        var secured: Set<Int64> = []
        for device in devices {
            for (token, hold) in book.holds[device.number, default: [:]]
            where hold.certainty == .synced {
                secured.insert(token)
            }
            secured.formUnion(device.others)
            guard device.seen.epoch != ledger.epoch else { continue }
            for (_, token) in heldByHistory(device) { secured.insert(token) }
            secured.formUnion(othersByHistory(device))
        }
        for (token, entry) in book.entries
        where entry.fate == .synced && !secured.contains(token) && !ledger.hasVerdict(token) {
            book.abandon(token)
        }
    }

    /// Events that a replica of another epoch has with a verdict, which it has to take back.
    ///
    /// Events that another device recorded under its id are brought back by that one.
    private func heldByHistory(_ device: Device) -> [(origin: Origin, token: Int64)] {
        guard let history = histories[device.seen.epoch] else { return [] }
        let common = zip(history.entries, ledger.entries).prefix { $0 == $1 }.count
        var held: [(Origin, Int64)] = []
        for index in 0..<min(Int(device.seen.head), history.entries.count) {
            let entry = history.entries[index]
            guard case .event(let event) = entry.row.content,
                device.replicas.contains(entry.row.envelope.origin.replica),
                device.recorded.contains(event.token), index >= common
            else { continue }
            held.append((entry.row.envelope.origin, event.token))
        }
        for (origin, token) in device.kept.sorted(by: { $0.key < $1.key }) {
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
        guard let history = histories[device.seen.epoch] else { return [] }
        let common = zip(history.entries, ledger.entries).prefix { $0 == $1 }.count
        let end = min(Int(device.seen.head), history.entries.count)
        guard common < end else { return [] }
        return history.entries[common..<end].compactMap { entry in
            guard case .event(let event) = entry.row.content,
                !device.replicas.contains(entry.row.envelope.origin.replica)
                    || !device.recorded.contains(event.token)
            else { return nil }
            return event.token
        }
    }

    /// A device adopted the epoch of the authority: events that it recorded and that the authority
    /// does not have any more are pending again.
    func takeBack(_ device: Device) {
        for (origin, token) in heldByHistory(device) {
            device.kept[origin] = nil
            book.hold(token, device.number, origin)
        }
        device.others.formUnion(othersByHistory(device))
    }
}
