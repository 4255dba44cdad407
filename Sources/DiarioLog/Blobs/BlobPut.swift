import DiarioCore
package import DiarioFormat
import DiarioStorage

/// A blob that is being written: nobody sees it before `finish`, and nothing is left of it without.
///
/// Used by one thread at a time.
package final class BlobPut {
    /// Nil of a public blob.
    package let key: BlobKey?
    private let directory: any LogDirectory
    /// Says that the temporary file is not left from a program that ended.
    private let lock: any DirectoryLock
    private let path: String
    private let file: any LogFile
    private let writer: BlobWriter
    private var output: [UInt8] = []
    private var offset: Int64 = 0
    private var isFinished = false

    init(in directory: any LogDirectory, key: BlobKey?, sizeMax: Int64) throws(LogError) {
        self.directory = directory
        self.key = key
        do throws(BlobError) { writer = try BlobWriter(key: key, sizeMax: sizeMax) } catch {
            throw .blob(error)
        }
        let place = try storing { () throws(StorageError) in try Self.place(in: directory) }
        lock = place.lock
        path = place.path
        do throws(StorageError) {
            file = try directory.open(path, .create)
            try file.truncate(to: 0)
        } catch {
            place.lock.release()
            throw .storage(error)
        }
    }

    deinit {
        // What cannot be removed now, the next program that opens the directory removes.
        if !isFinished { try? directory.remove(path) }
        lock.release()
    }

    /// The first place that no other program writes to.
    private static func place(
        in directory: any LogDirectory
    ) throws(StorageError) -> (lock: any DirectoryLock, path: String) {
        try Files.makeDirectoryDurably(LogPaths.blobs, in: directory)
        for number in 0..<BlobStore.putCountMax {
            let path = LogPaths.blobPut(number)
            let lock = try directory.lock(path)
            if try Files.tryAcquire(lock) { return (lock, path + ".new") }
        }
        let path = LogPaths.blobPut(0)
        return (try Files.acquire(path, in: directory), path + ".new")
    }

    /// Takes the next plain bytes.
    package func write(_ bytes: Span<UInt8>) throws(LogError) {
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + BlobStore.pieceSize)
            do throws(BlobError) {
                try writer.write(bytes.extracting(start..<end), into: &output)
            } catch {
                throw .blob(error)
            }
            try flush()
            start = end
        }
    }

    /// Ends the blob: its stored bytes survive a power cut when this returns.
    package func finish() throws(LogError) -> WrittenBlob {
        precondition(!isFinished, "a blob ends once")
        let blob: WrittenBlob
        do throws(BlobError) { blob = try writer.finish(into: &output) } catch {
            throw .blob(error)
        }
        try flush()
        do throws(StorageError) {
            // Before it has its name, which says that the bytes are there.
            try file.sync()
            try directory.rename(path, to: LogPaths.blob(blob.id))
            isFinished = true
            try BlobStore.forgetDamage(of: blob.id, in: directory)
            try directory.syncDirectory(LogPaths.blobs)
        } catch {
            throw .storage(error)
        }
        return blob
    }

    private func flush() throws(LogError) {
        var bytes: [UInt8] = []
        swap(&bytes, &output)
        do throws(StorageError) { try file.write(bytes.span, at: offset) } catch {
            throw .storage(error)
        }
        offset += Int64(bytes.count)
        bytes.removeAll(keepingCapacity: true)
        swap(&bytes, &output)
    }
}
