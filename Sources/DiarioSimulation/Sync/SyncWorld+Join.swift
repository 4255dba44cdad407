import Diario
import DiarioCore
import DiarioLog
import DiarioProjection
import DiarioSchema
import DiarioServer
import DiarioStorage
import DiarioSync

// Devices that begin with a copy of the server's sealed files, as by `diario clone`.

extension SyncWorld {
    /// Lists the sealed files of the server, or copies those listed before to a new device: sealing
    /// and merging change them in between.
    func join(_ device: Device, _ draw: inout SeededRandom) throws {
        guard devices.count < Self.deviceCountMax, server.machine.isOn, !server.isWaiting else {
            return
        }
        server.machine.setClock(now)
        if server.listing?.epoch != ledger.epoch {
            try listSegments()
            guard draw.oneIn(2) else { return }
        }
        guard let listing = server.listing.take() else { return }
        guard let files = try read(listing) else { return }
        let name = "device\(devices.count)"
        let machine = Machine(
            name,
            CrashDisk(machineID: name),
            sizes: device.machine.sizes,
            entropySeed: draw.next(),
            kinds
        )
        machine.setClock(now)
        let (store, id) = try attempt("a copy of sealed files") { () throws(LogError) in
            try machine.create()
            let store = try machine.start()
            let id = store.drawSpaceID()
            try store.makeStagingSpace(id, lineage: lineage, epoch: listing.epoch)
            do throws(StorageError) {
                try store.directory.makeDirectory(LogPaths.segments(id))
                for (path, bytes) in files {
                    try Files.replace(
                        LogPaths.segments(id) + "/" + path,
                        with: bytes,
                        in: store.directory
                    )
                }
            } catch {
                throw .storage(error)
            }
            var intake = SegmentIntake(store, id)
            for name in listing.names { try intake.take(name) }
            try intake.finish(root: listing.root)
            for (pack, plan) in zip(kinds.packs, kinds.plans) {
                try store.keep(pack.fingerprintFiles, fingerprint: plan.fingerprint)
            }
            return (store, id)
        }
        guard try pullRest(machine, store, id, seed: draw.next()) else { return }
        try attempt("showing a copy") { () throws(LogError) in try store.show(id) }
        let joined = Device(devices.count, machine, id, actor: nil, hasOtherSchema: false)
        joined.seen.space = id
        joined.seen.epoch = ledger.epoch
        add(joined)
        counts.joins += 1
        trace.add("\(now) \(name) begins with \(listing.names.count) segments")
        try checkReplica(joined)
        beginSync(joined)
    }

    private func listSegments() throws {
        guard let store = server.machine.store else { return }
        do throws(LogError) {
            let manifest = try store.status(of: space).manifest
            guard let end = manifest.segments.last?.last,
                let root = try store.root(of: space, size: end)
            else { return }
            server.listing = Server.Listing(
                names: manifest.segments.map(\.name),
                root: root,
                epoch: ledger.epoch
            )
            trace.add("\(now) server lists segments to \(end)")
        } catch {
            try judge(error, of: nil, "list of segments")
        }
    }

    /// The files that were listed, by their names; nil if one of them cannot be read any more.
    private func read(_ listing: Server.Listing) throws -> [(String, [UInt8])]? {
        guard let store = server.machine.store else { return nil }
        var files: [(String, [UInt8])] = []
        for name in listing.names {
            for path in [LogPaths.segment(name, of: space), LogPaths.sidecar(name, of: space)] {
                do throws(StorageError) {
                    let bytes = try Files.contents(of: path, in: store.directory, sizeMax: 1 << 24)
                    files.append((path.split(separator: "/").last.map(String.init) ?? "", bytes))
                } catch .notFound {
                    trace.add("\(now) server has merged what was listed")
                    return nil
                } catch {
                    try judge(.storage(error), of: nil, "read of a segment")
                    return nil
                }
            }
        }
        return files
    }

    /// Fetches the events that are in no segment; false if the server cannot answer now.
    private func pullRest(
        _ machine: Machine,
        _ store: LogStore,
        _ id: SpaceID,
        seed: UInt64
    ) throws -> Bool {
        var session = ReplicaSession(store, id, seed: seed)
        for _ in 0...ledger.head + 10 {
            let action = try attempt("a copy") { () throws(LogError) in
                try session.next(at: machine.now)
            }
            switch action {
            case .rest: return true
            case .send(let request):
                guard let authority = server.authority else { return false }
                let answer = authority.answer(request, from: Caller(rights: [.read]))
                guard try !takeCut(of: nil) else { return false }
                try readLedger()
                server.shownHead = ledger.head
                try attempt("a copy") { () throws(LogError) in
                    try session.receive(answer, at: machine.now)
                }
            case .wait, .stop:
                guard server.machine.hasFaults || server.machine.mayOweFailures else {
                    throw Broken(
                        .works,
                        "a copy of sealed files does not go on: "
                            + (session.machine.failure ?? "\(session.machine.state)")
                    )
                }
                return false
            }
        }
        throw Broken(.works, "the pull of a copy has no end")
    }
}
