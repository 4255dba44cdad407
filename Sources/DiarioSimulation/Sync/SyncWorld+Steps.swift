import DiarioCore
import DiarioEngine
import DiarioFormat
import DiarioLog
import DiarioProjection
import DiarioSchema
import DiarioStorage
import DiarioSync

// The steps of a world, each with its own seed.

extension SyncWorld {
    func perform(_ step: SyncStep) throws {
        var draw = SeededRandom(seed: step.seed)
        let pause = draw.oneIn(6) ? draw.below(60_000) : draw.below(2500)
        try advance(to: now + Int64(pause))
        let device = draw.pick(devices)
        let peer: Peer = draw.oneIn(3) ? server : device
        trace.add("step \(step.number) \(step.kind.rawValue)")
        switch step.kind {
        case .record: try record(device, &draw)
        case .recordAtServer: try recordAtServer(&draw)
        case .adopt:
            let ledger = records.ledger
            try adopt(version: ledger.packVersion(at: ledger.head) + 1)
        case .seal: try seal(peer, all: draw.oneIn(3))
        case .check: try check()
        case .models: try updateModels(device, compares: draw.oneIn(3))
        case .reopen: try restart(peer)
        case .restartSync: beginSync(device)
        case .pushWithGap: try pushWithGap(device)
        case .revoke: revoke(device, &draw)
        case .changeRoles:
            device.roles = Makers.roles.filter { _ in draw.oneIn(2) }
            trace.add("\(device.name) has the roles \(device.roles)")
        case .moveClock: moveClock(peer, &draw)
        case .partition, .halfOpen, .storm: disturb(device, step.kind, &draw)
        case .planCut:
            guard peer.isOn else { return }
            trace.add("cut planned \(peer.planCut(of: 0, using: &draw)) of \(peer.name)")
        case .crash, .kill: end(peer, step.kind, &draw)
        case .failSyncs: try harmDisk(peer, .syncs, &draw)
        case .failWrites: try harmDisk(peer, .writes, &draw)
        case .failFiles: try harmDisk(peer, .files, &draw)
        case .fillDisk: try harmDisk(peer, .space, &draw)
        case .clone: try clone(device, &draw)
        case .revert: try revert(device, &draw)
        case .restore: try restore(&draw)
        case .join: try join(device, &draw)
        case .relay: relay(device)
        }
    }

    // MARK: The log

    func adopt(version: Int) throws {
        guard version <= SyncPacks.versionMax else { return }
        let pack = kinds.packs[version - 1]
        let fingerprint = kinds.plans[version - 1].fingerprint
        let kept: Void? = try tried(server, "keep") { store in
            try store.keep(pack.fingerprintFiles, fingerprint: fingerprint)
        }
        guard kept != nil, let store = server.store else { return }
        let batch: DraftBatch
        do throws(DiarioError) {
            batch = try PackEvents(pack).adoption(Space(store: store, id: space).adoptionType)
        } catch {
            guard !takeCut(of: server), !server.hasFaults else { return }
            throw Broken(.works, "the server's space: \(error.message)")
        }
        let append = Append(space: space, content: .new([batch], .authority))
        guard try tried(server, "adopt", { try $0.append(append) }) != nil else { return }
        trace.add("server adopts version \(version)")
        try records.readLedger(server)
    }

    private func seal(_ peer: Peer, all: Bool) throws {
        let report = try tried(peer, "seal") { store -> SealReport? in
            do throws(LogError) { return try store.seal(peer.space, all: all) } catch .noSchema {
                // An event of an unknown type stays where it is.
                trace.add("\(peer.name) seals not")
                return nil
            }
        }
        guard let report else { return }
        if let report {
            let pending = report.sealedPending
            trace.add("\(peer.name) seals to \(report.sealedEnd), \(pending) pending")
        }
        try peer.checkIndex()
    }

    /// Checks everything that runs.
    private func check() throws {
        for device in devices where device.isOn {
            device.setClock(now)
            try records.checkReplica(device)
            try records.checkKept(device)
            if device.hasFaults { try checkInboxReading(device) }
            guard device.isOn, device.plannedCut == nil else { continue }
            try records.checkRoot(device, server)
        }
    }

    /// If a disk fails, the inbox is read whole or not at all.
    private func checkInboxReading(_ device: Device) throws {
        let whole = try device.read("the inbox") { try $0[device.space].inbox.entries() }
        let found = try tried(device, "inbox") { try $0[device.space].inbox.entries() }
        guard let found, found != whole else { return }
        throw Broken(
            .kept,
            "\(found.count) of \(whole.count) batches in the inbox of \(device.name) are read"
        )
    }

    private func updateModels(_ device: Device, compares: Bool) throws {
        guard device.plannedCut == nil, !device.hasFaults else { return }
        device.setClock(now)
        guard let digests = try device.updateModels() else { return }
        trace.add("\(device.name) updates its models to version \(device.modelVersion)")
        if compares { try device.compareModels(digests) }
    }

    /// Updates the read models with new events, as most programs do immediately.
    ///
    /// So effects of pending events are there when other events come before them.
    func followLog(_ device: Device) throws {
        guard plan.traits.contains(.models), !random.oneIn(3) else { return }
        try updateModels(device, compares: false)
    }

    // MARK: Circumstances

    private func revoke(_ device: Device, _ draw: inout SeededRandom) {
        device.isRevoked = true
        device.mayBeForbidden = true
        agenda.add(.allow(device), at: now + Int64(draw.below(60_000)))
    }

    private func moveClock(_ peer: Peer, _ draw: inout SeededRandom) {
        let day: Int64 = 86_400_000
        let step = draw.pick([
            1000, -1000, 3_600_000, -3_600_000, day, -day, 400 * day, -400 * day, 3000 * day,
        ])
        peer.clockOffset += step
        trace.add("clock of \(peer.name) \(step)")
    }

    private func disturb(_ device: Device, _ kind: SyncStep.Kind, _ draw: inout SeededRandom) {
        let duration = Int64(1000 + draw.below(draw.oneIn(3) ? 300_000 : 30_000))
        for hit in draw.oneIn(4) ? devices : [device] {
            hit.link = Link(kind, &draw)
            agenda.removeAll { if case .calm(let other) = $0 { other === hit } else { false } }
            agenda.add(.calm(hit), at: now + duration)
        }
    }

    private func end(_ peer: Peer, _ kind: SyncStep.Kind, _ draw: inout SeededRandom) {
        guard peer.isOn else { return }
        trace.add("\(peer.name) \(kind == .crash ? "loses power" : "is killed")")
        if kind == .crash { peer.cutPower(using: &draw) } else { peer.kill() }
        trace.counts.cuts += 1
        goDown(peer)
    }

    private func harmDisk(
        _ peer: Peer,
        _ fault: Machine.Fault,
        _ draw: inout SeededRandom
    ) throws {
        _ = peer.fail(fault, using: &draw)
        agenda.add(.mend(peer), at: now + Int64(draw.below(60_000)))
        if let device = peer as? Device, device.isOn { try checkInboxReading(device) }
    }
}
