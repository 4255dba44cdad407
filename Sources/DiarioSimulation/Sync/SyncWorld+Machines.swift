import Diario
import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioServer
import DiarioStorage
import DiarioSync

// Programs that start, end and fail.

extension SyncWorld {
    /// Does something that must not fail, with all faults off; a failure breaks a promise.
    func attempt<Result>(
        _ what: String,
        _ body: () throws(LogError) -> Result
    ) throws(Broken) -> Result {
        let disks = ([server.machine] + devices.map(\.machine)).map(\.disk)
        let failing = disks.map(\.failing)
        for disk in disks { disk.failing = nil }
        defer { for (disk, failing) in zip(disks, failing) { disk.failing = failing } }
        do throws(LogError) { return try body() } catch {
            throw Broken(.works, "\(what) fails: \(error)")
        }
    }

    /// Throws unless the log may fail in this way; afterwards the machine may be off.
    func judge(_ error: LogError, of device: Device?, _ what: String) throws(Broken) {
        let machine = device?.machine ?? server.machine
        trace.add("\(now) \(machine.name) \(what): \(error)")
        guard try !takeCut(of: device) else { return }
        let mayFail = machine.hasFaults || machine.mayOweFailures
        switch error {
        case .storage(.full), .storage(.failed):
            guard mayFail else { break }
            return
        case .waiting:
            guard device == nil, server.isWaiting else { break }
            return
        case .stopped:
            guard mayFail else { break }
            machine.kill()
            return try goDown(device)
        default: break
        }
        throw Broken(.works, "\(machine.name) \(what): \(error)")
    }

    /// Notices that a planned cut came, whatever the call said during which it came.
    @discardableResult
    func takeCut(of device: Device?) throws(Broken) -> Bool {
        let machine = device?.machine ?? server.machine
        guard let cut = machine.wasCut() else { return false }
        trace.add("\(now) \(machine.name) cut \(cut)")
        machine.takeCut(cut, using: &random)
        counts.cuts += 1
        try goDown(device)
        return true
    }

    /// A program ended by itself: it is started again some time later.
    func goDown(_ device: Device?) throws(Broken) {
        if let device {
            device.session = nil
            device.request = nil
            device.wakeNumber += 1
        } else {
            server.authority = nil
        }
        let pause = Int64(random.oneIn(3) ? random.below(90_000) : random.below(3000))
        agenda.add(.start(device: device?.number), at: now + pause)
    }

    /// Starts a program that is not running.
    func start(_ device: Device?) throws {
        let machine = device?.machine ?? server.machine
        guard !machine.isOn else { return }
        machine.setClock(now)
        let store: LogStore
        do throws(LogError) { store = try machine.start() } catch {
            try judge(error, of: device, "start")
            // It may have died in the attempt, and then it is tried again already.
            if !machine.isOn { agenda.add(.start(device: device?.number), at: now + 1000) }
            return
        }
        trace.add("\(now) \(machine.name) starts")
        if let fault = store.fault {
            throw Broken(.kept, "\(machine.name): false damage: \(fault.message)")
        }
        guard let device else { return try startAuthority() }
        device.seen.compared = 0
        guard try findSpace(device) else { return }
        try resolve(device)
        if machine.isOn { beginSync(device) }
    }

    /// Finds the space: it may have been rebuilt just before the program ended.
    ///
    /// False if the machine is off now.
    func findSpace(_ device: Device) throws -> Bool {
        guard let store = device.machine.store else { return false }
        let manifests: [Manifest]
        do throws(LogError) {
            manifests = try device.machine.withoutFailing { () throws(LogError) in
                try store.manifests()
            }
        } catch {
            try judge(error, of: device, "looking for its space")
            return false
        }
        let live = manifests.filter { !$0.isStaging }
        guard live.count == 1, live[0].lineage == lineage else {
            throw Broken(.works, "\(device.name) has \(live.count) spaces")
        }
        device.space = live[0].space
        return true
    }

    func startAuthority() throws {
        guard let store = server.machine.store else { return }
        server.authority = SpaceAuthority(store, space)
        try readLedgerAgain()
    }

    /// Ends a program in good order and starts it again.
    func restart(_ device: Device?) throws {
        let machine = device?.machine ?? server.machine
        guard machine.isOn else { return }
        machine.setClock(now)
        device?.session = nil
        device?.request = nil
        device?.wakeNumber += 1
        if device == nil { server.authority = nil }
        do throws(LogError) { try machine.stop() } catch {
            try judge(error, of: device, "stop")
        }
        try takeCut(of: device)
        try start(device)
    }

    /// Syncs with a new session, as a program that was started does.
    func beginSync(_ device: Device) {
        guard let store = device.machine.store else { return }
        device.session = ReplicaSession(store, device.space, seed: random.next())
        device.request = nil
        schedule(device, .news, in: 1 + Int64(random.below(500)))
    }

    func schedule(_ device: Device, _ waking: Waking, in milliseconds: Int64) {
        device.wakeNumber += 1
        agenda.add(
            .wake(device: device.number, number: device.wakeNumber, waking),
            at: now + max(milliseconds, 1)
        )
    }
}
