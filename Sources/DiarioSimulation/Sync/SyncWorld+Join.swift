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
        guard devices.count < Self.deviceCountMax, server.isOn, !server.isWaiting else {
            return
        }
        server.setClock(now)
        if server.listing?.epoch != records.ledger.epoch {
            try listSegments()
            guard draw.oneIn(2) else { return }
        }
        guard let listing = server.listing.take() else { return }
        let seed = draw.next()
        let disk = CrashDisk(machineID: "device\(devices.count)")
        let joined = Device(
            devices.count,
            disk,
            device.sizes,
            entropySeed: seed,
            space,
            kinds
        )
        joined.setClock(now)
        let store = try joined.attempt("a new device") {
            try LogStore.create(in: disk)
            return try joined.start()
        }
        guard let id = try copy(listing, to: store, of: joined, seed: draw.next()) else { return }
        try joined.attempt("showing a copy") { try store[id].show() }
        joined.space = id
        joined.contents.space = id
        joined.contents.epoch = records.ledger.epoch
        devices.append(joined)
        trace.add("\(joined.name) begins with \(listing.segments.count) segments")
        try records.checkReplica(joined)
        beginSync(joined)
    }

    private func listSegments() throws {
        _ = try tried(server, "list of segments") { store in
            let end = try store[space].status().sealedEnd
            guard end > 0 else { return }
            server.listing = try SegmentListing(of: space, in: store)
            trace.add("server lists segments to \(end)")
        }
    }

    /// Fills a log by a copy; nil if the server does not have the files any more that were listed,
    /// or cannot answer now.
    private func copy(
        _ listing: SegmentListing,
        to store: LogStore,
        of device: Device,
        seed: UInt64
    ) throws -> SpaceID? {
        var requestCount: UInt64 = 0
        do {
            var copy = try FirstCopy(into: store, listing, seed: seed)
            while requestCount < records.ledger.head + 10 {
                switch try copy.step(1, at: device.now) {
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
                    guard let answer = try answer(request, Caller(rights: [.read])) else {
                        return nil
                    }
                    try copy.receive(answer, at: device.now)
                case .stop(let refusal): throw DiarioError(.offline, refusal.message)
                case .end(let space): return space
                }
            }
        } catch let error as DiarioError {
            if error.kind == .offline, server.mayFail { return nil }
            throw Broken(.works, "a copy of sealed files does not go on: \(error.message)")
        }
        throw Broken(.works, "the pull of a copy has no end")
    }

    /// A part of a file that was listed; nil if it cannot be read any more.
    private func read(_ file: SegmentListing.File, _ range: Range<Int>) throws -> [UInt8]? {
        guard let store = server.store else { return nil }
        do throws(StorageError) {
            var bytes: [UInt8] = []
            try store.directory.open(LogPaths.segments(space) + "/" + file.name, .read)
                .read(at: Int64(range.lowerBound), count: range.count, into: &bytes)
            return bytes
        } catch .notFound {
            trace.add("server has merged what was listed")
        } catch {
            try judge(.storage(error), of: server, "read of a segment")
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
