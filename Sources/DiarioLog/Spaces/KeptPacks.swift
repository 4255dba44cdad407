import DiarioCore
package import DiarioCrypto
import DiarioFormat
import DiarioFrames
package import DiarioSchema
package import DiarioStorage
import Synchronization

/// The packs of a data directory, kept by fingerprint so that each event can be read for ever: all
/// spaces that adopted one have the same.
package final class KeptPacks: Sendable {
    private let directory: any LogDirectory
    /// Those that were read.
    private let known = Mutex<[Hash32: Pack]>([:])

    /// More than a directory has; beyond it, all are read again.
    private static let knownCountMax = 64

    package init(_ directory: any LogDirectory) { self.directory = directory }

    /// All packs that were kept, whichever spaces adopted them.
    package func all() throws(LogError) -> [Hash32] {
        try storing { () throws(StorageError) in
            try directory.list(LogPaths.packs).compactMap { Hash32(text: $0) }
        }
    }

    /// True if a pack is kept here, and will be after a power cut.
    package func has(_ fingerprint: Hash32) throws(LogError) -> Bool {
        try storing { () throws(StorageError) in
            guard try directory.exists(LogPaths.pack(fingerprint)) else { return false }
            // Its name may be the last thing that a process did before it died.
            try directory.syncDirectory(LogPaths.packs)
            return true
        }
    }

    /// Keeps a pack's files; durable when it returns.
    ///
    /// Does nothing if they are there. The caller holds the directory's lock.
    func keep(_ files: [PackFile], fingerprint: Hash32) throws(LogError) {
        let path = LogPaths.pack(fingerprint)
        try storing { () throws(StorageError) in
            guard try !directory.exists(path) else {
                // Its name may be the last thing that a process did before it died.
                return try directory.syncDirectory(LogPaths.packs)
            }
            if directory.hasFewFiles {
                let bytes = JoinedPack.encoded(files)
                return try Reserve.spending(in: directory) { () throws(StorageError) in
                    try Files.replace(path, with: bytes, in: directory)
                }
            }
            // Filled under another name, so that a folder of that name is always whole.
            let temporaryPath = path + ".new"
            try Reserve.spending(in: directory) { () throws(StorageError) in
                try Files.removeTree(temporaryPath, in: directory)
                for file in files {
                    let filePath = temporaryPath + "/" + file.path
                    try Files.makeDirectoryDurably(LogPaths.parent(of: filePath), in: directory)
                    try Files.replace(filePath, with: file.bytes, in: directory)
                }
            }
            try directory.rename(temporaryPath, to: path)
            try directory.syncDirectory(LogPaths.packs)
        }
    }

    // MARK: Reading

    /// A pack that was kept, which is read once.
    package func pack(_ fingerprint: Hash32) throws(LogError) -> Pack {
        func fault(_ what: String) -> LogError {
            .corrupt(Fault(file: LogPaths.pack(fingerprint), offset: 0, what: what))
        }
        let found: Result<Pack, PackError>
        do throws(LogError) { found = try read(fingerprint) } catch .storage(.notFound) {
            throw fault("the pack is missing")
        }
        switch found {
        case .success(let pack): return pack
        case .failure(let error):
            let problem = error.problems.first?.description ?? "unknown"
            throw fault("the pack cannot be read: \(problem)")
        }
    }

    /// The same; or what this program finds wrong with it.
    func read(_ fingerprint: Hash32) throws(LogError) -> Result<Pack, PackError> {
        if let known = known.withLock({ $0[fingerprint] }) { return .success(known) }
        let files = try files(fingerprint)
        do throws(PackError) {
            let pack = try Pack(files: files)
            known.withLock { known in
                if known.count >= Self.knownCountMax { known.removeAll() }
                known[fingerprint] = pack
            }
            return .success(pack)
        } catch {
            return .failure(error)
        }
    }

    /// The files of a pack that was kept, sorted by path, checked against the fingerprint.
    package func files(_ fingerprint: Hash32) throws(LogError) -> [PackFile] {
        let path = LogPaths.pack(fingerprint)
        let files: [PackFile]
        do throws(StorageError) { files = try folder(path) } catch .notDirectory {
            files = try joined(path)
        } catch {
            throw .storage(error)
        }
        guard Fingerprint.pack(files) == fingerprint else {
            throw .corrupt(
                Fault(
                    file: path,
                    offset: 0,
                    what: "the pack's files are not the adopted ones; put these back, from the "
                        + "folder of the pack or from a backup"
                )
            )
        }
        return files
    }

    private func folder(_ path: String) throws(StorageError) -> [PackFile] {
        var files: [PackFile] = []
        for name in try directory.list(path) {
            if name.contains(".") {
                files.append(try file(name, in: path))
            } else {
                for child in try directory.list(path + "/" + name) {
                    files.append(try file(name + "/" + child, in: path))
                }
            }
        }
        return files
    }

    private func joined(_ path: String) throws(LogError) -> [PackFile] {
        let bytes = try storing { () throws(StorageError) in
            try Files.contents(of: path, in: directory, sizeMax: JoinedPack.sizeMax)
        }
        do throws(FormatError) { return try JoinedPack.read(bytes.span) } catch {
            throw .corrupt(Fault(file: path, offset: error.offset, what: error.message))
        }
    }

    private func file(_ name: String, in path: String) throws(StorageError) -> PackFile {
        PackFile(
            path: name,
            bytes: try Files.contents(
                of: path + "/" + name,
                in: directory,
                sizeMax: Limits.packSizeMax
            )
        )
    }
}
