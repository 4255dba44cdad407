import DiarioCore
import DiarioCrypto
import DiarioEngine
import DiarioSchema

extension PageInput {
    /// The event that is meant, by its position or origin.
    func event() throws(DiarioError) -> EventName {
        let text = try text("event")
        if let name = EventName(text) { return name }
        throw DiarioError(.invalid, "\(text) \(EventName.rules).")
    }

    /// The events that are wanted, chosen as `diario log` does.
    func filter() throws(DiarioError) -> EventFilter {
        var types = try list("types")
        if let type = try optionalText("type") { types.append(type) }
        var filter = EventFilter(types: types)
        if isTrue("all") { filter.includesAuthority = true }
        filter.subject = try optionalText("subject")
        filter.actor = try optionalText("actor")
        if let text = try optionalText("replica") {
            guard let replica = ReplicaID(text: text) else {
                throw DiarioError(.invalid, "replica is 13 characters such as 7zk3m9q2c1f4a.")
            }
            filter.replica = replica
        }
        filter.since = try time("since")
        filter.until = try time("until")
        let (from, to) = (try number("from"), try number("to"))
        if isTrue("pending") {
            guard from == nil, to == nil, filter.since == nil, filter.until == nil else {
                throw DiarioError(
                    .invalid,
                    "Pending events have neither position nor time of acceptance. Ask for them "
                        + "without from, to, since and until."
                )
            }
            filter.wantPending()
        } else if from != nil || to != nil {
            let (first, last) = (max(from ?? 1, 1), to ?? UInt64(Int64.max))
            guard first <= last else { throw DiarioError(.invalid, "from is after to.") }
            filter.wantPositions(first...last)
        } else if filter.since != nil || filter.until != nil {
            filter.wantPositions()
        }
        return filter
    }
}

/// Gives events as lines of JSON, as `diario export` does.
final class ExportJob: PageJob {
    private var reader: EventReader

    /// Events between two looks at the clock.
    private static let count = 64

    init(_ space: Space, _ input: PageInput) throws(DiarioError) {
        reader = try EventReader(space, input.filter())
    }

    func step(_ isOver: () -> Bool) throws(DiarioError) -> PageStep {
        var lines: [UInt8] = []
        repeat {
            for _ in 0..<Self.count {
                guard let line = try reader.next() else { return .end(lines) }
                EventLineWriter.append(line, to: &lines)
                lines.append(UInt8(ascii: "\n"))
            }
        } while !isOver()
        return .more(lines)
    }
}

/// Gives some events to look at, each a line of JSON: the newest first, unless `oldestFirst`.
final class EventsJob: PageJob {
    private let space: Space
    private var reader: EventReader
    private var rest: UInt64

    private static let limit: UInt64 = 100
    /// Events, or blocks without one, between two looks at the clock.
    private static let count = 8

    init(_ space: Space, _ input: PageInput) throws(DiarioError) {
        self.space = space
        rest = min(try input.number("limit") ?? Self.limit, UInt64(Limits.answerCountMax))
        reader = try EventReader(
            space,
            input.filter(),
            isReversed: !input.isTrue("oldestFirst")
        )
    }

    func step(_ isOver: () -> Bool) throws(DiarioError) -> PageStep {
        var lines: [UInt8] = []
        repeat {
            for _ in 0..<Self.count {
                guard rest > 0 else { return .end(lines) }
                switch try reader.step() {
                case .event:
                    rest -= 1
                    lines += reader.line.json(hash: try reader.hash(in: space))
                    lines.append(UInt8(ascii: "\n"))
                case .block: break
                case .end: return .end(lines)
                }
            }
        } while !isOver()
        return .more(lines)
    }
}

extension EventLine {
    /// The event as an export writes it, with its subject in any case, and with its hash.
    func json(hash: Hash32?) -> [UInt8] {
        var json: [UInt8] = []
        EventLineWriter.append(self, to: &json)
        json.removeLast()
        if type.subjectFieldIndex != nil, let subject = RecordedEvent(self)?.subject {
            json += Array(",\"subject\":".utf8)
            JSON.string(subject).appendCanonical(to: &json)
        }
        if let hash { json += Array(",\"eventHash\":\"\(hash.text)\"".utf8) }
        json.append(UInt8(ascii: "}"))
        return json
    }
}
