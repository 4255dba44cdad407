package import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioHost
import DiarioLog
import DiarioSchema
import DiarioStorage
import DiarioSync
import DiarioTransport

/// Makes a new replica of a space of a server: its segments as they lie, and the rest by a sync.
///
/// All is done in a folder `.diario.clone`, which becomes `.diario` at the end. What a copy that
/// was broken off left there, the next one goes on with.
package struct SpaceCopy: Sendable {
    package static let temporaryName = LogPaths.directoryName + ".clone"
    private static let lockName = "copying"

    private let store: LogStore
    private let transport: HTTPTransport
    private let progress: @Sendable (FirstCopy.Progress) -> Void

    /// Copies the space of a server into the folder at `path`, which may be there already.
    ///
    /// When this returns, the replica is there and remembers its server. When it throws, the same
    /// call goes on with what was copied, and the folder holds no diary yet. The copy takes over
    /// what is pending in the damaged folder `laneOf`.
    @discardableResult
    package static func run(
        at path: String,
        from transport: HTTPTransport,
        remembering remote: RemoteServer,
        laneOf damaged: String? = nil,
        progress: @escaping @Sendable (FirstCopy.Progress) -> Void
    ) async throws -> TakenLane? {
        do {
            return try await copy(to: path, from: transport, remote, laneOf: damaged, progress)
        } catch {
            throw DiarioError(error)
        }
    }

    private static func copy(
        to path: String,
        from transport: HTTPTransport,
        _ remote: RemoteServer,
        laneOf damaged: String?,
        _ progress: @escaping @Sendable (FirstCopy.Progress) -> Void
    ) async throws -> TakenLane? {
        let lanes = try damaged.map { try Space.openForSalvage($0) }
        // First, so that a wrong address or token leaves nothing behind.
        let listing = try await listing(from: transport)
        let (root, directory) = try open(path)
        let lock = try directory.lock(lockName)
        guard try Files.tryAcquire(lock) else {
            throw DiarioError(.busy, "Another program is making a copy in \(path).")
        }
        defer { lock.release() }
        try LogStore.create(in: directory)
        let store = try Space.openStore(directory, access: .readWrite, isDraft: true)
        let copy = SpaceCopy(store: store, transport: transport, progress: progress)
        var lane: TakenLane?
        do {
            let space = try await copy.fill(listing)
            if let lanes { lane = TakenLane(try copy.takeLane(from: lanes, into: space)) }
            try store[space].setRemote(RemoteFile(remote))
            if let permission = transport.permission {
                try store[space].setPermission(PermissionFile(permission))
            }
            try store[space].noteSync(head: store[space].standing().head)
            try store[space].show()
            try store.close()
        } catch {
            try? store.close()
            throw error
        }
        try directory.remove(lockName)
        try root.rename(temporaryName, to: LogPaths.directoryName)
        try root.syncDirectory("")
        return lane
    }

    /// Takes over what is pending in a damaged directory.
    private func takeLane(
        from damaged: POSIXDirectory,
        into id: SpaceID
    ) throws -> LaneSalvage.Outcome {
        let types = try TypeShelf().types(of: id, in: store)
        let packs = try Space.fingerprinted([])
        var lane = try LaneSalvage(from: damaged, into: id, of: store, packs: packs) {
            types[$0]?.type
        }
        while try lane.step(Limits.stepSize) {}
        return lane.outcome
    }

    /// The folder, and the one in it that is filled.
    private static func open(_ path: String) throws -> (POSIXDirectory, POSIXDirectory) {
        let root = try POSIXDirectory(path: path, access: .create)
        guard try !root.exists(LogPaths.directoryName) else {
            throw StorageError.exists(path + "/" + LogPaths.directoryName)
        }
        let inner = path + "/" + temporaryName
        return (root, try POSIXDirectory(path: inner, access: .create))
    }

    // MARK: Copying

    private static func listing(from transport: HTTPTransport) async throws -> SegmentListing {
        let reply = try await transport.get("/segments")
        // As the login page of a hotel.
        guard reply.mediaType == "application/json" else {
            throw TransportError(reply.foreign.message)
        }
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
    private func fill(_ listing: SegmentListing) async throws -> SpaceID {
        var copy = try FirstCopy(into: store, listing, seed: UInt64.random(in: .min ... .max))
        while true {
            try Task.checkCancellation()
            switch try copy.step(Limits.stepSize, at: store.now) {
            case .step: break
            case .list: try copy.receive(try await Self.listing(from: transport))
            case .fetch(let file, let range):
                if let bytes = try await fetch(file, range) {
                    try copy.receive(part: bytes)
                } else {
                    copy.skip()
                }
            case .send(let request):
                try copy.receive(try await transport.exchange(request), at: store.now)
            case .stop(let refusal): throw DiarioError(refusal)
            case .end(let space): return space
            }
            progress(copy.progress)
        }
    }

    /// The bytes of a range of a file; nil if the server has it no more.
    private func fetch(_ file: SegmentListing.File, _ range: Range<Int>) async throws -> [UInt8]? {
        let isWhole = range == 0..<file.size
        let reply: ServerReply
        do {
            reply = try await transport.get(
                "/segments/" + file.name,
                accept: "application/octet-stream",
                range: isWhole ? nil : range,
                sizeMax: range.count
            )
        } catch let error as DiarioError where error.kind == .notFound {
            return nil
        }
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
}

/// What was taken over of a damaged folder.
package struct TakenLane: Sendable {
    /// Events that are pending here now.
    package let pending: UInt64
    /// Of these the events that have new origins.
    package let recordedAgain: UInt64
    /// Batches in the inbox.
    package let inbox: Int
    package let faults: [Fault]

    fileprivate init(_ outcome: LaneSalvage.Outcome) {
        (pending, recordedAgain) = (outcome.pending, outcome.recordedAgain)
        (inbox, faults) = (outcome.inbox, outcome.faults)
    }
}
