// A backup is made of files that have two names, which the page has not.
#if !hasFeature(Embedded)
package import DiarioCore
package import DiarioCrypto
import DiarioFrames
package import DiarioStorage

// A backup that is made beside programs that write: schema/format/directory.md, section 9.

/// Copies a data directory into a folder of backups, as it is at one moment.
///
/// What never changes is copied first, while others write. The rest is copied under the lock of
/// the directory, so it is kept small. All is done in a folder `.diario.backup`, which takes the
/// place of the `.diario` before it at the end; what was broken off is gone on with by the next.
package struct DirectoryBackup {
    /// What a folder holds before something is backed up to it.
    package enum Place: Hashable, Sendable {
        case empty
        /// A backup that nobody has written to.
        case backup
        /// A diary in use, or a backup that was restored where it lies.
        case other
    }

    package static let stagingName = LogPaths.directoryName + ".backup"
    private static let replacedName = LogPaths.directoryName + ".old"
    private static let lockName = stagingName + ".lock"
    /// When no more than this is left, it is copied under the lock.
    private static let restSizeMax = 4 * 1024 * 1024
    /// On a directory that is written to all the time the rest does not get smaller for ever.
    private static let passCountMax = 4

    private let source: any LogDirectory
    private let target: POSIXDirectory
    /// Whether the target holds a backup already.
    package let hasPrevious: Bool
    /// Keeps others from writing to the target.
    private let targetLock: any DirectoryLock
    /// Keeps others from writing to the source; nil where nobody can.
    private let sourceLock: (any DirectoryLock)?
    /// What each file was when it was copied.
    private var copied: [String: Seen] = [:]
    private var unsynced: Set<String> = []
    /// Files that no backup has been published with as they are.
    private var fresh: Set<String> = []
    private var wanted: Set<String> = []
    /// Folders that the copy has even if nothing is in them.
    private var folders: Set<String> = []

    /// Bytes that were copied.
    package private(set) var copiedSize = 0
    /// Bytes that the backup before had already.
    package private(set) var keptSize = 0

    /// What tells whether a file is still the one that was copied.
    private enum Seen: Equatable {
        /// The length as well: a file that is still being written has its name already.
        case file(FileIdentity, size: Int64)
        case log([UInt8])
    }

    package static func place(_ target: POSIXDirectory) throws(LogError) -> Place {
        try storing { () throws(StorageError) in
            guard try target.exists(LogPaths.directoryName) else { return .empty }
            let mark = LogPaths.directoryName + "/" + LogPaths.backup
            guard try target.exists(mark) else { return .other }
            return BackupFile(try Files.contents(of: mark, in: target, sizeMax: BackupFile.sizeMax))
                == nil
                ? .other : .backup
        }
    }

    /// Begins a backup, for which the target must be empty or a backup.
    ///
    /// - Throws: `.storage(.locked)` if another program makes a backup there.
    package init(of source: any LogDirectory, to target: POSIXDirectory) throws(LogError) {
        self.source = source
        self.target = target
        targetLock = try storing { () throws(StorageError) in
            let lock = try target.lock(Self.lockName)
            try lock.acquire(waitSeconds: 0)
            return lock
        }
        sourceLock = try storing { () throws(StorageError) in
            source.isReadOnly ? nil : try source.lock(LogPaths.lock)
        }
        try storing { () throws(StorageError) in
            // Where two names cannot be exchanged, a crash may have left the old one alone.
            if try !target.exists(LogPaths.directoryName), try target.exists(Self.replacedName) {
                try target.rename(Self.replacedName, to: LogPaths.directoryName)
            }
            try target.makeDirectory(Self.stagingName)
        }
        let place = try Self.place(target)
        precondition(place != .other, "a diary in use is never replaced by a backup")
        hasPrevious = place == .backup
    }

    // MARK: Copying

    /// Copies what never changes while others write; may be left out.
    package mutating func copyAhead(_ progress: (Int, Int) -> Void) throws(LogError) {
        for _ in 0..<Self.passCountMax {
            let before = copiedSize
            try copyAll(isHeld: false, progress)
            guard copiedSize - before > Self.restSizeMax else { return }
        }
    }

    /// Keeps everybody else from writing, runs `body`, and copies all that is not copied yet.
    ///
    /// `body` is given the folder in which the backup is made.
    package mutating func copyRest<Failure>(
        wrapping: (LogError) -> Failure,
        _ body: (_ folder: String) throws(Failure) -> Void
    ) throws(Failure) {
        let folder = target.fullPath(Self.stagingName)
        do throws(LogError) {
            try storing { () throws(StorageError) in
                try sourceLock?.acquire(waitSeconds: Limits.lockWaitSecondsMax)
            }
        } catch {
            throw wrapping(error)
        }
        defer { sourceLock?.release() }
        try body(folder)
        do throws(LogError) { try copyAll(isHeld: true) { _, _ in } } catch {
            throw wrapping(error)
        }
    }

    private mutating func copyAll(
        isHeld: Bool,
        _ progress: (Int, Int) -> Void
    ) throws(LogError) {
        do throws(StorageError) {
            let listing = try BackupListing(of: source)
            let files = listing.files
            folders = Set(listing.folders)
            for folder in listing.folders {
                try target.makeDirectory(Self.stagingName + "/" + folder)
            }
            var total = 0
            if !isHeld {
                for file in files where copied[file.path] == nil {
                    total += try size(of: file)
                }
            }
            var done = 0
            wanted = Set(files.map { $0.path })
            for file in files {
                try copy(file, isHeld: isHeld) { count in
                    done += count
                    progress(done, max(done, total))
                }
            }
        } catch {
            throw .storage(error)
        }
    }

    private func size(of file: BackupListing.File) throws(StorageError) -> Int {
        do throws(StorageError) {
            return Int(try source.open(file.path, .read).size())
        } catch .notFound {
            return 0
        }
    }

    private mutating func copy(
        _ file: BackupListing.File,
        isHeld: Bool,
        _ progress: (Int) -> Void
    ) throws(StorageError) {
        let opened: any LogFile
        do throws(StorageError) { opened = try source.open(file.path, .read) } catch .notFound {
            // Removed since it was listed, because nobody needs it any more.
            wanted.remove(file.path)
            return
        }
        let seen: Seen?
        switch file.kind {
        case .fixed, .secret:
            let size = try opened.size()
            seen = try opened.identity.map { .file($0, size: size) }
        case .log(let isNewest): seen = isNewest ? nil : .log(try Self.header(of: opened))
        case .growing: seen = nil
        }
        guard seen != nil || isHeld else { return }
        if let seen, copied[file.path] == seen { return }
        // What is not on the disk yet must not be in the backup alone.
        if case .log(isNewest: true) = file.kind { try opened.sync() }
        if try keepsOld(file, opened, progress) == false {
            try write(opened, to: file, progress)
        }
        if case .log = file.kind, let seen, seen != .log(try Self.header(of: opened)) {
            // It was used again meanwhile, and comes up as another one.
            copied[file.path] = nil
        } else {
            copied[file.path] = seen
        }
    }

    private static func header(of file: any LogFile) throws(StorageError) -> [UInt8] {
        var bytes: [UInt8] = []
        try file.read(at: 0, count: LogFileHeader.size, into: &bytes)
        return bytes
    }

    /// Takes over what an earlier backup has of a file; false if that is not the same.
    private mutating func keepsOld(
        _ file: BackupListing.File,
        _ opened: any LogFile,
        _ progress: (Int) -> Void
    ) throws(StorageError) -> Bool {
        guard case .fixed = file.kind else { return false }
        let path = Self.stagingName + "/" + file.path
        let size = Int(try opened.size())
        if try isSame(path, opened, size) {
            keptSize += size
            progress(size)
            // One that was broken off may not have come to that.
            unsynced.insert(file.path)
            fresh.insert(file.path)
            return true
        }
        let old = LogPaths.directoryName + "/" + file.path
        guard hasPrevious, try isSame(old, opened, size) else { return false }
        try target.makeDirectory(LogPaths.parent(of: path))
        try Files.removeTree(path, in: target)
        guard try target.addName(path, to: old) else { return false }
        fresh.remove(file.path)
        keptSize += size
        progress(size)
        return true
    }

    private func isSame(
        _ path: String,
        _ opened: any LogFile,
        _ size: Int
    ) throws(StorageError) -> Bool {
        let other: any LogFile
        do throws(StorageError) { other = try target.open(path, .read) } catch .notFound {
            return false
        }
        guard try other.size() == size else { return false }
        var (ours, theirs): ([UInt8], [UInt8]) = ([], [])
        var offset = 0
        while offset < size {
            ours.removeAll(keepingCapacity: true)
            theirs.removeAll(keepingCapacity: true)
            let count = min(Limits.copiedPartSizeMax, size - offset)
            try opened.read(at: Int64(offset), count: count, into: &ours)
            try other.read(at: Int64(offset), count: count, into: &theirs)
            guard ours == theirs, ours.count == count else { return false }
            offset += count
        }
        return true
    }

    private mutating func write(
        _ opened: any LogFile,
        to file: BackupListing.File,
        _ progress: (Int) -> Void
    ) throws(StorageError) {
        let path = Self.stagingName + "/" + file.path
        let part = path + ".part"
        try target.makeDirectory(LogPaths.parent(of: path))
        try Files.removeTree(part, in: target)
        let copy = try target.open(part, file.kind == .secret ? .createPrivate : .createNew)
        let size = Int(try opened.size())
        var bytes: [UInt8] = []
        var offset = 0
        while offset < size {
            bytes.removeAll(keepingCapacity: true)
            let count = min(Limits.copiedPartSizeMax, size - offset)
            try opened.read(at: Int64(offset), count: count, into: &bytes)
            // Shorter than it was: whoever cut it makes it a file that is copied once more.
            guard !bytes.isEmpty else { break }
            try copy.write(bytes.span, at: Int64(offset))
            offset += bytes.count
            progress(bytes.count)
        }
        try target.rename(part, to: path)
        unsynced.insert(file.path)
        fresh.insert(file.path)
        copiedSize += offset
    }

    // MARK: The end

    /// A blob whose bytes are damaged at the source.
    package struct DamagedBlob: Sendable {
        package let id: Hash32
        /// Whether the backup has right ones all the same, as the one before had.
        package let isKept: Bool
    }

    /// Leaves damaged blobs out, once all is copied; in place of each comes that of the backup
    /// before, if it is whole.
    ///
    /// At the source such bytes lose their name, so that the next sync brings right ones.
    package mutating func mendBlobs(
        drawing entropy: any EntropySource
    ) throws(LogError) -> [DamagedBlob] {
        let blobs = BlobStore(in: source, entropy: entropy, isReadOnly: source.isReadOnly)
        var damaged: [DamagedBlob] = []
        // Some may have lost their names since they were listed.
        let aside = try blobs.damaged().map { LogPaths.damagedBlob($0) }
        for path in wanted.union(aside).sorted() {
            let name = String(path.dropFirst(LogPaths.blobs.utf8.count + 1))
            guard path.hasPrefix(LogPaths.blobs + "/") else { continue }
            if let id = LogPaths.damagedBlob(name) {
                // Right bytes came to the source meanwhile, or again.
                if wanted.contains(LogPaths.blob(id)) {
                    wanted.remove(path)
                    continue
                }
                damaged.append(try mend(id, from: path))
            } else if let id = Hash32(text: name), isFresh(path),
                try !isWhole(id, in: Self.stagingName)
            {
                guard try blobs.findWhole(id) == nil else {
                    throw .corrupt(BlobStore.fault(of: id, in: path))
                }
                damaged.append(try mend(id, from: path))
            }
        }
        return damaged
    }

    /// The bytes at `path` of the copy are damaged ones of a blob.
    private mutating func mend(_ id: Hash32, from path: String) throws(LogError) -> DamagedBlob {
        let (right, wrong) = (LogPaths.blob(id), LogPaths.damagedBlob(id))
        let isKept = hasPrevious ? try isWhole(id, in: LogPaths.directoryName) : false
        wanted.remove(path)
        wanted.insert(isKept ? right : wrong)
        do throws(StorageError) {
            let root = Self.stagingName + "/"
            if isKept {
                let old = LogPaths.directoryName + "/" + right
                try Files.removeTree(root + right, in: target)
                if try !target.addName(root + right, to: old) {
                    let file = BackupListing.File(path: right, kind: .fixed)
                    try write(try target.open(old, .read), to: file) { _ in }
                }
            } else if path == right {
                try target.rename(root + right, to: root + wrong)
                unsynced.insert(wrong)
            } else if try !target.exists(root + wrong) {
                wanted.remove(wrong)
            }
        } catch {
            throw .storage(error)
        }
        return DamagedBlob(id: id, isKept: isKept)
    }

    private func isWhole(_ id: Hash32, in folder: String) throws(LogError) -> Bool {
        let path = folder + "/" + LogPaths.blob(id)
        let stored = try storing { () throws(StorageError) -> StoredBlob? in
            guard try target.exists(path) else { return nil }
            let file = try target.open(path, .read)
            return StoredBlob(file, id: id, size: try file.size())
        }
        return try stored?.matchesID() ?? false
    }

    /// Whether a file is another one than the backup before has, so that nobody has checked it.
    package func isFresh(_ path: String) -> Bool { fresh.contains(path) }

    /// The file of this name in the backup before, from `/` on; nil if that has none.
    package func older(_ path: String) throws(LogError) -> String? {
        let old = LogPaths.directoryName + "/" + path
        return try storing { () throws(StorageError) in
            guard hasPrevious, try target.exists(old) else { return nil }
            return target.fullPath(old)
        }
    }

    /// Checks that nothing is missing of what was copied, and gives the folder that has it.
    ///
    /// Files of these names were put there by others and belong to it.
    package func checked(with others: [String] = []) throws(LogError) -> POSIXDirectory {
        // First: what an earlier attempt left may look like what is missing.
        try storing { () throws(StorageError) in try tidy(with: others) }
        let made = try storing { () throws(StorageError) in
            try POSIXDirectory(path: target.fullPath(Self.stagingName), access: .read)
        }
        for path in wanted.sorted() where path.hasSuffix("/manifest") {
            let bytes = try storing { () throws(StorageError) in
                try Files.contents(of: path, in: made, sizeMax: Manifest.sizeMax)
            }
            guard let manifest = Manifest(bytes.span) else {
                throw .corrupt(Fault(file: path, offset: 0, what: "the manifest does not verify"))
            }
            for entry in manifest.segments + manifest.lanes {
                let files = [
                    (LogPaths.segment(entry.name, of: manifest.space), entry.segmentSize),
                    (LogPaths.sidecar(entry.name, of: manifest.space), entry.sidecarSize),
                ]
                for (file, size) in files {
                    let found = try storing { () throws(StorageError) -> Int? in
                        guard wanted.contains(file) else { return nil }
                        return Int(try made.open(file, .read).size())
                    }
                    guard found == size else {
                        let what = found == nil ? "the file is not there" : "the length is wrong"
                        throw .corrupt(Fault(file: file, offset: 0, what: what))
                    }
                }
            }
        }
        return made
    }

    /// Lets the backup take the place of the one before; durable when it returns.
    ///
    /// Files of these names were put there by others and belong to it.
    package mutating func publish(with others: [String], at now: Timestamp) throws(LogError) {
        do throws(StorageError) {
            let mark = Self.stagingName + "/" + LogPaths.backup
            try Files.replace(mark, with: BackupFile(at: now).encoded(), in: target)
            // What an early pass copied may be wanted no more.
            for path in unsynced.intersection(wanted).union(others).sorted() {
                try target.open(Self.stagingName + "/" + path, .read).sync()
            }
            try syncDirectories(Self.stagingName)
            if hasPrevious {
                try exchange()
            } else {
                try target.rename(Self.stagingName, to: LogPaths.directoryName)
            }
            try target.syncDirectory("")
            // What was there before, which now has this name.
            try Files.removeTree(Self.stagingName, in: target)
            try Files.removeTree(Self.replacedName, in: target)
            targetLock.release()
        } catch {
            throw .storage(error)
        }
    }

    private func exchange() throws(StorageError) {
        do throws(StorageError) {
            try target.exchange(Self.stagingName, with: LogPaths.directoryName)
        } catch {
            guard case .failed = error else { throw error }
            try Files.removeTree(Self.replacedName, in: target)
            try target.rename(LogPaths.directoryName, to: Self.replacedName)
            try target.rename(Self.stagingName, to: LogPaths.directoryName)
        }
    }

    /// Removes what an earlier attempt left and this one has no use for.
    private func tidy(with others: [String]) throws(StorageError) {
        let names = wanted.union(others + [LogPaths.backup])
        var folders = folders
        for name in names {
            var folder = LogPaths.parent(of: name)
            while !folder.isEmpty, folders.insert(folder).inserted {
                folder = LogPaths.parent(of: folder)
            }
        }
        try tidy("", keeping: names, in: folders)
    }

    private func tidy(
        _ folder: String,
        keeping names: Set<String>,
        in folders: Set<String>
    ) throws(StorageError) {
        let root = Self.stagingName
        for name in try target.list(folder.isEmpty ? root : root + "/" + folder) {
            let path = folder.isEmpty ? name : folder + "/" + name
            if names.contains(path) { continue }
            if folders.contains(path) {
                try tidy(path, keeping: names, in: folders)
            } else {
                try Files.removeTree(root + "/" + path, in: target)
            }
        }
    }

    private func syncDirectories(_ folder: String) throws(StorageError) {
        for name in try target.list(folder) {
            do throws(StorageError) { try syncDirectories(folder + "/" + name) } catch {
                guard case .notDirectory = error else { throw error }
            }
        }
        try target.syncDirectory(folder)
    }
}
#endif
