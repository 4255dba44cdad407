import DiarioCore
import DiarioEngine
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
        let isSnapshot = draw.oneIn(2)
        let disk = device.disk
        let copy = Device(
            number,
            isSnapshot ? disk.snapshot() : disk.copy(machineID: "device\(number)"),
            device.sizes,
            entropySeed: draw.next(),
            device.space,
            kinds,
            actor: device.actor,
            hasOtherSchema: device.hasOtherSchema
        )
        copy.things = device.things
        copy.roles = device.roles
        copy.contents = device.contents.copy
        copy.isPutBack = true
        records.book.copy(device, to: number)
        devices.append(copy)
        trace.add(
            "\(copy.name) is a \(isSnapshot ? "snapshot" : "copy") of \(device.name)"
        )
        try startCopy(copy, sharing: isSnapshot ? device.contents.replicas : nil)
    }

    /// Restores a device from an earlier copy of its disk, or makes such a copy.
    func revert(_ device: Device, _ draw: inout SeededRandom) throws {
        guard let backup = device.backup.take() else {
            let isSnapshot = draw.oneIn(2)
            let disk = device.disk
            records.book.copy(device)
            device.backup = Device.Backup(
                disk: isSnapshot ? disk.snapshot() : disk.copy(),
                isSnapshot: isSnapshot,
                contents: device.contents.copy
            )
            trace.add("\(device.name) is backed up")
            return
        }
        trace.add("\(device.name) is put back")
        device.replaceDisk(backup.disk)
        device.models = nil
        let replicas = device.contents.replicas
        device.contents = backup.contents
        device.isPutBack = true
        records.abandonUnsecured(devices)
        try startCopy(device, sharing: backup.isSnapshot ? replicas : nil)
    }

    /// Starts a device from a disk that was copied; with `sharing`, nothing shows that its id was
    /// used before, or is used by another one.
    private func startCopy(_ device: Device, sharing replicas: Set<ReplicaID>?) throws {
        trace.counts.clones += 1
        if let replicas { records.sharedReplicas.formUnion(replicas) }
        try start(device)
        guard replicas != nil, device.isOn else { return }
        let status = try device.read("the status") { try $0[device.space].status() }
        records.sharedReplicas.insert(status.replica)
    }

    // MARK: The server

    /// Restores the server from an earlier copy of its disk, or makes such a copy.
    func restore(_ draw: inout SeededRandom) throws {
        guard let backup = server.backup.take() else {
            // Before others know of the space, nothing has to show that the server was restored.
            guard server.isOn, !server.isWaiting,
                try server.read("the status", { try $0[space].status().manifest.isServed })
            else { return }
            server.backup = (server.disk.copy(), server.shownHead)
            trace.add("server is backed up at \(server.shownHead)")
            return
        }
        trace.counts.restores += 1
        trace.add("server is put back from \(records.ledger.head)")
        server.replaceDisk(backup.disk)
        server.shownHead = backup.shownHead
        server.isWaiting = true
        server.isPutBack = true
        records.histories[records.ledger.epoch] = records.ledger
        try start(server)
        agenda.add(.resume, at: now + Int64(draw.below(Self.resumeTimeMax)))
    }

    /// The operator resumes a restored server.
    func resume() throws {
        guard server.isWaiting else { return }
        // If it died before it could say so, it was done all the same.
        let done: Void? = try tried(server, "resume") { try $0[space].resumeAuthority() }
        guard done != nil else { return agenda.add(.resume, at: now + 2000) }
        server.isWaiting = false
        trace.add("server goes on")
        try records.readLedger(server)
    }

    /// An administrator at a device sends the events of others that it keeps.
    func relay(_ device: Device) {
        guard device.session != nil else { return }
        device.session?.relay()
        schedule(device, .news, in: 1)
    }
}
