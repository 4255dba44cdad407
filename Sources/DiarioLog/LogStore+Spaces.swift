package import DiarioCore
import DiarioFormat
import DiarioFrames
package import DiarioStorage
import Synchronization

extension LogStore {
    /// An id that no space has.
    package func drawSpaceID() -> SpaceID { SpaceID(drawnFrom: shared.entropy) }

    /// Whether a space is there, made to its end.
    package func hasSpace(_ id: SpaceID) throws(LogError) -> Bool {
        try storing { () throws(StorageError) in
            try shared.directory.exists(LogPaths.manifest(id))
        }
    }

    /// The spaces of this directory in order of id, without those that another one replaces.
    package func manifests() throws(LogError) -> [Manifest] {
        let (manifests, damaged) = try readableManifests()
        if let fault = damaged.first?.fault { throw .corrupt(fault) }
        return manifests
    }

    /// Whether a server serves the spaces of this directory.
    package func isOfServer() throws(LogError) -> Bool {
        try storing { () throws(StorageError) in try shared.directory.exists(LogPaths.control) }
    }

    /// The same as far as they can be read, and what is wrong with the others: of these nobody
    /// knows which ones they replace.
    package func readableManifests() throws(LogError) -> (
        manifests: [Manifest], damaged: [(space: SpaceID, fault: Fault)]
    ) {
        try Self.readableManifests(in: shared.directory)
    }

    /// The same of a data directory whose log need not be open.
    private static func readableManifests(
        in directory: any LogDirectory
    ) throws(LogError) -> (manifests: [Manifest], damaged: [(space: SpaceID, fault: Fault)]) {
        let names = try storing { () throws(StorageError) -> [String]? in
            guard try directory.exists(LogPaths.spaces) else { return nil }
            return try directory.list(LogPaths.spaces)
        }
        guard let names else {
            let what = "the folder of the spaces is gone"
            throw .corrupt(Fault(file: LogPaths.spaces, offset: 0, what: what))
        }
        var manifests: [Manifest] = []
        var damaged: [(space: SpaceID, fault: Fault)] = []
        for name in names {
            guard let id = SpaceID(text: name) else { continue }
            do throws(LogError) {
                manifests.append(try SpaceHome.readManifest(id, in: directory))
            } catch .unknownSpace {
                // One without a manifest was not made to its end, or is not there any more.
            } catch .corrupt(let fault) {
                damaged.append((id, fault))
            }
        }
        let dead = Set(manifests.filter { !$0.isStaging }.compactMap { $0.replaces })
        return (manifests.filter { !dead.contains($0.space) }, damaged)
    }

    /// The spaces of a data directory, staging ones not among them, that are none of `known`.
    ///
    /// Costs little where there are none.
    package static func spaces(
        in directory: any LogDirectory,
        besides known: Set<SpaceID>
    ) throws(LogError) -> [SpaceID] {
        let names = try storing { () throws(StorageError) in
            try directory.exists(LogPaths.spaces) ? try directory.list(LogPaths.spaces) : []
        }
        guard names.contains(where: { SpaceID(text: $0).map(known.contains) == false }) else {
            return []
        }
        let (manifests, damaged) = try readableManifests(in: directory)
        let spaces = manifests.filter { !$0.isStaging }.map { $0.space } + damaged.map { $0.space }
        return spaces.filter { !known.contains($0) }.sorted()
    }

    /// The spaces of which the log has events and whose manifests are gone.
    package func missingManifests() throws(LogError) -> [(space: SpaceID, fault: Fault)] {
        var missing = try spacesWithoutManifest()
        if !missing.isEmpty, fault == nil {
            // Another process may have removed them, and written that down first.
            _ = try refresh()
            missing = try spacesWithoutManifest()
        }
        return missing.map { id in
            let what = "the file is missing"
            return (id, Fault(file: LogPaths.manifest(id), offset: 0, what: what))
        }
    }

    /// The spaces that cannot be used, and why: their manifests are damaged or gone.
    package func brokenSpaces() throws(LogError) -> [(space: SpaceID, fault: Fault)] {
        (try readableManifests().damaged + missingManifests()).sorted { $0.space < $1.space }
    }

    /// Refuses to make a space anew of which the log has events still.
    package func checkMaking(_ space: SpaceID) throws(LogError) {
        guard try !hasSpace(space) else { return }
        if let found = try missingManifests().first(where: { $0.space == space }) {
            throw .corrupt(found.fault)
        }
    }

    private func spacesWithoutManifest() throws(LogError) -> [SpaceID] {
        let used = shared.index.withLock { index in
            index.spaces.ids.filter { index[$0].isUsed }
        }
        var missing: [SpaceID] = []
        for id in used.sorted() {
            let isRemoved = try SpaceHome.isRemoved(id, in: shared.directory)
            if !isRemoved, try !hasSpace(id) { missing.append(id) }
        }
        return missing
    }

    /// What is in the folder of the log; nothing if that is gone.
    private func logNames() throws(StorageError) -> [String] {
        do throws(StorageError) { return try shared.directory.list(FramePaths.folder) } catch {
            guard case .notFound = error else { throw error }
            return []
        }
    }

    /// Bytes of the files of the write-ahead log on disk.
    package func logBytes() throws(LogError) -> Int {
        try storing { () throws(StorageError) in
            var total = 0
            for name in try logNames() where FramePaths.number(name) != nil {
                total += Int(try shared.directory.open("wal/" + name, .read).size())
            }
            return total
        }
    }

    /// The frames that a crash tore: where their bytes are kept, or where they still lie.
    package func cuts() throws(LogError) -> [String] {
        var cuts = try storing { () throws(StorageError) in
            try logNames().filter(FramePaths.isCut).map { "wal/" + $0 }
        }
        if let cut, cut.keptIn == nil {
            cuts.append("\(cut.file), offset \(cut.offset)")
        }
        return cuts
    }
}
