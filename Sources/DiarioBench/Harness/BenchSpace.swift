import Diario
import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSchema
import DiarioStorage

/// What the benchmarks ask of a space, with its errors as theirs.
enum BenchSpace {
    /// The packs of a folder, or those that are part of the program.
    static func packs(of folder: String?) throws(BenchError) -> [Pack] {
        try diario { () throws(DiarioError) in
            if let folder { return try PackSource.load(folder: folder) }
            return try PackSource.builtIn()
        }
    }

    static func catalog(of folder: String?) throws(BenchError) -> TypeCatalog {
        let types = try packs(of: folder).flatMap(\.types)
        do throws(PackError) { return try TypeCatalog(types) } catch {
            throw .failed("\(error.problems[0])")
        }
    }

    /// A new space in a folder, with the packs of the workload.
    static func make(_ path: String) throws(BenchError) -> Space {
        let packs = try packs(of: nil)
        return try diario { () throws(DiarioError) in
            try Space.create(at: path, packs: packs)
        }
    }

    /// Records one event, so that the space is not empty.
    static func recordOne(in space: Space) throws(BenchError) {
        let events = try PreparedEvents(WorkloadOptions(eventCount: 1, seed: 0))
        var draft = DraftBatch()
        draft.add(events.lines[0])
        try log { () throws(LogError) in
            _ = try space.store.append(
                Append(space: space.id, content: .batch(draft))
            )
        }
    }

    /// The space of a data directory that has one.
    static func onlySpace(of store: LogStore) throws(BenchError) -> SpaceID {
        let manifests = try log { () throws(LogError) in try store.manifests() }
        guard manifests.count == 1 else { throw .failed("\(manifests.count) spaces are there") }
        return manifests[0].space
    }

    /// The log of a data directory, without a space if it is new.
    static func store(
        at path: String,
        isNew: Bool = false,
        background: LogStore.Background = .thread,
        sizes: LogSizes = .standard
    ) throws(BenchError) -> LogStore {
        let engine = try diario { () throws(DiarioError) in try PackSource.engine() }
        guard let reader = EngineReader(engine.types) else {
            throw .failed("the engine's pack does not say how packs are adopted")
        }
        // Spaces that adopted no pack can be sealed as well.
        let types = engine.types + (try packs(of: nil)).flatMap(\.types)
        let directory: POSIXDirectory
        do throws(StorageError) {
            directory = try POSIXDirectory(
                path: path + "/" + LogPaths.directoryName,
                access: .create
            )
        } catch {
            throw .failed("\(error)")
        }
        return try log { () throws(LogError) in
            if isNew { try LogStore.create(in: directory) }
            return try LogStore(
                directory,
                access: .readWrite,
                time: SystemClock(),
                entropy: SystemEntropy(),
                engine: reader,
                types: types,
                sizes: sizes,
                background: background
            )
        }
    }

    /// Errors of the facade as those of the benchmarks.
    static func diario<Value>(
        _ body: () throws(DiarioError) -> Value
    ) throws(BenchError) -> Value {
        do throws(DiarioError) { return try body() } catch {
            throw .failed(error.message)
        }
    }

    /// Errors of the log as those of the benchmarks.
    static func log<Value>(_ body: () throws(LogError) -> Value) throws(BenchError) -> Value {
        do throws(LogError) { return try body() } catch { throw .failed("\(error)") }
    }
}

/// The frames that lie in a data directory: what commits cost in bytes.
struct FrameCount {
    private(set) var frames = 0
    private(set) var bytes = 0
    /// The number of the last frame.
    private(set) var last: UInt64 = 0
    private let first: UInt64

    /// Counts the frames of the space in the folder at `path` that follow those of an earlier
    /// count, as schema/format/log.md, section 8 lays them out.
    init(of path: String, since earlier: FrameCount? = nil) throws(BenchError) {
        first = (earlier?.last ?? 0) + 1
        do throws(StorageError) {
            let directory = try POSIXDirectory(
                path: path + "/" + LogPaths.directoryName + "/wal",
                access: .read
            )
            for name in try directory.list("") where name.hasSuffix(".dwal") {
                try count(directory.contents(of: name, sizeMax: 1 << 30))
            }
        } catch {
            throw .failed("\(error)")
        }
    }

    private mutating func count(_ file: [UInt8]) {
        var offset = 4096
        while offset + 40 <= file.count, file[offset..<offset + 4].elementsEqual("DFRM".utf8),
            file[offset + 8..<offset + 16] == file[16..<24]
        {
            let body = (0..<4).reduce(0) { $0 | Int(file[offset + 32 + $1]) << (8 * $1) }
            let size = (40 + body + 7) / 8 * 8
            let number = (0..<8).reduce(0) { $0 | UInt64(file[offset + 16 + $1]) << (8 * $1) }
            if number >= first {
                frames += 1
                bytes += size
            }
            last = max(last, number)
            offset += size
        }
    }
}
