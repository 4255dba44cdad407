import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioStorage

// Operations that change the log.

extension World {
    // MARK: Appending

    private struct Planned {
        let append: Append
        let space: SpaceID
        let events: [ModelEvent]
    }

    /// Appends to a space, or to several that are drawn.
    func append(_ process: Int32) throws {
        let store = try store(process)
        var planned: [Planned] = []
        for _ in 0..<(random.oneIn(3) ? 1 + random.below(4) : 1) {
            guard let id = drawSpace(), let space = current.spaces[id] else { return }
            planned.append(plan(id, space))
        }
        let outcomes = store.commit(planned.map(\.append))
        var line = "p\(process) append"
        var failure: LogError?
        for (planned, outcome) in zip(planned, outcomes) {
            line += " \(planned.space.text.suffix(3)):\(planned.events.count)"
            switch outcome {
            case .success(let batches): try take(planned, batches)
            case .failure(let error):
                line += " \(name(error))"
                failure = failure ?? error
                note(.append(planned.space, planned.events), lostBy: error)
            }
        }
        trace.add(line)
        if let failure { try judge(failure, of: process, "append") }
        try checkIndex(process)
    }

    /// Notes a change whose answer may have got lost with an error.
    private func note(_ effect: Effect, lostBy error: LogError) {
        switch error {
        case .storage(.cut), .stopped: tail.append(effect)
        default: break
        }
    }

    /// Notes events that were acknowledged.
    private func take(_ planned: Planned, _ batches: AppendedBatches) throws {
        var events = planned.events
        let isAuthority = current.spaces[planned.space]?.isAuthority ?? false
        var position = (current.spaces[planned.space]?.head ?? 0) + 1
        var index = 0
        for batch in batches {
            guard batch.firstPosition == (isAuthority ? position : nil) else {
                throw Broken(
                    .log,
                    "an append got position \(String(describing: batch.firstPosition)), not "
                        + "\(position)"
                )
            }
            for offset in 0..<batch.count {
                guard index < events.count else { throw Broken(.log, "more events than appended") }
                // Rows that keep their origins know them already, and may have gaps.
                let next = batch.firstOrigin.sequence + UInt64(offset)
                let origin =
                    events[index].origin
                    ?? Origin(replica: batch.firstOrigin.replica, sequence: next)
                events[index].origin = origin
                try known.register(origin, events[index].event.number, in: planned.space)
                index += 1
                position += 1
            }
        }
        guard index == events.count else { throw Broken(.log, "fewer events than appended") }
        acknowledge(.append(planned.space, events))
    }

    private func plan(_ id: SpaceID, _ space: ModelSpace) -> Planned {
        var contents: [Append.Content] = []
        var events: [ModelEvent] = []
        if space.isAuthority, random.oneIn(8) {
            var strangers = known.strangers[id] ?? Strangers()
            let (rows, found) = strangers.append(after: space.head, kinds, &random) { random in
                drawEvent(isAuthority: false, &random)
            }
            // Also if the append fails: sequences may have gaps.
            known.strangers[id] = strangers
            contents.append(.preserved([rows]))
            events += found
        } else {
            for _ in 0..<(random.oneIn(4) ? 2 : 1) {
                contents.append(drawContent(space, &events))
            }
        }
        return Planned(
            append: Append(space: id, contents: contents),
            space: id,
            events: events
        )
    }

    private func drawContent(_ space: ModelSpace, _ events: inout [ModelEvent]) -> Append.Content {
        let isAuthority = space.isAuthority && random.oneIn(6)
        let isSingle = !isAuthority && random.oneIn(4)
        var batches: [DraftBatch] = []
        for _ in 0..<(random.oneIn(4) ? 1 + random.below(4) : 1) {
            let count = random.oneIn(10) ? 1 + random.below(40) : 1 + random.below(4)
            let drawn = (0..<count).map { _ in drawEvent(isAuthority: isAuthority, &random) }
            batches.append(kinds.batch(drawn))
            for (index, event) in drawn.enumerated() {
                events.append(
                    ModelEvent(
                        event: event,
                        batchIndex: isSingle ? 0 : index,
                        batchCount: isSingle ? 1 : count,
                        isAuthority: isAuthority
                    )
                )
            }
        }
        if isAuthority { return .new(batches, .authority) }
        return isSingle ? .new(batches, .replicaSingly) : .new(batches)
    }

    private func drawEvent(
        isAuthority: Bool,
        _ random: inout SeededRandom
    ) -> SimulatedEvent {
        known.lastNumber += 1
        return SimulatedEvent.draw(
            number: known.lastNumber,
            isAuthority: isAuthority,
            textSizeMax: random.oneIn(6) ? 2000 : 200,
            now: clock.now.milliseconds,
            using: &random
        )
    }

    // MARK: Promoting and releasing

    /// Promotes the start of a lane.
    func promote(_ process: Int32) throws {
        let state = current
        let lanes = state.ids.filter {
            state.spaces[$0]?.pending.isEmpty == false && $0 == focus ?? $0
        }
        guard !lanes.isEmpty else { return }
        let id = random.pick(lanes)
        guard let space = state.spaces[id] else { return }
        let runs = drawRuns(space)
        guard !runs.isEmpty else { return }
        let effect = Effect.promote(id, runs)
        let name = id.text.suffix(3)
        let sealed = try store(process)[id].sealedPendingCount()
        let left = try tried(process, "promote \(name)", orNote: { note(effect, lostBy: $0) }) {
            store in
            _ = try store.append(Append(space: id, content: .promoted(runs)))
            return store[id].sealedPendingCount()
        }
        guard let left else { return }
        if left < sealed { trace.counts.sealedPromotions += 1 }
        let texts = runs.map { "\($0.firstSequence)+\($0.count)@\($0.firstPosition)" }
        trace.add("p\(process) promote \(name) \(texts.joined(separator: " "))")
        acknowledge(effect)
        try checkIndex(process)
    }

    private func drawRuns(_ space: ModelSpace) -> [PromotedRun] {
        var pending = space.pending.compactMap(\.origin)
        guard pending.count == space.pending.count else { return [] }
        var runs: [PromotedRun] = []
        var position = space.head + 1
        var acceptedAt = space.canonical.compactMap(\.acceptedAt).last ?? clock.now.milliseconds
        for _ in 0..<1 + random.below(3) {
            guard !pending.isEmpty else { break }
            let replica = random.pick(pending).replica
            let own = pending.filter { $0.replica == replica }
            let isWhole = random.oneIn(hasLongLanes ? 12 : 2)
            let most = hasLongLanes ? min(own.count, 12) : own.count
            let count = isWhole ? own.count : 1 + random.below(most)
            acceptedAt += Int64(random.below(1000))
            runs.append(
                PromotedRun(
                    replica: replica,
                    firstSequence: own[0].sequence,
                    count: UInt64(count),
                    firstPosition: position,
                    acceptedAt: Timestamp(milliseconds: acceptedAt)
                )
            )
            position += UInt64(count)
            let last = own[count - 1].sequence
            pending.removeAll { $0.replica == replica && $0.sequence <= last }
        }
        return runs
    }

    func release(_ process: Int32) throws {
        let state = current
        guard let id = drawSpace(), let space = state.spaces[id], !known.sealed.contains(id)
        else { return }
        // Events that were never read could not be compared later, so they stay.
        let seen = space.canonical.prefix { $0.seen != nil }.count
        guard seen > Int(space.released) else { return }
        let count = random.oneIn(3) ? seen : 1 + random.below(seen)
        let position = max(space.released, UInt64(count))
        let effect = Effect.release(id, position)
        let what = "release \(id.text.suffix(3)) \(position)"
        // It may fail after it was done, while the log is tidied.
        let done: Void? = try tried(process, what, orNote: { _ in tail.append(effect) }) { store in
            try store[id].release(upTo: position)
        }
        guard done != nil else { return try settle() }
        trace.add("p\(process) \(what)")
        acknowledge(effect)
        try checkIndex(process)
    }

    // MARK: Spaces and packs

    /// Makes a space, of a kind that is drawn if none is given.
    func makeSpace(_ process: Int32, isAuthority kind: Bool? = nil) throws {
        guard known.state.spaces.count < 3 else { return }
        let isAuthority = kind ?? random.oneIn(hasLongLanes ? 4 : 2)
        let id = try tried(process, "make", orNote: { _ in mayHaveLostSpaces = true }) { store in
            if random.oneIn(2) { try store.removeRemains() }
            return try store.makeSpace(isAuthority: isAuthority).space
        }
        guard let id else { return try settle() }
        known.state.apply(.make(id, isAuthority: isAuthority))
        trace.add("p\(process) make \(id.text.suffix(3)) \(isAuthority)")
    }

    func remove(_ process: Int32) throws {
        // The manifest goes immediately, whatever is written and not synced.
        guard tail.isEmpty, known.state.spaces.count > 1, let id = drawSpace() else { return }
        let what = "remove \(id.text.suffix(3))"
        func note() {
            known.ghosts[id] = current.spaces[id]
            tail.append(.remove(id))
        }
        let done: Void? = try tried(process, what, orNote: { _ in note() }) { try $0[id].remove() }
        guard done != nil else { return try settle() }
        trace.add("p\(process) \(what)")
        acknowledge(.remove(id))
        try checkIndex(process)
    }

    func keepPack(_ process: Int32) throws {
        let pack = SimulatedPack(number: random.below(3))
        let what = "keep \(pack.number)"
        let done: Void? = try tried(process, what) { store in
            try store.keep(pack.files, fingerprint: pack.fingerprint)
        }
        guard done != nil else { return }
        trace.add("p\(process) \(what)")
        keptPacks.insert(pack.number)
    }

    // MARK: Sealing

    /// Seals a space, which changes nothing that readers see: all of it, or only full runs.
    func seal(_ process: Int32) throws {
        guard let id = drawSpace() else { return }
        let all = random.oneIn(3)
        let what = "seal \(id.text.suffix(3))"
        // Also if it fails: it is not known any more which positions are released.
        known.sealed.insert(id)
        let report = try tried(process, what) { try $0.seal(id, all: all) }
        guard let report else { return try settle() }
        trace.add(
            "p\(process) \(what) \(all ? "all " : "")to \(report.sealedEnd): "
                + "\(report.segmentCount) for \(report.replacedCount), "
                + "\(report.sealedPending) pending"
        )
        // Frames of other processes were replayed, and synced.
        acknowledge()
        try checkIndex(process)
        try checkFiles(of: id, in: try store(process))
    }

    /// Files of segments are those that the manifest names, and no others.
    private func checkFiles(of id: SpaceID, in store: LogStore) throws {
        // A planned cut may come here, and files that cannot be removed stay.
        guard plannedCut == nil, !hasFaults else { return }
        let folder = LogPaths.segments(id)
        let (manifest, names) = try attempt("a list of segments") {
            let names = try disk.exists(folder) ? disk.list(folder).map { folder + "/" + $0 } : []
            return (try store[id].status().manifest, names)
        }
        let named = (manifest.segments + manifest.lanes).map(\.name) + manifest.retired.map(\.name)
        let expected = named.flatMap {
            [LogPaths.segment($0, of: id), LogPaths.sidecar($0, of: id)]
        }
        guard Set(names) == Set(expected) else {
            throw Broken(
                .log,
                "\(names.count) files of segments are there, not \(expected.count)"
            )
        }
    }
}
