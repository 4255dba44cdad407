import DiarioCore
import DiarioCrypto

/// What the authority has said, once and for ever: the events at their positions, and which were
/// refused.
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

    private(set) var entries: [Entry] = []
    private(set) var positions: [Origin: UInt64] = [:]
    /// Of events that have a position.
    private(set) var tokens: [Int64: UInt64] = [:]
    /// Of events that were refused.
    private(set) var refusedTokens: [Int64: UInt64] = [:]
    private(set) var refusals: [ReplicaID: [Refusal]] = [:]
    /// The last sequence of each replica that was seen.
    private(set) var last: [ReplicaID: UInt64] = [:]
    /// Positions at which versions of the pack were adopted.
    private(set) var adoptions: [Int: UInt64] = [:]
    /// Who wrote about a subject, and where.
    private var writers: [[UInt8]: [(replica: ReplicaID, position: UInt64)]] = [:]
    /// Origins of events that were refused, as ids that these may have made, and where that was
    /// said.
    private var refusedIDs: [[UInt8]: UInt64] = [:]
    private let fingerprints: [Hash32]

    init(fingerprints: [Hash32]) { self.fingerprints = fingerprints }

    var head: UInt64 { UInt64(entries.count) }

    subscript(position: UInt64) -> Entry { entries[Int(position) - 1] }

    func refusal(of origin: Origin) -> Refusal? {
        refusals[origin.replica, default: []].first { $0.sequences.contains(origin.sequence) }
    }

    /// Adds what stands at the next position; throws if it may not stand there.
    mutating func add(_ entry: Entry, _ book: Book) throws(Broken) {
        let position = head + 1
        let (row, origin) = (entry.row, entry.row.envelope.origin)
        let expected = last[origin.replica, default: 0] + 1
        guard origin.sequence == expected else {
            throw Broken(
                .sequences,
                "\(origin.text) stands at position \(position), and \(expected) comes next"
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
            tokens[event.token] = position
            if let subject = Self.subject(event, origin) {
                writers[subject, default: []].append((origin.replica, position))
            }
        case .adopted(let fingerprint):
            if let index = fingerprints.firstIndex(of: fingerprint), adoptions[index + 1] == nil {
                adoptions[index + 1] = position
            }
        case .refused(let replica, let first, let count, let rule):
            try refuse(replica, first...first + count - 1, rule, at: position, book)
        }
        entries.append(entry)
        positions[origin] = position
    }

    /// What an event is about; nil if about nothing.
    static func subject(_ event: SyncEvent, _ origin: Origin) -> [UInt8]? {
        event.kind == .thing ? Array(origin.text.utf8) : event.subject
    }

    /// The version of the pack that is in use at a position.
    func packVersion(at position: UInt64) -> Int {
        adoptions.filter { $0.value <= position }.map(\.key).max() ?? 0
    }

    private func check(
        _ event: SyncEvent,
        _ row: SyncKinds.Row,
        at position: UInt64,
        _ book: Book
    ) throws(Broken) {
        let origin = row.envelope.origin
        guard let known = book[event.token], known.event == event else {
            throw Broken(.content, "nobody recorded what stands at position \(position)")
        }
        if let other = tokens[event.token] {
            throw Broken(.once, "event \(event.token) stands at \(other) and at \(position)")
        }
        if let other = refusedTokens[event.token] {
            throw Broken(
                .once,
                "event \(event.token) was refused at \(other) and stands at \(position)"
            )
        }
        guard known.promise != .lost else {
            throw Broken(
                .content,
                "event \(event.token), which its device lost, stands at \(position) as "
                    + origin.text
            )
        }
        if let rule = objection(to: known, origin, base: row.envelope.base, before: position) {
            throw Broken(
                .verdicts,
                "event \(event.token) stands at \(position) against the rule \(rule)"
            )
        }
    }

    /// The rule that an event breaks, if it is judged just before a position.
    private func objection(
        to entry: Book.Entry,
        _ origin: Origin,
        base: UInt64,
        before position: UInt64
    ) -> String? {
        guard entry.device != nil else { return nil }
        let event = entry.event
        guard event.kind != .other else { return "schema" }
        guard let version = event.kind.packVersion,
            let adopted = adoptions.filter({ $0.key >= version }).map(\.value).min(),
            adopted < position
        else { return "unknown-type" }
        if !event.isValid { return "invalid" }
        if entry.isWrongActor { return "actor" }
        guard let subject = Self.subject(event, origin) else { return nil }
        if event.kind != .thing, refusedIDs[subject] != nil { return "cascade" }
        guard event.ifUnchanged else { return nil }
        let isChanged = writers[subject, default: []].contains {
            $0.position > base && $0.position < position && $0.replica != origin.replica
        }
        return isChanged ? "changed" : nil
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
        var reasons: Set<String> = []
        for sequence in sequences {
            let origin = Origin(replica: replica, sequence: sequence)
            guard let token = book.byOrigin[origin], let entry = book[token] else {
                throw Broken(.content, "\(origin.text) is refused, and nobody recorded it")
            }
            if let other = tokens[token] ?? refusedTokens[token] {
                throw Broken(.once, "event \(token) has a verdict at \(other) and at \(position)")
            }
            refusedTokens[token] = position
            let found = objection(to: entry, origin, base: entry.base, before: position)
            if let found { reasons.insert(found) }
            // Nobody can tell any more what it would have made.
            refusedIDs[Array(origin.text.utf8)] = position
        }
        guard reasons.contains(rule) else {
            throw Broken(
                .verdicts,
                "\(replica.text)-\(sequences.lowerBound) is refused at \(position) by the rule "
                    + "\(rule), which it does not break"
            )
        }
    }
}

/// A promise of sync that did not hold.
package struct Broken: Error, Sendable {
    package let promise: Promise
    package let what: String

    /// What is promised; a shrunk world breaks the same one as the whole.
    package enum Promise: String, Sendable, CaseIterable {
        /// A log opens, and fails only where a disk does.
        case works
        /// Nothing that was acknowledged is lost.
        case kept
        /// Every event has one place.
        case once
        /// What was recorded is what is read.
        case content
        /// Positions are dense and do not change.
        case positions
        /// Sequences of one replica increase with position.
        case sequences
        /// Verdicts follow the rules, and stay as they are.
        case verdicts
        /// Every request that reached a live server is answered.
        case answered
        /// Nobody pauses without a reason.
        case running
        /// Once the network heals, all is settled.
        case settled
        /// All replicas have the same root and the same read models.
        case equal
        /// Memory stays small.
        case bounded
    }

    init(_ promise: Promise, _ what: String) {
        self.promise = promise
        self.what = what
    }
}
