import Diario
import DiarioFormat
import DiarioSync
import DiarioTransport
import Synchronization

/// Carries messages over HTTP and notes what they are.
struct WatchedTransport: Transport {
    struct Seen: Sendable {
        var pushes = 0
        var pulls = 0
        var refusals = 0
        /// Batches that the server did not accept.
        var rejected = 0
        /// Bytes of messages alone.
        var bytesSent = 0
        var bytesReceived = 0
    }

    private let carrier: HTTPTransport
    private let notes = Notes()

    private final class Notes: Sendable {
        let seen = Mutex(Seen())
    }

    init(_ carrier: HTTPTransport) { self.carrier = carrier }

    var seen: Seen { notes.seen.withLock { $0 } }

    var traffic: TransportTraffic? { carrier.traffic }

    func exchange(_ request: [UInt8]) async throws -> [UInt8] {
        let answer = try await carrier.exchange(request)
        let asked = try SyncMessage(request.span)
        let said = try SyncMessage(answer.span)
        notes.seen.withLock { seen in
            seen.bytesSent += request.count
            seen.bytesReceived += answer.count
            switch asked {
            case .push: seen.pushes += 1
            case .pull: seen.pulls += 1
            default: break
            }
            switch said {
            case .refusal: seen.refusals += 1
            case .verdicts(let verdicts): seen.rejected += verdicts.list.count { !$0.isAccepted }
            default: break
            }
        }
        return answer
    }
}

extension Verdict {
    fileprivate var isAccepted: Bool { if case .accepted = kind { true } else { false } }
}
