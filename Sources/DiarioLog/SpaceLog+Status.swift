package import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioStorage
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

extension SpaceLog {
    package func status() throws(LogError) -> SpaceStatus {
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
    package func history() throws(LogError) -> String {
        let manifest = try SpaceHome.readManifest(space, in: shared.directory)
        guard manifest.epoch != 0 else { return "" }
        let text = Array("\(manifest.epoch) ".utf8)
        return SHA256.hash(text.span).text
    }

    /// What a space is and how far it goes; costs the same however many events it has in the log.
    package func outline() throws(LogError) -> SpaceOutline {
        // Read before the manifest: what that says is not older.
        let (head, liveBytes) = extent
        let manifest = try shared.manifests.manifest(of: space, in: shared.directory)
        return SpaceOutline(manifest, head: head, liveBytes: liveBytes)
    }

    /// The same as far as memory tells, with a manifest that was just asked for.
    package func outline(_ manifest: Manifest) -> SpaceOutline {
        let (head, liveBytes) = extent
        return SpaceOutline(manifest, head: head, liveBytes: liveBytes)
    }

    private var extent: (head: UInt64, liveBytes: Int) {
        shared.index.withLock { index in
            index.read(space) { ($0.head, $0.liveBytes) } ?? (0, 0)
        }
    }

    /// How many packs a space adopted.
    package func adoptionCount() -> Int {
        shared.index.withLock { index in
            index.read(space) { $0.adoptions.count } ?? 0
        }
    }

    /// Pending events that are in private segments, as far as this process knows.
    package func sealedPendingCount() -> Int {
        shared.index.withLock { $0[space].sealedPendingCount }
    }

    /// The packs that a space adopted, in order of position; throws what `status` does.
    package func adoptions() throws(LogError) -> [Adoption] {
        let (adoptions, released) = shared.index.withLock { index in
            index.read(space) { ($0.adoptions, $0.released) } ?? ([], 0)
        }
        shared.segments.set(try SpaceHome.read(space, in: shared.directory).manifest)
        _ = try shared.firstReadable(space, released: released)
        return adoptions
    }

    /// What there is to read of a space, as it is now.
    package func standing() -> SpaceStanding {
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

    /// The sealed segments of a space, in order of position.
    package func segments() throws(LogError) -> [SegmentEntry] {
        try shared.segments.readLists(of: space, in: shared.directory).segments
    }

    /// The private segments of a space, in order of replica and of sequence.
    package func laneSegments() throws(LogError) -> [SegmentEntry] {
        try shared.segments.readLists(of: space, in: shared.directory).lanes
    }

    /// Bytes of the files of a space outside the write-ahead log: segments and tiles among them.
    package func fileBytes() throws(LogError) -> Int {
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
}
