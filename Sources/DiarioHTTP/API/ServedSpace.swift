import DiarioCore
import DiarioEngine
import DiarioHost
import DiarioSchema
import DiarioServer
import DiarioStorage
import Synchronization

/// A space that is served: its events, its read models, and those who wait for news of it.
final class ServedSpace: Sendable {
    private let shared: SharedSpace
    let bell = Bell()
    private let models = Mutex<Models>(Models())
    private let modelsAreOpen = Atomic(false)
    private let page = Mutex<EventPage?>(nil)
    private let piece = Mutex<LivePage?>(nil)
    private let seenHead: Mutex<UInt64>
    /// Where those who look after its blobs were last; nil if they were not yet.
    private let blobsHead = Mutex<UInt64?>(nil)
    private let calls = Mutex<Void>(())

    /// Used by one thread at a time.
    private struct Models {
        var models: ReadModels?
    }

    init(_ space: Space) {
        shared = SharedSpace(space)
        seenHead = Mutex(space.head)
    }

    /// The space as it was known last.
    var space: Space { shared.current }

    /// The space with the types of packs that were adopted meanwhile.
    func refreshed() throws -> Space {
        try shared.refreshed()
    }

    var head: UInt64 { space.head }

    /// Rings if there is more than when this was asked last.
    func ringIfGrown() {
        let head = head
        let isGrown = seenHead.withLock { seen in
            defer { seen = head }
            return seen != head
        }
        if isGrown { bell.ring() }
    }

    /// True if there is more than when its blobs were looked after last.
    var hasNewsForBlobs: Bool { blobsHead.withLock { $0 } != head }

    /// Notes that its blobs are as the events up to a position want them; nil if some came.
    func noteBlobsSeen(at head: UInt64?) { blobsHead.withLock { $0 = head } }

    /// Runs `body` with the read models, unless `stop` is asked before.
    func withModels<Value: Sendable>(
        until stop: BuildStop,
        _ body: @Sendable (ReadModels) throws -> Value
    ) throws -> Value {
        let moment = Signal()
        while !stop.hasBeenAsked {
            if let outcome = tryModels(until: stop, body) { return try outcome.get() }
            // Another question brings them up to date, which may take long.
            moment.wait(nanosecondsMax: 5_000_000)
        }
        throw Problem(.unavailable, "The question was ended.", retryAfter: 5)
    }

    /// Runs `body`, a call of a command or a view, after those that came before.
    func oneCallAtATime<Value: Sendable>(_ body: () throws -> Value) throws -> Value {
        try calls.withLock { _ in try body() }
    }

    /// Nil if others use the read models.
    private func tryModels<Value: Sendable>(
        until stop: BuildStop,
        _ body: @Sendable (ReadModels) throws -> Value
    ) -> Result<Value, any Error>? {
        models.withLockIfAvailable { kept in
            Result {
                let space = try refreshed()
                let models: ReadModels
                if let known = kept.models {
                    models = known
                } else {
                    models = try ReadModels(space, chunkCount: Self.chunkCount)
                    kept.models = models
                }
                modelsAreOpen.store(true, ordering: .relaxed)
                models.space = space
                models.stop = stop
                return try body(models)
            }
        }
    }

    /// Events that read models take in one transaction: they are not ended in the middle of one.
    private static let chunkCount = 5_000

    /// Whether read models are open, which keep files open.
    var hasModels: Bool { modelsAreOpen.load(ordering: .relaxed) }

    /// Closes the read models, unless somebody uses them now.
    func closeModels() {
        _ = models.withLockIfAvailable { kept in
            kept.models = nil
            modelsAreOpen.store(false, ordering: .relaxed)
        }
    }

    /// The events behind a position as JSON.
    ///
    /// The last page is kept: when news come, all who wait ask for the same one.
    func page(
        after position: UInt64,
        through head: UInt64,
        _ wanted: EventPage.Wanted,
        until stop: BuildStop = BuildStop()
    ) throws -> EventPage {
        if wanted.isPlain,
            let kept = page.withLock({ $0 }), kept.start == position, kept.head == head
        {
            return kept
        }
        let space = try refreshed()
        let made = try EventPage(of: space, after: position, through: head, wanted, until: stop)
        if wanted.isPlain { page.withLock { $0 = made } }
        return made
    }

    /// A page as streams of server-sent events have it; the last one is kept as well.
    func livePage(_ page: EventPage, cursor: String) -> LivePage {
        if let kept = piece.withLock({ $0 }), kept.shows(page, cursor) { return kept }
        let made = LivePage(page, cursor: cursor)
        piece.withLock { $0 = made }
        return made
    }
}
