import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioStorage
import Synchronization

extension SpaceRepair {
    /// Lets everything refer to what was made, and takes away what was damaged.
    mutating func finish(
        _ segments: [SegmentEntry],
        _ lanes: MendedLanes,
        _ walk: borrowing SpaceWalk,
        _ sealedEnd: UInt64,
        _ setAside: inout SetAside,
        _ report: inout RepairReport
    ) throws(LogError) {
        var gone = (damaged + self.lanes.damaged).map(\.name)
        manifest.segments = segments
        manifest.lanes = lanes.entries
        if isManifestGone { gone += try retireOthers() }
        let paths = gone.flatMap {
            [LogPaths.segment($0, of: space), LogPaths.sidecar($0, of: space)]
        }
        for path in paths {
            try setAside.keep(path, because: "the segment or its sidecar did not verify")
        }
        try DirectoryFormat.upgrade(to: version(walk, lanes), in: directory)
        if needsNewLineage {
            manifest.lineage = Lineage(drawnFrom: shared.entropy)
            manifest.epoch = 0
            if !isManifestGone {
                let others =
                    manifest.authority == nil
                    ? "" : "; its replicas are refused from now on, and say what helps"
                report.remarks.append(
                    "the lineage of space \(space.text): the root cannot stay what it was, so it "
                        + "has a new one, and older proofs and roots do not hold any more\(others)"
                )
            }
        }
        manifest.take(walk.lost)
        let (path, bytes) = (LogPaths.manifest(space), manifest.encoded())
        try storing { () throws(StorageError) in
            if !walk.lost.isEmpty {
                try directory.replace(LogPaths.lost(space), with: LostFile.encoded(walk.lost))
            }
            try directory.replace(path, with: bytes)
        }
        shared.segments.set(manifest)
        shared.files.removeAll()
        let known = shared.index.withLock { $0[space].acceptedAt }
        let state = walk.state(
            released: sealedEnd,
            packs: walk.lost.isEmpty ? [] : try packsToAdopt(walk.adoptions),
            acceptedAt: known,
            clock: lanes.clock
        )
        try store.withWriter { (writer) throws(LogError) in
            try writer.write(state, lanes: lanes, of: space)
        }
        try storing { () throws(StorageError) in
            var isChanged = false
            for path in paths where try directory.exists(path) {
                try directory.remove(path)
                isChanged = true
            }
            if isChanged { try directory.syncDirectory(LogPaths.segments(space)) }
        }
    }

    /// The version of the format that the directory needs from now on.
    private func version(_ walk: borrowing SpaceWalk, _ lanes: MendedLanes) -> Int {
        // Also in front of segments with rows of lost events: those have ranges of this kind.
        if walk.lost.contains(where: { !$0.kept.isEmpty }) || holdsLost {
            return DirectoryFormat.hollow
        }
        if !walk.refusals.isEmpty { return DirectoryFormat.refused }
        if !lanes.gone.isEmpty { return DirectoryFormat.gone }
        if !lanes.entries.isEmpty { return DirectoryFormat.lanes }
        if !walk.lost.isEmpty { return DirectoryFormat.lossy }
        return manifest.version == 1 ? DirectoryFormat.first : DirectoryFormat.sealed
    }

    /// Retires pairs that verify and that a new manifest does not need; tells the names of others,
    /// which are damaged.
    private mutating func retireOthers() throws(LogError) -> [SegmentName] {
        let listed = Set((manifest.segments + manifest.lanes).map(\.name))
        var damaged: [SegmentName] = []
        for name in try segmentNames() where !listed.contains(name) {
            let reader = PairReader.open(name, of: space, in: shared)
            if let entry = reader?.entry(), try store.damage(of: entry, in: space).isEmpty {
                manifest.retired.append(RetiredSegment(name: name, since: shared.time.now))
            } else {
                damaged.append(name)
            }
        }
        return damaged
    }
}

extension Writer {
    /// Writes seeds; durable when this returns.
    mutating func write(_ seeds: [SaltSeed], of id: SpaceID) throws(LogError) {
        guard !seeds.isEmpty else { return }
        try begin()
        defer { end() }
        beginFrame()
        for seed in seeds {
            try makeRoom(SpaceIndex.seedSize)
            append(seed, of: id)
        }
        try finishFrame()
        store.hashes.remove(id)
    }

    /// Writes down which pending events are not pending any more; durable when this returns.
    mutating func write(_ gone: [GoneRows], of id: SpaceID) throws(LogError) {
        try begin()
        defer { end() }
        try upgradeFormat(to: DirectoryFormat.refused)
        beginFrame()
        for rows in gone {
            try makeRoom(GoneRows.recordSize)
            append(rows, of: id)
        }
        try finishFrame()
    }

    /// Writes the state of a space as repair found it, and where its pending events are; durable
    /// when this returns.
    mutating func write(
        _ state: SpaceState,
        lanes: MendedLanes,
        of id: SpaceID
    ) throws(LogError) {
        try begin()
        defer { end() }
        beginFrame()
        Record.append(.state, id, to: &frame) { state.append(to: &$0) }
        recordCount += 1
        for rows in lanes.gone {
            try makeRoom(GoneRows.recordSize)
            append(rows, of: id)
        }
        for rows in lanes.sealed {
            try makeRoom(SealedRows.recordSize)
            append(rows, of: id)
        }
        try finishFrame()
        store.hashes.remove(id)
    }
}
