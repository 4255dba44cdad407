import DiarioCore
import DiarioHost
import DiarioLog
import DiarioSync
public import DiarioTransport

extension Diary {
    /// Syncs with the authority until there is nothing more to exchange.
    ///
    /// Fetches events of others and sends those recorded here. When this returns, everything that
    /// it reports is on disk. When it throws, earlier progress is kept, nothing recorded here is
    /// lost, and the call can be repeated.
    ///
    /// ``blobs`` follow, small ones first, unless they are paused. That they cannot be exchanged
    /// now is no error; the report says it.
    ///
    /// With `rejoining`, the diary first goes back to the part of the history that the authority
    /// has too: own events after that are pending again, and those of others are kept. This is the
    /// remedy for ``DiarioError/Kind-swift.enum/diverged``, and loses nothing.
    ///
    /// A server that was restored from an older backup and waits gets the events that it lacks, if
    /// the token has the right admin.
    ///
    /// - Throws: ``DiarioError`` if the authority cannot be reached or refuses, or the disk fails.
    @discardableResult
    public func sync(
        with transport: some Transport,
        rejoining: Bool = false
    ) async throws -> SyncReport {
        try await sync(with: transport) { if rejoining { $0.rejoin() } }
    }

    /// Syncs, and sends the events of others that are kept here since the server lost them.
    ///
    /// They get new positions. The token needs the right relay, or admin. Those that the server
    /// refuses are in the inbox then. What it cannot take stays: events of a replica of which it
    /// lacks earlier ones, or has others under the same origins.
    ///
    /// - Throws: ``DiarioError`` if the authority cannot be reached or refuses, or the disk fails.
    @discardableResult
    public func sendKept(with transport: some Transport) async throws -> SyncReport {
        try await sync(with: transport) { $0.relay() }
    }

    /// The number of events of others that are kept here, since the server lost them.
    ///
    /// - Throws: ``DiarioError`` if the disk fails.
    public func keptCount() throws -> Int {
        try refresh()
        return try space.keptCount().events
    }

    /// Gives up the events of others that are kept here; says how many there were.
    ///
    /// - Throws: ``DiarioError`` if the disk fails.
    @discardableResult
    public func dropKept() throws -> Int {
        let count = try keptCount()
        try space.dropKept()
        return count
    }

    private func sync(
        with transport: some Transport,
        _ prepare: (inout ReplicaSession) -> Void
    ) async throws -> SyncReport {
        var session = try beginSync()
        defer { endSync(session) }
        prepare(&session)
        let before = transport.traffic
        var hasRestored = false
        while true {
            try Task.checkCancellation()
            switch try step(&session) {
            case .send(let request): try await carry(request, &session, transport)
            case .rest:
                var moved = try report(session, transport.traffic, since: before)
                moved.hasRestored = hasRestored
                moved.blobs = try await blobs.report(with: transport)
                return moved
            case .wait:
                guard session.serverWaits, !hasRestored, try await giveBack(with: transport) else {
                    throw DiarioError(.offline, session.machine.failure ?? "There was no answer.")
                }
                hasRestored = true
                session.goOn()
            case .stop(let refusal): throw DiarioError(refusal)
            }
        }
    }

    /// Gives a server that waits what it lacks; false if the token does not allow that, or if
    /// nothing here can be given.
    private func giveBack(with transport: some Transport) async throws -> Bool {
        do {
            return try await exchange(with: transport, .restoring) == .published
        } catch let error as DiarioError
            where error.kind == .unauthorized || error.kind == .invalid
        {
            return false
        }
    }

    /// Keeps the diary in sync until the task is cancelled: sends what is recorded, also by other
    /// programs, and fetches what others record as soon as it hears of it.
    ///
    /// A transport that cannot wait for news is asked every `interval`. Without a network it waits
    /// and tries again, each time a little later, at most a minute.
    ///
    /// - Throws: `CancellationError` when the task is cancelled; ``DiarioError`` if the disk fails,
    ///   or if the authority refuses for good.
    public func keepSynced(
        with transport: some Transport,
        askingEvery interval: Duration = .seconds(15)
    ) async throws {
        var session = try beginSync()
        defer { endSync(session) }
        let news = NewsListener()
        // Looked at before the first step: what others record from now on is told in any case.
        let standing = space.store[space.id].standing()
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            if transport.waitsForNews {
                group.addTask { await news.listen(to: transport, pausing: interval) }
            }
            group.addTask { try await self.watchOthers(since: standing) }
            group.addTask { try await self.blobs.keepSynced(with: transport) }
            try await keepSynced(&session, transport, news, interval)
        }
    }

    private func keepSynced(
        _ session: inout ReplicaSession,
        _ transport: some Transport,
        _ news: NewsListener,
        _ interval: Duration
    ) async throws {
        while true {
            try Task.checkCancellation()
            let versions = (changes.version, news.signal.version)
            switch try step(&session) {
            case .send(let request): try await carry(request, &session, transport)
            case .rest:
                news.note(head: session.authorityHead)
                let start = ContinuousClock.now
                if !news.takeNews() {
                    let limit = transport.waitsForNews ? Self.restMax : interval
                    await news.rest(versions, changes, limit)
                    let isLong = !transport.waitsForNews && ContinuousClock.now - start >= interval
                    guard isLong || news.takeNews() else { continue }
                }
                session.heardOfNews()
            case .wait(let until):
                // If this fails, the next answer gives the reason.
                if session.serverWaits, (try? await giveBack(with: transport)) == true {
                    session.goOn()
                    continue
                }
                let rest = until.milliseconds - now.milliseconds
                try await Task.sleep(for: .milliseconds(max(rest, 1)))
            case .stop(let refusal): throw DiarioError(refusal)
            }
        }
    }

    /// So long a rest takes at the most if whoever carries the messages tells of news.
    private static let restMax = Duration.seconds(300)
    /// The interval of checks for events that other programs recorded.
    private static let lookInterval = Duration.milliseconds(500)

    /// Tells when another program recorded something in this diary.
    private func watchOthers(since standing: SpaceStanding) async throws {
        var seen = standing
        while true {
            try await Task.sleep(for: Self.lookInterval)
            try refresh()
            let standing = space.store[space.id].standing()
            // Other calls may have read it already, without anybody being told.
            if standing != seen { changes.raise() }
            seen = standing
        }
    }

    /// The state of the sync: now, and each time it changes.
    ///
    /// Only the newest state is kept for a slow reader.
    public nonisolated var syncStatus: AsyncStream<SyncStatus> { syncing.statuses() }

    // MARK: One session at a time

    var now: Timestamp { space.store.now }

    private func beginSync() throws -> ReplicaSession {
        try refresh()
        guard try !space.isPublishing() else {
            throw DiarioError(
                .busy,
                "This space is being published. Go on with that, or abandon it, before it syncs."
            )
        }
        guard syncing.begin() else {
            throw DiarioError(.busy, "This space is being synced already.")
        }
        return ReplicaSession(space.store, space.id, seed: UInt64.random(in: .min ... .max))
    }

    private func endSync(_ session: ReplicaSession) { syncing.end(status(session)) }

    private func step(_ session: inout ReplicaSession) throws -> ReplicaSession.Action {
        defer { syncing.show(status(session)) }
        do { return try session.next(at: now) } catch { throw DiarioError(error) }
    }

    private func carry(
        _ request: [UInt8],
        _ session: inout ReplicaSession,
        _ transport: some Transport
    ) async throws {
        let answer: [UInt8]
        switch try await transport.answer(to: request) {
        case .success(let bytes): answer = bytes
        case .failure(let error): return session.failed(error.message, at: now)
        }
        try shared.take((transport as? HTTPTransport)?.permission)
        let (before, head) = (session.space, space.store[session.space].standing().head)
        do { try session.receive(answer, at: now) } catch { throw DiarioError(error) }
        let isRenewed = session.space != before
        guard isRenewed || space.store[before].standing().head != head else { return }
        try shared.update { space in
            // It was replaced, and so are its read models; otherwise packs may have been adopted.
            if isRenewed {
                try space.move(to: session.space)
            } else {
                try space.takeUpAdoptions()
            }
        }
        changes.raise()
    }

    private func report(
        _ session: ReplicaSession,
        _ traffic: TransportTraffic?,
        since before: TransportTraffic?
    ) throws -> SyncReport {
        var report = SyncReport(session, space.store[space.id].standing())
        (report.kept, report.keptReplicas) = try space.keptCount()
        if let traffic, let before {
            report.requests = traffic.requests - before.requests
            report.bytesSent = traffic.bytesSent - before.bytesSent
            report.bytesReceived = traffic.bytesReceived - before.bytesReceived
        }
        return report
    }

    private func status(_ session: ReplicaSession) -> SyncStatus {
        SyncStatus(session, space.store[space.id].standing())
    }
}

extension SpaceStanding {
    fileprivate var pendingCount: Int { pending.reduce(0) { $0 + $1.sequences.count } }
}

extension SyncReport {
    fileprivate init(_ session: ReplicaSession, _ standing: SpaceStanding) {
        self.init(
            pushed: session.moved.pushed,
            pulled: session.moved.pulled,
            rejected: session.moved.refused,
            pending: standing.pendingCount,
            head: standing.head,
            requests: session.moved.requests,
            bytesSent: session.moved.bytesSent,
            bytesReceived: session.moved.bytesReceived,
            recordedAgain: session.moved.recordedAgain,
            pendingAgain: session.moved.pendingAgain,
            relayed: session.moved.relayed,
            relayRejected: session.moved.relayRefused
        )
    }
}

extension SyncStatus {
    fileprivate init(_ session: ReplicaSession, _ standing: SpaceStanding) {
        pending = standing.pendingCount
        head = standing.head
        lag = session.authorityHead - min(session.authorityHead, standing.head)
        lastError = session.machine.failure
        switch session.machine.state {
        case .pulling: phase = .pulling
        case .pushing: phase = .pushing
        case .comparing: phase = .comparing
        case .live: phase = .upToDate
        case .backingOff(let until):
            phase = .backingOff
            nextTry = until
        case .paused(let refusal):
            phase = .paused
            lastError = refusal.message
        }
    }
}

extension Transport {
    /// The answer to a request, or why none came; throws if the task is cancelled.
    func answer(to request: [UInt8]) async throws -> Result<[UInt8], TransportError> {
        do { return .success(try await exchange(request)) } catch let error as CancellationError {
            throw error
        } catch {
            return .failure(error as? TransportError ?? TransportError("\(error)"))
        }
    }
}
