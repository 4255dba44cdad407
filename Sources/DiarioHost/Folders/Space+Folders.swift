package import DiarioCore
package import DiarioCrypto
package import DiarioEngine
package import DiarioLog
package import DiarioSchema
package import DiarioStorage

// Spaces of folders, as the operating system has them.

extension Space {
    /// Opens a space in the folder at `path`: the one with this id, else the only one.
    ///
    /// - Throws: `DiarioError` of the kind `.ambiguous`, with the ids, if there are several.
    package static func open(
        at path: String,
        space id: SpaceID? = nil,
        access: LogStore.Access = .readWrite
    ) throws -> Space {
        try open(
            in: try openFolder(at: path, access: access),
            space: id,
            access: access,
            .system,
            path: path
        )
    }

    /// The same to read it.
    package static func openToRead(at path: String, space id: SpaceID? = nil) throws -> Space {
        try open(at: path, space: id, access: .readOnly)
    }

    /// Opens all spaces of the folder at `path` for reading; those that are damaged say so.
    package static func openAll(at path: String) throws -> SpaceFolder {
        try SpaceFolder(in: try openFolder(at: path, access: .readOnly), .system)
    }

    /// Takes their names from those of these blobs whose bytes are damaged, so that the next sync
    /// brings them again; false if nothing may be written there, as in a backup.
    package static func setAside(_ blobs: [Hash32], at path: String) throws -> Bool {
        let directory = try openFolder(at: path, access: .readWrite)
        guard try !directory.isReadOnly && !directory.exists(LogPaths.backup) else { return false }
        let store = BlobStore(in: directory, entropy: SystemEntropy())
        for id in blobs { _ = try store.findWhole(id) }
        return true
    }

    /// Opens the log of a data directory with the system's clock and chance.
    package static func openStore(
        _ directory: any LogDirectory,
        access: LogStore.Access,
        isDraft: Bool = false
    ) throws -> LogStore {
        try openStore(directory, access: access, .system, isDraft: isDraft)
    }

    private static func openFolder(
        at path: String,
        access: LogStore.Access
    ) throws -> POSIXDirectory {
        do throws(StorageError) {
            return try POSIXDirectory(
                path: path + "/" + LogPaths.directoryName,
                access: access == .readWrite ? .readWrite : .read
            )
        } catch {
            if case .notFound = error { throw noSpace(at: path) }
            throw error
        }
    }

    /// Makes a space in the folder at `path`, which may be there already, with these packs.
    ///
    /// Whole or not at all: it is made under another name, which is changed at the end. Of several
    /// that do so at once one makes it, and the others are told that there is a space already.
    package static func create(at path: String, packs: [Pack]) throws -> Space {
        let draft = try SpaceDraft(at: path)
        do {
            try fill(POSIXDirectory(path: draft.path, access: .create), packs, .system)
            try draft.finish()
        } catch {
            draft.discard()
            throw error
        }
        return try open(at: path, access: .readWrite)
    }

    /// Gives `body` a new space with these packs, in a folder inside of `folder` that is removed
    /// at the end.
    package static func withTemporary<Value>(
        in folder: String,
        packs: [Pack],
        _ body: (Space) throws -> Value
    ) throws -> Value {
        let parent = try POSIXDirectory(path: folder, access: .readWrite)
        let name = "diario-\(SystemEntropy().next())"
        defer { try? Files.removeTree(name, in: parent) }
        let space = try create(at: "\(folder)/\(name)", packs: packs)
        defer { try? space.close() }
        return try body(space)
    }
}

extension Timestamp {
    /// What the clock of the operating system says.
    package static var now: Timestamp { SystemClock().now }
}

extension Surroundings {
    /// Those of the operating system, for one log.
    package static var system: Surroundings {
        Surroundings(time: SystemClock(), entropy: SystemEntropy(), helper: LogThreads())
    }
}
