import DiarioCore
import DiarioCrypto
import DiarioFormat
package import DiarioLog
import DiarioSchema
import DiarioStorage
import DiarioSync
import DiarioTransport

/// Makes a new replica of a space of a server: its segments as they lie, and the rest by a sync.
///
/// All is done in a folder `.diario.clone`, which becomes `.diario` at the end. What a copy that
/// was broken off left there, the next one goes on with.
package struct SpaceCopy: Sendable {
    /// The progress of a copy.
    package enum Progress: Sendable {
        case bytes(done: UInt64, of: UInt64)
        case events(done: UInt64, of: UInt64)
    }

    package static let temporaryName = LogPaths.directoryName + ".clone"
    private static let lockName = "copying"
    /// How often a server may merge segments while they are copied.
    private static let attemptCountMax = 8

    private let store: LogStore
    private let directory: POSIXDirectory
    private let transport: HTTPTransport
    private let progress: @Sendable (Progress) -> Void

    /// Copies the space of a server into the folder at `path`, which may be there already.
    ///
    /// When this returns, the replica is there and remembers its server. When it throws, the same
    /// call goes on with what was copied, and the folder holds no diary yet. The copy takes over
    /// what is pending in the damaged folder `laneOf`.
    @discardableResult
    package static func run(
        at path: String,
        from transport: HTTPTransport,
        remembering remote: RemoteFile,
        laneOf damaged: String? = nil,
        progress: @escaping @Sendable (Progress) -> Void
    ) async throws -> LaneSalvage.Outcome? {
        let lanes = try damaged.map { path throws(DiarioError) in try Space.openForSalvage(path) }
        // First, so that a wrong address or token leaves nothing behind.
        let listing = try await offline { try await self.listing(from: transport) }
        let (root, directory) = try open(path)
        let lock = try storing { () throws(StorageError) in try directory.lock(lockName) }
        guard try storing({ () throws(StorageError) in try Files.tryAcquire(lock) }) else {
            throw DiarioError(.busy, "Another program is making a copy in \(path).")
        }
        defer { lock.release() }
        try logging { () throws(LogError) in try LogStore.create(in: directory) }
        let store = try Space.openStore(directory, access: .readWrite, isDraft: true)
        let copy = SpaceCopy(
            store: store,
            directory: directory,
            transport: transport,
            progress: progress
        )
        var outcome: LaneSalvage.Outcome?
        do {
            let space = try await offline { try await copy.fill(listing) }
            if let lanes { outcome = try copy.takeLane(from: lanes, into: space) }
            try logging { () throws(LogError) in
                try store.setRemote(remote, of: space)
                try store.noteSync(of: space, head: store.standing(of: space).head)
                try store.show(space)
                try store.close()
            }
        } catch {
            try? store.close()
            throw error
        }
        try storing { () throws(StorageError) in
            try directory.remove(lockName)
            try root.rename(temporaryName, to: LogPaths.directoryName)
            try root.syncDirectory("")
        }
        return outcome
    }

    /// Takes over what is pending in a damaged directory.
    private func takeLane(
        from damaged: POSIXDirectory,
        into id: SpaceID
    ) throws -> LaneSalvage.Outcome {
        let catalog = try Space(store: store, id: id).catalog
        let packs = try Space.fingerprinted([])
        var lane = try LaneSalvage(from: damaged, into: id, of: store, packs: packs) { entry in
            catalog.type(String(decoding: entry.name, as: UTF8.self), version: entry.version)
        }
        while try lane.step(Limits.stepSize) {}
        return lane.outcome
    }

    /// The folder, and the one in it that is filled.
    private static func open(_ path: String) throws(DiarioError) -> (POSIXDirectory, POSIXDirectory)
    {
        try storing { () throws(StorageError) in
            let root = try POSIXDirectory(path: path, access: .create)
            guard try !root.exists(LogPaths.directoryName) else {
                throw .exists(path + "/" + LogPaths.directoryName)
            }
            let inner = path + "/" + temporaryName
            return (root, try POSIXDirectory(path: inner, access: .create))
        }
    }

    // MARK: Copying

    private static func listing(from transport: HTTPTransport) async throws -> SegmentListing {
        let reply = try await transport.get("/segments")
        // As the login page of a hotel.
        guard reply.mediaType == "application/json" else { throw reply.foreign }
        guard let listing = reply.json.flatMap({ SegmentListing($0) }) else {
            throw DiarioError(
                .incompatible,
                "\(reply.server) does not list its segments as it should: check the address, and "
                    + "what is in between, or use a newer diario."
            )
        }
        return listing
    }

    /// Fills a staging space, and gives it.
    private func fill(_ first: SegmentListing) async throws -> SpaceID {
        var listing = first
        for attempt in 0..<Self.attemptCountMax {
            if attempt > 0 { listing = try await Self.listing(from: transport) }
            let space = try staged(for: listing)
            // The copied part is whole; the rest comes by a sync.
            if store.standing(of: space).head == 0 {
                guard try await copyFiles(of: listing, to: space) else { continue }
                try takeOver(listing, in: space)
            }
            try await fetchPacks(of: space)
            try await pull(space)
            return space
        }
        throw DiarioError(
            .offline,
            "The server changes its segments all the time. Run the same command again."
        )
    }

    /// The space that is being filled; one of another history than the server's goes.
    private func staged(for listing: SegmentListing) throws(DiarioError) -> SpaceID {
        try logging { () throws(LogError) in
            for manifest in try store.manifests() {
                // A copy that was interrupted while it received a lane begins again.
                let isUnused = store.standing(of: manifest.space).pending.isEmpty
                if isUnused, manifest.lineage == listing.lineage, manifest.epoch == listing.epoch {
                    return manifest.space
                }
                try store.remove(manifest.space)
            }
            let space = store.drawSpaceID()
            try store.makeStagingSpace(space, lineage: listing.lineage, epoch: listing.epoch)
            return space
        }
    }

    /// Copies what is not there yet; false if a file is not on the server any more.
    private func copyFiles(of listing: SegmentListing, to space: SpaceID) async throws -> Bool {
        let folder = LogPaths.segments(space)
        let wanted = listing.segments.flatMap(\.files)
        try storing { () throws(StorageError) in
            try Files.makeDirectoryDurably(folder, in: directory)
            let names = Set(wanted.flatMap { [$0.name, Self.partName($0)] })
            for name in try directory.list(folder) where !names.contains(name) {
                try directory.remove(folder + "/" + name)
            }
        }
        var done: UInt64 = 0
        for file in wanted {
            let before = done
            let total = listing.byteCount
            guard
                try await copy(file, to: folder, { progress(.bytes(done: before + $0, of: total)) })
            else { return false }
            done += UInt64(file.size)
        }
        try storing { () throws(StorageError) in try directory.syncDirectory(folder) }
        return true
    }

    private static func partName(_ file: SegmentListing.File) -> String { file.name + ".part" }

    /// Copies a file, part by part, and checks its hash; false if the server has it no more.
    private func copy(
        _ file: SegmentListing.File,
        to folder: String,
        _ progress: (UInt64) -> Void
    ) async throws -> Bool {
        let path = folder + "/" + file.name
        if try storing({ () throws(StorageError) in try directory.exists(path) }) { return true }
        let part = folder + "/" + Self.partName(file)
        let target = try storing { () throws(StorageError) in try directory.open(part, .create) }
        let stream = SHA256Stream()
        var size = try takeUp(target, of: file, in: stream)
        while size < file.size {
            let end = min(size + Limits.copiedPartSizeMax, file.size)
            let bytes: [UInt8]
            do {
                bytes = try await fetch(file, size..<end)
            } catch let error as DiarioError where error.kind == .notFound {
                return false
            }
            stream.update(bytes.span)
            do throws(StorageError) { try target.write(bytes.span, at: Int64(size)) } catch {
                throw DiarioError(error)
            }
            size = end
            progress(UInt64(size))
        }
        guard stream.finalize() == file.hash else {
            try storing { () throws(StorageError) in try directory.remove(part) }
            throw DiarioError(
                .corrupt,
                "\(file.name) came with other bytes than its hash says. Run the same command again."
            )
        }
        try storing { () throws(StorageError) in
            try target.sync()
            try directory.rename(part, to: path)
        }
        return true
    }

    /// Reads what a copy that was broken off left of a file; gives how much it is.
    private func takeUp(
        _ target: any LogFile,
        of file: SegmentListing.File,
        in stream: SHA256Stream
    ) throws(DiarioError) -> Int {
        try storing { () throws(StorageError) in
            var size = Int(try target.size())
            if size > file.size {
                try target.truncate(to: 0)
                size = 0
            }
            var offset = 0
            while offset < size {
                var bytes: [UInt8] = []
                let count = min(Limits.copiedPartSizeMax, size - offset)
                try target.read(at: Int64(offset), count: count, into: &bytes)
                stream.update(bytes.span)
                offset += count
            }
            return size
        }
    }

    /// The bytes of a range of a file.
    private func fetch(_ file: SegmentListing.File, _ range: Range<Int>) async throws -> [UInt8] {
        let isWhole = range == 0..<file.size
        let reply = try await transport.get(
            "/segments/" + file.name,
            accept: "application/octet-stream",
            range: isWhole ? nil : range,
            sizeMax: range.count
        )
        let isRange = reply.status == 206
        let wanted = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.size)"
        guard reply.body.count == range.count, isRange != isWhole,
            isWhole || reply.headers["content-range"] == wanted
        else {
            throw DiarioError(
                .offline,
                "\(reply.server) sent \(reply.body.count) bytes of \(file.name) in place of "
                    + "\(range.count). Run the same command again."
            )
        }
        return reply.body
    }

    // MARK: Taking over

    private func takeOver(_ listing: SegmentListing, in space: SpaceID) throws(DiarioError) {
        do throws(LogError) {
            var intake = SegmentIntake(store, space)
            for segment in listing.segments {
                try intake.take(segment.name)
                let last = listing.segments.last?.name.first ?? 0
                progress(.events(done: intake.end, of: max(intake.end, last)))
            }
            try intake.finish(root: listing.root)
        } catch {
            // Whatever it is, it does not get better by trying again.
            try? store.remove(space)
            throw DiarioError(error)
        }
    }

    /// Gets the packs that the segments say are used.
    private func fetchPacks(of space: SpaceID) async throws {
        let status = try logging { () throws(LogError) in try store.status(of: space) }
        let root = try logging { () throws(LogError) in try store.root(of: space) }
        for adoption in status.adoptions
        where
            try !logging({ () throws(LogError) in try store.hasPack(adoption.fingerprint) })
        {
            let wanted = PackWanted(
                standing: Standing(
                    lineage: status.manifest.lineage,
                    epoch: status.manifest.epoch,
                    size: status.head,
                    root: root
                ),
                fingerprint: adoption.fingerprint
            )
            let answer = try await transport.exchange(SyncMessage.packWanted(wanted).encoded())
            guard case .pack(let pack)? = try? SyncMessage(answer.span) else {
                throw Self.refusal(answer)
            }
            let files = pack.files.map { PackFile(path: $0.path, bytes: $0.content) }
            guard Fingerprint.pack(files) == adoption.fingerprint else {
                throw DiarioError(.corrupt, "The pack that came is another one than was asked for.")
            }
            try logging { () throws(LogError) in
                try store.keep(files, fingerprint: adoption.fingerprint)
            }
        }
    }

    private static func refusal(_ answer: [UInt8]) -> DiarioError {
        if case .refusal(let refusal)? = try? SyncMessage(answer.span) {
            return DiarioError(refusal)
        }
        return DiarioError(.offline, "The answer is to another request. Try again.")
    }

    /// Fetches what is in no segment.
    private func pull(_ space: SpaceID) async throws {
        var session = ReplicaSession(store, space, seed: UInt64.random(in: .min ... .max))
        while true {
            try Task.checkCancellation()
            let now = store.now
            switch try logging({ () throws(LogError) in try session.next(at: now) }) {
            case .send(let request):
                let answer = try await transport.exchange(request)
                try logging { () throws(LogError) in try session.receive(answer, at: store.now) }
                let head = store.standing(of: session.space).head
                progress(.events(done: head, of: max(head, session.authorityHead)))
            case .rest: return
            case .wait:
                throw DiarioError(.offline, session.machine.failure ?? "There was no answer.")
            case .stop(let refusal): throw DiarioError(refusal)
            }
        }
    }
}

/// Turns the errors of whoever carries into ours.
private func offline<Value>(_ body: () async throws -> Value) async throws -> Value {
    do { return try await body() } catch let error as TransportError {
        throw DiarioError(.offline, error.message)
    }
}

/// Runs calls of the disk and turns their errors into ours.
private func storing<Value>(
    _ body: () throws(StorageError) -> Value
) throws(DiarioError) -> Value {
    do throws(StorageError) { return try body() } catch { throw DiarioError(error) }
}
