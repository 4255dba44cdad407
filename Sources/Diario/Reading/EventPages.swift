import DiarioLog
import DiarioSchema
import Synchronization

/// Reads the events of a diary piece by piece.
final class EventPages: Sendable {
    /// What is read.
    enum Request: Sendable {
        case stored(EventFilter, EventOrder)
        case following(EventFilter, after: UInt64)

        var isFollowing: Bool {
            if case .following = self { true } else { false }
        }
    }

    /// Events that were read together.
    struct Page: Sendable {
        var events: [RecordedEvent] = []
        /// Whether there is no more for now.
        var isAtEnd = false
    }

    private struct State: Sendable {
        var reader: EventReader?
        /// True once all stored events were read.
        var isDone = false
        /// Of events that are followed the first position that was not read yet.
        var next: UInt64?
    }

    let request: Request
    private let state = Mutex(State())

    /// Enough that going from thread to thread costs little, and few enough for memory.
    private static let eventCountMax = 256
    /// Bytes of payloads, after which no more events are read ahead.
    private static let sizeMax = 256 * 1024
    /// Blocks that are looked through before others may use the diary's thread.
    private static let blockCountMax = 64

    init(_ request: Request) { self.request = request }

    /// The next events, or none of them yet.
    func next(in space: Space) throws(DiarioError) -> Page {
        try state.withLock { (state) throws(DiarioError) in
            guard try begin(&state, in: space) else { return Page(isAtEnd: true) }
            return try Self.read(&state, isFollowing: request.isFollowing)
        }
    }

    /// Makes sure that there is a reader; false if there is nothing to be read.
    private func begin(_ state: inout State, in space: Space) throws(DiarioError) -> Bool {
        if state.reader != nil { return true }
        if state.isDone { return false }
        // Others may have recorded events, and adopted packs with types that are not known yet.
        _ = try logging { () throws(LogError) in try space.store.refresh() }
        try space.takeUpAdoptions()
        switch request {
        case .stored(let filter, let order):
            let isReversed = order == .newestFirst
            state.reader = try EventReader(space, filter, for: .use, isReversed: isReversed)
        case .following(var filter, let position):
            let head = space.store.standing(of: space.id).head
            let next = state.next ?? position + 1
            state.next = max(next, head + 1)
            let first = max(next, filter.positions?.lowerBound ?? 1)
            let last = min(head, filter.positions?.upperBound ?? .max)
            guard first <= last else { return false }
            filter.positions = first...last
            filter.part = .canonical
            state.reader = try EventReader(space, filter, for: .use, isReversed: false)
        }
        return true
    }

    private static func read(
        _ state: inout State,
        isFollowing: Bool
    ) throws(DiarioError) -> Page {
        var page = Page()
        var size = 0
        var blockCount = 0
        while page.events.count < eventCountMax, size < sizeMax, blockCount < blockCountMax {
            switch try state.reader?.step() ?? .end {
            case .event:
                guard let line = state.reader?.line, let event = RecordedEvent(line) else { break }
                size += line.payload.arena.count
                page.events.append(event)
            case .block: blockCount += 1
            case .end:
                state.reader = nil
                state.isDone = !isFollowing
                page.isAtEnd = true
                return page
            }
        }
        return page
    }
}
