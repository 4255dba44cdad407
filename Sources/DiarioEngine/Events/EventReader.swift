public import DiarioCore
package import DiarioCrypto
import DiarioFormat
import DiarioLog
package import DiarioSchema

/// Which events are wanted; what is nil or empty does not restrict.
public struct EventFilter: Sendable {
    /// Full names of types, or beginnings of names that end with a dot, such as `fish.`.
    public var types: [String]
    /// What the events are about.
    public var subject: String?
    /// Who recorded them.
    public var actor: String?
    package var replica: ReplicaID?
    /// Accepted at or after; excludes pending events.
    public var since: Timestamp?
    /// Accepted before; excludes pending events.
    public var until: Timestamp?
    /// Of the canonical events those at these positions.
    public var positions: ClosedRange<UInt64>?
    var part = LogPart.all
    /// Whether events are wanted, too, that the authority wrote itself: those of the engine, as
    /// that a pack was adopted, and reference data.
    ///
    /// From the start if types are named, because what is named is wanted.
    public var includesAuthority: Bool
    /// Events that an authority wrote alone.
    package var authorityOnly = false

    /// A filter that wants events of these types, and all that people recorded if there are none.
    public init(types: [String] = []) {
        self.types = types
        includesAuthority = !types.isEmpty
    }

    package init(types: [String], authorityOnly: Bool) {
        self.init(types: types)
        self.authorityOnly = authorityOnly
    }

    /// Wants all events, whoever wrote them.
    package static var everything: EventFilter {
        var filter = EventFilter()
        filter.includesAuthority = true
        return filter
    }

    /// Wants events that have a position, and of them those at these positions.
    package mutating func wantPositions(_ range: ClosedRange<UInt64>? = nil) {
        part = .canonical
        positions = range ?? positions
    }

    /// Wants events that have no position.
    package mutating func wantPending() { part = .pending }

    /// Whether events are wanted that were written by the authority, or by others.
    func wants(fromAuthority: Bool) -> Bool {
        fromAuthority ? includesAuthority : !authorityOnly
    }

    /// What lets the log skip segments and blocks without a wanted event.
    var hint: LogFilter {
        var hint = LogFilter()
        if !types.isEmpty {
            let all = self
            hint.wantsType = { all.wants(type: $0) }
        }
        hint.subject = subject.map { Array($0.utf8) }
        hint.replica = replica
        hint.since = since
        hint.until = until
        return hint
    }

    func wants(type name: [UInt8]) -> Bool {
        types.isEmpty
            || types.contains { wanted in
                wanted.utf8.last == UInt8(ascii: ".")
                    ? name.starts(with: wanted.utf8) : name.elementsEqual(wanted.utf8)
            }
    }
}

extension EventFilter {
    /// Begins with the last `count` wanted events.
    ///
    /// Gives how many events are still to be skipped: pending ones, which no position names.
    fileprivate mutating func narrow(
        toLast count: UInt64,
        in space: Space
    ) throws(DiarioError) -> UInt64 {
        var reader = try EventReader(space, self, isReversed: true)
        var seen: UInt64 = 0
        var pending: UInt64 = 0
        var first: UInt64?
        while seen < count || first == nil, let line = try reader.next() {
            if let position = line.position {
                // Enough are pending: from there on none has a position.
                if pending >= count { break }
                first = position
            } else {
                pending += 1
            }
            seen += 1
        }
        if let first, pending < count {
            positions = first...(positions?.upperBound ?? UInt64(Int64.max))
            return 0
        }
        // Fewer than were asked for: all are shown.
        guard pending >= count else { return 0 }
        wantPending()
        return pending - count
    }
}

extension [UInt8] {
    /// The bytes that pairs of hexadecimal digits stand for; empty if they are none.
    fileprivate func pairs() -> [UInt8] {
        stride(from: 0, to: count - 1, by: 2).map { index in
            UInt8(String(decoding: self[index...index + 1], as: UTF8.self), radix: 16) ?? 0
        }
    }
}

/// Reads the events of a space one by one, in order of position and then the pending ones, or the
/// other way round.
///
/// Memory is bounded by the size of a block.
package struct EventReader: Sendable {
    private let catalog: TypeCatalog
    private let filter: EventFilter
    /// Nil if others say what comes next.
    private var cursor: LogCursor?
    private var events: StoredEvents?
    private var nextRow = 0
    /// For each type of the block at hand how it is read; nil if it is not wanted.
    private var plans: [PayloadPlan?] = []
    private var known: [TypeEntry: PayloadPlan] = [:]
    /// The event that was read last, as an export tells it.
    package private(set) var line = EventLine()
    /// Whether the personal part of that event was erased.
    private(set) var isErased = false
    /// What looking for events has come to: how many were looked at, a block counting as
    /// `blockCost` at least.
    private(set) var cost = 0
    private let purpose: Purpose

    /// What a block costs with few events in it, or a segment that the index passes over.
    private static let blockCost = 64

    /// What events are read for.
    package enum Purpose: Sendable {
        /// Every type must be known.
        case export
        /// Events of unknown versions come without their payloads; to what batch an event belongs
        /// is left out.
        case use
    }

    package init(
        _ space: Space,
        _ filter: EventFilter,
        isReversed: Bool = false
    ) throws(DiarioError) {
        try self.init(space, filter, for: .export, isReversed: isReversed)
    }

    package init(
        _ space: Space,
        _ filter: EventFilter,
        for purpose: Purpose,
        isReversed: Bool
    ) throws(DiarioError) {
        catalog = space.catalog
        self.filter = filter
        self.purpose = purpose
        do {
            cursor = try space.store.cursor(
                space.id,
                positions: filter.positions,
                filter.part,
                filter: filter.hint,
                isReversed: isReversed
            )
        } catch {
            throw DiarioError(error)
        }
    }

    /// Reads the last `count` wanted events, in order; passes over all before, and keeps none.
    package init(_ space: Space, _ filter: EventFilter, last count: UInt64) throws(DiarioError) {
        var filter = filter
        var skipped: UInt64 = 0
        if count > 0 { skipped = try filter.narrow(toLast: count, in: space) }
        try self.init(space, filter)
        while skipped > 0, try advance() { skipped -= 1 }
    }

    /// Reads canonical events at `positions` of some types, or pending ones, for read models.
    ///
    /// Without a cursor those that it is given.
    init(
        _ space: Space,
        _ cursor: LogCursor? = nil,
        types: [String]
    ) {
        catalog = space.catalog
        var filter = EventFilter.everything
        filter.types = types
        self.filter = filter
        purpose = .use
        self.cursor = cursor
    }

    /// The next event that is wanted, as an export tells it; nil at the end.
    package mutating func next() throws(DiarioError) -> EventLine? {
        try advance() ? line : nil
    }

    /// The hash of the event that was read last.
    package func hash(in space: Space) throws(DiarioError) -> Hash32? {
        guard let events, nextRow > 0 else { return nil }
        do throws(LogError) {
            return try space.store[space.id].hash(of: events.rows[nextRow - 1], in: events)
        } catch {
            throw DiarioError(error)
        }
    }

    /// What looking for the next event came to.
    package enum Find {
        case event(EventLine)
        /// It stopped looking: all up to this position were looked at.
        case stopped(at: UInt64)
        case end
    }

    /// The same, for those who look for few events among many: stops behind the block with which
    /// `costMax` is reached, and behind any block once `isOver`.
    package mutating func next(
        costMax: Int,
        unless isOver: () -> Bool
    ) throws(DiarioError) -> Find {
        while true {
            if try stepInBlock() { return .event(line) }
            if cost >= costMax || cost > 0 && isOver() { return .stopped(at: position) }
            guard try stepToBlock() else { return .end }
        }
    }

    /// Goes to the next event that is wanted; false at the end.
    mutating func advance() throws(DiarioError) -> Bool {
        while true {
            switch try step() {
            case .event: return true
            case .block: continue
            case .end: return false
            }
        }
    }

    /// What a step came to.
    package enum Step {
        /// An event that is wanted.
        case event
        /// The next block; there may be an event in it that is wanted.
        case block
        case end
    }

    /// Goes on to the next event that is wanted, but no further than to the next block.
    package mutating func step() throws(DiarioError) -> Step {
        if try stepInBlock() { return .event }
        return try stepToBlock() ? .block : .end
    }

    /// Goes on to the next event of the block that is wanted; false at its end.
    private mutating func stepInBlock() throws(DiarioError) -> Bool {
        while let events, nextRow < events.rows.count {
            let stored = events.rows[nextRow]
            nextRow += 1
            guard let plan = plans[stored.row.typeIndex], wants(stored) else { continue }
            if try decode(stored, events, plan) { return true }
        }
        return false
    }

    /// False if there is no other block.
    private mutating func stepToBlock() throws(DiarioError) -> Bool {
        events = nil
        let found: StoredEvents?
        do { found = try cursor?.look() } catch { throw DiarioError(error) }
        guard let next = found else { return false }
        cost += max(next.rows.count, Self.blockCost)
        try begin(next)
        return true
    }

    /// The last canonical position up to which all were looked at, between blocks.
    private var position: UInt64 { (cursor?.positions.lowerBound ?? 1) - 1 }

    /// Whether no row that was read is left.
    var isBetweenBlocks: Bool { events.map { nextRow == $0.rows.count } ?? true }

    /// The columns of the segment that comes next, if it is not read as rows: as the cursor says.
    ///
    /// Comes between blocks.
    mutating func nextColumns(
        _ parts: Set<EnvelopePart>,
        _ choose: (TypeEntry, EventType) -> SealedColumns.Choice
    ) throws(DiarioError) -> SealedColumns? {
        do { return try cursor?.nextColumns(parts, choose) } catch { throw DiarioError(error) }
    }

    /// Goes on with these events.
    mutating func begin(_ next: StoredEvents) throws(DiarioError) {
        nextRow = 0
        events = nil
        guard next.rows.contains(where: { filter.wants(fromAuthority: $0.isAuthority) }) else {
            return
        }
        plans = []
        for entry in next.types {
            plans.append(filter.wants(type: entry.name) ? try plan(entry) : nil)
        }
        // A block without a wanted type is not looked into.
        if plans.contains(where: { $0 != nil }) { events = next }
    }

    private mutating func plan(_ entry: TypeEntry) throws(DiarioError) -> PayloadPlan {
        if let plan = known[entry] { return plan }
        let name = String(decoding: entry.name, as: UTF8.self)
        let type: EventType
        if let known = catalog.type(name, version: entry.version) {
            type = known
        } else if purpose == .use {
            type = .unknown(name, version: entry.version)
        } else {
            throw DiarioError(LogError.unknownType(name: name, version: entry.version))
        }
        let plan = PayloadPlan(type)
        known[entry] = plan
        return plan
    }

    private func wants(_ stored: StoredRow) -> Bool {
        guard filter.wants(fromAuthority: stored.isAuthority) else { return false }
        if let replica = filter.replica, stored.row.replica != replica { return false }
        if let since = filter.since {
            guard let acceptedAt = stored.acceptedAt, acceptedAt >= since else { return false }
        }
        if let until = filter.until {
            guard let acceptedAt = stored.acceptedAt, acceptedAt < until else { return false }
        }
        return true
    }

    /// Reads a row into `line`; false if its actor or subject is another than the wanted one.
    private mutating func decode(
        _ stored: StoredRow,
        _ events: StoredEvents,
        _ plan: PayloadPlan
    ) throws(DiarioError) -> Bool {
        do throws(FormatError) {
            let block = events.bytes.span
            let part = try PublicPart.parse(block, stored.row)
            line.reset()
            line.type = plan.type
            if case .erased = stored.row.personal { isErased = true } else { isErased = false }
            line.actor = part.actor.map { line.keep(block.extracting($0)) }
            line.subject = part.subject.map { line.keep(block.extracting($0)) }
            if let actor = filter.actor, !isEqual(line.actor, actor) { return false }
            if plan.type.isUnknown {
                line.payload.reset(fieldCount: 0)
            } else {
                try PayloadCodec.decode(block, stored.row, part, plan: plan, into: &line.payload)
            }
            if let subject = filter.subject, !isSubject(subject, plan.type) { return false }
            let envelope = part.envelope
            line.at = envelope.at
            line.ifUnchanged = part.flags.contains(.ifUnchanged)
            line.origin = envelope.origin
            line.position = stored.position
            line.base = envelope.base
            line.clock = envelope.clock
            line.acceptedAt = stored.acceptedAt
            if purpose == .export {
                let first = Origin(replica: envelope.replica, sequence: envelope.batchFirst)
                line.batch = line.keep(Array(first.text.utf8).span)
            }
            return true
        } catch {
            throw DiarioError(error)
        }
    }

    private func isEqual(_ range: Range<Int>?, _ text: String) -> Bool {
        range.map { line.arena[$0].elementsEqual(text.utf8) } ?? false
    }

    private func isSubject(_ text: String, _ type: EventType) -> Bool {
        guard let index = type.subjectFieldIndex else { return isEqual(line.subject, text) }
        switch line.payload.slots[index] {
        case .absent, .number: return false
        case .integer(let value): return String(value) == text
        case .bytes:
            guard let bytes = line.payload.bytes(at: index) else { return false }
            guard case .uuid = type.fields[index].kind else {
                return bytes.elementsEqual(text.utf8)
            }
            return bytes.elementsEqual(text.utf8.filter { $0 != UInt8(ascii: "-") }.pairs())
        }
    }
}
