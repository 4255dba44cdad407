import DiarioCore
import DiarioLog
import DiarioSync
public import DiarioTransport

extension Diary {
    /// Syncs with the authority until there is nothing more to exchange.
    ///
    /// Events that others recorded are fetched and those recorded here are sent. When this returns,
    /// all that it reports is on disk. When it throws, what was exchanged before is kept, nothing
    /// recorded here is lost, and the same call may be made again.
    ///
    /// With `rejoining`, the diary first goes back to what the authority has as well: events of
    /// others behind that go, and own ones wait to be sent again. It is what remains after
    /// ``DiarioError/Kind-swift.enum/diverged``, and nothing that was recorded here is lost by it.
    ///
    /// - Throws: ``DiarioError`` if the authority cannot be reached or refuses, or the disk fails.
    @discardableResult
    public func sync(
        with transport: some Transport,
        rejoining: Bool = false
    ) async throws -> SyncReport {
        var session = try beginSync()
        defer { endSync(session) }
        if rejoining { session.rejoin() }
        while true {
            try Task.checkCancellation()
            switch try step(&session) {
            case .send(let request): try await carry(request, &session, transport)
            case .rest: return report(session)
            case .wait:
                throw DiarioError(.offline, session.machine.failure ?? "There was no answer.")
            case .stop(let refusal): throw DiarioError(refusal)
            }
        }
    }

    /// Keeps the diary in sync until the task is cancelled: sends what is recorded, and asks for
    /// news from time to time.
    ///
    /// Without a network it waits and tries again, each time a little later, at most a minute.
    ///
    /// - Throws: `CancellationError` when the task is cancelled; ``DiarioError`` if the disk fails,
    ///   or if the authority refuses for good.
    public func keepSynced(
        with transport: some Transport,
        askingEvery interval: Duration = .seconds(15)
    ) async throws {
        var session = try beginSync()
        defer { endSync(session) }
        while true {
            try Task.checkCancellation()
            let version = changes.version
            switch try step(&session) {
            case .send(let request): try await carry(request, &session, transport)
            case .rest:
                await changes.wait(after: version, atMost: interval)
                session.heardOfNews()
            case .wait(let until):
                let rest = until.milliseconds - now.milliseconds
                try await Task.sleep(for: .milliseconds(max(rest, 1)))
            case .stop(let refusal): throw DiarioError(refusal)
            }
        }
    }

    /// Where the sync stands: now, and each time it changes.
    ///
    /// Keeps the newest only: who looks rarely sees what is, not what was.
    public nonisolated var syncStatus: AsyncStream<SyncStatus> { syncing.statuses() }

    // MARK: One session at a time

    private var now: Timestamp { space.store.now }

    private func beginSync() throws -> ReplicaSession {
        let publishing: PublishingFile?
        do throws(LogError) { publishing = try space.store.publishing(of: space.id) } catch {
            throw DiarioError(error)
        }
        guard publishing == nil else {
            throw DiarioError(
                .busy,
                "This diary is being published. Go on with that, or abandon it, before it syncs."
            )
        }
        guard syncing.begin() else {
            throw DiarioError(.busy, "This diary is being synced already.")
        }
        return ReplicaSession(space.store, space.id, seed: UInt64.random(in: .min ... .max))
    }

    private func endSync(_ session: ReplicaSession) {
        syncing.end(status(session))
    }

    private func step(_ session: inout ReplicaSession) throws -> ReplicaSession.Action {
        defer { syncing.show(status(session)) }
        do throws(LogError) { return try session.next(at: now) } catch { throw DiarioError(error) }
    }

    private func carry(
        _ request: [UInt8],
        _ session: inout ReplicaSession,
        _ transport: some Transport
    ) async throws {
        let answer: [UInt8]
        do {
            answer = try await transport.exchange(request)
        } catch let error as CancellationError {
            throw error
        } catch {
            let what = (error as? TransportError)?.message ?? "\(error)"
            return session.failed(what, at: now)
        }
        let head = space.store.standing(of: space.id).head
        do throws(LogError) { try session.receive(answer, at: now) } catch {
            throw DiarioError(error)
        }
        if session.space != space.id {
            // It was made anew, and so are its read models.
            space.move(to: session.space)
            readModels = nil
        } else if space.store.standing(of: space.id).head == head {
            return
        }
        try space.reloadTypes()
        changes.raise()
    }

    private func report(_ session: ReplicaSession) -> SyncReport {
        let standing = space.store.standing(of: space.id)
        return SyncReport(
            pushed: session.moved.pushed,
            pulled: session.moved.pulled,
            rejected: session.moved.refused,
            pending: standing.pending.reduce(0) { $0 + $1.sequences.count },
            head: standing.head,
            requests: session.moved.requests,
            bytesSent: session.moved.bytesSent,
            bytesReceived: session.moved.bytesReceived,
            recordedAgain: session.moved.recordedAgain,
            movedBack: session.moved.movedBack
        )
    }

    private func status(_ session: ReplicaSession) -> SyncStatus {
        let standing = space.store.standing(of: space.id)
        var status = SyncStatus()
        status.pending = standing.pending.reduce(0) { $0 + $1.sequences.count }
        status.head = standing.head
        status.lag = session.authorityHead - min(session.authorityHead, standing.head)
        status.lastError = session.machine.failure
        switch session.machine.state {
        case .pulling: status.phase = .pulling
        case .pushing: status.phase = .pushing
        case .comparing: status.phase = .comparing
        case .live: status.phase = .upToDate
        case .backingOff(let until):
            status.phase = .backingOff
            status.nextTry = until
        case .paused(let refusal):
            status.phase = .paused
            status.lastError = refusal.message
        }
        return status
    }
}

extension DiarioError {
    /// Why the authority does nothing about what was asked.
    init(_ refusal: Refusal) {
        let kind: Kind =
            switch refusal.reason {
            case .unauthorized, .forbidden: .unauthorized
            case .unknownSpace, .noPack: .notFound
            case .version: .incompatible
            case .lineage, .epoch, .ahead, .diverged: .diverged
            case .waiting: .offline
            case .malformed: .invalid
            case .tooLarge: .tooLarge
            case .tooFast, .unavailable: .offline
            case .full: .full
            }
        self.init(kind, refusal.message)
    }
}
