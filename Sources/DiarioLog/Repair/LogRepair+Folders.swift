import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioSchema
import DiarioStorage
import Synchronization

extension LogRepair {
    /// Mends packs: by the program's own, by a folder that was given, or by the one bit that
    /// changed.
    mutating func mendPacks() throws(LogError) {
        if try !exists(LogPaths.packs) {
            report.found(LogPaths.packs, "the folder of the packs is gone", "it is made anew")
            try storing { () throws(StorageError) in
                try directory.makeDirectoryDurably(LogPaths.packs)
            }
        }
        let names = try storing { () throws(StorageError) in try directory.list(LogPaths.packs) }
        let store = try open(.readOnly)
        defer { try? store.close() }
        let adopted = store.shared.index.withLock { index in
            index.spaces.indices.flatMap { $0.adoptions.map(\.fingerprint) }
        }
        for pack in Set(adopted + names.compactMap { Hash32(text: $0) }).sorted(by: {
            $0.text < $1.text
        }) {
            do throws(LogError) {
                _ = try store.packFiles(pack)
                continue
            } catch {
                switch error {
                case .corrupt, .storage(.notFound), .storage(.notDirectory), .storage(.notFile),
                    .storage(.tooLarge):
                    break
                default: throw error
                }
            }
            let path = LogPaths.pack(pack)
            let what = "the pack's files are not what was adopted"
            let files: [PackFile]
            if let known = packs[pack] {
                report.found(path, what, "the same pack of another folder takes its place")
                files = known
            } else if let mended = try mended(pack, store) {
                report.found(path, what, "a single bit had changed: it is put right")
                files = mended
            } else {
                report.found(path, what, nil)
                report.remarks.append(
                    "a pack: give the folder that it was adopted from, with --schema DIR"
                )
                continue
            }
            try setAside.keepTree(path, because: what)
            try storing { () throws(StorageError) in
                try directory.removeTree(path)
                try directory.syncDirectory(LogPaths.packs)
            }
            try LogStore.keep(files, fingerprint: pack, in: directory)
        }
    }

    /// The files of a pack with the one bit put right that makes them what was adopted.
    private func mended(_ pack: Hash32, _ store: LogStore) throws(LogError) -> [PackFile]? {
        guard var files = try? store.filesAsTheyAre(of: pack),
            files.reduce(0, { $0 + $1.bytes.count }) <= Self.mendedPackSizeMax
        else { return nil }
        for (number, file) in files.enumerated() {
            var bytes = file.bytes
            for bit in 0..<8 * bytes.count {
                bytes[bit / 8] ^= 1 << UInt8(bit % 8)
                files[number] = PackFile(path: file.path, bytes: bytes)
                if Fingerprint.pack(files) == pack { return files }
                bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            }
            files[number] = file
        }
        return nil
    }

    /// Bytes of a pack of which every bit is tried, each with a hash of all of them.
    private static let mendedPackSizeMax = 32 * 1024

    // MARK: Spaces

    /// Makes the folders anew of spaces that the log has events of, and the one around them.
    mutating func mendFolders() throws(LogError) {
        if try !exists(LogPaths.spaces) {
            report.found(LogPaths.spaces, "the folder of the spaces is gone", "it is made anew")
            try storing { () throws(StorageError) in
                try directory.makeDirectoryDurably(LogPaths.spaces)
            }
        }
        let store = try open(.readOnly)
        defer { try? store.close() }
        let used = store.shared.index.withLock { index in
            index.spaces.ids.filter { index[$0].isUsed }
        }
        for space in used {
            let path = LogPaths.space(space)
            let isThere = try exists(path)
            if isThere, try hasPapers(space) { continue }
            let what =
                isThere
                ? "the manifest and the replica file are gone" : "the folder of the space is gone"
            report.found(path, what, "it is made of the log")
            try storing { () throws(StorageError) in try directory.makeDirectoryDurably(path) }
            try drawReplica(space)
        }
    }

    /// Whether a space has one of the files that say what it is, or was removed.
    private func hasPapers(_ space: SpaceID) throws(LogError) -> Bool {
        if try directory.isRemoved(space) { return true }
        if try exists(LogPaths.manifest(space)) { return true }
        return try exists(LogPaths.replica(space))
    }

    /// Lets spaces go on of which the log has nothing, as one of another directory, under another
    /// epoch, which tells that this is known.
    mutating func beginMissing() throws(LogError) {
        let store = try open(.readOnly)
        defer { try? store.close() }
        for manifest in try store.manifests() where !manifest.isStaging {
            let space = manifest.space
            guard try store.isMissing(space) else { continue }
            report.found(
                LogPaths.log,
                "the log has nothing of space \(space.text)",
                "the space goes on without events"
            )
            report.remarks.append(
                "the events of space \(space.text): nobody knows how many there were"
            )
            let now = time.now
            try change(space) { $0.beginEpoch(at: now) }
        }
    }
}
