package import DiarioCore
package import DiarioLog
import DiarioSchema
package import DiarioStorage

extension Space {
    /// Opens a space of a data directory: the one with this id, else the only one.
    ///
    /// `path` is what messages call the directory.
    ///
    /// - Throws: `DiarioError` of the kind `.ambiguous`, with the ids, if there are several.
    package static func open(
        in directory: any LogDirectory,
        space id: SpaceID? = nil,
        access: LogStore.Access,
        _ surroundings: Surroundings,
        path: String
    ) throws(DiarioError) -> Space {
        let store = try openStore(directory, access: access, surroundings)
        let (manifests, damaged): ([Manifest], [(space: SpaceID, fault: Fault)])
        do {
            // In a writable folder each manifest must say which space it replaces.
            (manifests, damaged) =
                access == .readOnly ? try store.readableManifests() : (try store.manifests(), [])
        } catch {
            throw DiarioError(error)
        }
        let live = manifests.filter { !$0.isStaging }.map { $0.space }
        let chosen = try choose(id, of: live, damaged, in: store, path)
        do { try store[chosen].checkTail() } catch { throw DiarioError(error) }
        if access == .readWrite, store.hasRemains(beside: manifests) {
            // Leftovers of a killed import, or a replaced space that could not be removed. If the
            // disk fails, the next opening tries again.
            try? store.removeRemains()
        }
        var space = try Space(store: store, id: chosen)
        try space.followPermission()
        return space
    }

    private static func choose(
        _ id: SpaceID?,
        of live: [SpaceID],
        _ damaged: [(space: SpaceID, fault: Fault)],
        in store: LogStore,
        _ path: String
    ) throws(DiarioError) -> SpaceID {
        if let id, live.contains(id) { return id }
        let faulty: [(space: SpaceID, fault: Fault)]
        do { faulty = try damaged + store.missingManifests() } catch { throw DiarioError(error) }
        if let fault = faulty.first(where: { id == nil ? live.isEmpty : $0.space == id })?.fault {
            throw DiarioError(LogError.corrupt(fault))
        }
        if let id {
            throw DiarioError(.notFound, "There is no space \(id.text) in \(path). Check its id.")
        }
        // Also the ones that cannot be opened may be meant.
        let all = (live + faulty.map { $0.space }).sorted()
        guard let first = live.first else { throw noSpace(at: path) }
        guard all.count == 1 else { throw .ambiguous(all, at: path) }
        return first
    }

    package static func openStore(
        _ directory: any LogDirectory,
        access: LogStore.Access,
        _ surroundings: Surroundings,
        isDraft: Bool = false
    ) throws(DiarioError) -> LogStore {
        if access == .readWrite {
            // First: a backup that was written to is none, and the next one must not replace it.
            do { try BackupFile.remove(from: directory) } catch { throw DiarioError(error) }
        }
        let engine = try PackSource.engine()
        guard let reader = EngineReader(engine.types) else {
            preconditionFailure("the engine's pack says how packs are adopted")
        }
        do {
            return try LogStore(
                directory,
                access: access,
                time: surroundings.time,
                entropy: surroundings.entropy,
                engine: reader,
                types: engine.types,
                helper: surroundings.helper,
                isDraft: isDraft
            )
        } catch {
            throw DiarioError(error)
        }
    }

    package static func noSpace(at path: String) -> DiarioError {
        DiarioError(
            .notFound,
            "There is no space in \(path). Make one with `diario init \(path)`, or name its folder."
        )
    }
}

/// The environment of a log: time, random numbers, and work while no call is running.
package struct Surroundings: Sendable {
    let time: any TimeSource
    let entropy: any EntropySource
    let helper: (any LogHelper)?

    package init(
        time: any TimeSource,
        entropy: any EntropySource,
        helper: (any LogHelper)? = nil
    ) {
        self.time = time
        self.entropy = entropy
        self.helper = helper
    }
}
