import DiarioCore
package import DiarioCrypto
import DiarioFormat
import DiarioFrames
package import DiarioSchema
package import DiarioStorage

// Packs that spaces adopted are kept by fingerprint, so that each event can be read for ever.

extension LogStore {
    /// Keeps a pack's files; durable when it returns.
    ///
    /// Does nothing if they are there.
    package func keep(_ files: [PackFile], fingerprint: Hash32) throws(LogError) {
        // Under the lock, or two processes that adopt one pack would fill one folder, and each
        // would remove what the other put there.
        try withWriter { (writer) throws(LogError) in
            try Self.keep(files, fingerprint: fingerprint, in: shared.directory)
        }
    }

    /// The same; the caller holds the directory's lock.
    static func keep(
        _ files: [PackFile],
        fingerprint: Hash32,
        in directory: any LogDirectory
    ) throws(LogError) {
        let path = LogPaths.pack(fingerprint)
        try storing { () throws(StorageError) in
            guard try !directory.exists(path) else {
                // Its name may be the last thing that a process did before it died.
                return try directory.syncDirectory(LogPaths.packs)
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

    /// All packs that were kept, whichever spaces adopted them.
    package func packs() throws(LogError) -> [Hash32] {
        let directory = shared.directory
        return try storing { () throws(StorageError) in
            try directory.list(LogPaths.packs).compactMap { Hash32(text: $0) }
        }
    }

    /// True if a pack is kept here, and will be after a power cut.
    package func hasPack(_ fingerprint: Hash32) throws(LogError) -> Bool {
        try storing { () throws(StorageError) in
            guard try shared.directory.exists(LogPaths.pack(fingerprint)) else { return false }
            // Its name may be the last thing that a process did before it died.
            try shared.directory.syncDirectory(LogPaths.packs)
            return true
        }
    }

    /// The files of a pack that was kept, sorted by path, checked against the fingerprint.
    package func packFiles(_ fingerprint: Hash32) throws(LogError) -> [PackFile] {
        try Self.packFiles(fingerprint, in: shared.directory)
    }

    /// The same, of a data directory whose log need not be open.
    package static func packFiles(
        _ fingerprint: Hash32,
        in directory: any LogDirectory
    ) throws(LogError) -> [PackFile] {
        let path = LogPaths.pack(fingerprint)
        let files = try filesAsTheyAre(path, in: directory)
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

    /// The files of a pack, whether they are what was adopted or not.
    func filesAsTheyAre(of pack: Hash32) throws(LogError) -> [PackFile] {
        try Self.filesAsTheyAre(LogPaths.pack(pack), in: shared.directory)
    }

    private static func filesAsTheyAre(
        _ path: String,
        in directory: any LogDirectory
    ) throws(LogError) -> [PackFile] {
        try storing { () throws(StorageError) in
            var files: [PackFile] = []
            for name in try directory.list(path) {
                if name.contains(".") {
                    files.append(try packFile(name, in: path, of: directory))
                } else {
                    for child in try directory.list(path + "/" + name) {
                        files.append(try packFile(name + "/" + child, in: path, of: directory))
                    }
                }
            }
            return files
        }
    }

    private static func packFile(
        _ name: String,
        in path: String,
        of directory: any LogDirectory
    ) throws(StorageError) -> PackFile {
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
