import DiarioCore
import DiarioEngine
import DiarioFormat
import DiarioLog
import DiarioSync

// Recording of events, with the promises that follow.

extension SyncWorld {
    func record(_ device: Device, _ draw: inout SeededRandom) throws {
        guard device.isOn else { return }
        device.setClock(now)
        var planned = PlannedEvents(base: device.head)
        let events = drawing(for: device, planned.base)
        for _ in 0..<(draw.oneIn(4) ? 2 : 1) {
            let isSingle = draw.oneIn(4)
            var drafts: [DraftBatch] = []
            for _ in 0..<(draw.oneIn(4) ? 1 + draw.below(4) : 1) {
                drafts.append(
                    planned.add(events, isSingle: isSingle, &records.book, kinds, &draw)
                )
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
        var planned = PlannedEvents(base: server.head)
        let events = drawing(for: nil, planned.base)
        let batch = planned.add(events, isSingle: false, &records.book, kinds, &draw)
        planned.contents = [.new([batch])]
        if draw.oneIn(2), try recordAtDoor(planned, &draw) { return }
        guard let origins = try append(planned, to: server) else { return }
        trace.add("server records \(origins.count)")
        guard !takeCut(of: server) else { return }
        try records.readLedger(server)
    }

    /// Somebody sends events to the server that are not pushed, as JSON; false if that cannot be
    /// done now.
    private func recordAtDoor(
        _ planned: PlannedEvents,
        _ draw: inout SeededRandom
    ) throws -> Bool {
        guard server.takesEvents else { return false }
        let door = ServerDoor(server, kinds, records.ledger, &draw)
        let events = planned.events.map(\.drawn.event)
        guard let origins = try door.record(events, in: space) else {
            trace.add("server lets \(events.count) events not in")
            return true
        }
        planned.note(origins, in: &records.book, nil)
        trace.add("server takes \(origins.count)")
        try records.readLedger(server)
        return true
    }

    private func drawing(for device: Device?, _ base: UInt64) -> EventDraw {
        EventDraw(
            traits: plan.traits,
            device: device,
            ledger: records.ledger,
            base: base,
            replicas: Set(devices.flatMap(\.contents.replicas))
        )
    }

    /// Appends events and notes their fate; nil if the log failed.
    private func append(_ planned: PlannedEvents, to peer: Peer) throws -> [Origin]? {
        guard let store = peer.store else { return nil }
        let origins: [Origin]
        do throws(LogError) {
            origins = try store.append(Append(space: peer.space, contents: planned.contents))
                .origins
        } catch {
            // Nobody gives the origin that an event is about to get.
            if case .outOfOrder = error,
                planned.events.contains(where: { $0.drawn.event.id != nil })
            {
                trace.add("\(peer.name) records not: \(error)")
                return nil
            }
            // Otherwise nothing of it is in the log.
            if peer.wasCut() != nil || error.isStop {
                planned.note(nil, in: &records.book, peer as? Device)
            }
            try judge(error, of: peer, "record")
            return nil
        }
        guard origins.count == planned.events.count else {
            throw Broken(.works, "\(origins.count) of \(planned.events.count) events appended")
        }
        planned.note(origins, in: &records.book, peer as? Device)
        return origins
    }
}
