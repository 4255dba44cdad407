import DiarioStorage
import Synchronization

/// A directory in which something happens at one of the moments of a kind.
final class MeddlingDirectory: LogDirectory {
    private let directory: any LogDirectory
    private let meddling: Meddling

    enum Moment: Sendable {
        /// Right behind a read of a file of the log.
        case read
        /// When somebody is about to take the lock that stands for filling a space.
        case staging
        /// When the manifest of a space is about to be written.
        case manifest
        /// When the file of a segment is about to be made.
        case segment
        /// When a file of the log is about to be synced.
        case sync
    }

    /// Counts down, and then acts once.
    final class Meddling: Sendable {
        private let moment: Moment
        private let rest: Mutex<Int>
        private let act: @Sendable () -> Void

        init(at moment: Moment = .read, _ count: Int, _ act: @escaping @Sendable () -> Void) {
            self.moment = moment
            rest = Mutex(count)
            self.act = act
        }

        func note(_ moment: Moment) {
            guard moment == self.moment else { return }
            let isNow = rest.withLock { rest in
                rest -= 1
                return rest == 0
            }
            if isNow { act() }
        }
    }

    private final class File: LogFile {
        private let file: any LogFile
        private let meddling: Meddling

        init(_ file: any LogFile, _ meddling: Meddling) {
            self.file = file
            self.meddling = meddling
        }

        var identity: FileIdentity? { get throws(StorageError) { try file.identity } }

        var modifiedNanoseconds: Int64? {
            get throws(StorageError) { try file.modifiedNanoseconds }
        }

        func size() throws(StorageError) -> Int64 { try file.size() }

        func read(at offset: Int64, count: Int, into bytes: inout [UInt8]) throws(StorageError) {
            try file.read(at: offset, count: count, into: &bytes)
            meddling.note(.read)
        }

        func write(_ bytes: Span<UInt8>, at offset: Int64) throws(StorageError) {
            try file.write(bytes, at: offset)
        }

        func truncate(to size: Int64) throws(StorageError) { try file.truncate(to: size) }

        func checkName() throws(StorageError) { try file.checkName() }

        func sync() throws(StorageError) {
            meddling.note(.sync)
            try file.sync()
        }
    }

    init(_ directory: any LogDirectory, _ meddling: Meddling) {
        self.directory = directory
        self.meddling = meddling
    }

    var isReadOnly: Bool { directory.isReadOnly }
    var machineID: [UInt8] { directory.machineID }
    var hasFewFiles: Bool { directory.hasFewFiles }

    func open(_ path: String, _ access: FileAccess) throws(StorageError) -> any LogFile {
        if path.hasSuffix(".dseg"), access != .read { meddling.note(.segment) }
        if path.hasSuffix("/manifest.new") { meddling.note(.manifest) }
        let file = try directory.open(path, access)
        return path.hasSuffix(".dwal") ? File(file, meddling) : file
    }

    func exists(_ path: String) throws(StorageError) -> Bool { try directory.exists(path) }

    func list(_ path: String) throws(StorageError) -> [String] { try directory.list(path) }

    func makeDirectory(_ path: String) throws(StorageError) { try directory.makeDirectory(path) }

    func rename(_ old: String, to new: String) throws(StorageError) {
        try directory.rename(old, to: new)
    }

    func remove(_ path: String) throws(StorageError) { try directory.remove(path) }

    func syncDirectory(_ path: String) throws(StorageError) { try directory.syncDirectory(path) }

    func prepare(files count: Int) throws(StorageError) { try directory.prepare(files: count) }

    func lock(_ path: String) throws(StorageError) -> any DirectoryLock {
        if path.hasSuffix("/staging") { meddling.note(.staging) }
        return try directory.lock(path)
    }
}
