import Diario
import DiarioCore
import DiarioLog
import DiarioSchema
import DiarioServer

// One event, and the last ones: schema/format/http.md, section 7.

extension ServedDirectory {
    /// The event with an origin, or at a position.
    func event(_ name: String, _ question: Question) throws(Problem) -> Reading<HTTPAnswer> {
        try question.allow([])
        try question.require(.read, "read")
        let space = try space(question.space)
        let origin = Origin(text: name)
        guard origin != nil || UInt64(name).map({ $0 > 0 }) == true else {
            throw Problem(
                .malformed,
                "`\(name.prefix(40))` is neither an origin, as 7zk3m9q2c1f4a-17, nor a position "
                    + "from 1."
            )
        }
        return reading(for: question) { (_) throws(Problem) in
            var json: [UInt8]?
            if let position = try self.position(of: origin, in: space) ?? UInt64(name) {
                json = try space.event(at: position)
            }
            guard let json else {
                throw Problem(.notFound, "There is no event \(name).")
            }
            return .json(json)
        }
    }

    private func position(
        of origin: Origin?,
        in space: ServedSpace
    ) throws(Problem) -> UInt64? {
        guard let origin else { return nil }
        return try answering { () throws(DiarioError) in
            do throws(LogError) {
                let sequences = origin.sequence...origin.sequence
                return try self.store[space.space.id].known(sequences, of: origin.replica)
                    .first?.position
            } catch {
                throw DiarioError(error)
            }
        }
    }

    /// The last events that are wanted, oldest first.
    func last(
        _ count: Int,
        _ wanted: EventPage.Wanted,
        _ question: Question,
        of space: ServedSpace
    ) -> Reading<HTTPAnswer> {
        reading(for: question) { (stop) throws(Problem) in
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
    ) throws(Problem) -> UInt64 {
        try answering { () throws(DiarioError) in
            guard head > 0 else { return 0 }
            var filter = wanted.filter
            filter.positions = 1...head
            filter.part = .canonical
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

    /// The event at a position as JSON; nil if there is none.
    fileprivate func event(at position: UInt64) throws(Problem) -> [UInt8]? {
        guard position <= head else { return nil }
        let space = try refreshed()
        return try answering { () throws(DiarioError) in
            var filter = EventFilter.everything
            filter.positions = position...position
            filter.part = .canonical
            var reader = try EventReader(space, filter)
            guard let line = try reader.next() else { return nil }
            var json: [UInt8] = []
            EventLineWriter.append(line, to: &json)
            return json
        }
    }
}
