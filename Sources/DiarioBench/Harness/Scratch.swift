import CBaseline
import DiarioStorage

/// A folder for the files of one benchmark, mostly on a real disk; removed with all in it.
final class Scratch: Sendable {
    let path: String
    private let parent: POSIXDirectory
    private let name: String

    /// The folder is in TMPDIR if that is set, else in `.build/bench-runs` of the current folder.
    ///
    /// Figures of disks are worth nothing in memory, but those of processor time are.
    init(mayBeInMemory: Bool = false) throws {
        let root = System.environment("TMPDIR") ?? ".build/bench-runs"
        parent = try POSIXDirectory(path: root, access: .create)
        name = "run-\(SystemEntropy().next())"
        path = root + "/" + name
        try parent.makeDirectory(name)
        // Safe: a plain call into C, which keeps no pointer.
        let isInMemory = unsafe baseline_is_memory_disk(path) != 0
        guard mayBeInMemory || !isInMemory else {
            throw BenchError.failed("\(root) is in memory; set TMPDIR to a folder on a disk")
        }
    }

    deinit { Self.remove(name, in: parent) }

    /// A folder for one run, gone when `body` ends.
    func withFolder<Value>(
        _ name: String,
        _ body: (String) async throws -> Value
    ) async throws -> Value {
        let inner = self.name + "/" + name
        try parent.makeDirectory(inner)
        defer { Self.remove(inner, in: parent) }
        return try await body(path + "/" + name)
    }

    func remove(_ name: String) { Self.remove(self.name + "/" + name, in: parent) }

    /// Removes a file, or a folder and what is in it.
    private static func remove(_ path: String, in directory: POSIXDirectory) {
        if (try? directory.remove(path)) != nil { return }
        guard let names = try? directory.list(path) else { return }
        for name in names { remove(path + "/" + name, in: directory) }
        try? directory.remove(path)
    }
}
