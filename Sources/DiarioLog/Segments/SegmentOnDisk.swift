import DiarioCore
import DiarioFormat
import DiarioStorage
import Synchronization

/// A segment, or a sidecar, in a file.
final class SegmentOnDisk: SegmentSource, Sendable {
    /// Keeps why bytes could not be read, which `SegmentError` has no room for.
    final class Failure: Sendable {
        private let error = Mutex<StorageError?>(nil)

        func note(_ new: StorageError) { error.withLock { $0 = new } }
        var value: StorageError? { error.withLock { $0 } }
    }

    let file: any LogFile
    let kind: SegmentFile
    let failure: Failure

    init(file: any LogFile, kind: SegmentFile, failure: Failure) {
        self.file = file
        self.kind = kind
        self.failure = failure
    }

    func read(
        at offset: Int,
        count: Int,
        into bytes: inout [UInt8]
    ) throws(SegmentError) {
        let start = bytes.count
        do throws(StorageError) {
            try file.read(at: Int64(offset), count: count, into: &bytes)
        } catch {
            failure.note(error)
            throw .unreadable(kind, at: offset)
        }
        guard bytes.count == start + count else {
            let end = bytes.count - start
            bytes.removeLast(end)
            throw .unreadable(kind, at: offset + end)
        }
    }
}
