import DiarioCore
import DiarioFormat
import DiarioLog

/// The events of one append, with their entries in the book.
struct PlannedEvents {
    let base: UInt64
    var contents: [Append.Content] = []
    private(set) var events: [(drawn: EventDraw.Drawn, batch: Int)] = []

    init(base: UInt64) { self.base = base }

    /// Draws a batch.
    mutating func add(
        _ events: EventDraw,
        isSingle: Bool,
        _ book: inout Book,
        _ kinds: SyncKinds,
        _ draw: inout SeededRandom
    ) -> DraftBatch {
        let drawn = events.batch(&book, &draw)
        var batch = book.nextBatch()
        for event in drawn {
            self.events.append((event, batch))
            if isSingle { batch = book.nextBatch() }
        }
        return kinds.batch(drawn.map(\.event))
    }

    /// Notes that they were recorded by a device, or the server; without origins, they may be in
    /// the log or not.
    func note(_ origins: [Origin]?, in book: inout Book, _ device: Device?) {
        for (index, (drawn, batch)) in events.enumerated() {
            let (event, isWrongActor) = drawn
            let origin = origins?[index]
            book.add(
                Book.Entry(
                    event: event,
                    device: device?.number,
                    batch: batch,
                    isWrongActor: isWrongActor,
                    fate: origin == nil ? .open : .synced
                ),
                base: base,
                origin
            )
            device?.note(event, origin)
        }
    }
}
