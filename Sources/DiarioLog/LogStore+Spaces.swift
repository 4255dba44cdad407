package import DiarioCore
package import DiarioCrypto
import DiarioFormat
import DiarioFrames
package import DiarioStorage
import Synchronization

/// What a space holds, in numbers.
package struct SpaceStatus: Equatable, Sendable {
    package let manifest: Manifest
    /// Who writes here; the next event may have another id if the directory was copied.
    package let replica: ReplicaID
    /// The last position.
    package let head: UInt64
    /// Positions up to this one were released and are in no segment: they cannot be read here.
    package let released: UInt64
    /// The last position that is in a segment; 0 if none is.
    package let sealedEnd: UInt64
    /// Sealed segments, private ones among them.
    package let segmentCount: Int
    /// Events without a position.
    package let pending: Int
    /// Those of them that are in private segments.
    package let sealedPending: Int
    /// Canonical and pending events without those of an authority and those that were lost.
    package let events: Int
    /// Bytes of this space that are live in the write-ahead log.
    package let liveBytes: Int
    package let adoptions: [Adoption]
    package let clock: HybridTime
    /// When the last position was given; nil before the first.
    package let acceptedAt: Timestamp?
    package let tallies: [ReplicaTally]

    /// Canonical events that are in no segment.
    package var tailCount: Int { Int(head - min(head, max(sealedEnd, released))) }
}

/// What a space is and how far it goes: what can be told without counting its events.
package struct SpaceOutline: Sendable {
    package let manifest: Manifest
    /// The last position.
    package let head: UInt64
    /// Bytes of the space on disk, as far as they grow with its events.
    package let size: Int

    fileprivate init(_ manifest: Manifest, head: UInt64, liveBytes: Int) {
        self.manifest = manifest
        self.head = head
        var size = liveBytes
        for entry in manifest.segments { size += entry.segmentSize + entry.sidecarSize }
        for entry in manifest.lanes { size += entry.segmentSize + entry.sidecarSize }
        self.size = size
    }
}

/// Which events a space has.
package struct SpaceStanding: Equatable, Sendable {
    /// The last position.
    package let head: UInt64
    /// Events without a position, in the order in which they are applied.
    package let pending: [PendingEvents]
}

/// Events of one replica that have no position, one behind the other.
package struct PendingEvents: Hashable, Sendable {
    package let replica: ReplicaID
    package var sequences: ClosedRange<UInt64>

    package init(replica: ReplicaID, sequences: ClosedRange<UInt64>) {
        self.replica = replica
        self.sequences = sequences
    }
}

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

    package func status(of space: SpaceID) throws(LogError) -> SpaceStatus {
        let index = shared.index.withLock { $0[space] }
        // Read after the index: what that says was released is in the manifest's segments by then.
        let home = try SpaceHome.read(space, in: shared.directory)
        let segments = home.manifest.segments
        shared.segments.set(home.manifest)
        return SpaceStatus(
            manifest: home.manifest,
            replica: home.replica,
            head: index.head,
            released: try shared.firstReadable(space, released: index.released) - 1,
            sealedEnd: segments.last?.last ?? 0,
            segmentCount: segments.count + home.manifest.lanes.count,
            pending: index.pendingCount,
            sealedPending: index.sealedPendingCount,
            events: index.eventCount,
            liveBytes: index.liveBytes,
            adoptions: index.adoptions,
            clock: index.clock,
            acceptedAt: index.head == 0 ? nil : Timestamp(milliseconds: index.acceptedAt),
            tallies: index.tallies
        )
    }

    /// Which events there are at positions that were given: another text once some were given to
    /// other events.
    ///
    /// Empty as long as nothing of the kind happened.
    package func history(of space: SpaceID) throws(LogError) -> String {
        let manifest = try SpaceHome.readManifest(space, in: shared.directory)
        guard manifest.epoch != 0 else { return "" }
        let text = Array("\(manifest.epoch) ".utf8)
        return SHA256.hash(text.span).text
    }

    /// What a space is and how far it goes; costs the same however many events it has in the log.
    package func outline(of space: SpaceID) throws(LogError) -> SpaceOutline {
        // Read before the manifest: what that says is not older.
        let (head, liveBytes) = extent(of: space)
        let manifest = try shared.manifests.manifest(of: space, in: shared.directory)
        return SpaceOutline(manifest, head: head, liveBytes: liveBytes)
    }

    /// The same as far as memory tells, with a manifest that was just asked for.
    package func outline(of space: SpaceID, _ manifest: Manifest) -> SpaceOutline {
        let (head, liveBytes) = extent(of: space)
        return SpaceOutline(manifest, head: head, liveBytes: liveBytes)
    }

    private func extent(of space: SpaceID) -> (head: UInt64, liveBytes: Int) {
        shared.index.withLock { index in
            index.read(space) { ($0.head, $0.liveBytes) } ?? (0, 0)
        }
    }

    /// How many packs a space adopted.
    package func adoptionCount(of space: SpaceID) -> Int {
        shared.index.withLock { index in
            index.read(space) { $0.adoptions.count } ?? 0
        }
    }

    /// The packs that a space adopted, in order of position; throws what `status` does.
    package func adoptions(of space: SpaceID) throws(LogError) -> [Adoption] {
        let (adoptions, released) = shared.index.withLock { index in
            index.read(space) { ($0.adoptions, $0.released) } ?? ([], 0)
        }
        shared.segments.set(try SpaceHome.read(space, in: shared.directory).manifest)
        _ = try shared.firstReadable(space, released: released)
        return adoptions
    }

    /// What there is to read of a space, as it is now.
    package func standing(of space: SpaceID) -> SpaceStanding {
        let index = shared.index.withLock { $0[space] }
        var pending: [PendingEvents] = []
        for lane in index.lanes {
            for run in lane.runs.runs {
                if let last = pending.last, last.replica == lane.replica,
                    last.sequences.upperBound + 1 == run.first
                {
                    let joined = last.sequences.lowerBound...run.last
                    pending[pending.count - 1].sequences = joined
                } else {
                    pending.append(
                        PendingEvents(replica: lane.replica, sequences: run.first...run.last)
                    )
                }
            }
        }
        return SpaceStanding(head: index.head, pending: pending)
    }

    /// The last position of a space.
    package func head(of space: SpaceID) -> UInt64 {
        shared.index.withLock { $0.brief(of: space).head }
    }

    /// The Merkle root of all canonical events.
    package func root(of space: SpaceID) throws(LogError) -> Hash32 {
        try shared.hashes.root(of: space, in: shared)
    }

    /// Lets go of the positions up to `position`; they cannot be read here any more.
    package func release(_ space: SpaceID, upTo position: UInt64) throws(LogError) {
        try withWriter { (writer) throws(LogError) in
            try writer.release(space, upTo: position)
        }
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

    /// Bytes of the files of a space outside the write-ahead log: segments and tiles among them.
    package func fileBytes(of space: SpaceID) throws(LogError) -> Int {
        try storing { () throws(StorageError) in
            var total = 0
            var paths = [LogPaths.manifest(space), LogPaths.replica(space)]
            for folder in [LogPaths.segments(space), LogPaths.tiles(space)]
            where try shared.directory.exists(folder) {
                paths += try shared.directory.list(folder).map { folder + "/" + $0 }
            }
            for path in paths {
                do throws(StorageError) {
                    total += Int(try shared.directory.open(path, .read).size())
                } catch .notFound {
                    // Another process removed a segment that was replaced.
                }
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

    /// Who writes the next events of a space, and the last sequence it used.
    ///
    /// In a copied directory this takes the new id.
    package func author(of space: SpaceID) throws(LogError) -> (ReplicaID, UInt64) {
        try withWriter { (writer) throws(LogError) in
            let home = try writer.writableHome(space)
            let last = shared.index.withLock { $0.lastSequence(of: home.replica, in: space) }
            return (home.replica, last)
        }
    }
}
