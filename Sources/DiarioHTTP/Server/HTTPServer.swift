import DiarioCore
import DiarioStorage
import Synchronization

/// A server of HTTP/1.1: accepts connections within bounds, and passes requests to its handler.
///
/// schema/format/http.md, sections 11 and 12. It serves from its `init` until `stop`, or until it
/// is released.
package final class HTTPServer: Sendable {
    package struct Configuration: Sendable {
        /// An address or a name; `0.0.0.0` and `::` are all addresses of the machine.
        package var host: String
        /// 0 means any free one.
        package var port: UInt16
        package var certificate: Certificate?
        /// Threads that read and write; requests are answered by the workers.
        package var threadCount = 2
        /// As many requests may wait for the disk at once.
        package var workerCount = 16
        /// The number of queries and scans at once.
        package var readings = ReadGate.Bounds(processorCount: WorkerThread.processorCount)
        package var readingWaitMax = Duration.seconds(Limits.readWaitSecondsMax)
        package var connectionCountMax = Limits.httpConnectionCountMax
        /// Nil stands for no bound but that of all connections.
        ///
        /// Where only this machine reaches the
        /// server there is none in any case, since all may come from one proxy.
        package var addressConnectionCountMax: Int? = Limits.httpAddressConnectionCountMax
        package var quietSecondsMax = Limits.httpQuietSecondsMax
        package var headSecondsMax = Limits.httpQuietSecondsMax
        package var bodiesSizeMax = Limits.httpBodiesSizeMax
        package var waitCountMax = Limits.httpWaitCountMax
        package var queueCountMax = Limits.httpQueueCountMax
        package var counters = ServerCounters()
        package var log: RequestLog?
        /// Bytes of memory for the head of a request, and for parts of its body.
        var connectionSize = 6 * 1024

        package init(host: String, port: UInt16) {
            self.host = host
            self.port = port
        }
    }

    /// The texts of a certificate and its key, in PEM.
    package struct Certificate: Sendable {
        /// With those that vouch for it, in their order.
        package var certificate: String
        package var key: String

        package init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    /// The address and port on which it listens.
    package let address: (host: String, port: Int)
    /// True if only this machine reaches it.
    package let isLoopback: Bool
    /// The number of connections: fewer than requested if the system allows fewer open files.
    package let connectionCountMax: Int
    private let isSecure: Bool
    private let exchanges: Exchanges
    private let daemon: Daemon
    private let lookout: Lookout
    private let isStopped = Mutex(false)

    /// Starts to listen.
    package init(
        _ configuration: Configuration,
        _ handler: any HTTPHandler
    ) throws(ServerError) {
        var configuration = configuration
        try configuration.certificate?.check()
        let files = ListeningSocket.raiseFileLimit() - Self.reservedFileCount
        connectionCountMax = max(64, min(configuration.connectionCountMax, files))
        let listener = try ListeningSocket(host: configuration.host, port: configuration.port)
        address = listener.address
        isLoopback = listener.isLoopback
        if isLoopback { configuration.addressConnectionCountMax = nil }
        isSecure = configuration.certificate != nil
        exchanges = Exchanges(configuration, handler)
        do throws(ServerError) {
            daemon = try Daemon(
                configuration,
                listener,
                connectionCountMax: connectionCountMax,
                exchanges
            )
        } catch {
            exchanges.close()
            throw error
        }
        lookout = Lookout(daemon)
        exchanges.use(lookout)
        exchanges.counters.use { [daemon, exchanges] counters in
            counters.openConnections = daemon.connectionCount
            counters.queued = exchanges.queue.count
            counters.late = exchanges.queue.lateCount
            counters.isSlow = exchanges.queue.isLate
            counters.readingsRunning = exchanges.reads.runningCount
            counters.readingsWaiting = exchanges.reads.waitingCount
        }
    }

    deinit { stop() }

    /// Files that are open for other things than connections.
    private static let reservedFileCount = Limits.openFileCountMax + 64

    /// The address before a path: `http://127.0.0.1:8080`.
    package var url: String {
        let host = address.host.contains(":") ? "[\(address.host)]" : address.host
        return "\(isSecure ? "https" : "http")://\(host):\(address.port)"
    }

    /// Shows another certificate to whoever connects from now on, on a server that has one.
    ///
    /// If it throws, the one before stays.
    package func use(_ certificate: Certificate) throws(ServerError) {
        precondition(isSecure, "only a server with TLS shows certificates")
        try certificate.check()
        try daemon.use(certificate)
    }

    package var counters: ServerCounters.Snapshot { exchanges.counters.snapshot() }

    /// Bytes of bodies that are held for requests and answers under way.
    package var bodiesUnderWay: Int { exchanges.bodiesUnderWay }

    /// Takes nothing new, ends live streams, answers what is under way, and ends.
    ///
    /// Questions and scans are ended, and clients that are slower than `patience` are broken off.
    /// Called again, it does nothing.
    package func stop(patience: Duration = .seconds(Limits.stopSecondsMax)) {
        guard
            isStopped.withLock({ isStopped in
                defer { isStopped = true }
                return !isStopped
            })
        else { return }
        daemon.turnAway()
        exchanges.beginStopping()
        if !exchanges.waitUntilIdle(atMost: patience) {
            daemon.breakOff()
            // Requests that wait for the disk are answered, however long that takes: the
            // library must not end while one is suspended.
            while !exchanges.waitUntilIdle(atMost: .seconds(1)) { daemon.breakOff() }
        }
        exchanges.counters.use(nil)
        lookout.close()
        exchanges.close()
        daemon.stop()
        exchanges.use(nil)
    }
}

extension HTTPServer.Certificate {
    /// Looks at what the library would only call wrong.
    fileprivate func check() throws(ServerError) {
        guard certificate.contains("-----BEGIN CERTIFICATE-----") else {
            throw .certificate("the certificate is not in PEM")
        }
        guard key.contains("PRIVATE KEY-----") else {
            throw .certificate("the key is not in PEM")
        }
        guard !key.contains("ENCRYPTED") else {
            throw .certificate("the key has a password; remove it, and guard the file instead")
        }
    }
}
