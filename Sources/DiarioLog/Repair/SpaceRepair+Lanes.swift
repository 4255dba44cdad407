import DiarioCore
import DiarioFormat
import DiarioStorage
import Synchronization

// Pending events, and what is left of the private segments that hold them.

extension SpaceRepair {
    // MARK: Looking

    /// Looks at what can be read of private segments, if something is wrong with them.
    mutating func findLanes(_ report: inout RepairReport) throws(LogError) {
        let index = shared.index.withLock { $0[space] }
        let hasAny = !index.lanes.isEmpty || !lanes.kept.isEmpty || !lanes.others.isEmpty
        let isLacking = lacksSegments(index)
        lanes.isBroken =
            isLacking || !lanes.damaged.isEmpty || (isManifestGone || hasLostFrames) && hasAny
        guard lanes.isBroken || !damaged.isEmpty else { return }
        if isLacking, lanes.damaged.isEmpty, !isManifestGone, !hasLostFrames {
            report.found(
                LogPaths.manifest(space),
                "the log speaks of events that are in no private segment",
                "they are looked for in other files"
            )
        }
        let kept = Set(lanes.kept.map(\.name))
        for reader in lanes.others where !kept.contains(reader.name) {
            guard let replica = reader.replica else { continue }
            for sequences in try reader.readable() {
                lanes.parts.append(
                    LaneSources.Part(replica: replica, sequences: sequences, reader: reader)
                )
            }
        }
    }

    /// Whether sealed rows of the log are in no private segment that verifies (W10).
    private func lacksSegments(_ index: SpaceIndex) -> Bool {
        index.allRuns.contains { run in
            guard run.isSealed else { return false }
            let replica = index.replica(of: run)
            var rest = NumberRanges([run.sequences])
            for entry in lanes.kept where entry.replica == replica {
                rest.remove(entry.first...entry.last)
            }
            return !rest.isEmpty
        }
    }

    /// Puts those private segments into a new manifest that cover most of what is needed, each
    /// event once.
    mutating func adoptLanes() throws(LogError) {
        let index = shared.index.withLock { $0[space] }
        var candidates: [SegmentEntry] = []
        for reader in lanes.others {
            guard let entry = reader.entry(), try store.damage(of: entry, in: space).isEmpty
            else { continue }
            candidates.append(entry)
        }
        while true {
            let covers = candidates.map { ($0, covered(by: $0, index)) }.filter { $0.1 > 0 }
            let most = covers.max { left, right in
                (left.1, right.0.first) < (right.1, left.0.first)
            }
            guard let entry = most?.0 else { break }
            lanes.kept.append(entry)
            candidates.removeAll {
                $0.replica == entry.replica && $0.first <= entry.last && entry.first <= $0.last
            }
        }
        lanes.kept.sort(by: Manifest.areInOrder)
    }

    /// How many events of a private segment may be needed.
    private func covered(by entry: SegmentEntry, _ index: SpaceIndex) -> UInt64 {
        // What the log said of them may be among what is gone.
        if hasLostFrames { return UInt64(entry.count) }
        return index.allRuns.reduce(0) { sum, run in
            guard run.isSealed, index.replica(of: run) == entry.replica else { return sum }
            let found = NumberRanges([run.sequences]).clamped(to: entry.first...entry.last)
            return sum + found.count
        }
    }

    /// Where events of private segments stand, as the log says, in order of position.
    func promoted(_ placements: [PromotedRun]) -> [SpaceSources.Promoted] {
        var readers: [SegmentName: PairReader] = [:]
        var found: [SpaceSources.Promoted] = []
        for run in placements {
            let sequences = run.firstSequence...run.lastSequence
            for entry in lanes.kept
            where entry.replica == run.replica && sequences.overlaps(entry.first...entry.last) {
                let reader =
                    readers[entry.name] ?? PairReader.open(entry.name, of: space, in: shared)
                guard let reader else { continue }
                readers[entry.name] = reader
                found.append(run.part(sequences.clamped(to: entry.first...entry.last), reader))
            }
            for part in lanes.parts
            where part.replica == run.replica && sequences.overlaps(part.sequences) {
                found.append(run.part(sequences.clamped(to: part.sequences), part.reader))
            }
        }
        found.sort {
            ($0.positions.lowerBound, $1.positions.upperBound)
                < ($1.positions.lowerBound, $0.positions.upperBound)
        }
        var end: UInt64 = 0
        return found.compactMap { next in
            guard next.positions.upperBound > end else { return nil }
            let first = max(end + 1, next.positions.lowerBound)
            end = next.positions.upperBound
            return SpaceSources.Promoted(
                positions: first...end,
                reader: next.reader,
                run: next.run
            )
        }
    }

    // MARK: Mending

    /// Puts pending events in order: what is in private segments stays there or is sealed again,
    /// and what is found nowhere is written down as lost.
    mutating func mendLanes(
        _ walk: borrowing SpaceWalk,
        _ setAside: inout SetAside,
        _ report: inout RepairReport
    ) throws(LogError) -> MendedLanes {
        var mended = MendedLanes(entries: lanes.kept)
        guard lanes.isBroken else { return mended }
        let index = shared.index.withLock { $0[space] }
        let old = salvage.shared.index.withLock { $0[space] }
        for replica in lanes.replicas.union(index.lanes.map(\.replica)).sorted() {
            let placed = old.placements.filter { $0.replica == replica }.map(\.lastSequence)
            let end = max(walk.lastSequences[replica] ?? 0, placed.max() ?? 0)
            let refused = NumberRanges(
                walk.refusals.filter { $0.replica == replica }.map(\.sequences)
            )
            let work = work(of: replica, after: end, refused, index, old)
            let pieces = work.pieces
            try writeSeeds(for: pieces, of: replica, &report)
            let made = try seal(pieces, of: replica)
            mended.entries += made
            let lost = lost(work, pieces, after: end, index, hasLostPositions: !walk.lost.isEmpty)
            for numbers in lost.ranges {
                mended.gone += GoneRows.all(numbers, of: replica, .lost, since: shared.time.now)
                report.losses.append(
                    RepairReport.Loss(space: space, place: .sequences(replica), numbers: numbers)
                )
            }
            try leaveOut(work, upTo: end, index, &mended, &setAside)
            note(work, pieces, made, index, &mended)
        }
        mended.entries.sort(by: Manifest.areInOrder)
        return mended
    }

    /// Takes out of a lane of the log what is not pending: what was refused, and what comes before
    /// events with positions.
    private func leaveOut(
        _ work: LaneWork,
        upTo end: UInt64,
        _ index: SpaceIndex,
        _ mended: inout MendedLanes,
        _ setAside: inout SetAside
    ) throws(LogError) {
        let (replica, now) = (work.replica, shared.time.now)
        // Where the log has none of it, the lane has a gap that is to be told of.
        var refused = NumberRanges()
        if let first = work.pending.first, let last = work.pending.last {
            refused = work.refused.clamped(to: first...last)
        }
        for run in index.lanes.first(where: { $0.replica == replica })?.runs.runs ?? [] {
            var placed = NumberRanges(run.first <= end ? [run.first...min(run.last, end)] : [])
            for range in work.refused.clamped(to: run.first...run.last).ranges {
                // They are in the inbox, unless their author has dealt with them.
                let why = "events of \(replica.text) that were refused"
                try keep(run, of: replica, because: why, &setAside)
                refused.insert(range)
                placed.remove(range)
            }
            for range in placed.ranges {
                let why = "events of \(replica.text) that have positions, which were lost"
                try keep(run, of: replica, because: why, &setAside)
                mended.gone += GoneRows.all(range, of: replica, .placed, since: now)
            }
        }
        for range in refused.ranges {
            mended.gone += GoneRows.all(range, of: replica, .refused, since: now)
        }
    }

    /// What is pending of a replica whose events up to `end` have positions.
    private func work(
        of replica: ReplicaID,
        after end: UInt64,
        _ refused: NumberRanges,
        _ index: SpaceIndex,
        _ old: SpaceIndex
    ) -> LaneWork {
        var work = LaneWork(replica: replica)
        work.refused = refused
        work.kept = lanes.kept.filter { $0.replica == replica }
        work.parts = lanes.parts.filter { $0.replica == replica }
        let runs = index.lanes.first { $0.replica == replica }?.runs.runs ?? []
        work.log = runs.filter { !$0.isSealed }
        work.salvage = old.lanes.first { $0.replica == replica }?.runs.runs ?? []
        var found = runs.map { $0.first...$0.last }
        if hasLostFrames {
            // The log may have forgotten what is in private segments; of retired ones it let go.
            let retired = Set(manifest.retired.map(\.name))
            found += work.kept.map { $0.first...$0.last }
            found += work.parts.filter { !retired.contains($0.reader.name) }.map(\.sequences)
        }
        work.pending = NumberRanges(found.sorted { $0.lowerBound < $1.lowerBound })
        if end > 0 { work.pending.remove(1...end) }
        for range in refused.ranges { work.pending.remove(range) }
        for entry in index.gone where entry.rows.replica == replica {
            work.pending.remove(entry.rows.sequences)
        }
        return work
    }

    /// Gives personal events seeds whose own ones the log does not have any more.
    private func writeSeeds(
        for pieces: [LaneWork.Piece],
        of replica: ReplicaID,
        _ report: inout RepairReport
    ) throws(LogError) {
        var search = SeedSearch(shared, space)
        for piece in pieces where !piece.isKept && (hasLostFrames || !piece.isInLog) {
            try read(piece, of: replica) { (events) throws(LogError) in search.take(events) }
        }
        let seeds = search.seeds({ sidecarSeeds() }, &report).all
        try store.withWriter { (writer) throws(LogError) in try writer.write(seeds, of: space) }
    }

    /// Seals what is in no private segment that verifies: a lane is sealed from its start on.
    private func seal(
        _ pieces: [LaneWork.Piece],
        of replica: ReplicaID
    ) throws(LogError) -> [SegmentEntry] {
        guard let last = pieces.lastIndex(where: { !$0.isLost && !$0.isInLog }) else { return [] }
        var entries: [SegmentEntry] = []
        var files = SegmentFiles(shared, space, of: replica)
        var next: UInt64 = 0
        for piece in pieces[...last] where !piece.isLost && !piece.isKept {
            if piece.sequences.lowerBound != next {
                try files.finish()
                entries += files.entries
                files = SegmentFiles(shared, space, of: replica)
            }
            try read(piece, of: replica) { (events) throws(LogError) in
                try files.append(events)
            }
            next = piece.sequences.upperBound + 1
        }
        try files.finish()
        return entries + files.entries
    }

    /// Gives the events of a piece that is in no private segment which stays.
    private func read(
        _ piece: LaneWork.Piece,
        of replica: ReplicaID,
        _ visit: (StoredEvents) throws(LogError) -> Void
    ) throws(LogError) {
        switch piece.source {
        case .kept, .nowhere: return
        case .pair(let reader): try reader.read(piece.sequences, visit)
        case .log(let run): try read(run.part(piece.sequences), of: replica, in: store, visit)
        case .salvage(let run):
            try read(run.part(piece.sequences), of: replica, in: salvage, visit)
        }
    }

    private func read(
        _ run: Run?,
        of replica: ReplicaID,
        in log: LogStore,
        _ visit: (StoredEvents) throws(LogError) -> Void
    ) throws(LogError) {
        guard let run else { return }
        var cursor = LogCursor(log, space, [(replica, run)])
        while let events = try cursor.next() { try visit(events) }
    }

    /// Pending events that are found nowhere, as far as anything tells that there were some.
    private func lost(
        _ work: LaneWork,
        _ pieces: [LaneWork.Piece],
        after end: UInt64,
        _ index: SpaceIndex,
        hasLostPositions: Bool
    ) -> NumberRanges {
        var lost = NumberRanges(pieces.filter(\.isLost).map(\.sequences))
        guard hasLostFrames else { return lost }
        // What is missing before the first one may be at lost positions.
        let first = hasLostPositions ? work.pending.first : end + 1
        let last = max(work.pending.last ?? 0, index.lastSequence(of: work.replica))
        guard let first, first <= last else { return lost }
        var missing = NumberRanges([first...last])
        for range in work.pending.ranges + work.refused.ranges { missing.remove(range) }
        for entry in index.gone where entry.rows.replica == work.replica {
            missing.remove(entry.rows.sequences)
        }
        for range in missing.ranges { lost.insert(range) }
        return lost
    }

    /// Keeps a copy of pending rows that are shown no more.
    private func keep(
        _ run: Run,
        of replica: ReplicaID,
        because why: String,
        _ setAside: inout SetAside
    ) throws(LogError) {
        guard run.isSealed else {
            let start = Int(run.offset)
            let part = start..<start + Int(run.blockSize)
            return try setAside.keep(LogPaths.logFile(UInt64(run.file)), part: part, because: why)
        }
        for entry in lanes.kept
        where entry.replica == replica && run.sequences.overlaps(entry.first...entry.last) {
            try setAside.keep(LogPaths.segment(entry.name, of: space), because: why)
            try setAside.keep(LogPaths.sidecar(entry.name, of: space), because: why)
        }
    }

    /// Notes what the log has to say of a lane from now on.
    private func note(
        _ work: LaneWork,
        _ pieces: [LaneWork.Piece],
        _ made: [SegmentEntry],
        _ index: SpaceIndex,
        _ mended: inout MendedLanes
    ) {
        let lane = index.lanes.first { $0.replica == work.replica }
        var clock = lane?.clock
        for case .kept(let entry) in pieces.map(\.source) {
            guard let reader = PairReader.open(entry.name, of: space, in: shared) else { continue }
            clock = min(clock ?? HybridTime(rawValue: .max), reader.firstClock)
            mended.clock = max(mended.clock, reader.lastClock)
        }
        for case .pair(let reader) in pieces.map(\.source) {
            clock = min(clock ?? HybridTime(rawValue: .max), reader.firstClock)
            mended.clock = max(mended.clock, reader.lastClock)
        }
        for entry in work.kept + made {
            var numbers = work.pending.clamped(to: entry.first...entry.last)
            for run in lane?.runs.runs ?? [] where run.isSealed {
                numbers.remove(run.first...run.last)
            }
            for range in numbers.ranges {
                mended.sealed.append(
                    SealedRows(
                        replica: work.replica,
                        firstSequence: range.lowerBound,
                        count: UInt32(range.upperBound - range.lowerBound + 1),
                        placed: nil,
                        clock: clock ?? HybridTime(rawValue: 0)
                    )
                )
            }
        }
    }
}

extension PromotedRun {
    /// Some of these events, which a reader gives.
    fileprivate func part(
        _ sequences: ClosedRange<UInt64>,
        _ reader: PairReader
    ) -> SpaceSources.Promoted {
        let shift = firstPosition &- firstSequence
        return SpaceSources.Promoted(
            positions: sequences.lowerBound &+ shift...sequences.upperBound &+ shift,
            reader: reader,
            run: self
        )
    }
}

extension GoneRows {
    /// So many records as it takes.
    fileprivate static func all(
        _ numbers: ClosedRange<UInt64>,
        of replica: ReplicaID,
        _ reason: Reason,
        since: Timestamp
    ) -> [GoneRows] {
        var list: [GoneRows] = []
        var next = numbers.lowerBound
        while next <= numbers.upperBound {
            let count = UInt32(clamping: numbers.upperBound - next + 1)
            list.append(
                GoneRows(
                    replica: replica,
                    firstSequence: next,
                    count: count,
                    reason: reason,
                    since: since
                )
            )
            next += UInt64(count)
        }
        return list
    }
}
