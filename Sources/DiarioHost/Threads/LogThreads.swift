package import DiarioLog
import DiarioStorage
import Synchronization

/// The threads of an open log, which seal and hash while no call is running.
package final class LogThreads: LogHelper {
    private let log = WeakReference<LogStore>()
    /// Hashing has time until somebody asks for the root, so whoever appends goes before it.
    private let hasher: CalledThread
    /// Nobody waits for it, and those who write must not wait because of it.
    private let sealer: CalledThread
    /// Seals along with it while the log holds too much: sealing a few events of a space is mostly
    /// waiting for locks and syncs.
    private let reliever: CalledThread

    package init() {
        let log = log
        hasher = CalledThread(name: "diario-hash", urgency: .low) { _ in
            guard let store = log.object else { return false }
            store.hashDue()
            return true
        }
        sealer = CalledThread(name: "diario-seal", urgency: .low) { wake in
            // The log itself is not kept alive while its thread waits.
            if let delay = log.object?.sealDelay, delay > 0 {
                wake.wait(nanosecondsMax: delay * 1_000_000)
            }
            return log.object?.sealDue() ?? false
        }
        reliever = CalledThread(name: "diario-relieve", urgency: .low) { _ in
            log.object?.sealDue() ?? false
        }
    }

    package func begin(_ log: LogStore) { self.log.object = log }

    package func hashSoon() { hasher.call() }

    package func sealSoon() {
        sealer.call()
        if log.object?.sealDelay == 0 { reliever.call() }
    }

    /// Never for long: what is asked for is done already.
    package func pace() {
        guard log.object?.isBehindWithSealing == true else { return }
        let moment = Signal()
        for _ in 0..<Self.paceCount {
            moment.wait(nanosecondsMax: Self.paceNanoseconds)
            guard log.object?.isBehindWithSealing == true else { return }
        }
    }

    private static let paceCount = 20
    private static let paceNanoseconds: Int64 = 2_000_000

    package func end() {
        sealer.finish()
        reliever.finish()
    }
}

/// Leads a thread to what it works for, and does not keep that alive.
final class WeakReference<Object: AnyObject & Sendable>: Sendable {
    private let reference = Mutex(Reference())

    private struct Reference: Sendable {
        weak var object: Object?
    }

    var object: Object? {
        get { reference.withLock { $0.object } }
        set { reference.withLock { $0.object = newValue } }
    }
}
