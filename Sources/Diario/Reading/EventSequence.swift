import DiarioLog

/// Events of a diary, one after another; memory is bounded by the size of a block.
///
/// Each iterator reads for itself, on the diary's own thread.
public struct EventSequence: AsyncSequence, Sendable {
    public typealias Element = RecordedEvent

    let diary: Diary
    let request: EventPages.Request

    public func makeAsyncIterator() -> Iterator {
        Iterator(diary: diary, pages: EventPages(request))
    }

    /// Reads some events ahead, and the next ones when these were taken.
    public struct Iterator: AsyncIteratorProtocol {
        private let diary: Diary
        private let pages: EventPages
        /// Events read ahead, the next one last.
        private var events: [RecordedEvent] = []

        /// Others may record too, and only the log tells of that.
        private static let pause = Duration.milliseconds(250)

        init(diary: Diary, pages: EventPages) {
            self.diary = diary
            self.pages = pages
        }

        /// The next event; nil at the end, and of events that are followed once the task is
        /// cancelled.
        ///
        /// - Throws: `CancellationError` if the task is cancelled before the end, ``DiarioError``
        ///   if the log is damaged or the disk refuses.
        public mutating func next() async throws -> RecordedEvent? {
            if let event = events.popLast() { return event }
            while true {
                if Task.isCancelled {
                    guard pages.request.isFollowing else { throw CancellationError() }
                    return nil
                }
                let version = diary.changes.version
                let page = try await diary.read(pages)
                events = page.events.reversed()
                if let event = events.popLast() { return event }
                guard page.isAtEnd else { continue }
                guard pages.request.isFollowing else { return nil }
                await diary.changes.wait(after: version, atMost: Self.pause)
            }
        }
    }
}

/// In which order events are read.
public enum EventOrder: Sendable {
    /// By position, then the pending ones.
    case oldestFirst
    /// The other way round.
    case newestFirst
}

extension Diary {
    /// The events that are recorded when the reading begins, and wanted.
    public nonisolated func events(
        _ filter: EventFilter = EventFilter(),
        order: EventOrder = .oldestFirst
    ) -> EventSequence {
        EventSequence(diary: self, request: .stored(filter, order))
    }

    /// The events after a position, and then new ones as they get their positions: each once, in
    /// order, without end.
    ///
    /// A pending event comes when it has a position. To continue another time, keep the position
    /// of the last event that was handled. If another process imports into this diary while it is
    /// empty, which replaces its space, all events of the import come.
    ///
    /// - Parameters:
    ///   - position: The position after which to begin: 0 for all events, nil for new ones only.
    ///   - filter: Selects the events.
    /// - Returns: The events; each iteration begins there.
    public nonisolated func follow(
        after position: UInt64? = nil,
        _ filter: EventFilter = EventFilter()
    ) -> EventSequence {
        let start = position ?? space.store[space.id].standing().head
        let lineage = position == nil ? try? space.lineage() : nil
        return EventSequence(diary: self, request: .following(filter, after: start, in: lineage))
    }

    /// Reads on; here, because the disk blocks.
    func read(_ pages: EventPages) throws -> EventPages.Page {
        try pages.next(in: shared)
    }
}
