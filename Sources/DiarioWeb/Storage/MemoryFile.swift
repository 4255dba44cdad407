import DiarioCore
import DiarioStorage
import Synchronization

/// A file in memory, for a directory that is needed for a moment.
final class MemoryFile: LogFile {
    private let bytes = Mutex<[UInt8]>([])

    func size() throws(StorageError) -> Int64 { bytes.withLock { Int64($0.count) } }

    func read(at offset: Int64, count: Int, into output: inout [UInt8]) throws(StorageError) {
        output += bytes.withLock { bytes in
            let start = min(Int(clamping: offset), bytes.count)
            return Array(bytes[start..<min(start + max(count, 0), bytes.count)])
        }
    }

    func write(_ new: Span<UInt8>, at offset: Int64) throws(StorageError) {
        var copy: [UInt8] = []
        copy.reserveCapacity(new.count)
        for index in new.indices { copy.append(new[index]) }
        bytes.withLock { bytes in
            let start = Int(offset)
            if bytes.count < start { bytes += repeatElement(0, count: start - bytes.count) }
            bytes.replaceSubrange(start..<min(start + copy.count, bytes.count), with: copy)
        }
    }

    func truncate(to size: Int64) throws(StorageError) {
        bytes.withLock { bytes in
            if bytes.count > size { bytes.removeLast(bytes.count - Int(size)) }
            bytes += repeatElement(0, count: Int(size) - bytes.count)
        }
    }

    func sync() throws(StorageError) {}
    let identity: FileIdentity? = nil
    let modifiedNanoseconds: Int64? = nil
    func checkName() throws(StorageError) {}
}
