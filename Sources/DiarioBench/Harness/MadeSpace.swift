import Diario
import DiarioCore
import DiarioLog
import DiarioStorage

/// A data directory with a sealed space of the standard workload, made by other processes, so that
/// what this one is measured by has seen none of it.
struct MadeSpace: Sendable {
    static let childName = "space-make-child"

    /// The folder of the space.
    let path: String
    /// The lines that it was made of.
    let lines: String
    let lineBytes: Int
    /// The last position.
    let head: Int

    /// Makes a folder `name` and lets `body` use it; gone when that ends.
    ///
    /// `library` is `PreloadedLibrary.none`: nobody has to keep what is made.
    static func with<Value>(
        _ options: WorkloadOptions,
        _ origins: SegmentWorkload.Origins = .many,
        name: String = "made",
        library: String,
        in scratch: Scratch,
        _ body: (MadeSpace) async throws(BenchError) -> Value
    ) async throws(BenchError) -> Value {
        try await scratch.withFolder(name) { (folder) throws(BenchError) in
            let lines = folder + "/events.jsonl"
            _ = try Child.numbers(["workload"] + options.words + ["--output", lines], in: scratch)
            let numbers = try Child.numbers(
                [childName, folder, origins.rawValue],
                preload: library,
                in: scratch
            )
            guard numbers.count == 2 else { throw .failed("no space could be made") }
            // Else the syncs that are measured would have to write what was made here.
            try Child.runTool("sync", [])
            return try await body(
                MadeSpace(
                    path: folder,
                    lines: lines,
                    lineBytes: Int(numbers[0]),
                    head: Int(numbers[1])
                )
            )
        }
    }

    /// Lets go of the lines, which take much room.
    func removeLines() throws(BenchError) {
        do throws(StorageError) {
            try POSIXDirectory(path: path, access: .readWrite).remove("events.jsonl")
        } catch {
            throw .failed("\(error)")
        }
    }

    // MARK: The other process

    /// Imports the lines that lie in a folder into a space there, and seals all of it.
    static func make(_ arguments: inout Arguments) throws(BenchError) {
        guard let path = arguments.next(),
            let origins = SegmentWorkload.Origins(rawValue: arguments.next() ?? "")
        else { throw .usage("where, and whose?") }
        let file: any LogFile
        let size: Int
        do throws(StorageError) {
            file = try POSIXDirectory(path: path, access: .read).open("events.jsonl", .read)
            size = try file.size()
        } catch {
            throw .failed("\(error)")
        }
        let space = try BenchSpace.make(path)
        // Into a space that has events already, lines come as new events of its replica.
        if origins == .one { try BenchSpace.recordOne(in: space) }
        try BenchSpace.diario { () throws(DiarioError) in
            try space.importLines(of: file) { _, _ in }.space.close()
        }
        let head = try seal(path)
        System.say("\(size) \(head)", to: System.standardOutput)
    }

    /// Seals all, and removes at once what larger segments took the place of; gives the head.
    private static func seal(_ path: String) throws(BenchError) -> UInt64 {
        var sizes = LogSizes.standard
        sizes.retirementMilliseconds = 0
        let store = try BenchSpace.store(at: path, background: .none, sizes: sizes)
        let space = try BenchSpace.onlySpace(of: store)
        return try BenchSpace.log { () throws(LogError) in
            // The second time removes what the first one replaced. The thread that sealed while
            // lines were imported may not have ended yet.
            for _ in 0..<2 { _ = try store.seal(space, all: true, waitSeconds: 600) }
            let head = try store.status(of: space).head
            try store.close()
            return head
        }
    }
}

extension WorkloadOptions {
    /// The arguments that give these options.
    var words: [String] {
        [
            "--events", "\(eventCount)", "--seed", "\(seed)", "--ids", identifiers.rawValue,
            "--mix", mix.rawValue,
        ]
    }
}
