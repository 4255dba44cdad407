import DiarioCore
import DiarioServer
import Synchronization

/// Bounds what is asked from one address by those who need no token.
final class AddressRates: Sendable {
    private let buckets = Mutex<[UInt64: RateBucket]>([:])

    /// Takes a request out of what its address may ask.
    func take(_ request: HTTPRequest, at now: Timestamp) throws {
        let network = request.peer?.network ?? 0
        let wait = buckets.withLock { buckets in
            // Whoever is forgotten has rested, or there are more than anybody can watch.
            if buckets.count >= Limits.addressCountMax { buckets.removeAll() }
            var bucket =
                buckets[network] ?? RateBucket(perSecond: Limits.addressRequestRateMax, at: now)
            defer { buckets[network] = bucket }
            return bucket.take(1, at: now)
        }
        guard let wait else { return }
        throw Problem(
            .tooFast,
            "More is asked from this address than is answered without a token.",
            retryAfter: wait
        )
    }
}
