import DiarioCore
import DiarioCrypto
import DiarioEngine
import DiarioSchema
import DiarioServer
import Synchronization

// Events for people and programs without Diario: schema/format/http.md, section 7.

extension ServedDirectory {
    /// Events behind an offset: what is there, or what comes.
    func events(_ question: Question) throws -> HTTPReply {
        let space = try space(question.space)
        let head = space.head
        if question.request.method == "HEAD" { return .answer(noEvents(head, 200, .json)) }
        let live = try live(question)
        let cursor = StreamCursor(after: try cursor(question), at: now)
        let wanted = try wanted(question, live: live)
        let last = try question.number("last", in: 1...UInt64(Limits.answerCountMax))
        if let last, live == nil {
            return .reading(self.last(Int(last), wanted, question, of: space))
        }
        // What `now` stands for is decided when the request comes, not each time it is looked at.
        let tail = question.request.note ?? head
        let start = try offset(question, isNeeded: live != nil, tail: tail, head: head)
        if live == .sse {
            let owner = question.owner
            let stream = LiveEvents(
                space,
                after: start,
                wanted,
                cursor,
                by: owner,
                at: .now,
                while: mayGoOn(question)
            )
            let headers = [(name: "X-Accel-Buffering", value: "no")]
            return .answer(.fresh(200, .events, headers: headers, .stream(stream)))
        }
        if live == .longPoll, head <= start {
            if question.turn != .last {
                let until = ContinuousClock.now + .seconds(Limits.longPollSecondsMax)
                return .wait(for: space.bell, until: until, note: tail)
            }
            return .answer(noEvents(start, 204, nil, cursor))
        }
        let pageCursor = live == .longPoll ? cursor : nil
        guard wanted.isFiltered else {
            let page = try space.page(after: start, through: head, wanted)
            return .answer(answer(page, question, wanted, pageCursor))
        }
        return .reading(
            reading(for: question) { stop in
                let page = try space.page(
                    after: start,
                    through: space.head,
                    wanted,
                    until: stop
                )
                return self.answer(page, question, wanted, pageCursor)
            }
        )
    }

    /// Tells whether a live stream may go on, which looks for its token again after revocations.
    private func mayGoOn(_ question: Question) -> @Sendable () -> Bool {
        let seen = Mutex(revocations.count)
        return { [self] in
            let count = revocations.count
            let isNew = seen.withLock { seen in
                defer { seen = count }
                return seen != count
            }
            return !isNew || (try? known(question.request, question.space.name.text)) != nil
        }
    }

    func answer(
        _ page: EventPage,
        _ question: Question,
        _ wanted: EventPage.Wanted,
        _ cursor: StreamCursor?
    ) -> HTTPAnswer {
        let isNow = question.request.query.contains { $0.name == "offset" && $0.value == "now" }
        var headers = [(name: "Stream-Next-Offset", value: StreamOffset(page.end).text)]
        if page.isUpToDate { headers.append((name: "Stream-Up-To-Date", value: "true")) }
        if let cursor { headers.append((name: "Stream-Cursor", value: cursor.next)) }
        // A part that has an end never changes within an epoch; one that is open may grow.
        headers.append(
            (
                name: "Cache-Control",
                value: page.isUpToDate ? "no-store" : "private, max-age=60"
            )
        )
        if !isNow {
            let tag = etag(page)
            headers.append((name: "ETag", value: tag))
            let known = question.request.headers["if-none-match"] ?? ""
            if known == "*" || known.contains(tag) {
                return HTTPAnswer(304, headers: headers)
            }
        }
        let type: MediaType = wanted.isCloudEvents ? .cloudEvents : .json
        headers.append((name: "Content-Type", value: type.rawValue))
        headers.append((name: "Vary", value: "Accept, Authorization"))
        return HTTPAnswer(200, headers: headers, .bytes(page.json))
    }

    /// Names what is in a page: the same bytes have the same one, and others have another.
    private func etag(_ page: EventPage) -> String {
        "\"\(SHA256.hash(page.json.span).text.prefix(32))-\(page.end)\""
    }

    private enum Live: String {
        case longPoll = "long-poll"
        case sse
    }

    private func live(_ question: Question) throws -> Live? {
        guard let text = try question.text("live") else { return nil }
        guard let live = Live(rawValue: text) else {
            throw Problem(.malformed, "`live` is `long-poll` or `sse`, or is not there.")
        }
        return live
    }

    /// An empty one, as some clients send that have none, is none.
    private func cursor(_ question: Question) throws -> UInt64? {
        guard question.request.query.contains(where: { $0.name == "cursor" && $0.value != "" })
        else { return nil }
        return try question.number("cursor", in: 0...StreamCursor.max)
    }

    /// An answer without events: how far the log goes.
    private func noEvents(
        _ head: UInt64,
        _ status: Int,
        _ type: MediaType?,
        _ cursor: StreamCursor? = nil
    ) -> HTTPAnswer {
        var headers = [
            (name: "Stream-Next-Offset", value: StreamOffset(head).text),
            (name: "Stream-Up-To-Date", value: "true"),
        ]
        if let cursor { headers.append((name: "Stream-Cursor", value: cursor.next)) }
        return .fresh(status, type, headers: headers)
    }

    private func offset(
        _ question: Question,
        isNeeded: Bool,
        tail: UInt64,
        head: UInt64
    ) throws -> UInt64 {
        guard let text = try question.text("offset") else {
            guard !isNeeded else {
                throw Problem(
                    .malformed,
                    "`live` needs an `offset`.",
                    remedy: "Give `offset=-1` for all events, or `offset=now` for new ones."
                )
            }
            return 0
        }
        guard let offset = StreamOffset(text: text, head: tail) else {
            throw Problem(
                .malformed,
                "`offset` is none that this server gave.",
                remedy: "Give the last Stream-Next-Offset, `-1` or `now`."
            )
        }
        guard offset.position <= head else {
            throw Problem(
                .malformed,
                "`offset` is \(offset.position), and the log has \(head) events.",
                remedy: "The server was restored from a backup. Read from `-1` again."
            )
        }
        return offset.position
    }

    private func wanted(_ question: Question, live: Live?) throws -> EventPage.Wanted {
        var wanted = EventPage.Wanted()
        if let limit = try question.number("limit", in: 1...UInt64(Limits.answerCountMax)) {
            wanted.countMax = Int(limit)
        }
        wanted.filter = EventFilter(
            types: question.request.query.filter { $0.name == "type" }.compactMap(\.value)
        )
        if try question.number("all", in: 1...1) != nil { wanted.filter.includesAuthority = true }
        wanted.filter.subject = try question.text("subject")
        wanted.filter.actor = try question.text("actor")
        wanted.filter.since = try question.time("since")
        wanted.filter.until = try question.time("until")
        let accept = question.request.headers["accept"]
        let choices: [MediaType] = live == .sse ? [.events] : [.json, .cloudEvents]
        // Who will read a stream of server-sent events catches up with the same header.
        guard
            let type = MediaType.best(of: choices, for: accept)
                ?? MediaType.best(of: [.events], for: accept).map({ _ in .json })
        else {
            throw Problem(
                .notAcceptable,
                "Events come as \(choices.map(\.rawValue).joined(separator: " or ")).",
                remedy: "Accept one of these."
            )
        }
        wanted.isCloudEvents = type == .cloudEvents
        return wanted
    }

    // MARK: Recording

    /// Records the events of the body, all or none.
    func record(_ question: Question) throws -> HTTPAnswer {
        let space = try space(question.space)
        var newest = try space.refreshed()
        newest.gate = try served.gate(of: question.space, for: question.token)
        let form: EventBody.Form =
            switch MediaType(ofBody: question.request.headers["content-type"]) {
            case .lines: .lines
            case .cloudEvent, .cloudEvents: .cloudEvents
            default: .json
            }
        let policy = ActorPolicy(
            own: question.token.actor,
            mayNameOthers: question.token.rights.mayRelay || question.token.actor == nil
        )
        let events = try EventBody(question.request.body, form, by: policy, to: newest)
        guard events.count > 0 else {
            throw Problem(.malformed, "There is no event in the body.")
        }
        if let replica = events.named?.replica {
            contacts.note(replica, in: question.space.name, at: now)
        }
        let (recorded, isNew) = try served.record(
            events,
            size: question.request.body.count,
            in: question.space,
            with: question.token,
            at: now
        )
        space.ringIfGrown()
        return .object(status: isNew ? 201 : 200) { json in
            json.add("origins", list: recorded.origins.map { JSONText.string($0.text) })
            json.add("positions", list: recorded.positions.map { Array("\($0)".utf8) })
            json.add("head", space.head)
        }
    }
}
