import Diario
import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSync

// Recording of events, with the promises that follow.

extension SyncWorld {
    /// The events of one append, with their entries in the book.
    private struct Planned {
        var contents: [Append.Content] = []
        var events: [(event: SyncEvent, batch: Int, isWrongActor: Bool)] = []
    }

    func record(_ device: Device, _ draw: inout SeededRandom) throws {
        guard let store = device.machine.store else { return }
        device.machine.setClock(now)
        let base = store[device.space].standing().head
        var planned = Planned()
        for _ in 0..<(draw.oneIn(4) ? 2 : 1) { plan(&planned, of: device, base, &draw) }
        let append = Append(
            space: device.space,
            contents: planned.contents
        )
        let batches: AppendedBatches
        do throws(LogError) { batches = try store.append(append) } catch {
            let isOut = device.machine.wasCut() != nil || error.isStop
            try judge(error, of: device, "record")
            // Otherwise nothing of it is in the log.
            if isOut { note(planned, device: device.number, .unknown, base, origins: []) }
            return
        }
        let origins = batches.origins
        guard origins.count == planned.events.count else {
            throw Broken(.works, "\(origins.count) of \(planned.events.count) events appended")
        }
        trace.add(
            "\(now) \(device.name) records \(origins.count) from "
                + "\(origins[0].text.suffix(6))"
        )
        note(
            planned,
            device: device.number,
            .synced,
            base,
            origins: origins
        )
        guard try !takeCut(of: device) else { return }
        try checkIndex(of: device.machine)
        try checkClock(of: origins[0], device, base)
        try followLog(device)
        tellOfEvents(device)
    }

    /// A new event is later than all that the device knew, whatever its own clock says.
    private func checkClock(of origin: Origin, _ device: Device, _ base: UInt64) throws {
        let history = device.seen.epoch == ledger.epoch ? ledger : histories[device.seen.epoch]
        guard let store = device.machine.store,
            let highest = history?.highestClock(through: base)
        else { return }
        let lane = try attempt("a read of \(device.name)") { () throws(LogError) in
            try readLane(of: device, store)
        }
        guard let own = lane.first(where: { $0.row.envelope.origin == origin })?.row.envelope,
            own.clock > highest
        else {
            throw Broken(
                .clocks,
                "\(origin.text) is not later than all up to position \(base), which its device knew"
            )
        }
    }

    /// Recording wakes the sync.
    private func tellOfEvents(_ device: Device) {
        if case .live = device.session?.machine.state { schedule(device, .news, in: 1) }
    }

    /// The server's own replica records, as a program beside it does.
    func recordAtServer(_ draw: inout SeededRandom) throws {
        guard let store = server.machine.store else { return }
        server.machine.setClock(now)
        let base = store[space].standing().head
        var planned = Planned()
        let count = drawBatchSize(&draw)
        let drawn = (0..<count).map { _ in drawEvent(nil, base, &draw).event }
        let batch = book.nextBatch()
        planned.contents = [.new([kinds.batch(drawn)])]
        planned.events = drawn.map { ($0, batch, false) }
        let append = Append(space: space, contents: planned.contents)
        let origins: [Origin]
        do throws(LogError) { origins = try store.append(append).origins } catch {
            let isOut = server.machine.wasCut() != nil || error.isStop
            if isOut { note(planned, device: nil, .unknown, base, origins: []) }
            return try judge(error, of: nil, "record")
        }
        trace.add("\(now) server records \(count)")
        note(
            planned,
            device: nil,
            .synced,
            base,
            origins: origins
        )
        guard try !takeCut(of: nil) else { return }
        try readLedger()
    }

    private func note(
        _ planned: Planned,
        device: Int?,
        _ certainty: Book.Hold.Certainty,
        _ base: UInt64,
        origins: [Origin]
    ) {
        counts.events += planned.events.count
        for (index, planned) in planned.events.enumerated() {
            let origin = index < origins.count ? origins[index] : nil
            book.add(
                Book.Entry(
                    event: planned.event,
                    device: device,
                    batch: planned.batch,
                    isWrongActor: planned.isWrongActor,
                    fate: .open
                ),
                base: base,
                certainty,
                origin
            )
            guard let device else { continue }
            devices[device].recorded.insert(planned.event.token)
            guard let origin else { continue }
            devices[device].replicas.insert(origin.replica)
            if planned.event.kind == .thing {
                devices[device].things.append(Array(origin.text.utf8))
            }
        }
    }

    // MARK: Drawing

    private func drawBatchSize(_ draw: inout SeededRandom) -> Int {
        if plan.traits.contains(.longBatches), draw.oneIn(12) {
            return draw.oneIn(2) ? Limits.batchCountMax : 1 + draw.below(Limits.batchCountMax)
        }
        return draw.oneIn(10) ? 1 + draw.below(30) : 1 + draw.below(4)
    }

    private func plan(
        _ planned: inout Planned,
        of device: Device,
        _ base: UInt64,
        _ draw: inout SeededRandom
    ) {
        let isSingle = draw.oneIn(4)
        var drafts: [DraftBatch] = []
        for _ in 0..<(draw.oneIn(4) ? 1 + draw.below(4) : 1) {
            let count = drawBatchSize(&draw)
            var events: [SyncEvent] = []
            var batch = book.nextBatch()
            for _ in 0..<count {
                let (event, isWrongActor) = drawEvent(device, base, &draw)
                events.append(event)
                planned.events.append((event, batch, isWrongActor))
                if isSingle { batch = book.nextBatch() }
            }
            drafts.append(kinds.batch(events))
        }
        planned.contents.append(isSingle ? .new(drafts, .replicaSingly) : .new(drafts))
    }

    /// An event of a device, or of the server, and true if its actor is not allowed.
    private func drawEvent(
        _ device: Device?,
        _ base: UInt64,
        _ draw: inout SeededRandom
    ) -> (event: SyncEvent, isWrongActor: Bool) {
        // A server records nothing that it would refuse.
        let hasFlaws = device != nil && plan.traits.contains(.refusals)
        let kind = drawKind(device, hasFlaws, base, &draw)
        var event = SyncEvent(kind: kind, token: book.nextToken())
        if event.kind != .mark, event.kind != .stray {
            let isLong = hasFlaws && draw.oneIn(30)
            let size = isLong ? SyncPacks.textLengthMax + 1 : draw.below(SyncPacks.textLengthMax)
            event.text = Self.letters(size, &draw)
        }
        switch event.kind {
        case .note, .newNote:
            if draw.oneIn(2) { event.secret = Self.letters(1 + draw.below(20), &draw) }
        case .name:
            if let thing = drawThing(device, base, &draw) {
                event.subject = thing
            } else {
                event.kind = .thing
            }
        case .mark:
            if draw.oneIn(2) { event.subject = Array("s\(draw.below(4))".utf8) }
        case .thing, .stray, .other: break
        }
        event.ifUnchanged = hasFlaws && event.subject != nil && draw.oneIn(3)
        var isWrongActor = false
        switch draw.below(12) {
        case 0 where hasFlaws && device?.actor != nil:
            event.actor = Array("mallory".utf8)
            isWrongActor = true
        case 1...6: event.actor = Array((device?.actor ?? "alice").utf8)
        default: break
        }
        return (event, isWrongActor)
    }

    /// Mostly a type that the space has adopted as far as the device knows.
    private func drawKind(
        _ device: Device?,
        _ hasFlaws: Bool,
        _ base: UInt64,
        _ draw: inout SeededRandom
    ) -> SyncEvent.Kind {
        let version = ledger.packVersion(at: base)
        let isAhead = hasFlaws && draw.oneIn(25)
        let kinds = SyncEvent.Kind.allCases.filter { kind in
            kind != .other && (isAhead || (kind.packVersion ?? .max) <= max(version, 1))
        }
        let kind = kinds[draw.below(kinds.count)]
        // A device with another schema always uses it.
        return kind == .note && device?.hasOtherSchema == true ? .other : kind
    }

    /// A thing that the device made, or knows of.
    private func drawThing(
        _ device: Device?,
        _ base: UInt64,
        _ draw: inout SeededRandom
    ) -> [UInt8]? {
        if let things = device?.things, !things.isEmpty, draw.oneIn(2) {
            return things[max(0, things.count - 1 - draw.below(6))]
        }
        guard base > 0 else { return nil }
        var position = 1 + UInt64(draw.below(Int(base)))
        for _ in 0..<20 where position <= min(base, ledger.head) {
            let row = ledger[position].row
            if case .event(let event) = row.content, event.kind == .thing {
                return Array(row.envelope.origin.text.utf8)
            }
            position += 1
        }
        return nil
    }

    private static func letters(_ count: Int, _ draw: inout SeededRandom) -> [UInt8] {
        (0..<count).map { _ in UInt8(ascii: "a") + UInt8(draw.below(26)) }
    }
}

extension LogError {
    fileprivate var isStop: Bool { if case .stopped = self { true } else { false } }
}
