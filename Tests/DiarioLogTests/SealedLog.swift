import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSimulation
import DiarioStorage

/// A log with small runs, so that few events make many segments.
struct SealedLog {
    let log: TestLog
    let store: LogStore
    let space: SpaceID

    init(
        seed: UInt64 = 1,
        segmentCount: Int = 8,
        mergedCount: Int = 32,
        helper: (any LogHelper)? = nil,
        sizes: LogSizes? = nil
    ) throws {
        log = try TestLog(seed: seed)
        if let sizes { log.sizes = sizes }
        log.sizes.segmentCount = segmentCount
        log.sizes.mergedCount = mergedCount
        store = try log.open(helper: helper)
        space = try store.makeSpace(isAuthority: true).space
    }

    /// Appends events of one kind, with numbers that follow those before; one batch each.
    func append(_ kind: SimulatedEvent.Kind, _ numbers: Range<Int64>) throws {
        let batches = numbers.map { number in
            log.kinds.batch([SimulatedEvent(kind: kind, number: number, text: [65])])
        }
        let content = Append.Content.new(batches)
        _ = try store.append(Append(space: space, content: content))
        log.clock.advance(milliseconds: 1000)
    }

    /// Appends random events in random batches.
    func fill(_ numbers: Range<Int64>) throws {
        var next = numbers.lowerBound
        while next < numbers.upperBound {
            let end = min(numbers.upperBound, next + 1 + Int64(log.random.below(12)))
            let events = (next..<end).map { number in
                SimulatedEvent.draw(
                    number: number,
                    isAuthority: false,
                    textSizeMax: 100,
                    now: log.clock.now.milliseconds,
                    using: &log.random
                )
            }
            let content = Append.Content.new([log.kinds.batch(events)])
            _ = try store.append(Append(space: space, content: content))
            log.clock.advance(milliseconds: Int64(log.random.below(5000)))
            next = end
        }
    }

    /// The positions that a cursor gives, in its order.
    func positions(
        _ positions: ClosedRange<UInt64>? = nil,
        filter: LogFilter = LogFilter(),
        isReversed: Bool = false
    ) throws -> [UInt64] {
        var cursor = try store.cursor(
            space,
            positions: positions,
            filter: filter,
            isReversed: isReversed
        )
        var found: [UInt64] = []
        while let events = try cursor.next() { found += events.rows.compactMap(\.position) }
        return found
    }

    func flip(_ path: String, at offset: Int) throws {
        try log.disk.flipBit(3, at: offset, of: path)
    }
}
