import DiarioCore
import DiarioHost
import DiarioLog
import DiarioSync
public import DiarioTransport

extension Diary {
    /// Hands the space over to the server at the other end: from then on that gives the positions,
    /// and other devices can sync with it.
    ///
    /// Can be recorded in and read meanwhile; what is recorded is sent by the next sync. When this
    /// returns, the server has every event that was there when it began, and the same history. When
    /// it throws, the attempt goes on with the next call, on this device or after a restart, unless
    /// the error is of kind ``DiarioError/Kind/exists`` or ``DiarioError/Kind/diverged``: then the
    /// server will never take the space under this name, and all is as it was before.
    ///
    /// - Throws: ``DiarioError`` if the server cannot be reached or refuses, or the disk fails.
    public func publish(with transport: some Transport) async throws {
        switch try await publish(with: transport, .publishing) {
        case .published: return
        case .kept(let reason, let message): throw DiarioError(Self.kind(of: reason), message)
        }
    }

    /// Gives up an attempt to publish, once the server has confirmed that it never will take it.
    ///
    /// True if the space stays here; false if the server has it already, which is then published.
    ///
    /// - Throws: ``DiarioError`` if the server cannot be asked: then the attempt is as it was.
    public func abandonPublishing(with transport: some Transport) async throws -> Bool {
        try await publish(with: transport, .abandoning) != .published
    }

    /// Gives a server back what it lost of this space, from what this diary has of it.
    ///
    /// For a server that was restored from an older backup and waits for its operator, or that
    /// lost the space with its disk. It gets the events that it confirmed, at the positions that
    /// they had, and gives positions again. What is pending here is sent by the next sync. The
    /// token needs the right admin. Of several diaries, the one that has most should do this:
    /// events that only others have get new positions when these sync, or are kept there
    /// (``sendKept(with:)``). When it throws, nothing has
    /// changed, and the next call goes on where this one was broken off. False if the server lacked
    /// nothing.
    ///
    /// - Throws: ``DiarioError``, of kind ``DiarioError/Kind/diverged`` if the server has events
    ///   that are not here, or still gives positions; of kind ``DiarioError/Kind/invalid`` if this
    ///   diary is its own authority.
    @discardableResult
    public func restoreServer(with transport: some Transport) async throws -> Bool {
        try await publish(with: transport, .restoring) == .published
    }

    private static func kind(of reason: Publication.Reason?) -> DiarioError.Kind {
        switch reason {
        case .taken: .exists
        case .diverged: .diverged
        case .aheadOfTime, .root, .malformed, .abandoned, nil: .invalid
        }
    }

    private func publish(
        with transport: some Transport,
        _ purpose: PublishSession.Purpose
    ) async throws -> PublishSession.Result {
        try refresh()
        guard syncing.begin() else {
            throw DiarioError(.busy, "This space is being synced already.")
        }
        defer { syncing.end(SyncStatus()) }
        return try await exchange(with: transport, purpose)
    }

    /// The same, while a sync goes on that asked for it.
    func exchange(
        with transport: some Transport,
        _ purpose: PublishSession.Purpose
    ) async throws -> PublishSession.Result {
        var session = PublishSession(
            space.store,
            space.id,
            seed: UInt64.random(in: .min ... .max),
            purpose
        )
        while true {
            try Task.checkCancellation()
            syncing.show(SyncStatus(session))
            let action: PublishSession.Action
            do { action = try session.next(at: now) } catch { throw DiarioError(error) }
            switch action {
            case .send(let request):
                switch try await transport.answer(to: request) {
                case .failure(let error): session.failed(error.message, at: now)
                case .success(let answer):
                    do { try session.receive(answer, at: now) } catch { throw DiarioError(error) }
                    changes.raise()
                }
            case .wait:
                throw DiarioError(.offline, session.machine.failure ?? "There was no answer.")
            case .stop(let refusal): throw DiarioError(refusal)
            case .done(let result): return result
            }
        }
    }
}

extension SyncStatus {
    /// The lag is the number of events that the server still lacks.
    fileprivate init(_ session: PublishSession) {
        phase = .pushing
        head = session.progress.size
        lag = session.progress.size - min(session.progress.size, session.progress.taken)
        lastError = session.machine.failure
    }
}
