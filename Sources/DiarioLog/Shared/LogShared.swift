import DiarioCore
import DiarioFormat
import DiarioFrames
import DiarioSchema
import DiarioStorage
import Synchronization

/// What the writer and the readers of a log have in common.
final class LogShared: Sendable {
    let directory: any LogDirectory
    let time: any TimeSource
    let entropy: any EntropySource
    let engine: EngineReader
    /// Types whose schemas the program brings along.
    let types: [EventType]
    let sizes: LogSizes
    let files: OpenFiles
    let hashes = Hashes()
    let segments = SegmentShelf()
    let manifests = KnownManifests()
    let packs: KeptPacks
    let sealing = Sealing()
    /// Never held while a file is read or written.
    let index = Mutex(LogIndex())

    init(
        directory: any LogDirectory,
        time: any TimeSource,
        entropy: any EntropySource,
        engine: EngineReader,
        types: [EventType],
        sizes: LogSizes
    ) {
        self.directory = directory
        self.time = time
        self.entropy = entropy
        self.engine = engine
        self.types = types
        self.sizes = sizes
        files = OpenFiles(directory: directory)
        packs = KeptPacks(directory)
    }
}

extension LogShared {
    /// The block of a run, as it is on disk; nil if its file was used again since it was taken up,
    /// or is gone.
    func read(_ run: Run) throws(LogError) -> [UInt8]? {
        try storing { () throws(StorageError) in
            var bytes: [UInt8] = []
            let (offset, count) = (Int(run.offset), Int(run.blockSize))
            return try read(at: offset, count: count, of: UInt64(run.file), into: &bytes)
                ? bytes : nil
        }
    }

    /// Appends bytes of a log file; false if the file was used again since it was taken up, so that
    /// the bytes mean nothing.
    private func read(
        at offset: Int,
        count: Int,
        of number: UInt64,
        into bytes: inout [UInt8]
    ) throws(StorageError) -> Bool {
        let generation = index.withLock { $0.generations[number] }
        var field: [UInt8] = []
        do throws(StorageError) {
            let file = try files.file(.log(number))
            try file.read(at: Int64(offset), count: count, into: &bytes)
            // After the bytes, because the header is written before any frame of a new use.
            try file.read(at: Int64(LogFileHeader.generationOffset), count: 8, into: &field)
        } catch .notFound {
            return false
        }
        guard field.count == 8, field.span.littleEndian(UInt64.self, at: 0) == generation else {
            files.remove(.log(number))
            return false
        }
        return true
    }

    /// The lowest position that can be read here: 1, unless positions were released that no
    /// segment holds.
    func firstReadable(_ space: SpaceID, released: UInt64) throws(LogError) -> UInt64 {
        guard released > 0 else { return 1 }
        var list = segments.known(of: space)?.segments ?? []
        if (list.last?.last ?? 0) < released {
            list = try segments.readLists(of: space, in: directory).segments
        }
        guard let first = list.first, let last = list.last, last.last >= released else {
            return released + 1
        }
        return first.first
    }

    /// A fault if the log, as far as it is known, ends before a position that is sealed.
    func shortFault(of space: SpaceID, sealed end: UInt64) -> Fault? {
        let head = index.withLock { $0[space].head }
        guard head < end else { return nil }
        return Fault(
            file: FramePaths.folder,
            offset: 0,
            what: "the log ends at position \(head), but \(end) are sealed"
        )
    }
}

/// The files that readers have open; the one not used for longest is closed first.
final class OpenFiles: Sendable {
    private struct Entry: Sendable {
        let file: any LogFile
        var lastUse: UInt64
    }

    private struct Table: Sendable {
        var entries: [FileName: Entry] = [:]
        var useCount: UInt64 = 0
    }

    /// A quarter of the bound: read models, manifests and sockets want theirs too.
    private static let countMax = Limits.openFileCountMax / 4

    private let directory: any LogDirectory
    private let table = Mutex(Table())

    init(directory: any LogDirectory) { self.directory = directory }

    var count: Int { table.withLock { $0.entries.count } }

    func removeAll() { table.withLock { $0.entries.removeAll() } }

    func remove(_ name: FileName) { table.withLock { _ = $0.entries.removeValue(forKey: name) } }

    func file(_ name: FileName) throws(StorageError) -> any LogFile {
        let known: (any LogFile)? = table.withLock { table in
            table.useCount += 1
            table.entries[name]?.lastUse = table.useCount
            return table.entries[name]?.file
        }
        if let known { return known }
        let file = try directory.open(name.path, .read)
        table.withLock { table in
            if table.entries.count >= Self.countMax,
                let oldest = table.entries.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                table.entries[oldest.key] = nil
            }
            table.entries[name] = Entry(file: file, lastUse: table.useCount)
        }
        return file
    }
}
