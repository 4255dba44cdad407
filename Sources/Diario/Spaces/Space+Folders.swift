package import DiarioCore
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
        access: LogStore.Access
    ) throws(DiarioError) -> Space {
        try open(
            in: try openFolder(at: path, access: access),
            space: id,
            access: access,
            .system,
            path: path
        )
    }

    /// Opens all spaces of the folder at `path` for reading; those that are damaged say so.
    package static func openAll(at path: String) throws(DiarioError) -> Folder {
        try openAll(in: try openFolder(at: path, access: .readOnly), .system)
    }

    /// Opens the log of a data directory with the system's clock and chance.
    package static func openStore(
        _ directory: any LogDirectory,
        access: LogStore.Access,
        isDraft: Bool = false
    ) throws(DiarioError) -> LogStore {
        try openStore(directory, access: access, .system, isDraft: isDraft)
    }

    private static func openFolder(
        at path: String,
        access: LogStore.Access
    ) throws(DiarioError) -> POSIXDirectory {
        do throws(StorageError) {
            return try POSIXDirectory(
                path: path + "/" + LogPaths.directoryName,
                access: access == .readWrite ? .readWrite : .read
            )
        } catch {
            if case .notFound = error { throw noSpace(at: path) }
            throw DiarioError(error)
        }
    }

    /// Makes a space in the folder at `path`, which may be there already, with these packs.
    ///
    /// Whole or not at all: it is made under another name, which is changed at the end. Of several
    /// that do so at once one makes it, and the others are told that there is a space already.
    package static func create(at path: String, packs: [Pack]) throws(DiarioError) -> Space {
        let draft = try SpaceDraft(at: path)
        do throws(DiarioError) {
            let directory: POSIXDirectory
            do throws(StorageError) {
                directory = try POSIXDirectory(path: draft.path, access: .create)
            } catch {
                throw DiarioError(error)
            }
            try fill(directory, packs, .system)
            try draft.finish()
        } catch {
            draft.discard()
            throw error
        }
        return try open(at: path, access: .readWrite)
    }
}

extension Surroundings {
    /// Those of the operating system, for one log.
    static var system: Surroundings {
        Surroundings(time: SystemClock(), entropy: SystemEntropy(), helper: LogThreads())
    }
}
