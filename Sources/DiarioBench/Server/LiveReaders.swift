import CBaseline

/// Many connections to one server that wait for what comes, and one that posts.
///
/// A small client in C, so that what is measured is not what reads.
@safe final class LiveReaders {
    // Safe: made by C, used by this object alone, and closed when it ends.
    private let readers: OpaquePointer
    private let count: Int

    private static let milliseconds: Int32 = 30_000

    /// Opens them by `request`, and waits until each was told what there is.
    init(_ count: Int, to port: UInt16, by request: String) throws(BenchError) {
        var error: Int32 = 0
        // Safe: C reads the texts during the call and keeps neither.
        let readers = unsafe baseline_readers_open(
            port,
            request,
            count,
            "upToDate",
            Self.milliseconds,
            &error
        )
        guard let readers = unsafe readers else {
            throw .failed("\(count) readers cannot be opened: error \(-error)")
        }
        unsafe self.readers = readers
        self.count = count
    }

    // Safe: nobody else has the pointer.
    deinit { unsafe baseline_readers_close(readers) }

    /// Posts something, and waits until all streams brought the text `marker`; gives for each the
    /// milliseconds that it took, from the smallest on.
    func post(_ request: String, until marker: String) throws(BenchError) -> [Double] {
        var nanoseconds = [Int64](repeating: 0, count: count)
        // Safe: C writes as many numbers as there are readers, and keeps no pointer.
        let result = unsafe baseline_readers_post(
            readers,
            request,
            marker,
            Self.milliseconds,
            &nanoseconds
        )
        guard result == 0 else { throw .failed("an event did not reach all: error \(-result)") }
        return nanoseconds.map { Double($0) / 1e6 }.sorted()
    }
}
