package import DiarioCore
package import DiarioEngine
import DiarioLog
package import DiarioStorage

/// The files of a space's read models in the pool of a page, where a small file says which
/// generation of a pack is live.
package final class PooledModels: ModelPlace {
    private let directory: PooledDirectory
    private let folder: String
    /// More than the name of a generation has.
    private static let liveSizeMax = 512

    package init(_ directory: PooledDirectory, of space: SpaceID) {
        self.directory = directory
        folder = LogPaths.models(space)
    }

    package let isReadOnly = false

    package func path(of name: String) -> String { folder + "/" + name }

    private func livePath(_ pack: String) -> String { path(of: pack + ".live") }

    package func live(_ pack: String) -> ModelGeneration? {
        let bytes = try? Files.contents(
            of: livePath(pack),
            in: directory,
            sizeMax: Self.liveSizeMax
        )
        guard let bytes, let generation = ModelGeneration(String(decoding: bytes, as: UTF8.self)),
            generation.pack.hasBytes(of: pack), identity(of: generation) != nil
        else { return nil }
        return generation
    }

    package func identity(of generation: ModelGeneration) -> FileIdentity? {
        directory.identity(of: path(of: generation.name))
    }

    package func size(of generation: ModelGeneration) -> Int64 {
        do { return try directory.open(path(of: generation.name), .read).size() } catch {
            return 0
        }
    }

    package func generations(of pack: String) throws(StorageError) -> [ModelGeneration] {
        guard try directory.exists(folder) else { return [] }
        return try directory.list(folder).compactMap { ModelGeneration($0) }
            .filter { $0.pack.hasBytes(of: pack) }.sorted()
    }

    package func makeLive(_ generation: ModelGeneration) throws(StorageError) {
        try Files.replace(
            livePath(generation.pack),
            with: Array(generation.name.utf8),
            in: directory
        )
    }

    package func sync() throws(StorageError) { try directory.syncDirectory(folder) }

    package func remove(_ name: String) throws(StorageError) {
        for suffix in ["-wal", "-shm", "-journal", ""] {
            let file = path(of: name + suffix)
            if try directory.exists(file) { try directory.remove(file) }
        }
    }

    package func lock(of pack: String) throws(StorageError) -> any DirectoryLock {
        try lock("\(pack).lock")
    }

    package func buildLock() throws(StorageError) -> any DirectoryLock { try lock("build") }

    private func lock(_ name: String) throws(StorageError) -> any DirectoryLock {
        if try !directory.exists(folder) { try Files.makeDirectoryDurably(folder, in: directory) }
        return try directory.lock(path(of: name))
    }
}
