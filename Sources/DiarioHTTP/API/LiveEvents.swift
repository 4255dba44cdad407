import DiarioCore
import DiarioEngine
import DiarioSchema
import Synchronization

/// A stream of server-sent events: schema/format/http.md, section 7.
final class LiveEvents: LiveStream {
    let bell: Bell
    private let space: ServedSpace
    private let wanted: EventPage.Wanted
    private let cursor: StreamCursor
    private let owner: ReadOwner
    private let mayGoOn: @Sendable () -> Bool
    private let state: Mutex<State>

    private struct State: Sendable {
        var position: UInt64
        var isBegun = false
        let end: ContinuousClock.Instant
        var nextComment: ContinuousClock.Instant

        var wakeTime: ContinuousClock.Instant { min(end, nextComment) }
    }

    private static let lifetime = Duration.seconds(60)
    private static let commentInterval = Duration.seconds(15)

    init(
        _ space: ServedSpace,
        after position: UInt64,
        _ wanted: EventPage.Wanted,
        _ cursor: StreamCursor,
        by owner: ReadOwner,
        at now: ContinuousClock.Instant,
        while mayGoOn: @escaping @Sendable () -> Bool
    ) {
        self.space = space
        self.wanted = wanted
        self.cursor = cursor
        self.owner = owner
        self.mayGoOn = mayGoOn
        bell = space.bell
        state = Mutex(
            State(
                position: position,
                end: now + Self.lifetime,
                nextComment: now + Self.commentInterval
            )
        )
    }

    func next(at now: ContinuousClock.Instant) -> LivePiece {
        state.withLock { state in
            guard now < state.end, mayGoOn() else { return .end }
            if space.head > state.position || !state.isBegun {
                guard wanted.isFiltered else { return read(&state, at: now, BuildStop()) }
                return .reading(
                    Reading(owner) { [self] stop in
                        self.state.withLock { read(&$0, at: .now, stop) }
                    }
                )
            }
            if now >= state.nextComment {
                state.nextComment = now + Self.commentInterval
                return .bytes(Array(":\n\n".utf8), quietUntil: state.wakeTime)
            }
            return .nothing(until: state.wakeTime)
        }
    }

    private func read(
        _ state: inout State,
        at now: ContinuousClock.Instant,
        _ stop: BuildStop
    ) -> LivePiece {
        let (start, head) = (state.position, space.head)
        // An error of reading shows with the next request.
        guard let page = try? space.page(after: start, through: head, wanted, until: stop)
        else { return .end }
        state.isBegun = true
        state.position = page.end
        state.nextComment = now + Self.commentInterval
        return .bytes(piece(page), quietUntil: page.isUpToDate ? state.wakeTime : nil)
    }

    private func piece(_ page: EventPage) -> [UInt8] {
        let cursor = cursor.next
        let shown =
            wanted.isPlain
            ? space.livePage(page, cursor: cursor) : LivePage(page, cursor: cursor)
        return shown.bytes
    }
}

/// A page as server-sent events: its data, and what to ask for next.
struct LivePage: Sendable {
    let bytes: [UInt8]
    private let start: UInt64
    private let head: UInt64
    private let cursor: String

    init(_ page: EventPage, cursor: String) {
        var bytes: [UInt8] = []
        if page.count > 0 {
            bytes += "event: data\ndata:".utf8
            // The last byte is a line feed; each other one begins a new line of the event.
            for byte in page.json.dropLast() {
                bytes.append(byte)
                if byte == 0x0a { bytes += "data:".utf8 }
            }
            bytes += "\n\n".utf8
        }
        bytes += "event: control\ndata:".utf8
        bytes += JSONObjectWriter.object { json in
            json.add("streamNextOffset", StreamOffset(page.end).text)
            json.add("streamCursor", cursor)
            if page.isUpToDate { json.add("upToDate", true) }
        }
        bytes += "\n\n".utf8
        self.bytes = bytes
        start = page.start
        head = page.head
        self.cursor = cursor
    }

    /// True if it is made from that page, if both are what readers ask for who say nothing.
    func shows(_ page: EventPage, _ cursor: String) -> Bool {
        start == page.start && head == page.head && self.cursor == cursor
    }
}

/// Keeps caches from answering the same question for ever: schema/format/http.md, section 7.
struct StreamCursor: Sendable {
    /// The cursor that the reader got last; nil if it sends none.
    private let last: UInt64?
    private let now: Timestamp

    private static let interval: Int64 = 20_000
    /// The largest that a reader may say.
    static let max: UInt64 = 1 << 53
    /// The start of 2024-10-09, from which intervals are counted.
    private static let epoch: Int64 = 1_728_432_000_000

    init(after last: UInt64?, at now: Timestamp) {
        self.last = last
        self.now = now
    }

    /// The number of the interval, or more than the reader has.
    var next: String {
        let current = UInt64(clamping: (now.milliseconds - Self.epoch) / Self.interval)
        guard let last, last >= current else { return "\(current)" }
        return "\(last + UInt64.random(in: 1...180))"
    }
}
