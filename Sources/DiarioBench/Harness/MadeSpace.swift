import Diario
import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioStorage

/// A data directory with a sealed space of the standard workload, made by other processes, so that
/// what this one is measured by has seen none of it.
struct MadeSpace: Sendable {
    static let childName = "space-make-child"

    /// The folder of the space.
    let path: String
    /// The lines that it was made of.
    var lines: String { path + "/events.jsonl" }

    /// Makes a folder and lets `body` use it; gone when that ends.
    static func with<Value>(
        _ options: WorkloadOptions,
        in scratch: Scratch,
        _ body: (MadeSpace) async throws -> Value
    ) async throws -> Value {
        let library = try PreloadedLibrary.make(in: scratch)
        return try await scratch.withFolder("made") { path in
            let made = MadeSpace(path: path)
            _ = try Child.numbers(
                ["workload"] + options.words + ["--output", made.lines],
                in: scratch
            )
            _ = try Child.numbers([childName, path], preload: library, in: scratch)
            // Else the syncs that are measured would have to write what was made here.
            try Child.runTool("sync", [])
            return try await body(made)
        }
    }

    /// The log of the space, and its id.
    func open() throws -> (LogStore, SpaceID) {
        let store = try BenchSpace.store(at: path, helper: nil)
        return (store, try BenchSpace.onlySpace(of: store))
    }

    /// All segments with their sidecars, in memory.
    func segments() throws -> [SealedSegment] {
        let (store, space) = try open()
        try store.close()
        let directory = try BenchSpace.directory(path)
        let folder = LogPaths.segments(space)
        func contents(_ name: Substring) throws -> [UInt8] {
            try Files.contents(of: "\(folder)/\(name)", in: directory, sizeMax: 1 << 30)
        }
        return try directory.list(folder).sorted().filter { $0.hasSuffix(".dseg") }.map { name in
            let sidecar = name.dropLast("dseg".utf8.count) + "dper"
            return SealedSegment(segment: try contents(name[...]), sidecar: try contents(sidecar))
        }
    }

    // MARK: The other process

    /// Imports the lines that are in a folder into a space there; seals all, and removes at once
    /// the segments that larger ones took the place of.
    static func make(_ arguments: inout Arguments) throws {
        guard let path = arguments.next() else { throw BenchError.usage("where?") }
        try BenchSpace.importLines(path + "/events.jsonl", into: path).close()
        var sizes = LogSizes.standard
        sizes.retirementMilliseconds = 0
        let store = try BenchSpace.store(at: path, helper: nil, sizes: sizes)
        let space = try BenchSpace.onlySpace(of: store)
        // The second time removes what the first one replaced. The thread that sealed while lines
        // were imported may not have ended yet.
        for _ in 0..<2 { _ = try store.seal(space, all: true, waitSeconds: 600) }
        try store.close()
    }
}
