import DiarioCore
import DiarioEngine
import DiarioFormat
import DiarioLog
import DiarioSync

// Recording of events, with the promises that follow.

extension SyncWorld {
    /// The events of one append, with their entries in the book.
    private struct Planned {
        let base: UInt64
        var contents: [Append.Content] = []
        var events: [(drawn: EventDraw.Drawn, batch: Int)] = []
    }

    func record(_ device: Device, _ draw: inout SeededRandom) throws {
        guard device.isOn else { return }
        device.setClock(now)
        var planned = Planned(base: device.head)
        let events = drawing(for: device, planned.base)
        for _ in 0..<(draw.oneIn(4) ? 2 : 1) {
            let isSingle = draw.oneIn(4)
            var drafts: [DraftBatch] = []
            for _ in 0..<(draw.oneIn(4) ? 1 + draw.below(4) : 1) {
                drafts.append(plan(events, isSingle: isSingle, &planned, &draw))
            }
            planned.contents.append(isSingle ? .new(drafts, .replicaSingly) : .new(drafts))
        }
        guard let origins = try append(planned, to: device) else { return }
        trace.add("\(device.name) records \(origins.count) from \(origins[0].text.suffix(6))")
        guard !takeCut(of: device) else { return }
        try device.checkIndex()
        try records.checkClock(of: origins[0], device, planned.base)
        try followLog(device)
        // Recording wakes the sync.
        if case .live = device.session?.machine.state { schedule(device, .news, in: 1) }
    }

    /// The server's own replica records, as a program beside it does.
    func recordAtServer(_ draw: inout SeededRandom) throws {
        guard server.isOn else { return }
        server.setClock(now)
        var planned = Planned(base: server.head)
        let events = drawing(for: nil, planned.base)
        planned.contents = [.new([plan(events, isSingle: false, &planned, &draw)])]
        guard let origins = try append(planned, to: server) else { return }
        trace.add("server records \(origins.count)")
        guard !takeCut(of: server) else { return }
        try records.readLedger(server)
    }

    private func drawing(for device: Device?, _ base: UInt64) -> EventDraw {
        EventDraw(traits: plan.traits, device: device, ledger: records.ledger, base: base)
    }

    private func plan(
        _ events: EventDraw,
        isSingle: Bool,
        _ planned: inout Planned,
        _ draw: inout SeededRandom
    ) -> DraftBatch {
        let drawn = events.batch(&records.book, &draw)
        var batch = records.book.nextBatch()
        for event in drawn {
            planned.events.append((event, batch))
            if isSingle { batch = records.book.nextBatch() }
        }
        return kinds.batch(drawn.map(\.event))
    }

    /// Appends events and notes their fate; nil if the log failed.
    private func append(_ planned: Planned, to peer: Peer) throws -> [Origin]? {
        guard let store = peer.store else { return nil }
        let origins: [Origin]
        do throws(LogError) {
            origins = try store.append(Append(space: peer.space, contents: planned.contents))
                .origins
        } catch {
            // Otherwise nothing of it is in the log.
            if peer.wasCut() != nil || error.isStop { note(planned, of: peer, origins: nil) }
            try judge(error, of: peer, "record")
            return nil
        }
        guard origins.count == planned.events.count else {
            throw Broken(.works, "\(origins.count) of \(planned.events.count) events appended")
        }
        note(planned, of: peer, origins: origins)
        return origins
    }

    /// Notes events that were recorded; without origins, they may be in the log or not.
    private func note(_ planned: Planned, of peer: Peer, origins: [Origin]?) {
        let device = peer as? Device
        for (index, (drawn, batch)) in planned.events.enumerated() {
            let (event, isWrongActor) = drawn
            let origin = origins?[index]
            records.book.add(
                Book.Entry(
                    event: event,
                    device: device?.number,
                    batch: batch,
                    isWrongActor: isWrongActor,
                    fate: origin == nil ? .open : .synced
                ),
                base: planned.base,
                origin
            )
            device?.note(event, origin)
        }
    }
}
