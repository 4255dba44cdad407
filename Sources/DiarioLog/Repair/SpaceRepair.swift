import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioSchema
import DiarioStorage
import Synchronization

/// Mends one space, once the files of the write-ahead log are in order.
///
/// Everything new is written and durable before something refers to it, and what is damaged goes
/// only after that: a crash at any point leaves what the next repair goes on from.
struct SpaceRepair {
    let space: SpaceID
    let store: LogStore
    /// The same log with all rows that are in its files still.
    let salvage: LogStore
    let engine: EngineReader
    /// True if frames of the log are gone.
    let hasLostFrames: Bool

    var shared: LogShared { store.shared }
    var directory: any LogDirectory { store.shared.directory }

    /// What the manifest says, or would have said.
    var manifest: Manifest
    /// True if the manifest has to be made anew.
    var isManifestGone = false
    /// True if the root cannot stay what it was.
    var needsNewLineage = false
    /// Files of segments that were damaged.
    var damaged: [SegmentEntry] = []
    /// Whether a new segment has rows of lost events.
    var holdsLost = false
    /// Positions that segments tell to be lost, and that the list of those lacks.
    var forgotten: [ClosedRange<UInt64>] = []
    var sources = SpaceSources()
    var lanes = LaneSources()

    init(
        _ space: SpaceID,
        _ store: LogStore,
        _ salvage: LogStore,
        _ engine: EngineReader,
        hasLostFrames: Bool
    ) {
        self.space = space
        self.store = store
        self.salvage = salvage
        self.engine = engine
        self.hasLostFrames = hasLostFrames
        manifest = Manifest(
            space: space,
            lineage: Lineage(high: 0, low: 0),
            epoch: 0,
            authority: nil,
            isStaging: false,
            replaces: nil
        )
    }

    mutating func run(
        _ setAside: inout SetAside,
        _ report: inout RepairReport
    ) throws(LogError) {
        try readManifest(&setAside, &report)
        try findSegments(&report)
        if isManifestGone { try settleAuthority() }
        gather()
        let (first, last) = (lowest, lastPosition)
        let work = first <= last ? sources.pieces(first...last) : []
        let seeds = try missingSeeds(work, &report)
        let sealedEnd = sealedEnd(work)
        let hasLost = work.contains(where: \.isFound)
        let isBroken = try needsState(sealedEnd)
        let isChanged =
            isManifestGone || !damaged.isEmpty || hasLost || !forgotten.isEmpty
            || !seeds.all.isEmpty || isBroken || lanes.isBroken
        if isChanged {
            guard first == 1 || work.isEmpty else {
                throw .corrupt(
                    Fault(
                        file: LogPaths.space(space),
                        offset: 0,
                        what: "positions below \(first) were given away, so the tree cannot be "
                            + "made again"
                    )
                )
            }
            try mend(work, sealedEnd, seeds, isBroken: isBroken, &setAside, &report)
        }
        try mendTiles(isNew: needsNewLineage, &setAside, &report)
    }

    // MARK: Looking

    private mutating func readManifest(
        _ setAside: inout SetAside,
        _ report: inout RepairReport
    ) throws(LogError) {
        do throws(LogError) {
            manifest = try SpaceHome.readManifest(space, in: directory)
            return
        } catch {
            guard case .corrupt(let fault) = error else {
                if case .unknownSpace = error {
                    try rebuildManifest("the manifest is missing", &setAside, &report)
                    return
                }
                throw error
            }
            guard fault.file == LogPaths.lost(space) else {
                try rebuildManifest("the manifest is damaged", &setAside, &report)
                return
            }
            // The gaps are found again, but not what was known of them.
            report.found(fault, "it is made anew, under a new lineage")
            try setAside.keep(fault.file, because: fault.what)
            let path = LogPaths.manifest(space)
            let bytes = try storing { () throws(StorageError) in
                try directory.contents(of: path, sizeMax: Manifest.sizeMax)
            }
            guard var known = Manifest(bytes.span) else { throw .corrupt(fault) }
            known.take([])
            manifest = known
            needsNewLineage = true
        }
    }

    /// Takes from elsewhere what can be known of a manifest that is gone.
    private mutating func rebuildManifest(
        _ what: String,
        _ setAside: inout SetAside,
        _ report: inout RepairReport
    ) throws(LogError) {
        isManifestGone = true
        needsNewLineage = true
        let path = LogPaths.manifest(space)
        report.found(
            path,
            what,
            "it is made anew from the segments and the log, with a new lineage and new ids"
        )
        report.remarks.append(
            "the lineage and the epoch of space \(space.text): nothing else holds them"
        )
        try setAside.keep(path, because: what)
        do throws(LogError) { manifest.take(try LostFile.read(of: space, in: directory)) } catch {
            guard case .corrupt(let fault) = error else { throw error }
            report.found(fault, "it is made anew")
            try setAside.keep(fault.file, because: fault.what)
        }
    }

    /// Tells segments that verify from damaged ones, and finds others on disk.
    private mutating func findSegments(_ report: inout RepairReport) throws(LogError) {
        for entry in manifest.segments {
            switch try look(at: entry, &report) {
            case .whole: sources.sealed.append(entry)
            case .mended(let mended):
                sources.sealed.append(mended)
                damaged.append(entry)
            case .damaged: damaged.append(entry)
            }
        }
        for entry in manifest.lanes {
            switch try look(at: entry, &report) {
            case .whole: lanes.kept.append(entry)
            case .mended(let mended):
                lanes.kept.append(mended)
                lanes.damaged.append(entry)
            case .damaged: lanes.damaged.append(entry)
            }
        }
        let whole = Set((sources.sealed + lanes.kept).map(\.name))
        let readers = try segmentNames().filter { !whole.contains($0) }
            .compactMap { PairReader.open($0, of: space, in: shared) }
        lanes.others = readers.filter { $0.replica != nil }
        if isManifestGone {
            try adopt(readers.filter { $0.replica == nil })
            try adoptLanes()
        }
        try findLanes(&report)
        try findLost()
        let taken = Set(sources.sealed.map(\.name))
        // They cost a look at every row, and nobody needs them while all is well.
        guard !damaged.isEmpty || isManifestGone || hasLostFrames || !manifest.lost.isEmpty else {
            return
        }
        for reader in readers where reader.replica == nil && !taken.contains(reader.name) {
            sources.pairs.append((reader, try reader.readable()))
        }
    }

    /// What a segment is like that the manifest names.
    private enum Condition {
        case whole
        /// It was not; this one has its events.
        case mended(SegmentEntry)
        case damaged
    }

    private func look(
        at entry: SegmentEntry,
        _ report: inout RepairReport
    ) throws(LogError) -> Condition {
        let faults = try store.damage(of: entry, in: space)
        guard !faults.isEmpty else { return .whole }
        let mended = try mended(entry)
        for fault in faults {
            report.found(
                fault,
                mended == nil
                    ? "set aside; what else holds its events takes its place"
                    : "single bits had changed, and its checksums tell which: they are put right"
            )
        }
        return mended.map { .mended($0) } ?? .damaged
    }

    /// Takes up which positions were lost before, whether it is written down or not.
    private mutating func findLost() throws(LogError) {
        sources.lost = manifest.lost.runs
        for entry in sources.sealed {
            guard let reader = PairReader.open(entry.name, of: space, in: shared),
                reader.holdsLost
            else { continue }
            var rest = NumberRanges([entry.first...entry.last])
            for run in try reader.readable() { rest.remove(run) }
            for run in manifest.lost.runs { rest.remove(run) }
            forgotten += rest.ranges
        }
    }

    /// The names of all pairs on disk of which there is a file.
    func segmentNames() throws(LogError) -> [SegmentName] {
        let folder = LogPaths.segments(space)
        let directory = directory
        let names = try storing { () throws(StorageError) in
            try directory.exists(folder) ? try directory.list(folder) : []
        }
        return Set(names.compactMap { LogPaths.segmentName($0) })
            .sorted { ($0.first, $0.number) < ($1.first, $1.number) }
    }

    /// Puts those pairs into a new manifest that cover most, each position once.
    private mutating func adopt(_ readers: [PairReader]) throws(LogError) {
        var next: UInt64 = 1
        let order = readers.sorted { ($0.first, $1.last) < ($1.first, $0.last) }
        for reader in order where reader.first >= next {
            guard let entry = reader.entry(),
                try store.damage(of: entry, in: space).isEmpty
            else { continue }
            sources.sealed.append(entry)
            next = entry.last + 1
        }
    }

    /// Takes up what the log's files hold.
    private mutating func gather() {
        let index = salvage.shared.index.withLock { $0[space] }
        for run in index.canonical.runs {
            if let last = sources.log.last, last.upperBound + 1 == run.first {
                sources.log[sources.log.count - 1] = last.lowerBound...run.last
            } else {
                sources.log.append(run.first...run.last)
            }
        }
        sources.promoted = promoted(index.placements)
    }

    /// Only where positions are given elsewhere events are pending, or were.
    private mutating func settleAuthority() throws(LogError) {
        let (directory, publishing) = (directory, LogPaths.publishing(space))
        // The other side may have taken over.
        guard try !storing({ () throws(StorageError) in try directory.exists(publishing) }) else {
            return
        }
        let index = salvage.shared.index.withLock { $0[space] }
        let hasLanes =
            !index.lanes.isEmpty || !index.placements.isEmpty || !lanes.kept.isEmpty
            || !lanes.others.isEmpty || !shared.index.withLock { $0[space].lanes.isEmpty }
        if !hasLanes { manifest.authority = ReplicaID(drawnFrom: shared.entropy) }
    }

    /// The last position that was ever given, as far as anything here knows.
    private var lastPosition: UInt64 {
        var last = shared.index.withLock { $0[space].head }
        last = max(last, manifest.segments.last?.last ?? 0, sources.sealed.last?.last ?? 0)
        last = max(last, manifest.lost.last?.last ?? 0, sources.log.last?.upperBound ?? 0)
        let old = salvage.shared.index.withLock { $0[space] }
        last = max(last, old.anchors.reduce(0) { max($0, $1.size) })
        last = max(last, old.placements.reduce(0) { max($0, $1.lastPosition) })
        return sources.pairs.reduce(last) { max($0, $1.parts.last?.upperBound ?? 0) }
    }

    /// The lowest position that was not given away by hand.
    private var lowest: UInt64 {
        guard !isManifestGone else { return 1 }
        let released = shared.index.withLock { $0[space].released }
        let first = min(
            manifest.segments.first?.first ?? UInt64.max,
            manifest.lost.first?.first ?? UInt64.max
        )
        return first == UInt64.max ? released + 1 : min(first, released + 1)
    }

    /// Up to here everything is put into segments, or is lost.
    private func sealedEnd(_ pieces: [SpacePiece]) -> UInt64 {
        let index = shared.index.withLock { $0[space] }
        var known = max(
            manifest.segments.last?.last ?? 0,
            sources.sealed.last?.last ?? 0,
            index.released
        )
        // What the log leaves to private segments is not read from its blocks any more.
        if lanes.isBroken {
            known = max(known, index.canonical.runs.last { $0.isSealed }?.last ?? 0)
        }
        return max(known, pieces.last { !$0.isInLog }?.positions.upperBound ?? 0)
    }

    /// Whether the log's state does not fit what is there.
    private func needsState(_ sealedEnd: UInt64) throws(LogError) -> Bool {
        let (head, released, runs) = shared.index.withLock {
            ($0[space].head, $0[space].released, $0[space].canonical.runs)
        }
        guard head >= sealedEnd, head >= lastPosition else { return true }
        var next = released + 1
        for run in runs {
            guard run.first == next else { return true }
            next = run.last + 1
        }
        return next != head + 1
    }

    // MARK: Mending

    private mutating func mend(
        _ pieces: [SpacePiece],
        _ sealedEnd: UInt64,
        _ seeds: SoughtSeeds,
        isBroken: Bool,
        _ setAside: inout SetAside,
        _ report: inout RepairReport
    ) throws(LogError) {
        if isBroken, !hasLostFrames, damaged.isEmpty, !isManifestGone {
            report.found(
                LogPaths.log,
                "the log of space \(space.text) lacks what its segments or states tell of",
                "its state is made anew from what there is"
            )
        }
        try store.withWriter { (writer) throws(LogError) in try writer.write(seeds.all, of: space) }
        let made = try seal(pieces, upTo: sealedEnd)
        holdsLost = pieces.contains { if case .lost(_, .some) = $0.source { true } else { false } }
        let segments = (sources.sealed + made).sorted { $0.first < $1.first }
        let lost = newlyLost(pieces, &report) + forgotten
        var walk = try walk(segments, lost, pieces, sealedEnd)
        if !walk.isConfirmed, walk.lost.contains(where: { !$0.hashes.isEmpty }) {
            // What tiles say of lost positions is not what the log says of its root.
            walk = try self.walk(segments, lost, pieces, sealedEnd, trustsTiles: false)
        }
        let standsIn = walk.lost.contains { $0.hashes.isEmpty && !manifest.lost.contains($0) }
        if standsIn || !walk.isConfirmed { needsNewLineage = true }
        // Other salts make other commitments.
        if !seeds.drawn.isEmpty || !seeds.found.isEmpty && walk.isDenied { needsNewLineage = true }
        let lanes = try mendLanes(walk, &setAside, &report)
        try finish(segments, lanes, walk, sealedEnd, &setAside, &report)
    }

    /// Seals what is in no segment that verifies, as far as it can be read.
    private func seal(
        _ pieces: [SpacePiece],
        upTo end: UInt64
    ) throws(LogError) -> [SegmentEntry] {
        var files = SegmentFiles(shared, space)
        for piece in pieces where piece.positions.lowerBound <= end {
            switch piece.source {
            case .sealed, .lost(_, .none): try files.finish()
            case .log, .pair, .promoted, .lost:
                let positions = piece.positions.lowerBound...min(piece.positions.upperBound, end)
                try read(positions, piece.source) { (events) throws(LogError) in
                    try files.append(events)
                }
            }
        }
        try files.finish()
        return files.entries
    }

    /// Gives the events at positions of a piece.
    func read(
        _ positions: ClosedRange<UInt64>,
        _ source: SpacePiece.Source,
        _ visit: (StoredEvents) throws(LogError) -> Void
    ) throws(LogError) {
        switch source {
        case .lost(_, let reader): try reader?.readEnvelopes(positions, visit)
        case .log:
            var cursor = try salvage.cursor(space, positions: positions, .canonical)
            while let events = try cursor.next() { try visit(events) }
        case .pair(let reader): try reader.read(positions, visit)
        case .promoted(let reader, let run):
            let shift = run.firstPosition &- run.firstSequence
            let sequences = positions.lowerBound &- shift...positions.upperBound &- shift
            try reader.read(sequences) { (events) throws(LogError) in
                try visit(events.placed(by: run))
            }
        case .sealed(let entry):
            guard let reader = PairReader.open(entry.name, of: space, in: shared) else { return }
            try reader.read(positions, visit)
        }
    }

    /// What is found to be lost now.
    private func newlyLost(
        _ pieces: [SpacePiece],
        _ report: inout RepairReport
    ) -> [ClosedRange<UInt64>] {
        var lost = NumberRanges()
        for piece in pieces where piece.isFound { lost.insert(piece.positions) }
        report.losses += lost.ranges.map {
            RepairReport.Loss(space: space, place: .positions, numbers: $0)
        }
        return lost.ranges
    }

    /// Under which ids events are recorded here now.
    private func ownIDs() throws(LogError) -> Set<ReplicaID> {
        let path = LogPaths.replica(space)
        let bytes = try storing { () throws(StorageError) in
            try directory.contents(of: path, sizeMax: 4096)
        }
        guard let file = ReplicaFile(bytes.span) else {
            throw .corrupt(Fault(file: path, offset: 0, what: "the replica file is damaged"))
        }
        return Set([file.replica, manifest.authority].compactMap { $0 })
    }

    /// Computes the tree over segments, gaps, and what stays in the log.
    private func walk(
        _ segments: [SegmentEntry],
        _ lost: [ClosedRange<UInt64>],
        _ pieces: [SpacePiece],
        _ sealedEnd: UInt64,
        trustsTiles: Bool = true
    ) throws(LogError) -> SpaceWalk {
        let index = shared.index.withLock { $0[space] }
        let old = salvage.shared.index.withLock { $0[space] }
        var walk = SpaceWalk(
            space,
            store,
            engine,
            anchors: old.anchors,
            known: manifest.lost,
            tallies: index.tallies,
            adoptions: index.adoptions,
            clock: index.clock,
            own: try ownIDs()
        )
        try walk.expect(
            lost: NumberRanges(lost.sorted { $0.lowerBound < $1.lowerBound }).ranges,
            upTo: sealedEnd,
            since: shared.time.now,
            trusts: trustsTiles
        )
        for entry in segments {
            try read(entry.first...entry.last, .sealed(entry)) { (events) throws(LogError) in
                try walk.take(events)
            }
        }
        for piece in pieces where piece.positions.upperBound > sealedEnd && piece.isInLog {
            let start = max(sealedEnd + 1, piece.positions.lowerBound)
            let positions = start...piece.positions.upperBound
            try read(positions, .log) { (events) throws(LogError) in try walk.take(events) }
        }
        walk.finish()
        return walk
    }
}
