import DiarioCore
import DiarioEngine
import DiarioSchema
import DiarioServer

// One event, and the last ones: schema/format/http.md, section 7.

extension ServedDirectory {
    /// The event with an origin, or at a position.
    func event(_ text: String, _ question: Question) throws -> Reading<HTTPAnswer> {
        let space = try space(question.space)
        guard let name = EventName(text) else {
            throw Problem(.malformed, "`\(text.prefix(40))` \(EventName.rules).")
        }
        return reading(for: question) { _ in
            guard let (line, _) = try space.refreshed().event(name) else {
                throw Problem(.notFound, "There is no event \(text).")
            }
            var json: [UInt8] = []
            EventLineWriter.append(line, to: &json)
            return .json(json)
        }
    }

    /// The last events that are wanted, oldest first.
    func last(
        _ count: Int,
        _ wanted: EventPage.Wanted,
        _ question: Question,
        of space: ServedSpace
    ) -> Reading<HTTPAnswer> {
        reading(for: question) { stop in
            let head = space.head
            let start = try space.start(ofLast: count, through: head, wanted, until: stop)
            let page = try space.page(after: start, through: head, wanted, until: stop)
            return self.answer(page, question, wanted, nil)
        }
    }
}

extension ServedSpace {
    /// The position before the last events that are wanted, of those among which a scan looks.
    fileprivate func start(
        ofLast count: Int,
        through head: UInt64,
        _ wanted: EventPage.Wanted,
        until stop: BuildStop
    ) throws -> UInt64 {
        guard head > 0 else { return 0 }
        var filter = wanted.filter
        filter.wantPositions(1...head)
        var reader = try EventReader(space, filter, isReversed: true)
        var start = head
        for _ in 0..<count {
            guard
                case .event(let line) = try reader.next(
                    costMax: Limits.scanEventCountMax,
                    unless: { stop.hasBeenAsked }
                ), let position = line.position
            else { break }
            start = position - 1
        }
        return start
    }
}
