#if hasFeature(Embedded)
import CWeb
package import DiarioStorage

/// A slot that the worker opened, under its number.
package final class PageSlot: LogFile {
    private let number: Int32

    /// EIO: a browser says no more than that it failed.
    private static let code: Int32 = 5

    package init(_ number: Int32) { self.number = number }

    private var path: String { "the slot \(number)" }

    package func size() throws(StorageError) -> Int64 {
        let size = diario_web_size(number)
        guard size >= 0 else { throw .failed(.stat, path, code: Self.code) }
        return Int64(size)
    }

    package func read(
        at offset: Int64,
        count: Int,
        into bytes: inout [UInt8]
    ) throws(StorageError) {
        guard count > 0 else { return }
        var found: Int32 = 0
        bytes.append(addingCapacity: count) { (space: inout OutputSpan<UInt8>) in
            // Safe: there is room for `count` bytes, and no more are written.
            unsafe space.withUnsafeMutableBufferPointer { target, size in
                found = unsafe diario_web_read(
                    number,
                    target.baseAddress,
                    Int32(count),
                    Double(offset)
                )
                size = max(0, Int(found))
            }
        }
        guard found >= 0 else { throw .failed(.read, path, code: Self.code) }
    }

    package func write(_ bytes: Span<UInt8>, at offset: Int64) throws(StorageError) {
        guard !bytes.isEmpty else { return }
        // Safe: the worker reads the bytes and keeps nothing.
        let written = unsafe bytes.withUnsafeBytes { bytes in
            unsafe diario_web_write(
                number,
                bytes.baseAddress,
                Int32(bytes.count),
                Double(offset)
            )
        }
        guard written >= 0 else { throw .failed(.write, path, code: Self.code) }
        guard Int(written) == bytes.count else { throw .full(path) }
    }

    package func truncate(to size: Int64) throws(StorageError) {
        guard diario_web_truncate(number, Double(size)) >= 0 else { throw .full(path) }
    }

    package func sync() throws(StorageError) {
        guard diario_web_flush(number) >= 0 else {
            throw .failed(.sync, path, code: Self.code)
        }
    }

    package let identity: FileIdentity? = nil
    package let modifiedNanoseconds: Int64? = nil
    package func checkName() throws(StorageError) {}
}
#endif
