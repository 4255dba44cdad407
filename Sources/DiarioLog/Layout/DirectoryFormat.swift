import DiarioCore
import DiarioFrames
import DiarioStorage

/// The file `format`, which says that a folder is a data directory, and in which version.
package enum DirectoryFormat {
    package static let version = 1

    private static let heading = "diario directory "
    /// How the line began in versions before the first release.
    private static let oldHeading = "diario format "

    /// The folders that every data directory has, empty or not.
    static let folders = [FramePaths.folder, LogPaths.spaces, LogPaths.packs]

    /// Checks that this program knows the format of a directory.
    static func check(_ directory: any LogDirectory) throws(LogError) {
        let bytes: [UInt8]
        do throws(StorageError) {
            bytes = try Files.contents(of: LogPaths.format, in: directory, sizeMax: 4096)
        } catch {
            switch error {
            case .notFound, .notDirectory:
                // Spaces are made after it, so it was there.
                guard let spaces = try? directory.list(LogPaths.spaces), !spaces.isEmpty else {
                    throw .notALog
                }
                throw .corrupt(
                    Fault(file: LogPaths.format, offset: 0, what: "the file is missing")
                )
            default: throw .storage(error)
            }
        }
        let line = String(decoding: bytes, as: UTF8.self)
        guard !line.hasPrefix(oldHeading) else { throw .beforeFirstRelease }
        guard line.hasPrefix(heading), line.hasSuffix("\n"),
            let found = Int(line.dropFirst(heading.count).dropLast()), found > 0
        else {
            throw .corrupt(
                Fault(file: LogPaths.format, offset: 0, what: "this is not the format's line")
            )
        }
        guard found == version else { throw .newerFormat(version: found) }
    }

    /// Makes an empty data directory, unless there is one.
    static func create(in directory: any LogDirectory) throws(LogError) {
        try storing { () throws(StorageError) in
            guard try !directory.exists(LogPaths.format) else { return }
            for path in folders { try Files.makeDirectoryDurably(path, in: directory) }
            // Last, because it is what makes the directory one of ours.
            try Files.replace(
                LogPaths.format,
                with: Array("\(heading)\(version)\n".utf8),
                in: directory
            )
        }
    }

    /// Makes sure that the directory survives a power cut with its name: the process that made it
    /// may have died before that.
    ///
    /// The caller holds the directory's lock.
    static func makeDurable(in directory: any LogDirectory) throws(LogError) {
        try storing { () throws(StorageError) in
            try directory.open(LogPaths.format, .read).sync()
            try directory.syncDirectory("")
        }
    }
}
