import DiarioCore
import DiarioLog
public import DiarioTransport

extension Diary {
    /// Syncs with a server in the background from now on, until ``disconnect()`` or ``close()``.
    ///
    /// Returns at once. What is recorded is sent within a moment, and what others record comes as
    /// soon as the server has it; without a network it is tried again, at most a minute apart.
    /// ``syncStatus`` says where it stands. If the server refuses for good, as when the token was
    /// revoked, the status stays ``SyncStatus/Phase-swift.enum/paused`` with the reason, until this
    /// is called again. A diary that is connected lives until it is closed or disconnected.
    ///
    /// - Parameters:
    ///   - address: Where the space is, as `https://example.org/v1/spaces/home`.
    ///   - token: What the server's `diario token create` printed.
    ///   - certificates: A file with certificates to trust in place of the system's, in PEM.
    /// - Throws: ``DiarioError`` if the address or the token cannot be right, or if the diary is
    ///   connected already or was closed.
    public func connect(to address: String, token: String, certificates: String? = nil) throws {
        try connect(with: transport(to: address, token: token, certificates: certificates))
    }

    /// The same by a transport of your own.
    ///
    /// - Throws: ``DiarioError`` if the diary is connected already, or was closed.
    public func connect(with transport: some Transport) throws {
        try refresh()
        guard connection == nil else {
            throw DiarioError(.busy, "This space is connected already. Disconnect it first.")
        }
        connection = Task { [self] in
            while !Task.isCancelled {
                let id = space.id
                // What is wrong is in the status.
                do { try await keepSynced(with: transport) } catch {
                    if isRenewed(since: id) { continue }
                    noteEnd(of: error)
                }
                guard connection != nil else { return }
                try? await Task.sleep(for: Self.retryInterval)
            }
        }
    }

    /// Ends the sync in the background; when this returns, nothing of it goes on.
    ///
    /// What was not sent stays pending. Does nothing if the diary is not connected.
    public func disconnect() async {
        let ended = connection
        connection = nil
        ended?.cancel()
        await ended?.value
    }

    /// A transport to a server, by which that knows the replica.
    package func transport(
        to address: String,
        token: String,
        certificates: String?
    ) throws -> HTTPTransport {
        var transport = try HTTPTransport(to: address, token: token, certificates: certificates)
        transport.replica = try logging { () throws(LogError) in
            try space.store.status(of: space.id).replica
        }
        return transport
    }

    /// So long it is waited after the disk was full, or while somebody syncs or publishes by hand.
    private static let retryInterval = Duration.seconds(2)

    /// Whether another process put another space in the place of this one.
    private func isRenewed(since id: SpaceID) -> Bool {
        try? refresh()
        return space.id != id
    }

    private func noteEnd(of error: any Error) {
        guard !(error is CancellationError) else { return }
        if (error as? DiarioError)?.isRetryable != true { connection = nil }
        syncing.note(failure: (error as? DiarioError)?.message ?? "\(error)")
    }
}
