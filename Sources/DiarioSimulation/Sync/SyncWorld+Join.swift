package import DiarioCore
import DiarioCrypto
package import DiarioEngine
package import DiarioLog
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
        let name = "device\(devices.count)"
        let machine = Machine(
            name,
            CrashDisk(machineID: name),
            sizes: device.machine.sizes,
            entropySeed: draw.next(),
            kinds
        )
        machine.setClock(now)
        let store = try attempt("a new device") { () throws(LogError) in
            try machine.create()
            return try machine.start()
        }
        guard let id = try copy(listing, to: store, of: machine, seed: draw.next()) else { return }
        try attempt("showing a copy") { () throws(LogError) in try store[id].show() }
        let joined = Device(devices.count, machine, id, actor: nil, hasOtherSchema: false)
        joined.seen.space = id
        joined.seen.epoch = ledger.epoch
        add(joined)
        counts.joins += 1
        trace.add("\(now) \(name) begins with \(listing.segments.count) segments")
        try checkReplica(joined)
        beginSync(joined)
    }

    private func listSegments() throws {
        guard let store = server.machine.store else { return }
        do throws(LogError) {
            let end = try store[space].status().sealedEnd
            guard end > 0 else { return }
            server.listing = try SegmentListing(of: space, in: store)
            trace.add("\(now) server lists segments to \(end)")
        } catch {
            try judge(error, of: nil, "list of segments")
        }
    }

    /// Fills a log by a copy; nil if the server does not have the files any more that were listed,
    /// or cannot answer now.
    private func copy(
        _ listing: SegmentListing,
        to store: LogStore,
        of machine: Machine,
        seed: UInt64
    ) throws -> SpaceID? {
        var requestCount: UInt64 = 0
        do {
            var copy = try FirstCopy(into: store, listing, seed: seed)
            while requestCount < ledger.head + 10 {
                switch try copy.step(1, at: machine.now) {
                case .step: break
                case .list: return nil
                case .fetch(let file, let range):
                    if let bytes = try read(file, range) {
                        try copy.receive(part: bytes)
                    } else {
                        copy.skip()
                    }
                case .send(let request):
                    requestCount += 1
                    guard let authority = server.authority else { return nil }
                    let answer = authority.answer(request, from: Caller(rights: [.read]))
                    guard try !takeCut(of: nil) else { return nil }
                    try readLedger()
                    server.shownHead = ledger.head
                    try copy.receive(answer, at: machine.now)
                case .stop(let refusal): throw DiarioError(.offline, refusal.message)
                case .end(let space): return space
                }
            }
        } catch let error as DiarioError {
            let mayFail = server.machine.hasFaults || server.machine.mayOweFailures
            if error.kind == .offline, mayFail { return nil }
            throw Broken(.works, "a copy of sealed files does not go on: \(error.message)")
        }
        throw Broken(.works, "the pull of a copy has no end")
    }

    /// A part of a file that was listed; nil if it cannot be read any more.
    private func read(_ file: SegmentListing.File, _ range: Range<Int>) throws -> [UInt8]? {
        guard let store = server.machine.store else { return nil }
        do throws(StorageError) {
            var bytes: [UInt8] = []
            try store.directory.open(LogPaths.segments(space) + "/" + file.name, .read)
                .read(at: Int64(range.lowerBound), count: range.count, into: &bytes)
            return bytes
        } catch .notFound {
            trace.add("\(now) server has merged what was listed")
        } catch {
            try judge(.storage(error), of: nil, "read of a segment")
        }
        return nil
    }
}

extension SegmentListing {
    /// What a server lists of a space.
    package init(of space: SpaceID, in store: LogStore) throws(LogError) {
        let manifest = try store[space].status().manifest
        let end = manifest.segments.last?.last ?? 0
        var segments: [Segment] = []
        for entry in manifest.segments {
            let files = [
                LogPaths.segment(entry.name, of: space), LogPaths.sidecar(entry.name, of: space),
            ]
            var listed: [File] = []
            for path in files {
                let bytes: [UInt8]
                do throws(StorageError) {
                    bytes = try Files.contents(of: path, in: store.directory, sizeMax: 1 << 24)
                } catch {
                    throw .storage(error)
                }
                let stream = SHA256Stream()
                stream.update(bytes.span)
                let name = String(path.dropFirst(LogPaths.segments(space).utf8.count + 1))
                listed.append(File(name: name, size: bytes.count, hash: stream.finalize()))
            }
            segments.append(Segment(name: entry.name, files: listed))
        }
        self.init(
            lineage: manifest.lineage,
            epoch: manifest.epoch,
            root: try store[space].proofs.root(size: end) ?? .zero,
            segments: segments
        )
    }
}
