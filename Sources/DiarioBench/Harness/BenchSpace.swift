import Diario
import DiarioCore
import DiarioFormat
import DiarioHost
import DiarioLog
import DiarioSchema
import DiarioStorage

/// What the benchmarks ask of a space.
enum BenchSpace {
    static func packs() throws -> [Pack] { try PackSource.builtIn() }

    static func catalog() throws -> TypeCatalog { try TypeCatalog(packs().flatMap(\.types)) }

    /// A new space in a folder, with the packs of the workload.
    static func make(_ path: String) throws -> Space {
        try Space.create(at: path, packs: packs())
    }

    static func directory(
        _ path: String,
        _ access: POSIXDirectory.Access = .read
    ) throws -> POSIXDirectory {
        try POSIXDirectory(path: path + "/" + LogPaths.directoryName, access: access)
    }

    /// The space of a data directory that has one.
    static func onlySpace(of store: LogStore) throws -> SpaceID {
        let manifests = try store.manifests()
        guard manifests.count == 1 else {
            throw BenchError.failed("\(manifests.count) spaces are there")
        }
        return manifests[0].space
    }

    /// The log of a data directory, without a space if it is new.
    static func store(
        at path: String,
        isNew: Bool = false,
        helper: (any LogHelper)? = LogThreads(),
        sizes: LogSizes = .standard
    ) throws -> LogStore {
        let engine = try PackSource.engine()
        guard let reader = EngineReader(engine.types) else {
            throw BenchError.failed("the engine's pack does not say how packs are adopted")
        }
        let directory = try directory(path, .create)
        if isNew { try LogStore.create(in: directory) }
        return try LogStore(
            directory,
            access: .readWrite,
            time: SystemClock(),
            entropy: SystemEntropy(),
            engine: reader,
            // Spaces that adopted no pack can be sealed as well.
            types: engine.types + packs().flatMap(\.types),
            sizes: sizes,
            helper: helper
        )
    }

    /// Imports lines into a new space in a folder; gives the space, with its types.
    static func importLines(_ lines: String, into path: String) throws -> Space {
        let name = String(lines.split(separator: "/").last ?? "")
        let folder = String(lines.dropLast(name.utf8.count))
        let file = try POSIXDirectory(path: folder, access: .read).open(name, .read)
        return try make(path).importEvents(of: file, as: .lines) { _, _ in }.space
    }

    /// A space of the workload, imported and sealed.
    static func sealed(_ path: String, _ options: WorkloadOptions) throws -> Space {
        let lines = path + "/events.jsonl"
        try options.write(to: lines)
        let space = try importLines(lines, into: path)
        _ = try space.store.seal(space.id, all: true, waitSeconds: 600)
        return space
    }
}

extension Space {
    /// Appends and waits until it is on disk.
    func append(_ content: Append.Content) throws {
        _ = try store.append(Append(space: id, content: content))
    }

    /// Records events of the workload, many of them at once: as batches or as single events.
    func record(_ range: Range<Int>, of events: PreparedEvents, asSingles: Bool) throws {
        let step = Limits.batchCountMax / 2
        for first in stride(from: range.lowerBound, to: range.upperBound, by: step) {
            let draft = events.draft((first..<min(range.upperBound, first + step)))
            try append(asSingles ? .new([draft], .replicaSingly) : .new([draft]))
        }
    }
}
