import DiarioCore
import DiarioCrypto
import DiarioServer

/// All verdicts of the authority in one epoch: the events at their positions, and those refused.
struct Ledger {
    struct Entry: Hashable {
        var row: SyncKinds.Row
        var acceptedAt: Int64
        var isAuthority: Bool
    }

    struct Refusal: Hashable {
        let sequences: ClosedRange<UInt64>
        let position: UInt64
        let rule: String
    }

    /// Counts how often the authority was restored.
    var epoch: UInt64 = 0
    private(set) var entries: [Entry] = []
    private(set) var positions: [Origin: UInt64] = [:]
    /// The number of verdicts of each event: more than one only if copies were recorded again.
    private(set) var placeCounts: [Int64: Int] = [:]
    private(set) var refusals: [ReplicaID: [Refusal]] = [:]
    /// The last sequence of each replica that was seen.
    private(set) var last: [ReplicaID: UInt64] = [:]
    /// Positions at which versions of the pack were adopted.
    private(set) var adoptions: [Int: UInt64] = [:]
    /// The version of the pack that was adopted last, which says who may record what.
    private(set) var versionInUse = 0
    private(set) var makers = Makers()
    /// The replicas that wrote about a subject, and the positions.
    private var writers: [[UInt8]: [(replica: ReplicaID, position: UInt64)]] = [:]
    /// Origins of events that were refused, as ids that these may have made, and where that was
    /// said.
    private var refusedIDs: [[UInt8]: UInt64] = [:]
    let fingerprints: [Hash32]

    init(fingerprints: [Hash32]) { self.fingerprints = fingerprints }

    var head: UInt64 { UInt64(entries.count) }

    subscript(position: UInt64) -> Entry { entries[Int(position) - 1] }

    func refusal(of origin: Origin) -> Refusal? {
        refusals[origin.replica, default: []].first { $0.sequences.contains(origin.sequence) }
    }

    /// The position of the verdict of an event.
    func verdict(of origin: Origin) -> UInt64? {
        positions[origin] ?? refusal(of: origin)?.position
    }

    /// True if an event has a verdict, under whatever origin.
    func hasVerdict(_ token: Int64) -> Bool { placeCounts[token] != nil }

    /// The tokens of the events up to a position.
    func tokens(through end: UInt64) -> Set<Int64> {
        let tokens = entries.prefix(Int(end)).compactMap { entry -> Int64? in
            if case .event(let event) = entry.row.content { event.token } else { nil }
        }
        return Set(tokens)
    }

    /// The highest clock of the events up to a position.
    ///
    /// Nil if one of them ran far ahead: how far that is believed depends on which others are in
    /// one block with it, and that cannot be told (schema/format/frames.md, F5).
    func highestClock(through end: UInt64) -> UInt64? {
        var highest: UInt64 = 0
        for entry in entries.prefix(Int(end)) {
            let clock = entry.row.envelope.clock
            let lead = Int64(clock >> 16) - entry.acceptedAt
            guard lead <= Limits.clockLeadMillisecondsMax else { return nil }
            highest = max(highest, clock)
        }
        return highest
    }

    /// Adds the entry at the next position; throws if it may not be there.
    mutating func add(_ entry: Entry, _ book: Book) throws(Broken) {
        let position = head + 1
        let (row, origin) = (entry.row, entry.row.envelope.origin)
        let expected = last[origin.replica, default: 0] + 1
        guard origin.sequence == expected else {
            throw Broken(
                .sequences,
                "\(origin.text) is at position \(position), and \(expected) comes next"
            )
        }
        if let before = entries.last, before.acceptedAt > entry.acceptedAt {
            throw Broken(.positions, "position \(position) was accepted before the one before it")
        }
        last[origin.replica] = origin.sequence
        switch row.content {
        case .event(let event):
            guard !entry.isAuthority else {
                throw Broken(.verdicts, "position \(position) is said to be of the authority")
            }
            try check(event, row, at: position, book)
            makers.note(event, by: Makers.Recorder(origin))
            if let subject = Self.subject(event, origin) {
                writers[subject, default: []].append((origin.replica, position))
            }
        case .adopted(let fingerprint):
            if let index = fingerprints.firstIndex(of: fingerprint) {
                versionInUse = index + 1
                if adoptions[index + 1] == nil { adoptions[index + 1] = position }
            }
        case .refused(let replica, let first, let count, let rule):
            try refuse(replica, first...first + count - 1, rule, at: position, book)
        }
        entries.append(entry)
        positions[origin] = position
    }

    /// The subject of an event; nil if it has none.
    static func subject(_ event: SyncEvent, _ origin: Origin) -> [UInt8]? {
        event.kind == .thing ? event.id ?? Array(origin.text.utf8) : event.subject
    }

    /// The version of the pack that is in use at a position.
    func packVersion(at position: UInt64) -> Int {
        adoptions.filter { $0.value <= position }.map(\.key).max() ?? 0
    }

    private mutating func check(
        _ event: SyncEvent,
        _ row: SyncKinds.Row,
        at position: UInt64,
        _ book: Book
    ) throws(Broken) {
        let origin = row.envelope.origin
        guard let entry = book[event.token], book.isSame(event, as: event.token) else {
            throw Broken(.content, "no device recorded the event at position \(position)")
        }
        try place(event.token, at: position, book)
        guard entry.fate != .lost else {
            throw Broken(
                .content,
                "event \(event.token), which its device lost, is at \(position) as "
                    + origin.text
            )
        }
        // Events that the server recorded itself are judged only if a replica sent them back.
        guard let push = book.push(of: origin) else {
            guard entry.device == nil else {
                throw Broken(.content, "nobody pushed the event at position \(position)")
            }
            return
        }
        let known = Book.Known(token: event.token, event: event, base: row.envelope.base)
        if let rule = objection(to: [(known, origin)], of: push, book, before: position) {
            throw Broken(
                .verdicts,
                "event \(event.token) is at \(position) against the rule \(rule)"
            )
        }
    }

    /// Notes that an event has a verdict at a position.
    private mutating func place(
        _ token: Int64,
        at position: UInt64,
        _ book: Book
    ) throws(Broken) {
        placeCounts[token, default: 0] += 1
        guard placeCounts[token, default: 0] <= book.placeCountMax(token) else {
            throw Broken(.once, "event \(token) has a verdict at \(position), and had one before")
        }
    }

    /// The first rule that one of some events of a batch breaks, judged just before a position.
    private func objection(
        to events: [(known: Book.Known, origin: Origin)],
        of push: Book.Pushed,
        _ book: Book,
        before position: UInt64
    ) -> String? {
        let refused = refusedIDs(in: push, before: events[0].origin)
        for (known, origin) in events {
            guard let entry = book[known.token] else { continue }
            let found = objection(
                to: known.event,
                entry,
                origin,
                push.caller,
                refused,
                before: position
            )
            if let found { return found }
        }
        var makers = makers
        for (known, origin) in events {
            let recorder = Makers.Recorder(origin)
            if makers.forbid(known.event, by: recorder, from: push.caller, version: versionInUse) {
                return "who"
            }
            makers.note(known.event, by: recorder)
        }
        let isChanged = events.contains { known, origin in
            guard known.event.ifUnchanged, let subject = Self.subject(known.event, origin) else {
                return false
            }
            return writers[subject, default: []].contains {
                $0.position > known.base && $0.position < position && $0.replica != origin.replica
            }
        }
        return isChanged ? "changed" : nil
    }

    /// The rule that an event breaks by itself.
    private func objection(
        to event: SyncEvent,
        _ entry: Book.Entry,
        _ origin: Origin,
        _ caller: Caller,
        _ refused: Set<[UInt8]>,
        before position: UInt64
    ) -> String? {
        guard event.kind != .other else { return "schema" }
        guard let version = event.kind.packVersion,
            let adopted = adoptions.filter({ $0.key >= version }).map(\.value).min(),
            adopted < position
        else { return "unknown-type" }
        if !event.isValid { return "invalid" }
        if entry.isWrongActor, !caller.mayVouch { return "actor" }
        guard let subject = Self.subject(event, origin) else { return nil }
        return refusedIDs[subject] != nil || refused.contains(subject) ? "cascade" : nil
    }

    /// Ids that refused events of a push made before an event, and no accepted one made since.
    private func refusedIDs(in push: Book.Pushed, before origin: Origin) -> Set<[UInt8]> {
        var ids: Set<[UInt8]> = []
        for (other, _, event) in push.events.prefix(while: { $0.origin != origin })
        where event.kind == .thing {
            guard let id = Self.subject(event, other) else { continue }
            if refusal(of: other) != nil { ids.insert(id) } else { ids.remove(id) }
        }
        return ids
    }

    private mutating func refuse(
        _ replica: ReplicaID,
        _ sequences: ClosedRange<UInt64>,
        _ rule: String,
        at position: UInt64,
        _ book: Book
    ) throws(Broken) {
        let expected = last[replica, default: 0] + 1
        guard sequences.lowerBound == expected else {
            throw Broken(
                .sequences,
                "\(replica.text)-\(sequences.lowerBound) is refused at position \(position), and "
                    + "\(expected) comes next"
            )
        }
        last[replica] = sequences.upperBound
        refusals[replica, default: []].append(
            Refusal(sequences: sequences, position: position, rule: rule)
        )
        let origins = sequences.map { Origin(replica: replica, sequence: $0) }
        guard let pushed = book.pushedBatches(origins), let latest = pushed.last else {
            throw Broken(.content, "\(origins[0].text) is refused, and nobody pushed it")
        }
        // Of devices that share an id it may be the batch of either.
        let broken = pushed.last { batch in
            guard let push = book.push(of: origins[0]) else { return false }
            let events = zip(batch, origins).map { (known: $0, origin: $1) }
            return objection(to: events, of: push, book, before: position) == rule
        }
        for known in broken ?? latest { try place(known.token, at: position, book) }
        // The things that they would have made are unknown from now on.
        for origin in origins { refusedIDs[Array(origin.text.utf8)] = position }
        guard broken != nil else {
            throw Broken(
                .verdicts,
                "\(origins[0].text) is refused at \(position) by the rule \(rule), which it does "
                    + "not break"
            )
        }
    }
}
