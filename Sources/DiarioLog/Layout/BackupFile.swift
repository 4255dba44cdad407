package import DiarioCore
import DiarioFrames
package import DiarioStorage

// Says that a data directory is a backup. Specified in schema/format/directory.md, section 9.

/// The content of the file `backup`: nobody has written to the directory since it was made.
package struct BackupFile: Equatable, Sendable {
    static let sizeMax = 4096
    private static let heading = "diario-backup 1"

    /// The moment that the backup shows.
    package let at: Timestamp

    package init(at: Timestamp) { self.at = at }

    package func encoded() -> [UInt8] {
        NamedLines.encode(Self.heading, [("at", "\(at.milliseconds)")])
    }

    /// Nil unless `bytes` are such a file that verifies.
    package init?(_ bytes: [UInt8]) {
        guard let lines = NamedLines.decode(bytes, Self.heading),
            let at = lines["at"].flatMap({ Int64($0) })
        else { return nil }
        self.init(at: Timestamp(milliseconds: at))
    }

    /// Takes the file away, because the directory is about to be written to.
    ///
    /// Whoever copied the backup over the directory that it was made of left the files of that,
    /// with the bytes of the backup. So each replica file becomes another one first, which is not
    /// at home: others may know what was recorded since. And a mark of that directory would tell of
    /// a longer log.
    package static func remove(from directory: any LogDirectory) throws(LogError) {
        guard !directory.isReadOnly else { return }
        try storing { () throws(StorageError) in
            guard try directory.exists(LogPaths.backup) else { return }
            let lock = try directory.lock(LogPaths.lock)
            try lock.acquire(waitSeconds: Limits.lockWaitSecondsMax)
            defer { lock.release() }
            // Another process may have done all of this meanwhile.
            guard try directory.exists(LogPaths.backup) else { return }
            for name in try directory.list(LogPaths.spaces) {
                guard let space = SpaceID(text: name) else { continue }
                let path = LogPaths.replica(space)
                guard try directory.exists(path) else { continue }
                let bytes = try Files.contents(of: path, in: directory, sizeMax: sizeMax)
                try Files.replace(path, with: bytes, in: directory)
            }
            if try directory.exists(FramePaths.syncedMark) {
                try directory.remove(FramePaths.syncedMark)
                try directory.syncDirectory(FramePaths.folder)
            }
            try directory.remove(LogPaths.backup)
            try directory.syncDirectory("")
        }
    }
}
