package import DiarioCore
package import DiarioCrypto
import DiarioFormat
package import DiarioSchema
package import DiarioStorage

/// Writes all that verifies of a data directory into another one: schema/format/salvage.md.
///
/// Reads the files of the damaged directory one by one and needs no log that opens; nothing there
/// is changed. Memory is bounded by the largest log file, segment index or batch.
// Usable from inline, or other modules do not find its `deinit` in Embedded Swift (6.3.1).
@usableFromInline package struct Salvage: ~Copyable {
    private let directory: any LogDirectory
    private let store: LogStore
    /// Packs that come with the program, by fingerprint.
    private let packs: [Hash32: [PackFile]]
    private var known: [TypeEntry: EventType] = [:]
    /// What was written so far; all of it once no step is left.
    package private(set) var report = SalvageReport()
    private var stage = Stage.begin
    private var frames: LogPieces
    /// Spaces that are still to be written, the next one last.
    private var rest: [Found] = []
    private var sources: SalvageSources?
    private var writing: Writing?

    private enum Stage {
        case begin
        case packs([String])
        case blobs([Hash32])
        case log
        case spaces
    }

    /// The space that is being written.
    // Usable from inline as well, for the same reason.
    @usableFromInline struct Writing: ~Copyable {
        let lock: any DirectoryLock
        var salvage: SpaceSalvage
        let entries: [InboxEntry]
        let notes: [InboxNote]
        let isAuthority: Bool

        deinit { lock.release() }
    }

    /// `store` is the log of the new directory, which is empty.
    package init(
        _ directory: any LogDirectory,
        into store: LogStore,
        packs: [Hash32: [PackFile]]
    ) throws(LogError) {
        frames = try LogPieces(directory)
        self.directory = directory
        self.store = store
        self.packs = packs
    }

    /// Events that were written so far.
    package var eventCount: UInt64 { report.eventCount }

    /// Goes on by about so many bytes, or by a file of the log or a segment; false once all was
    /// written.
    package mutating func step(_ budget: Int) throws(LogError) -> Bool {
        try spend(budget) { () throws(LogError) in try step() }
    }

    private mutating func step() throws(LogError) -> Int? {
        switch stage {
        case .begin:
            known.note(store.shared.types)
            for files in packs.values {
                if let pack = try? Pack(files: files) { known.note(pack.types) }
            }
            stage = .packs(try SalvagedFiles.names(in: LogPaths.packs, of: directory).reversed())
        case .packs(var names):
            guard let name = names.popLast() else {
                stage = .blobs(try blobs.ids().reversed())
                return 0
            }
            try takePack(name)
            stage = .packs(names)
        case .blobs(var ids):
            guard let id = ids.popLast() else {
                stage = .log
                return 0
            }
            stage = .blobs(ids)
            return try takeBlob(id)
        case .log:
            if let size = try frames.step() { return size }
            report.faults += frames.faults
            rest = try spaces().reversed()
            stage = .spaces
        case .spaces: return try stepSpace()
        }
        return 0
    }

    /// Goes on with the space at hand, or the next one; nil at the end.
    private mutating func stepSpace() throws(LogError) -> Int? {
        guard let found = rest.last else { return nil }
        if var current = writing.take() {
            let size = try current.salvage.step()
            report.spaces[report.spaces.count - 1] = current.salvage.report
            if size == nil {
                try end(current, of: found.id)
                rest.removeLast()
            } else {
                writing = consume current
            }
            return size ?? 0
        }
        guard var current = sources.take() else {
            sources = try SalvageSources(found.id, frames, directory, known)
            return 0
        }
        let size = try current.step()
        if size == nil { try begin(found, current) } else { sources = consume current }
        return size ?? 0
    }

    private mutating func fault(_ file: String, _ what: String, at offset: Int = 0) {
        report.faults.append(Fault(file: file, offset: offset, what: what))
    }

    private mutating func contents(_ path: String, sizeMax: Int) -> [UInt8]? {
        SalvagedFiles.contents(path, in: directory, sizeMax: sizeMax, &report.faults)
    }

    // MARK: Packs

    /// Keeps a pack that verifies, or that the program has, and learns its types.
    private mutating func takePack(_ name: String) throws(LogError) {
        guard let fingerprint = Hash32(text: name) else { return }
        let files: [PackFile]
        do throws(LogError) {
            files = try KeptPacks(directory).files(fingerprint)
        } catch {
            guard let own = packs[fingerprint] else {
                return fault(LogPaths.pack(fingerprint), "the files are not those of the pack")
            }
            fault(LogPaths.pack(fingerprint), "the pack was taken from this program")
            files = own
        }
        try store.keep(files, fingerprint: fingerprint)
        if let pack = try? Pack(files: files) { known.note(pack.types) }
    }

    /// Sees to it that the packs which events adopt are there.
    private mutating func keepAdopted(_ adopted: [Hash32]) throws(LogError) {
        let kept = try store.packs.all()
        for fingerprint in adopted where !kept.contains(fingerprint) {
            guard let files = packs[fingerprint] else {
                if !report.missingPacks.contains(fingerprint.text) {
                    report.missingPacks.append(fingerprint.text)
                }
                continue
            }
            fault(LogPaths.pack(fingerprint), "the pack was taken from this program")
            try store.keep(files, fingerprint: fingerprint)
        }
    }

    // MARK: Spaces

    /// A space of the damaged directory.
    private struct Found {
        let id: SpaceID
        /// Nil if it does not verify.
        let manifest: Manifest?
    }

    /// The spaces that are there, or of which the log still has events.
    private mutating func spaces() throws(LogError) -> [Found] {
        var found: [Found] = []
        var dead: Set<SpaceID> = []
        var seen: Set<SpaceID> = []
        for name in try SalvagedFiles.names(in: LogPaths.spaces, of: directory) {
            guard let id = SpaceID(text: name) else { continue }
            seen.insert(id)
            let path = LogPaths.manifest(id)
            let bytes = contents(path, sizeMax: Manifest.sizeMax)
            guard let bytes, let manifest = Manifest(bytes.span), manifest.space == id else {
                if bytes == nil, (try? directory.exists(LogPaths.removed(id))) == true { continue }
                fault(path, bytes == nil ? "the file is missing" : "the manifest is damaged")
                found.append(Found(id: id, manifest: nil))
                continue
            }
            if let replaced = manifest.replaces { dead.insert(replaced) }
            // An import, or a copy from a replica, that has not ended.
            if !manifest.isStaging { found.append(Found(id: id, manifest: manifest)) }
        }
        for (id, space) in frames.spaces where !seen.contains(id) && space.hasEvents {
            fault(LogPaths.space(id), "the folder of the space is missing")
            found.append(Found(id: id, manifest: nil))
        }
        return found.filter { !dead.contains($0.id) }.sorted { $0.id < $1.id }
    }

    private mutating func begin(
        _ found: Found,
        _ sources: consuming SalvageSources
    ) throws(LogError) {
        let id = found.id
        let replica = replicaFile(of: id)
        let former = sources.authors(replica).map { id in
            guard id.lastSequence == .max, let last = sources.log.lastSequences[id.replica] else {
                return id
            }
            return FormerID(id.replica, lastSequence: last)
        }
        // Without a manifest, a space that nothing is pending of gave its positions itself.
        let hasRemote = (try? directory.exists(LogPaths.remote(id))) == true
        let isAuthority =
            found.manifest.map { $0.authority != nil } ?? (!hasRemote && sources.replicas.isEmpty)
        let (entries, notes) = try SalvagedFiles.inbox(of: id, in: directory, &report.faults)
        let lock = try stage(id, former: former)
        let salvage = SpaceSalvage(
            store,
            id,
            sources,
            inbox: entries,
            own: isAuthority ? nil : replica?.replica,
            isAuthority: isAuthority
        )
        report.spaces.append(salvage.report)
        writing = Writing(
            lock: lock,
            salvage: salvage,
            entries: entries,
            notes: notes,
            isAuthority: isAuthority
        )
    }

    /// Makes the space that events are salvaged into: the same space under a new lineage.
    private func stage(
        _ space: SpaceID,
        former: [FormerID]
    ) throws(LogError) -> any DirectoryLock {
        let lineage = Lineage(drawnFrom: store.shared.entropy)
        let manifest = Manifest(space: space, lineage: lineage, isStaging: true)
        try store.withWriter { (writer) throws(LogError) in try writer.beginSpace(space) }
        return try store.stageSpace(manifest, former: former)
    }

    private mutating func end(
        _ written: borrowing Writing,
        of id: SpaceID
    ) throws(LogError) {
        report.faults += written.salvage.faults
        try keepAdopted(written.salvage.packs)
        try store[id].inbox.keep(written.entries)
        for note in written.notes { try store[id].inbox.keep(note) }
        try takeKept(of: id)
        try takeImports(of: id)
        // With `isAuthority` it gives positions itself from now on.
        let authority = written.isAuthority ? ReplicaID(drawnFrom: store.shared.entropy) : nil
        try store[id].changeManifest { manifest in
            manifest.isStaging = false
            manifest.authority = authority
        }
    }

    private mutating func replicaFile(of space: SpaceID) -> ReplicaFile? {
        let path = LogPaths.replica(space)
        let bytes = contents(path, sizeMax: 4096)
        guard let bytes, let file = ReplicaFile(bytes.span) else {
            fault(path, bytes == nil ? "the file is missing" : "the replica file is damaged")
            return nil
        }
        return file
    }

    // MARK: Files beside the log

    private var blobs: BlobStore {
        BlobStore(in: directory, entropy: store.shared.entropy, isReadOnly: true)
    }

    /// Copies a blob that verifies; gives how much was read.
    private mutating func takeBlob(_ id: Hash32) throws(LogError) -> Int {
        if let fault = try blobs.fault(of: id) {
            report.faults.append(fault)
            return 0
        }
        guard let stored = try blobs.find(id) else { return 0 }
        try store.blobs.copy(stored)
        return Int(clamping: stored.size)
    }

    private mutating func takeKept(of space: SpaceID) throws(LogError) {
        for name in try SalvagedFiles.names(in: LogPaths.kept(space), of: directory) {
            let path = LogPaths.kept(space) + "/" + name
            guard LogPaths.keptNumber(name) != nil,
                let bytes = contents(path, sizeMax: KeptEvents.sizeMax)
            else { continue }
            do throws(FormatError) {
                _ = try KeptEvents(bytes.span)
            } catch {
                fault(path, error.message, at: error.offset)
                continue
            }
            try store[space].kept.append(bytes)
        }
    }

    private mutating func takeImports(of space: SpaceID) throws(LogError) {
        for name in try SalvagedFiles.names(in: LogPaths.imports(space), of: directory) {
            let path = LogPaths.imports(space) + "/" + name
            guard LogPaths.isImportNote(name),
                let bytes = contents(path, sizeMax: ImportNote.sizeMax)
            else { continue }
            let note: ImportNote
            do throws(FormatError) {
                note = try ImportNote(bytes.span)
            } catch {
                fault(path, error.message)
                continue
            }
            try store[space].imports.keep(note)
        }
    }
}

/// Files of a damaged directory, as far as they can be read.
enum SalvagedFiles {
    /// The names in a folder, in order; none without it.
    static func names(
        in folder: String,
        of directory: any LogDirectory
    ) throws(LogError) -> [String] {
        try storing { () throws(StorageError) in
            guard try directory.exists(folder) else { return [] }
            return try directory.list(folder).sorted()
        }
    }

    /// The content of a file; nil if there is none, or if it cannot be read.
    static func contents(
        _ path: String,
        in directory: any LogDirectory,
        sizeMax: Int,
        _ faults: inout [Fault]
    ) -> [UInt8]? {
        do throws(StorageError) {
            return try Files.contents(of: path, in: directory, sizeMax: sizeMax)
        } catch .notFound {
            return nil
        } catch {
            faults.append(Fault(file: path, offset: 0, what: error.message))
            return nil
        }
    }

    /// The batches and notes of an inbox that verify.
    static func inbox(
        of space: SpaceID,
        in directory: any LogDirectory,
        _ faults: inout [Fault]
    ) throws(LogError) -> (entries: [InboxEntry], notes: [InboxNote]) {
        var (entries, notes): ([InboxEntry], [InboxNote]) = ([], [])
        for name in try names(in: LogPaths.inbox(space), of: directory) {
            let path = LogPaths.inbox(space) + "/" + name
            guard LogPaths.isInboxEntry(name) || LogPaths.isInboxNote(name),
                let bytes = contents(
                    path,
                    in: directory,
                    sizeMax: 2 * Limits.blockSizeMax,
                    &faults
                )
            else { continue }
            do throws(FormatError) {
                if LogPaths.isInboxEntry(name) {
                    entries.append(try InboxEntry(bytes.span))
                } else {
                    notes.append(try InboxNote(bytes.span))
                }
            } catch {
                faults.append(Fault(file: path, offset: error.offset, what: error.message))
            }
        }
        return (entries, notes)
    }
}

extension [TypeEntry: EventType] {
    mutating func note(_ types: [EventType]) {
        for type in types {
            let entry = TypeEntry(
                name: type.nameBytes,
                version: type.version,
                fingerprint: Fingerprint.schema(type)
            )
            self[entry] = type
        }
    }
}

extension LogPieces.Space {
    /// True if the log has an event of the space, or a sign of one.
    fileprivate var hasEvents: Bool {
        head > 0 || !canonical.isEmpty || lanes.contains { !$0.value.isEmpty }
    }
}
