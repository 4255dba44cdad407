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
    func append(_ process: Int32, to chosen: SpaceID? = nil) throws {
        let store = try store(process)
        var planned: [Planned] = []
        for _ in 0..<(random.oneIn(3) ? 1 + random.below(4) : 1) {
            guard let id = chosen ?? drawSpace(settled), let space = current.spaces[id] else {
                return
            }
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
                throw Violation(
                    "an append got position \(String(describing: batch.firstPosition)), not "
                        + "\(position)"
                )
            }
            for offset in 0..<batch.count {
                guard index < events.count else { throw Violation("more events than appended") }
                // Rows that keep their origins know them already, and may have gaps.
                let next = batch.firstOrigin.sequence + UInt64(offset)
                let origin =
                    events[index].origin
                    ?? Origin(replica: batch.firstOrigin.replica, sequence: next)
                events[index].origin = origin
                try register(origin, events[index].event.number, in: planned.space)
                index += 1
                position += 1
            }
        }
        guard index == events.count else { throw Violation("fewer events than appended") }
        settled = current
        settled.apply(.append(planned.space, events))
        tail = []
    }

    private func plan(_ id: SpaceID, _ space: ModelSpace) -> Planned {
        var contents: [Append.Content] = []
        var events: [ModelEvent] = []
        if space.isAuthority, random.oneIn(8) {
            let (rows, found) = drawStrangers(in: id, space)
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
            let drawn = (0..<count).map { _ in drawEvent(isAuthority: isAuthority) }
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

    private func drawEvent(isAuthority: Bool) -> SimulatedEvent {
        lastNumber += 1
        return SimulatedEvent.draw(
            number: lastNumber,
            isAuthority: isAuthority,
            textSizeMax: random.oneIn(6) ? 2000 : 200,
            now: clock.now.milliseconds,
            using: &random
        )
    }

    /// Rows of other replicas, with gaps between their sequences.
    private func drawStrangers(
        in id: SpaceID,
        _ space: ModelSpace
    ) -> (PreservedRows, [ModelEvent]) {
        var batch = DraftBatch()
        var envelopes: [RowEnvelope] = []
        var events: [ModelEvent] = []
        for _ in 0..<1 + random.below(6) {
            guard let replica = ReplicaID(rawValue: UInt64(1 + random.below(3))) else { continue }
            var last = strangers[id, default: [:]][replica] ?? (0, 1_000_000)
            let count = 1 + random.below(3)
            let first = last.sequence + UInt64(1 + random.below(3))
            for index in 0..<count {
                last = (first + UInt64(index), last.clock + UInt64(1 + random.below(1000)))
                let event = drawEvent(isAuthority: false)
                let origin = Origin(replica: replica, sequence: last.sequence)
                kinds.append(event, to: &batch, origin: origin)
                let time = HybridTime(rawValue: last.clock)
                envelopes.append(
                    RowEnvelope(
                        replica: replica,
                        sequence: last.sequence,
                        batchFirst: first,
                        batchCount: count,
                        clock: time,
                        at: Timestamp(milliseconds: event.at ?? time.milliseconds),
                        base: space.head
                    )
                )
                var found = ModelEvent(
                    event: event,
                    batchIndex: index,
                    batchCount: count,
                    isAuthority: false
                )
                found.origin = origin
                events.append(found)
            }
            // Also if the append fails: sequences may have gaps.
            strangers[id, default: [:]][replica] = last
        }
        let rows = PreservedRows(
            batch: batch,
            envelopes: envelopes,
            acceptedAt: envelopes.map { _ in nil },
            isAuthority: false
        )
        return (rows, events)
    }

    // MARK: Promoting and releasing

    /// Promotes the start of a lane, of a space or of one that is drawn.
    func promote(_ process: Int32, in chosen: SpaceID? = nil) throws {
        let state = current
        let lanes = state.ids.filter {
            state.spaces[$0]?.pending.isEmpty == false && $0 == chosen ?? $0
        }
        guard !lanes.isEmpty else { return }
        let id = lanes[random.below(lanes.count)]
        guard let space = state.spaces[id] else { return }
        let runs = drawRuns(space)
        guard !runs.isEmpty else { return }
        let effect = Effect.promote(id, runs)
        let store = try store(process)
        let sealed = store[id].sealedPendingCount()
        do throws(LogError) {
            _ = try store.append(
                Append(space: id, content: .promoted(runs))
            )
        } catch {
            trace.add("p\(process) promote \(id.text.suffix(3)): \(name(error))")
            note(effect, lostBy: error)
            return try judge(error, of: process, "promote")
        }
        if store[id].sealedPendingCount() < sealed { sealedPromotionCount += 1 }
        let texts = runs.map { "\($0.firstSequence)+\($0.count)@\($0.firstPosition)" }
        trace.add("p\(process) promote \(id.text.suffix(3)) \(texts.joined(separator: " "))")
        settled = current
        settled.apply(effect)
        tail = []
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
            let replica = pending[random.below(pending.count)].replica
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
        guard let id = drawSpace(settled), let space = state.spaces[id], !sealed.contains(id)
        else { return }
        // Events that were never read could not be compared later, so they stay.
        let seen = space.canonical.prefix { $0.seen != nil }.count
        guard seen > Int(space.released) else { return }
        let count = random.oneIn(3) ? seen : 1 + random.below(seen)
        let position = max(space.released, UInt64(count))
        let effect = Effect.release(id, position)
        let store = try store(process)
        do throws(LogError) {
            try store[id].release(upTo: position)
        } catch {
            trace.add("p\(process) release \(id.text.suffix(3)) \(position): \(name(error))")
            // It may fail after it was done, while the log is tidied.
            tail.append(effect)
            try judge(error, of: process, "release")
            return try settle()
        }
        trace.add("p\(process) release \(id.text.suffix(3)) \(position)")
        settled = current
        settled.apply(effect)
        tail = []
        try checkIndex(process)
    }

    // MARK: Spaces and packs

    /// Makes a space, of a kind that is drawn if none is given.
    func makeSpace(_ process: Int32, isAuthority kind: Bool? = nil) throws {
        let store = try store(process)
        guard settled.spaces.count < 3 else { return }
        let isAuthority = kind ?? random.oneIn(hasLongLanes ? 4 : 2)
        do throws(LogError) {
            if random.oneIn(2) { try store.removeRemains() }
            let id = try store.makeSpace(isAuthority: isAuthority).space
            settled.apply(.make(id, isAuthority: isAuthority))
            trace.add("p\(process) make \(id.text.suffix(3)) \(isAuthority)")
        } catch {
            trace.add("p\(process) make: \(name(error))")
            mayHaveLostSpaces = true
            try judge(error, of: process, "make")
            try settle()
        }
    }

    func remove(_ process: Int32) throws {
        // The manifest goes immediately, whatever is written and not synced.
        guard tail.isEmpty else { return }
        let store = try store(process)
        guard settled.spaces.count > 1, let id = drawSpace(settled) else { return }
        do throws(LogError) {
            try store[id].remove()
        } catch {
            trace.add("p\(process) remove \(id.text.suffix(3)): \(name(error))")
            ghosts[id] = current.spaces[id]
            tail.append(.remove(id))
            try judge(error, of: process, "remove")
            return try settle()
        }
        trace.add("p\(process) remove \(id.text.suffix(3))")
        settled = current
        settled.apply(.remove(id))
        tail = []
        try checkIndex(process)
    }

    func keepPack(_ process: Int32) throws {
        let store = try store(process)
        let pack = SimulatedPack(number: random.below(3))
        do throws(LogError) {
            try store.keep(pack.files, fingerprint: pack.fingerprint)
        } catch {
            trace.add("p\(process) keep \(pack.number): \(name(error))")
            return try judge(error, of: process, "keep")
        }
        trace.add("p\(process) keep \(pack.number)")
        keptPacks.insert(pack.number)
    }
}
