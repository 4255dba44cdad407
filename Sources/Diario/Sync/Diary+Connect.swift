import DiarioCore
import DiarioLog
public import DiarioTransport

extension Diary {
    /// Syncs with a server in the background from now on, until ``disconnect()`` or ``close()``.
    ///
    /// Returns immediately. New events are sent within a moment, and events of others come as soon
    /// as the server has them; without a network it tries again, at most a minute apart.
    /// ``syncStatus`` gives its state. If the server refuses for good, as when the token was
    /// revoked, the status stays ``SyncStatus/Phase-swift.enum/paused`` with the reason, until this
    /// is called again. A connected diary lives until it is closed or disconnected.
    ///
    /// - Parameters:
    ///   - address: The address of the space, as `https://example.org/v1/spaces/home`.
    ///   - token: The output of `diario token create` on the server.
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
                // The error is in the status.
                do { try await keepSynced(with: transport) } catch {
                    if isRenewed(since: id) { continue }
                    noteEnd(of: error)
                }
                guard connection != nil else { return }
                try? await Task.sleep(for: Self.retryInterval)
            }
        }
    }

    /// Ends the sync in the background; when this returns, it has stopped.
    ///
    /// Events that were not sent stay pending. Does nothing if the diary is not connected.
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
        transport.replica = try space.state().replica
        return transport
    }

    /// So long it is waited after the disk was full, or while somebody syncs or publishes by hand.
    private static let retryInterval = Duration.seconds(2)

    /// True if another process replaced this space.
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
