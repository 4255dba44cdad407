/// Tells how much is done, from any thread.
typealias ReportProgress = @Sendable (_ done: UInt64, _ total: UInt64?) -> Void

extension ProgressBar {
    /// Does something that takes its time, and shows how far it has come.
    func follow<Value: Sendable>(
        _ work: @escaping @Sendable (@escaping ReportProgress) async throws -> Value
    ) async throws -> Value {
        let (steps, continuation) = AsyncStream.makeStream(
            of: (UInt64, UInt64?).self,
            bufferingPolicy: .bufferingNewest(1)
        )
        do {
            return try await withThrowingTaskGroup(of: Value.self) { group in
                group.addTask {
                    defer { continuation.finish() }
                    return try await work { continuation.yield(($0, $1)) }
                }
                for await (done, total) in steps { update(done: done, total: total) }
                finish()
                guard let value = try await group.next() else { throw CancellationError() }
                return value
            }
        } catch {
            throw Failure(error)
        }
    }
}
