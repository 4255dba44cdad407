package import DiarioCore
import DiarioCrypto
import DiarioFormat
package import DiarioLog
import DiarioSchema
import DiarioStorage
package import DiarioSync

/// Makes a new replica of a space of a server: takes its segments as they lie, and the rest by a
/// sync: schema/format/http.md, section 5.
///
/// Knows no network, like `ReplicaSession`: its driver fetches what `step` asks for. The next copy
/// goes on with the files of one that was interrupted.
package struct FirstCopy: ~Copyable {
    /// What is to be done next.
    package enum Action: Sendable {
        /// To make another step.
        case step
        /// To list the segments of the server again, for `receive`.
        case list
        /// To fetch these bytes of a file, for `receive`; or `skip`, if the server has it no more.
        case fetch(SegmentListing.File, Range<Int>)
        /// To bring these bytes to the server, and the answer to `receive`.
        case send([UInt8])
        /// Nothing: the server does not do what was asked.
        case stop(Refusal)
        /// Nothing: the copy is there, and is to be shown.
        case end(SpaceID)
    }

    /// How far it has come.
    package enum Progress: Sendable {
        case bytes(done: UInt64, of: UInt64)
        case events(done: UInt64, of: UInt64)
    }

    package private(set) var progress: Progress
    private let store: LogStore
    private let seed: UInt64
    private var listing: SegmentListing
    private var listCount = 1
    private var space: SpaceID
    private var stage: Stage
    /// What is still to be taken of the listing, the next one last.
    private var files: [SegmentListing.File] = []
    private var names: [SegmentName] = []
    /// Bytes of the files that were copied.
    private var copiedSize: UInt64 = 0
    private var part: Part?
    private var intake: SegmentIntake?
    private var tiles: TileExtension?
    private var session: ReplicaSession?

    private enum Stage {
        case list
        case begin
        case files
        case segments
        case tiles
        case packs
        case pack(Hash32)
        case pull
        case stopped(Refusal)
    }

    /// A file that is being copied.
    private struct Part {
        let target: any LogFile
        let stream = SHA256Stream()
        /// What an earlier copy left of it.
        let leftSize: Int
        var size = 0
    }

    /// How often a server may put segments together while they are copied.
    private static let listCountMax = 8
    /// Bytes of a step that each position stands for whose tiles are made in it.
    private static let tileSize = 16

    package init(
        into store: LogStore,
        _ listing: SegmentListing,
        seed: UInt64
    ) throws(DiarioError) {
        let space: SpaceID
        do { space = try Self.staged(for: listing, in: store) } catch { throw DiarioError(error) }
        self.store = store
        self.seed = seed
        self.listing = listing
        self.space = space
        progress = .bytes(done: 0, of: listing.byteCount)
        // What was taken over is whole.
        stage = store[space].standing().head == 0 ? .begin : .tiles
    }

    /// The space that is being filled; one of another history than the server's goes.
    private static func staged(
        for listing: SegmentListing,
        in store: LogStore
    ) throws(LogError) -> SpaceID {
        for manifest in try store.manifests() {
            // What a lane was taken over into and did not end begins again.
            let isUnused = store[manifest.space].standing().pending.isEmpty
            if isUnused, manifest.lineage == listing.lineage, manifest.epoch == listing.epoch {
                return manifest.space
            }
            try store[manifest.space].remove()
        }
        let space = store.drawSpaceID()
        try store.makeReplica(
            of: space,
            lineage: listing.lineage,
            epoch: listing.epoch,
            isStaging: true
        )
        return space
    }

    /// Goes on by about so many bytes; makes the next request if one is due.
    package mutating func step(
        _ budget: Int,
        at now: Timestamp
    ) throws(DiarioError) -> Action {
        switch stage {
        case .list: return .list
        case .begin: do { return try beginFiles() } catch { throw DiarioError(error) }
        case .files: return try stepFiles(budget)
        case .segments: return try stepSegments(budget)
        case .tiles: do { return try stepTiles(budget) } catch { throw DiarioError(error) }
        case .packs, .pack: do { return try nextPack() } catch { throw DiarioError(error) }
        case .pull: return try pull(at: now)
        case .stopped(let refusal): return .stop(refusal)
        }
    }

    /// The listing that was asked for came.
    package mutating func receive(_ listing: SegmentListing) throws(DiarioError) {
        listCount += 1
        guard listCount <= Self.listCountMax else {
            throw DiarioError(
                .offline,
                "The server changes its segments all the time. Run the same command again."
            )
        }
        self.listing = listing
        do { space = try Self.staged(for: listing, in: store) } catch { throw DiarioError(error) }
        stage = .begin
    }

    /// The answer to what was sent came.
    package mutating func receive(_ answer: [UInt8], at now: Timestamp) throws(DiarioError) {
        if case .pack(let fingerprint) = stage { return try take(answer, fingerprint) }
        do { try session?.receive(answer, at: now) } catch { throw DiarioError(error) }
        let head = store[space].standing().head
        progress = .events(done: head, of: max(head, session?.authorityHead ?? 0))
    }

    // MARK: Files

    private mutating func beginFiles() throws(StorageError) -> Action {
        let folder = LogPaths.segments(space)
        let directory = store.directory
        files = listing.segments.flatMap { $0.files }
        let names = Set(files.flatMap { [$0.name, Self.partName($0)] })
        try Files.makeDirectoryDurably(folder, in: directory)
        for name in try directory.list(folder) where !names.contains(name) {
            try directory.remove(folder + "/" + name)
        }
        files.reverse()
        copiedSize = 0
        part = nil
        stage = .files
        return .step
    }

    private static func partName(_ file: SegmentListing.File) -> String { file.name + ".part" }

    private func path(_ name: String) -> String { LogPaths.segments(space) + "/" + name }

    private mutating func stepFiles(_ budget: Int) throws(DiarioError) -> Action {
        guard let file = files.last else {
            do { try store.directory.syncDirectory(LogPaths.segments(space)) } catch {
                throw DiarioError(error)
            }
            names = listing.segments.reversed().map { $0.name }
            intake = SegmentIntake(store, space)
            stage = .segments
            return .step
        }
        guard var part else {
            do { self.part = try begin(file) } catch { throw DiarioError(error) }
            if self.part == nil { end(file) }
            return .step
        }
        if part.size < part.leftSize {
            var bytes: [UInt8] = []
            let count = min(max(budget, 1), part.leftSize - part.size)
            do { try part.target.read(at: Int64(part.size), count: count, into: &bytes) } catch {
                throw DiarioError(error)
            }
            part.stream.update(bytes.span)
            part.size += count
            self.part = part
            return .step
        }
        if part.size < file.size {
            let end = min(part.size + Limits.copiedPartSizeMax, file.size)
            return .fetch(file, part.size..<end)
        }
        try end(file, part)
        return .step
    }

    /// Opens what is there of a file; nil if that is all of it.
    private func begin(_ file: SegmentListing.File) throws(StorageError) -> Part? {
        if try store.directory.exists(path(file.name)) { return nil }
        let target = try store.directory.open(path(Self.partName(file)), .create)
        var size = Int(clamping: try target.size())
        if size > file.size {
            try target.truncate(to: 0)
            size = 0
        }
        return Part(target: target, leftSize: size)
    }

    /// The bytes that were asked for came.
    package mutating func receive(part bytes: [UInt8]) throws(DiarioError) {
        guard let file = files.last, var part, part.size + bytes.count <= file.size else { return }
        part.stream.update(bytes.span)
        do { try part.target.write(bytes.span, at: Int64(part.size)) } catch {
            throw DiarioError(error)
        }
        part.size += bytes.count
        self.part = part
        progress = .bytes(done: copiedSize + UInt64(part.size), of: listing.byteCount)
    }

    /// The server does not have the file any more that was asked for.
    package mutating func skip() { stage = .list }

    private mutating func end(
        _ file: SegmentListing.File,
        _ part: Part
    ) throws(DiarioError) {
        let directory = store.directory
        let (whole, name) = (path(file.name), path(Self.partName(file)))
        let isRight = part.stream.finalize() == file.hash
        do {
            if isRight {
                try part.target.sync()
                try directory.rename(name, to: whole)
            } else {
                try directory.remove(name)
            }
        } catch {
            throw DiarioError(error)
        }
        guard isRight else {
            throw DiarioError(
                .corrupt,
                "\(file.name) came with other bytes than its hash says. Run the same command again."
            )
        }
        end(file)
    }

    private mutating func end(_ file: SegmentListing.File) {
        copiedSize += UInt64(file.size)
        part = nil
        files.removeLast()
        progress = .bytes(done: copiedSize, of: listing.byteCount)
    }

    // MARK: Taking over

    private mutating func stepSegments(_ budget: Int) throws(DiarioError) -> Action {
        guard var intake = intake.take() else { preconditionFailure("segments are taken by it") }
        do throws(LogError) {
            if try !intake.step() {
                guard let name = names.popLast() else {
                    try intake.finish(root: listing.root)
                    stage = .tiles
                    return .step
                }
                try intake.begin(name)
            }
        } catch {
            // Whatever it is, it does not get better by trying again.
            try? store[space].remove()
            throw DiarioError(error)
        }
        let last = listing.segments.last?.name.first ?? 0
        progress = .events(done: intake.end, of: max(intake.end, last))
        self.intake = consume intake
        return .step
    }

    private mutating func stepTiles(_ budget: Int) throws(LogError) -> Action {
        guard var tiles = tiles.take() else {
            tiles = try TileExtension(store[space].proofs, to: store[space].status().sealedEnd)
            return .step
        }
        if try tiles.step(UInt64(max(budget / Self.tileSize, 1))) {
            self.tiles = consume tiles
        } else {
            stage = .packs
        }
        return .step
    }

    // MARK: Packs and the rest

    /// Asks for a pack that the segments say is used.
    private mutating func nextPack() throws(LogError) -> Action {
        let session = ReplicaSession(store, space, seed: seed)
        for adoption in try store[space].adoptions()
        where try !store.packs.has(adoption.fingerprint) {
            let standing = try session.own(store[space].standing())
            let wanted = PackWanted(standing: standing, fingerprint: adoption.fingerprint)
            stage = .pack(adoption.fingerprint)
            return .send(SyncMessage.packWanted(wanted).encoded())
        }
        self.session = session
        stage = .pull
        return .step
    }

    private mutating func take(
        _ answer: [UInt8],
        _ fingerprint: Hash32
    ) throws(DiarioError) {
        switch try? SyncMessage(answer.span) {
        case .pack(let pack):
            let files = pack.files.map { PackFile(path: $0.path, bytes: $0.content) }
            guard Fingerprint.pack(files) == fingerprint else {
                throw DiarioError(.corrupt, "The pack that came is another one than was asked for.")
            }
            do { try store.keep(files, fingerprint: fingerprint) } catch {
                throw DiarioError(error)
            }
            stage = .packs
        case .refusal(let refusal): stage = .stopped(refusal)
        default: throw DiarioError(.offline, "The answer is to another request. Try again.")
        }
    }

    /// Fetches what is in no segment.
    private mutating func pull(at now: Timestamp) throws(DiarioError) -> Action {
        guard var session else { preconditionFailure("a pull has a session") }
        let action: ReplicaSession.Action
        do { action = try session.next(at: now) } catch { throw DiarioError(error) }
        self.session = session
        switch action {
        case .send(let request): return .send(request)
        case .rest: return .end(session.space)
        case .wait:
            throw DiarioError(.offline, session.machine.failure ?? "There was no answer.")
        case .stop(let refusal): return .stop(refusal)
        }
    }
}
