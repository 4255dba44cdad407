package import DiarioCore
package import DiarioStorage

/// An error of reading or writing frames.
package enum FrameError: Error, Equatable, Sendable {
    case storage(StorageError)
    /// The content of a frame breaks a rule of the format.
    case damaged(Fault)
    /// Two syncs failed in a row, so nothing more is taken until the log is opened again.
    case stopped(StorageError)
    /// More bytes than a frame may have.
    case tooLarge(byteCount: Int, byteCountMax: Int)
}

/// Runs storage calls and turns their errors into ours.
func storing<Result: ~Copyable>(
    _ body: () throws(StorageError) -> Result
) throws(FrameError) -> Result {
    do { return try body() } catch { throw .storage(error) }
}
