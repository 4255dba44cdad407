// What Embedded Swift has not, for a page with one thread.
#if hasFeature(Embedded)
// Sendable because a page has one thread.
/// Stands in for `Synchronization.Mutex`, which Embedded Swift has not.
package struct Mutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    // A class, since Embedded Swift (6.3.1) does not find the `deinit` of a structure of another
    // module.
    private final class Place {
        var value: Value
        init(_ value: consuming Value) { self.value = value }
    }

    private let place: Place

    package init(_ value: consuming sending Value) { place = Place(value) }

    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try body(&place.value)
    }
}

/// The page's clock, which tells the milliseconds since some moment.
@_extern(wasm, module: "diario", name: "elapsed")
@_extern(c)
private func environmentNow() -> Double

/// Stands in for the clock of the standard library.
package enum ContinuousClock {
    package typealias Instant = Duration

    package static var now: Instant { .nanoseconds(Int64(environmentNow() * 1e6)) }
}

extension String {
    /// Stands in for what the standard library has under this name.
    package func replacing(_ part: String, with other: String) -> String {
        let (bytes, part) = (Array(utf8), Array(part.utf8))
        precondition(!part.isEmpty, "there is something to look for")
        var (result, place): ([UInt8], Int) = ([], 0)
        while place < bytes.count {
            if bytes[place...].starts(with: part) {
                result += Array(other.utf8)
                place += part.count
            } else {
                result.append(bytes[place])
                place += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
#endif
