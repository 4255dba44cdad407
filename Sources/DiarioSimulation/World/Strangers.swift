import DiarioCore
import DiarioFormat
import DiarioLog

/// Foreign replicas whose rows a space receives with their origins.
struct Strangers {
    /// Their last sequences and clocks.
    private var last: [ReplicaID: (sequence: UInt64, clock: UInt64)] = [:]

    /// Their next rows, with gaps between their sequences, and the events in them.
    mutating func append(
        after head: UInt64,
        _ kinds: EventKinds,
        _ random: inout SeededRandom,
        drawEvent: (inout SeededRandom) -> SimulatedEvent
    ) -> (PreservedRows, [ModelEvent]) {
        var batch = DraftBatch()
        var envelopes: [RowEnvelope] = []
        var events: [ModelEvent] = []
        for _ in 0..<1 + random.below(6) {
            guard let replica = ReplicaID(rawValue: UInt64(1 + random.below(3))) else { continue }
            var last = last[replica] ?? (0, 1_000_000)
            let count = 1 + random.below(3)
            let first = last.sequence + UInt64(1 + random.below(3))
            for index in 0..<count {
                last = (first + UInt64(index), last.clock + UInt64(1 + random.below(1000)))
                let event = drawEvent(&random)
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
                        base: head
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
            self.last[replica] = last
        }
        let rows = PreservedRows(
            batch: batch,
            envelopes: envelopes,
            acceptedAt: envelopes.map { _ in nil },
            isAuthority: false
        )
        return (rows, events)
    }
}
