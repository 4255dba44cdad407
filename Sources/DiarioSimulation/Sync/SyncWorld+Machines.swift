import DiarioCore
import DiarioEngine
import DiarioLog
import DiarioServer
import DiarioStorage
import DiarioSync

// Programs that start, end and fail.

extension SyncWorld {
    /// Does something with the log of a program that runs; nil if it failed as it may, or if the
    /// program died of it.
    func tried<Result>(
        _ peer: Peer,
        _ what: String,
        _ body: (LogStore) throws -> Result
    ) throws -> Result? {
        guard let store = peer.store else { return nil }
        peer.setClock(now)
        do {
            let result = try body(store)
            return takeCut(of: peer) ? nil : result
        } catch let error as LogError {
            try judge(error, of: peer, what)
            return nil
        }
    }

    /// Throws unless the log may fail in this way; afterwards the machine may be off.
    func judge(_ error: LogError, of peer: Peer, _ what: String) throws {
        trace.add("\(peer.name) \(what): \(error)")
        guard !takeCut(of: peer) else { return }
        guard peer.isExcused(error) else {
            throw Broken(.works, "\(peer.name) \(what): \(error)")
        }
        guard error.isStop else { return }
        peer.kill()
        goDown(peer)
    }

    /// Notices that a planned cut came, whatever the call said during which it came.
    @discardableResult
    func takeCut(of peer: Peer) -> Bool {
        guard let cut = peer.wasCut() else { return false }
        trace.add("\(peer.name) cut \(cut == .power ? "power" : "process")")
        peer.takeCut(cut, using: &random)
        trace.counts.cuts += 1
        goDown(peer)
        return true
    }

    /// A program ended by itself: it is started again some time later.
    func goDown(_ peer: Peer) {
        peer.forgetProgram()
        let pause = Int64(random.oneIn(3) ? random.below(90_000) : random.below(3000))
        agenda.add(.start(peer), at: now + pause)
    }

    /// Starts a program that is not running.
    func start(_ peer: Peer) throws {
        guard !peer.isOn else { return }
        peer.setClock(now)
        let store: LogStore
        do throws(LogError) { store = try peer.start() } catch {
            try judge(error, of: peer, "start")
            // It may have died in the attempt, and then it is tried again already.
            if !peer.isOn { agenda.add(.start(peer), at: now + 1000) }
            return
        }
        trace.add("\(peer.name) starts")
        if let fault = store.fault {
            throw Broken(.kept, "\(peer.name): false damage: \(fault.message)")
        }
        guard let device = peer as? Device else { return try startAuthority() }
        device.contents.compared = 0
        guard try findSpace(device) else { return }
        try records.resolve(device)
        if device.isOn { beginSync(device) }
    }

    /// Finds the space: it may have been rebuilt just before the program ended.
    ///
    /// False if the machine is off now.
    func findSpace(_ device: Device) throws -> Bool {
        guard let store = device.store else { return false }
        let manifests: [Manifest]
        do throws(LogError) {
            manifests = try device.withoutFailing { () throws(LogError) in try store.manifests() }
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
        guard let store = server.store else { return }
        server.authority = SpaceAuthority(store, space)
        try records.readLedgerAgain(server, devices)
    }

    /// Ends a program in good order and starts it again.
    func restart(_ peer: Peer) throws {
        guard peer.isOn else { return }
        peer.setClock(now)
        peer.forgetProgram()
        do throws(LogError) { try peer.stop() } catch { try judge(error, of: peer, "stop") }
        takeCut(of: peer)
        try start(peer)
    }

    /// Syncs with a new session, as a program that was started does.
    func beginSync(_ device: Device) {
        guard let store = device.store else { return }
        device.session = ReplicaSession(store, device.space, seed: random.next())
        device.request = nil
        schedule(device, .news, in: 1 + Int64(random.below(500)))
    }

    func schedule(_ device: Device, _ waking: Happening.Waking, in milliseconds: Int64) {
        device.wakeNumber += 1
        agenda.add(
            .wake(device, number: device.wakeNumber, waking),
            at: now + max(milliseconds, 1)
        )
    }
}
