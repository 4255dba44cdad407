import DiarioCore

/// Draws the events that a device, or the server, records.
struct EventDraw {
    let traits: SyncPlan.Traits
    /// Nil for the server.
    let device: Device?
    let ledger: Ledger
    /// The head as the author knows it.
    let base: UInt64
    /// The ids of devices, of which the next origins can be foreseen.
    let replicas: Set<ReplicaID>

    /// A server records nothing that it would refuse.
    private var hasFlaws: Bool { device != nil && traits.contains(.refusals) }

    /// An event that was drawn; with true if its actor is not allowed.
    typealias Drawn = (event: SyncEvent, isWrongActor: Bool)

    func batch(_ book: inout Book, _ draw: inout SeededRandom) -> [Drawn] {
        (0..<batchSize(&draw)).map { _ in event(book.nextToken(), &draw) }
    }

    private func batchSize(_ draw: inout SeededRandom) -> Int {
        if traits.contains(.longBatches), draw.oneIn(12) {
            return draw.oneIn(2) ? Limits.batchCountMax : 1 + draw.below(Limits.batchCountMax)
        }
        return draw.oneIn(10) ? 1 + draw.below(30) : 1 + draw.below(4)
    }

    private func event(_ token: Int64, _ draw: inout SeededRandom) -> Drawn {
        var event = SyncEvent(kind: kind(&draw), token: token)
        if event.kind != .mark, event.kind != .spot, event.kind != .stray {
            let isLong = hasFlaws && draw.oneIn(30)
            let size = isLong ? SyncPacks.textLengthMax + 1 : draw.below(SyncPacks.textLengthMax)
            event.text = draw.letters(size)
        }
        switch event.kind {
        case .thing: if draw.oneIn(4) { event.id = id("thing", &draw) }
        case .spot: event.subject = id("spot", &draw)
        case .note, .newNote: if draw.oneIn(2) { event.secret = draw.letters(1 + draw.below(20)) }
        case .name:
            event.subject = thing(&draw)
            if event.subject == nil { event.kind = .thing }
        case .mark: if draw.oneIn(2) { event.subject = Array("s\(draw.below(4))".utf8) }
        case .stray, .other: break
        }
        event.ifUnchanged = hasFlaws && event.subject != nil && draw.oneIn(3)
        var isWrongActor = false
        switch draw.below(12) {
        case 0 where hasFlaws && device?.actor != nil:
            event.actor = Array("mallory".utf8)
            isWrongActor = true
        case 1...(event.kind.asks ? 10 : 6): event.actor = Array((device?.actor ?? "alice").utf8)
        default: break
        }
        return (event, isWrongActor)
    }

    /// Mostly a type that the space has adopted as far as the device knows.
    private func kind(_ draw: inout SeededRandom) -> SyncEvent.Kind {
        let version = ledger.packVersion(at: base)
        let isAhead = hasFlaws && draw.oneIn(25)
        let kind = draw.pick(
            SyncEvent.Kind.allCases.filter { kind in
                kind != .other && (isAhead || (kind.packVersion ?? .max) <= max(version, 1))
            }
        )
        // A device with another schema always uses it.
        return kind == .note && device?.hasOtherSchema == true ? .other : kind
    }

    /// A thing that the device made, or knows of.
    private func thing(_ draw: inout SeededRandom) -> [UInt8]? {
        if let things = device?.things, !things.isEmpty, !draw.oneIn(3) {
            return things[max(0, things.count - 1 - draw.below(6))]
        }
        guard base > 0 else { return nil }
        var position = 1 + UInt64(draw.below(Int(base)))
        for _ in 0..<20 where position <= min(base, ledger.head) {
            let row = ledger[position].row
            if case .event(let event) = row.content, event.kind == .thing {
                return Ledger.subject(event, row.envelope.origin)
            }
            position += 1
        }
        return nil
    }

    /// An id that others may give as well: also one that some replica is about to make.
    private func id(_ name: String, _ draw: inout SeededRandom) -> [UInt8] {
        let replicas = replicas.sorted()
        guard hasFlaws || device == nil, draw.oneIn(3), !replicas.isEmpty else {
            return Array("\(name)\(draw.below(6))".utf8)
        }
        let replica = draw.pick(replicas)
        let last = ledger.last[replica, default: 0]
        let sequence = draw.oneIn(4) ? max(last, 1) : last + 1 + UInt64(draw.below(6))
        return Array(Origin(replica: replica, sequence: sequence).text.utf8)
    }
}
