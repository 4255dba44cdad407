import DiarioCore
import DiarioLog
import DiarioProjection
import DiarioStorage

/// The files of a space's read models: schema/format/models.md, section 1.
struct ModelFolder: Sendable {
    let directory: POSIXDirectory
    private let path: String

    /// One generation of a pack's read models.
    struct Generation: Hashable, Comparable {
        let pack: String
        let number: Int

        var name: String { "\(pack).\(number).sqlite" }

        init(pack: String, number: Int) {
            self.pack = pack
            self.number = number
        }

        /// What a file's name names; nil if it is not that of a generation.
        init?(_ name: String) {
            let parts = name.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 3, parts[2] == "sqlite", let number = Int(parts[1]), number > 0,
                String(number) == parts[1]
            else { return nil }
            self.init(pack: String(parts[0]), number: number)
        }

        static func < (left: Generation, right: Generation) -> Bool {
            (left.pack, left.number) < (right.pack, right.number)
        }
    }

    init(_ directory: POSIXDirectory, of space: SpaceID) {
        self.directory = directory
        path = LogPaths.models(space)
    }

    var isReadOnly: Bool { directory.isReadOnly }

    func fullPath(_ generation: Generation) -> String {
        directory.fullPath(path + "/" + generation.name)
    }

    func summary(of generation: Generation) throws(ProjectionError) -> ModelSummary {
        try ModelSummary(path: fullPath(generation), isImmutable: isReadOnly)
    }

    /// A file of another name in the folder, for what is thrown away again.
    func fullPath(scratch name: String) -> String { directory.fullPath(path + "/" + name) }

    func make() throws(DiarioError) {
        try storing { () throws(StorageError) in
            guard try !directory.exists(path) else { return }
            try directory.makeDirectoryDurably(path)
        }
    }

    /// The lock of those who change a pack's live read models, or which ones are live.
    func lock(of pack: String) throws(DiarioError) -> any DirectoryLock {
        try lock("\(pack).lock")
    }

    /// The lock of those who build generations here.
    func buildLock() throws(DiarioError) -> any DirectoryLock { try lock("build") }

    private func lock(_ name: String) throws(DiarioError) -> any DirectoryLock {
        try make()
        return try storing { () throws(StorageError) in try directory.lock(path + "/" + name) }
    }

    /// The generation that programs read; nil if none was built yet.
    func live(_ pack: String) -> Generation? {
        guard let target = directory.link(path + "/\(pack).sqlite"),
            let generation = Generation(target), generation.pack == pack,
            (try? directory.exists(path + "/" + target)) == true
        else { return nil }
        return generation
    }

    /// Which file a generation is; nil if nobody can say.
    func identity(_ generation: Generation) -> FileIdentity? {
        try? directory.identity(of: path + "/" + generation.name)
    }

    /// Bytes of a generation; 0 if nobody can say.
    func size(_ generation: Generation) -> Int {
        let file = try? directory.open(path + "/" + generation.name, .read)
        return (try? file?.size()) ?? 0
    }

    /// Bytes of the live generation of a pack, by which one sees how long it takes; 0 without one.
    func liveSize(_ pack: String) -> Int { live(pack).map { size($0) } ?? 0 }

    /// All generations that are there, in order of their numbers.
    func generations(of pack: String) throws(DiarioError) -> [Generation] {
        try storing { () throws(StorageError) in
            guard try directory.exists(path) else { return [] }
            return try directory.list(path).compactMap { Generation($0) }
                .filter { $0.pack == pack }.sorted()
        }
    }

    /// Lets programs read this generation from now on.
    ///
    /// Its name is on disk before, by `sync`, and so is then the link.
    func makeLive(_ generation: Generation) throws(DiarioError) {
        try storing { () throws(StorageError) in
            try directory.setLink(path + "/\(generation.pack).sqlite", to: generation.name)
        }
    }

    /// Makes sure that the names of files and links are on disk.
    func sync() throws(DiarioError) {
        try storing { () throws(StorageError) in try directory.syncDirectory(path) }
    }

    func remove(_ generation: Generation) throws(DiarioError) { try remove(generation.name) }

    /// Removes a database with what SQLite keeps beside it.
    func remove(_ name: String) throws(DiarioError) {
        try storing { () throws(StorageError) in
            for suffix in ["-wal", "-shm", "-journal", ""] {
                let file = path + "/" + name + suffix
                if try directory.exists(file) { try directory.remove(file) }
            }
        }
    }

    private func storing<Value>(
        _ body: () throws(StorageError) -> Value
    ) throws(DiarioError) -> Value {
        do { return try body() } catch { throw DiarioError(error) }
    }
}
