import DiarioCore
import DiarioHost
import DiarioLog
import DiarioSchema
import Synchronization

/// Reads the events of a diary piece by piece.
final class EventPages: Sendable {
    /// The kind of a read.
    enum Request: Sendable {
        case stored(EventFilter, EventOrder)
        /// The position is one of this history, if that is known.
        case following(EventFilter, after: UInt64, in: Lineage?)

        var isFollowing: Bool {
            if case .following = self { true } else { false }
        }
    }

    /// Events that were read together.
    struct Page: Sendable {
        var events: [RecordedEvent] = []
        /// True if there is no more for now.
        var isAtEnd = false
    }

    private struct State: Sendable {
        var reader: EventReader?
        /// The space that is read, and its history.
        var space: SpaceID?
        var lineage: Lineage?
        /// True if something of it was read.
        var hasBegun = false
        /// True once all stored events were read.
        var isDone = false
        /// Of events that are followed the last position that need not be read any more.
        var last: UInt64?
        /// The last position that the reader comes to.
        var end: UInt64 = 0
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
    func next(in shared: SharedSpace) throws -> Page {
        try state.withLock { state in
            do { return try next(&state, in: shared) } catch {
                // The space that replaced it is read from here on, unless a part would come twice.
                let isRenewed = (try? Self.refreshed(shared))?.id ?? state.space != state.space
                guard isRenewed, request.isFollowing || !state.hasBegun else { throw error }
                state.reader = nil
            }
            return try next(&state, in: shared)
        }
    }

    private func next(
        _ state: inout State,
        in shared: SharedSpace
    ) throws -> Page {
        guard try begin(&state, in: shared) else { return Page(isAtEnd: true) }
        return try Self.read(&state, isFollowing: request.isFollowing)
    }

    /// Makes sure that there is a reader; false if there is nothing to be read.
    private func begin(_ state: inout State, in shared: SharedSpace) throws -> Bool {
        if state.reader != nil, !request.isFollowing || state.space == shared.current.id {
            return true
        }
        if state.isDone { return false }
        state.reader = nil
        let space = try Self.refreshed(shared)
        let id = space.id
        defer { state.space = id }
        switch request {
        case .stored(let filter, let order):
            let isReversed = order == .newestFirst
            state.reader = try EventReader(space, filter, for: .use, isReversed: isReversed)
        case .following(var filter, let position, let lineage):
            let now = try space.lineage()
            // Of another history no position was read yet.
            if now != state.lineage ?? lineage ?? now { state.last = 0 }
            state.lineage = now
            let head = space.store[id].standing().head
            let first = filter.positions?.lowerBound ?? 0
            let last = max(state.last ?? position, first > 0 ? first - 1 : 0)
            state.last = last
            state.end = min(head, filter.positions?.upperBound ?? .max)
            guard last < state.end else { return false }
            filter.wantPositions(last + 1...state.end)
            state.reader = try EventReader(space, filter, for: .use, isReversed: false)
        }
        return true
    }

    /// The space with what others recorded, and with the types of packs that they adopted.
    private static func refreshed(_ shared: SharedSpace) throws -> Space {
        try shared.update { space in
            space = try space.refreshed()
            return space
        }
    }

    private static func read(
        _ state: inout State,
        isFollowing: Bool
    ) throws -> Page {
        var page = Page()
        var size = 0
        var blockCount = 0
        // Noted with the page alone: when this throws, its events have not come.
        var last = state.last
        while page.events.count < eventCountMax, size < sizeMax, blockCount < blockCountMax,
            !page.isAtEnd
        {
            switch try state.reader?.step() ?? .end {
            case .event:
                guard let line = state.reader?.line, let event = RecordedEvent(line) else { break }
                size += line.payload.arena.count
                page.events.append(event)
                last = event.position ?? last
            case .block: blockCount += 1
            case .end:
                state.reader = nil
                state.isDone = !isFollowing
                page.isAtEnd = true
                last = last.map { max($0, state.end) }
            }
        }
        state.last = last
        state.hasBegun = state.hasBegun || !page.events.isEmpty
        return page
    }
}
