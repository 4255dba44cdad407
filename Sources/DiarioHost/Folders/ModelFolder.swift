package import DiarioCore
package import DiarioEngine
import DiarioLog
package import DiarioProjection
package import DiarioStorage

/// The files of a space's read models in a folder of the operating system, where a symbolic link
/// says which generation is live.
package final class ModelFolder: ModelPlace {
    private let directory: POSIXDirectory
    private let path: String

    package init(_ directory: POSIXDirectory, of space: SpaceID) {
        self.directory = directory
        path = LogPaths.models(space)
    }

    package var isReadOnly: Bool { directory.isReadOnly }

    package func path(of name: String) -> String { directory.fullPath(path + "/" + name) }

    package func lock(of pack: String) throws(StorageError) -> any DirectoryLock {
        try lock("\(pack).lock")
    }

    package func buildLock() throws(StorageError) -> any DirectoryLock { try lock("build") }

    private func lock(_ name: String) throws(StorageError) -> any DirectoryLock {
        if try !directory.exists(path) { try Files.makeDirectoryDurably(path, in: directory) }
        return try directory.lock(path + "/" + name)
    }

    package func live(_ pack: String) -> ModelGeneration? {
        guard let target = directory.link(path + "/\(pack).sqlite"),
            let generation = ModelGeneration(target), generation.pack == pack,
            (try? directory.exists(path + "/" + target)) == true
        else { return nil }
        return generation
    }

    package func identity(of generation: ModelGeneration) -> FileIdentity? {
        try? directory.identity(of: path + "/" + generation.name)
    }

    package func size(of generation: ModelGeneration) -> Int64 {
        (try? directory.size(of: path + "/" + generation.name)) ?? 0
    }

    package func generations(of pack: String) throws(StorageError) -> [ModelGeneration] {
        guard try directory.exists(path) else { return [] }
        return try directory.list(path).compactMap { ModelGeneration($0) }
            .filter { $0.pack == pack }.sorted()
    }

    package func makeLive(_ generation: ModelGeneration) throws(StorageError) {
        try directory.setLink(path + "/\(generation.pack).sqlite", to: generation.name)
    }

    package func sync() throws(StorageError) { try directory.syncDirectory(path) }

    package func remove(_ name: String) throws(StorageError) {
        for suffix in ["-wal", "-shm", "-journal", ""] {
            let file = path + "/" + name + suffix
            if try directory.exists(file) { try directory.remove(file) }
        }
    }
}

extension ReadModels {
    /// The read models of a space whose data directory is a folder of the operating system.
    package convenience init(
        _ space: Space,
        chunkCount: Int = 50_000,
        allowance: StepAllowance = .query
    ) throws(DiarioError) {
        guard let path = (space.store.directory as? POSIXDirectory)?.rootPath else {
            throw DiarioError(.system, "Read models need a directory of the operating system.")
        }
        let directory: POSIXDirectory
        do throws(StorageError) {
            // Also where the log itself is opened for reading alone.
            directory = try POSIXDirectory(path: path, access: .readWrite)
        } catch {
            throw DiarioError(error)
        }
        self.init(
            space,
            in: ModelFolder(directory, of: space.id),
            chunkCount: chunkCount,
            allowance: allowance,
            crew: PackThreads()
        )
    }
}
