package import DiarioStorage

/// One generation of a pack's read models: a file of SQLite.
package struct ModelGeneration: Hashable, Comparable, Sendable {
    package let pack: String
    package let number: Int

    package var name: String { "\(pack).\(number).sqlite" }

    package init(pack: String, number: Int) {
        self.pack = pack
        self.number = number
    }

    /// What a file's name says; nil if it is not that of a generation.
    package init?(_ name: String) {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2] == "sqlite", let number = Int(parts[1]), number > 0,
            String(number) == parts[1]
        else { return nil }
        self.init(pack: String(parts[0]), number: number)
    }

    package static func < (left: ModelGeneration, right: ModelGeneration) -> Bool {
        (left.pack, left.number) < (right.pack, right.number)
    }
}

/// Where the read models of a space lie, and which generation of a pack is live:
/// schema/format/models.md, section 1.
package protocol ModelPlace: AnyObject, Sendable {
    var isReadOnly: Bool { get }
    /// The name under which SQLite opens a generation, or a file that is removed again.
    func path(of name: String) -> String
    /// The generation that is read; nil if none was built yet.
    func live(_ pack: String) -> ModelGeneration?
    /// Which file a generation is; nil if nobody can say.
    func identity(of generation: ModelGeneration) -> FileIdentity?
    /// Bytes of a generation; 0 if nobody can say.
    func size(of generation: ModelGeneration) -> Int64
    /// All generations of a pack, in order of their numbers.
    func generations(of pack: String) throws(StorageError) -> [ModelGeneration]
    /// Makes the names of files durable, and which generations are live.
    func sync() throws(StorageError)
    /// Lets others read this generation from now on; durable with the next `sync`.
    func makeLive(_ generation: ModelGeneration) throws(StorageError)
    /// Removes a database with all that SQLite keeps beside it.
    func remove(_ name: String) throws(StorageError)
    /// The lock of those who change a pack's live read models, or which generation is live.
    func lock(of pack: String) throws(StorageError) -> any DirectoryLock
    /// The lock of those who build generations.
    func buildLock() throws(StorageError) -> any DirectoryLock
}
