import Diario
import DiarioCore
import DiarioCrypto
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
        let device = devices[draw.below(devices.count)]
        let machineOwner = draw.oneIn(3) ? nil : device
        trace.add("\(now) step \(step.number) \(step.kind.rawValue)")
        switch step.kind {
        case .record: try record(device, &draw)
        case .recordAtServer: try recordAtServer(&draw)
        case .adopt: try adopt(version: ledger.packVersion(at: ledger.head) + 1)
        case .seal: try seal(machineOwner, all: draw.oneIn(3))
        case .check: try check()
        case .models: try updateModels(device, compares: draw.oneIn(3))
        case .reopen: try restart(machineOwner)
        case .restartSync: beginSync(device)
        case .pushWithGap: try pushWithGap(device)
        case .revoke: revoke(device, &draw)
        case .moveClock: moveClock(machineOwner, &draw)
        case .partition, .halfOpen, .storm: disturb(device, step.kind, &draw)
        case .planCut, .crash, .kill: try cut(machineOwner, step.kind, &draw)
        case .failSyncs, .failWrites, .failFiles, .fillDisk:
            try harmDisk(machineOwner, step.kind, &draw)
        case .clone: try clone(device, &draw)
        case .revert: try revert(device, &draw)
        case .restore: try restore(&draw)
        case .join: try join(device, &draw)
        case .relay: relay(device)
        }
    }

    // MARK: The log

    func adopt(version: Int) throws {
        guard version <= SyncPacks.versionMax, let store = server.machine.store else { return }
        server.machine.setClock(now)
        let pack = kinds.packs[version - 1]
        let fingerprint = kinds.plans[version - 1].fingerprint
        do throws(LogError) {
            try store.keep(pack.fingerprintFiles, fingerprint: fingerprint)
        } catch {
            return try judge(error, of: nil, "keep")
        }
        guard try !takeCut(of: nil) else { return }
        let batch: DraftBatch
        do throws(DiarioError) {
            let type = try Space(store: store, id: space).adoptionType
            batch = try PackEvents(pack).adoption(type)
        } catch {
            guard try !takeCut(of: nil), !server.machine.hasFaults else { return }
            throw Broken(.works, "the server's space: \(error.message)")
        }
        do throws(LogError) {
            _ = try store.append(
                Append(space: space, content: .new([batch], .authority))
            )
        } catch {
            return try judge(error, of: nil, "adopt")
        }
        guard try !takeCut(of: nil) else { return }
        trace.add("\(now) server adopts version \(version)")
        try readLedger()
    }

    private func seal(_ device: Device?, all: Bool) throws {
        let machine = device?.machine ?? server.machine
        guard let store = machine.store else { return }
        machine.setClock(now)
        do throws(LogError) {
            let report = try store.seal(device?.space ?? space, all: all)
            trace.add(
                "\(now) \(machine.name) seals to \(report.sealedEnd), "
                    + "\(report.sealedPending) pending"
            )
        } catch .noSchema {
            // An event of an unknown type stays where it is.
            trace.add("\(now) \(machine.name) seals not")
        } catch {
            return try judge(error, of: device, "seal")
        }
        guard try !takeCut(of: device) else { return }
        try checkIndex(of: machine)
    }

    /// Checks everything that runs.
    private func check() throws {
        for device in devices {
            guard let store = device.machine.store else { continue }
            device.machine.setClock(now)
            try checkReplica(device)
            try checkKept(device)
            if device.machine.hasFaults { try checkInboxReading(device, store) }
            guard device.machine.plannedCut == nil else { continue }
            try checkRoot(device, store)
        }
    }

    /// If a disk fails, the inbox is read whole or not at all.
    private func checkInboxReading(_ device: Device, _ store: LogStore) throws {
        let whole = try attempt("the inbox of \(device.name)") { () throws(LogError) in
            try store[device.space].inbox.entries()
        }
        let found: [InboxEntry]
        do throws(LogError) { found = try store[device.space].inbox.entries() } catch {
            return try judge(error, of: device, "inbox")
        }
        guard found == whole else {
            throw Broken(
                .kept,
                "\(found.count) of \(whole.count) batches in the inbox of \(device.name) are read"
            )
        }
    }

    // MARK: Circumstances

    private func revoke(_ device: Device, _ draw: inout SeededRandom) {
        device.isRevoked = true
        device.mayBeForbidden = true
        agenda.add(.allow(device: device.number), at: now + Int64(draw.below(60_000)))
    }

    private func moveClock(_ device: Device?, _ draw: inout SeededRandom) {
        let machine = device?.machine ?? server.machine
        let day: Int64 = 86_400_000
        let steps: [Int64] = [
            1000, -1000, 3_600_000, -3_600_000, day, -day, 400 * day, -400 * day, 3000 * day,
        ]
        let step = steps[draw.below(steps.count)]
        machine.clockOffset += step
        trace.add("\(now) clock of \(machine.name) \(step)")
    }

    private func disturb(_ device: Device, _ kind: SyncStep.Kind, _ draw: inout SeededRandom) {
        let duration = Int64(1000 + draw.below(draw.oneIn(3) ? 300_000 : 30_000))
        let hit = draw.oneIn(4) ? devices : [device]
        for device in hit {
            var link = Link()
            switch kind {
            case .partition: link.isCut = true
            case .halfOpen: link.isHalfOpen = true
            default:
                link.lossPeriod = draw.oneIn(2) ? 2 + draw.below(6) : 0
                link.copyPeriod = draw.oneIn(2) ? 1 + draw.below(4) : 0
                link.damagePeriod = draw.oneIn(2) ? 2 + draw.below(6) : 0
                link.delayMax = Int64(draw.oneIn(2) ? 40_000 : 2000)
            }
            device.link = link
            agenda.removeAll {
                if case .calm(device.number) = $0 { true } else { false }
            }
            agenda.add(.calm(device: device.number), at: now + duration)
        }
    }

    private func cut(
        _ device: Device?,
        _ kind: SyncStep.Kind,
        _ draw: inout SeededRandom
    ) throws {
        let machine = device?.machine ?? server.machine
        guard machine.isOn else { return }
        switch kind {
        case .crash:
            trace.add("\(now) \(machine.name) loses power")
            machine.crash(using: &draw)
            counts.cuts += 1
            try goDown(device)
        case .kill:
            trace.add("\(now) \(machine.name) is killed")
            machine.kill()
            counts.cuts += 1
            try goDown(device)
        default:
            let moments = CrashDisk.CutMoment.allCases
            let moment = moments[draw.below(moments.count)]
            let count = 1 + draw.below(draw.oneIn(3) ? 40 : 8)
            machine.planCut(draw.oneIn(2) ? .process : .power, after: count, moment)
            trace.add("\(now) cut planned \(moment) \(count) of \(machine.name)")
        }
    }

    private func harmDisk(
        _ device: Device?,
        _ kind: SyncStep.Kind,
        _ draw: inout SeededRandom
    ) throws {
        let machine = device?.machine ?? server.machine
        switch kind {
        case .failSyncs: machine.failSyncs(1 + draw.below(3))
        case .failWrites: machine.failWrites(every: 3 + draw.below(10))
        case .failFiles:
            let operations: [StorageError.Operation] = [
                .open, .read, .rename, .remove, .syncDirectory,
            ]
            let some = draw.oneIn(3) ? operations : [operations[draw.below(5)]]
            machine.fail(Set(some), every: 2 + draw.below(12))
        default: machine.fillDisk(60_000 + draw.below(200_000))
        }
        agenda.add(.mend(device: device?.number), at: now + Int64(draw.below(60_000)))
        if let device, let store = device.machine.store { try checkInboxReading(device, store) }
    }
}
