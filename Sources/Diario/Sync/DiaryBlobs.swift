public import DiarioCore
import DiarioCrypto
import DiarioHost
import DiarioLog
import DiarioStorage
import DiarioSync
import DiarioTransport
import Synchronization

/// A blob whose bytes are stored, as the event that refers to it has to say it.
public struct NewBlob: Hashable, Sendable {
    /// 32 bytes.
    public let id: [UInt8]
    /// Of the bytes that were given.
    public let size: Int64
    /// 32 bytes that open it; nil if it is public.
    public let key: [UInt8]?
}

/// The result of the exchange of blobs that comes after that of events.
public struct BlobReport: Hashable, Sendable {
    public var sent = 0
    public var fetched = 0
    /// Those that the server did not take, as beyond a quota: their state says so.
    public var refused = 0
    /// Those that are neither here nor on the server.
    public var missing = 0
    /// Why it ended early, in a sentence; what is left comes with the next sync.
    public var failure: String?

    public init() {}
}

/// Whether blobs are exchanged with the server, and whose.
final class BlobSwitch: Sendable {
    private let paused = Atomic(false)
    private let others = Atomic(false)

    var isPaused: Bool {
        get { paused.load(ordering: .relaxed) }
        set { paused.store(newValue, ordering: .relaxed) }
    }

    /// True if the blobs of others are fetched as well.
    var takesOthers: Bool {
        get { others.load(ordering: .relaxed) }
        set { others.store(newValue, ordering: .relaxed) }
    }
}

extension Diary {
    /// The pictures and other bytes to which its events refer.
    public nonisolated var blobs: DiaryBlobs { DiaryBlobs(diary: self) }
}

/// The blobs of a diary: bytes that are kept beside its events.
public struct DiaryBlobs: Sendable {
    let diary: Diary

    /// Stores the bytes of a file, encrypted under a new key.
    ///
    /// They survive a power cut when this returns: record the event that refers to them after it.
    /// With `isPublic` they are stored as they are, without a key.
    ///
    /// - Throws: ``DiarioError`` if the file cannot be read, if it is too large, or if the disk
    ///   refuses.
    public func put(fileAt path: String, isPublic: Bool = false) async throws -> NewBlob {
        try await put(path, isPublic, in: diary)
    }

    private func put(
        _ path: String,
        _ isPublic: Bool,
        in diary: isolated Diary
    ) throws -> NewBlob {
        let end = path.lastIndex(of: "/")
        let folder = end.map { String(path[...$0]) } ?? "."
        let name = end.map { String(path[path.index(after: $0)...]) } ?? path
        do {
            let file = try InputFile.open(name, in: folder)
            let blob = try diary.space.putBlob(file, isPublic: isPublic)
            return NewBlob(id: blob.id.bytes, size: blob.size, key: blob.key)
        } catch {
            throw DiarioError(error)
        }
    }

    /// The bytes of a blob to which an event refers, all or those of a range; nil if they are not
    /// here.
    ///
    /// - Parameters:
    ///   - id: The 32 bytes that the event has.
    ///   - range: What is read; more than there is counts as all.
    /// - Returns: The bytes as they were given to ``put(fileAt:isPublic:)``.
    /// - Throws: ``DiarioError`` if no event refers to it, if it is erased, or if it is damaged.
    public func bytes(of id: [UInt8], range: Range<Int64>? = nil) async throws -> [UInt8]? {
        try await bytes(of: Self.hash(id), range, in: diary)
    }

    private func bytes(
        of id: Hash32,
        _ range: Range<Int64>?,
        in diary: isolated Diary
    ) throws -> [UInt8]? {
        try diary.refresh()
        guard let reference = try diary.models().reference(to: id) else {
            throw DiarioError(.notFound, "No event refers to this blob. Check its id.")
        }
        do { return try Self.bytes(of: id, reference, range, of: diary.space) } catch {
            // So that the next sync brings it again.
            if error.kind != .notFound { _ = try diary.space.setAside(id) }
            throw error
        }
    }

    private static func bytes(
        of id: Hash32,
        _ reference: BlobReference,
        _ range: Range<Int64>?,
        of space: Space
    ) throws(DiarioError) -> [UInt8]? {
        let found = try space.blob(
            id,
            isPublic: reference.isPublic,
            key: reference.key,
            size: reference.size
        )
        guard let found else { return nil }
        var bytes: [UInt8] = []
        try found.read((range ?? 0..<found.size).clamped(to: 0..<found.size), into: &bytes)
        return bytes
    }

    /// Where the bytes of a blob are.
    ///
    /// - Throws: ``DiarioError`` if the id has not 32 bytes, or if the disk fails.
    public func state(of id: [UInt8]) async throws -> BlobState {
        try await state(of: Self.hash(id), in: diary)
    }

    private func state(of id: Hash32, in diary: isolated Diary) throws -> BlobState {
        try diary.refresh()
        let reference = try diary.models().referredBlobs(among: [id])[id]
        guard reference?.isErased != true else { return .erased }
        return try diary.space.blobLookup.state(of: id)
    }

    private static func hash(_ bytes: [UInt8]) throws -> Hash32 {
        guard let id = Hash32(bytes.span) else {
            throw DiarioError(.invalid, "The id of a blob has 32 bytes, and not \(bytes.count).")
        }
        return id
    }

    /// Exchanges no blobs until ``resume()``, as on a line that costs much.
    ///
    /// A part that is on its way is the last. Events go on.
    public func pause() { diary.blobSwitch.isPaused = true }

    /// Exchanges blobs again, which is how a diary begins.
    public func resume() {
        diary.blobSwitch.isPaused = false
        diary.changes.raise()
    }

    /// Fetches from now on also what others recorded, which otherwise comes when it is asked for.
    public func fetchAll() {
        diary.blobSwitch.takesOthers = true
        diary.changes.raise()
    }

    // MARK: The exchange

    /// Sends and fetches blobs until nothing is left, or until it is paused; needs that events were
    /// exchanged before.
    ///
    /// Does nothing if another program does it for this space. `progress` is told how many of how
    /// many bytes were transferred.
    package func sync(
        with carrier: any BlobCarrier,
        progress: @Sendable (UInt64, UInt64) -> Void = { _, _ in }
    ) async throws -> BlobReport {
        try await sync(with: carrier, progress, in: diary)
    }

    private func sync(
        with carrier: any BlobCarrier,
        _ progress: @Sendable (UInt64, UInt64) -> Void,
        in diary: isolated Diary
    ) async throws -> BlobReport {
        try diary.refresh()
        let scope = try BlobSession.Scope(
            of: diary.models(),
            takesOthers: diary.blobSwitch.takesOthers
        )
        return try await exchange(scope, with: carrier, progress, in: diary)
    }

    /// Fetches the bytes of one blob, whoever recorded it, unless they are here or stay elsewhere.
    ///
    /// - Throws: ``DiarioError`` if the id has not 32 bytes, if no event refers to it, if it is
    ///   erased, or if it stays on the device that recorded it.
    package func fetch(
        _ id: [UInt8],
        with carrier: any BlobCarrier,
        progress: @Sendable (UInt64, UInt64) -> Void = { _, _ in }
    ) async throws -> BlobReport {
        try await fetch(Self.hash(id), with: carrier, progress, in: diary)
    }

    private func fetch(
        _ id: Hash32,
        with carrier: any BlobCarrier,
        _ progress: @Sendable (UInt64, UInt64) -> Void,
        in diary: isolated Diary
    ) async throws -> BlobReport {
        try diary.refresh()
        let scope = try BlobSession.Scope(of: diary.models(), only: id)
        return try await exchange(scope, with: carrier, progress, in: diary)
    }

    private func exchange(
        _ scope: BlobSession.Scope,
        with carrier: any BlobCarrier,
        _ progress: @Sendable (UInt64, UInt64) -> Void,
        in diary: isolated Diary
    ) async throws -> BlobReport {
        let (store, id) = (diary.space.store, diary.space.id)
        guard !diary.blobSwitch.isPaused, !scope.isEmpty,
            let lock = try store[id].exchangingBlobs()
        else { return BlobReport() }
        defer { lock.release() }
        let known = try store[id].blobNotes()
        var session = try BlobSession(
            store.blobs,
            id,
            scope,
            knowing: known,
            of: carrier.blobServer,
            epoch: try store[id].status().manifest.epoch,
            losses: carrier.blobLosses,
            at: diary.now
        )
        var failure: String?
        do { try await exchange(&session, carrier, progress, in: diary) } catch {
            // What is known now saves requests the next time.
            if error is CancellationError {
                try? store[id].setBlobNotes(session.currentNotes)
                throw error
            }
            failure = (error as? TransportError)?.message ?? DiarioError(error).message
        }
        if session.currentNotes != known { try store[id].setBlobNotes(session.currentNotes) }
        return BlobReport(session.report, failure)
    }

    private func exchange(
        _ session: inout BlobSession,
        _ carrier: any BlobCarrier,
        _ progress: @Sendable (UInt64, UInt64) -> Void,
        in diary: isolated Diary
    ) async throws {
        var failureCount = 0
        var isNoted = false
        while !diary.blobSwitch.isPaused, case .send(let request) = try session.next() {
            try Task.checkCancellation()
            if case .fetch = request, !isNoted {
                // After a crash it is known still that what is here came from the server.
                try diary.space.store[diary.space.id].setBlobNotes(session.currentNotes)
                isNoted = true
            }
            do {
                let reply = try await Self.reply(to: request, carrier)
                failureCount = 0
                try session.receive(reply)
            } catch let error as TransportError {
                failureCount += 1
                guard failureCount <= Self.failureCountMax else { throw error }
                session.failed()
            }
            let report = session.report
            progress(UInt64(report.bytesDone), UInt64(max(report.bytesDone, report.bytesTotal)))
        }
    }

    /// Waits a little if the server says so, as when another device sends the same blob.
    private static func reply(
        to request: BlobRequest,
        _ carrier: any BlobCarrier
    ) async throws -> BlobReply {
        for _ in 0..<busyCountMax {
            do { return try await carrier.carry(request) } catch let error as DiarioError
                where error.kind == .offline
            {
                try await Task.sleep(for: busyPause)
            }
        }
        return try await carrier.carry(request)
    }

    private static let failureCountMax = 3
    private static let busyCountMax = 3
    private static let busyPause = Duration.seconds(1)

    /// Exchanges blobs whenever events were, until the task is cancelled, if the transport carries
    /// them.
    func keepSynced(with transport: some Transport) async throws {
        guard let carrier = transport as? any BlobCarrier else { return }
        var pause = Self.pauseMin
        while true {
            try Task.checkCancellation()
            let version = diary.changes.version
            var next = Self.pauseMin
            if diary.syncing.isUpToDate {
                let report = try await report(with: carrier)
                // Nobody tells when the bytes of others have come to the server.
                let isDone = report.failure == nil && report.missing == 0
                next = isDone ? Self.pauseMax : min(pause * 2, Self.pauseMax)
                pause = isDone ? Self.pauseMin : next
            }
            await diary.changes.wait(after: version, atMost: next)
            if diary.changes.version != version { pause = Self.pauseMin }
        }
    }

    /// What came of an exchange, also where it could not begin; nothing if the transport carries
    /// none.
    func report(with transport: some Transport) async throws -> BlobReport {
        guard let carrier = transport as? any BlobCarrier else { return BlobReport() }
        return try await report(with: carrier)
    }

    private func report(with carrier: any BlobCarrier) async throws -> BlobReport {
        do { return try await sync(with: carrier) } catch let error as CancellationError {
            throw error
        } catch {
            var report = BlobReport()
            report.failure = DiarioError(error).message
            return report
        }
    }

    private static let pauseMin = Duration.seconds(2)
    private static let pauseMax = Duration.seconds(300)
}

extension BlobReport {
    fileprivate init(_ report: BlobSession.Report, _ failure: String?) {
        self.init()
        sent = report.sent
        fetched = report.fetched
        refused = report.refused
        missing = report.missing
        self.failure = failure
    }
}
