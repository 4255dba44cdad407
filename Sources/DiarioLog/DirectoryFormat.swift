import DiarioCore
import DiarioStorage

/// Which version of the format a data directory has, and who may read it.
package struct DirectoryFormat: Equatable, Sendable {
    package static let current = 11
    /// What a directory has once a replica of it changed its id.
    static let parted = 10
    /// What a directory has once others pushed to a space of it.
    static let served = 9
    /// What a directory has once an authority refused events.
    static let refused = 8
    /// What a directory has once a lane of it is sealed.
    static let lanes = 4
    /// What a directory has once a space of it is sealed.
    static let sealed = 2
    /// What a directory has until a space of it is sealed; older programs use it.
    static let first = 1

    /// The version that wrote the directory.
    let version: Int
    /// The oldest version that may read it.
    let readableBy: Int

    var mayBeWritten: Bool { version <= Self.current }

    private static let words = ("diario format ", " readable by ")

    /// Reads the file `format`.
    static func read(in directory: any LogDirectory) throws(LogError) -> DirectoryFormat {
        let bytes: [UInt8]
        do throws(StorageError) {
            bytes = try directory.contents(of: LogPaths.format, sizeMax: 4096)
        } catch {
            switch error {
            case .notFound, .notDirectory:
                // Spaces are made behind it, so it was there.
                guard let spaces = try? directory.list(LogPaths.spaces), !spaces.isEmpty else {
                    throw .notALog
                }
                throw .corrupt(
                    Fault(file: LogPaths.format, offset: 0, what: "the file is missing")
                )
            default: throw .storage(error)
            }
        }
        guard let format = DirectoryFormat(String(decoding: bytes, as: UTF8.self)) else {
            throw .corrupt(
                Fault(file: LogPaths.format, offset: 0, what: "this is not the format's line")
            )
        }
        guard format.readableBy <= current else { throw .newerFormat(version: format.version) }
        return format
    }

    /// The folders that every data directory has, empty or not.
    static let folders = [LogPaths.log, LogPaths.spaces, LogPaths.packs]

    /// Makes an empty data directory, unless there is one.
    static func create(in directory: any LogDirectory) throws(LogError) {
        try storing { () throws(StorageError) in
            guard try !directory.exists(LogPaths.format) else { return }
            for path in folders { try directory.makeDirectoryDurably(path) }
            // Last, because it is what makes the directory one of ours.
            try write(first, in: directory)
        }
    }

    /// Makes sure that the directory survives a power cut with its name: whoever made it may have
    /// died before that.
    ///
    /// The caller holds the directory's lock.
    static func makeLast(in directory: any LogDirectory) throws(LogError) {
        try storing { () throws(StorageError) in
            try directory.open(LogPaths.format, .read).sync()
            try directory.syncDirectory("")
            try directory.syncName()
        }
    }

    /// Says that the directory has what older programs cannot read from now on; durable when it
    /// returns.
    ///
    /// The caller holds the directory's lock.
    static func upgrade(
        to version: Int,
        in directory: any LogDirectory
    ) throws(LogError) {
        let isThere = try read(in: directory).version >= version
        try storing { () throws(StorageError) in
            // Whoever wrote it may have died before its name was on disk.
            if isThere { return try directory.syncDirectory("") }
            try write(version, in: directory)
        }
    }

    static func write(
        _ version: Int,
        in directory: any LogDirectory
    ) throws(StorageError) {
        let line = "\(words.0)\(version)\(words.1)\(version)\n"
        try directory.replace(LogPaths.format, with: Array(line.utf8))
    }

    private init?(_ line: String) {
        guard line.hasPrefix(Self.words.0), line.hasSuffix("\n") else { return nil }
        let rest = line.dropFirst(Self.words.0.count).dropLast()
        guard let space = rest.firstIndex(of: " "), rest[space...].hasPrefix(Self.words.1),
            let version = Int(rest[..<space]), version > 0,
            let readableBy = Int(rest[space...].dropFirst(Self.words.1.count)), readableBy > 0
        else { return nil }
        self.version = version
        self.readableBy = readableBy
    }
}
