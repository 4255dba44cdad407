import DiarioCore
import DiarioFormat
import DiarioLog
package import DiarioProjection
import DiarioSchema

/// Brings one generation of read models up to what the log holds.
package final class ModelUpdate {
    let space: Space
    let file: ModelFile
    /// Events of a transaction while much is to be caught up with.
    let chunkCount: Int
    static let carefulCount = 1000
    /// Events of a section at most: of larger ones more is done again where a push is accepted in
    /// part, of smaller ones a row that is changed often is kept more often.
    private static let sectionCountMax = 1000

    /// The newest events, for who follows the log.
    let recent: RecentEvents?
    /// By which it is ended early, between two transactions.
    let stop: BuildStop
    /// The step budget while a query waits; nil means unlimited.
    let allowance: StepAllowance?
    /// Pending events that are applied in one transaction, if nothing else is done in it.
    var pendingCountMax = Int.max
    /// Events of which some are still to be applied; nil between two reads.
    var reading: Reading?

    /// Canonical events for those read models that lack them.
    struct Reading {
        var events: ModelEvents
        let positions: ClosedRange<UInt64>
        var transaction: Transaction?
    }

    /// A transaction that is open between two steps.
    struct Transaction {
        /// The events from its start on.
        let start: ModelEvents
        var count = 0
        var last: UInt64
    }

    package convenience init(_ space: Space, _ file: ModelFile, chunkCount: Int) {
        self.init(space, file, chunkCount: chunkCount, recent: nil)
    }

    init(
        _ space: Space,
        _ file: ModelFile,
        chunkCount: Int,
        recent: RecentEvents? = nil,
        stop: BuildStop = BuildStop(),
        allowance: StepAllowance? = nil
    ) {
        self.recent = recent
        self.stop = stop
        self.allowance = allowance
        self.space = space
        self.file = file
        self.chunkCount = chunkCount
    }

    /// Applies all events of the log, pending ones as well.
    ///
    /// `progress` gets the number of applied canonical events and of all. With `isKnown` no one
    /// else can have changed the file.
    package func run(
        isKnown: Bool = false,
        _ progress: (UInt64, UInt64) -> Void
    ) throws(DiarioError) {
        var attemptCount = 1
        while true {
            do throws(DiarioError) {
                return try runOnce(isKnown: isKnown && attemptCount == 1, progress)
            } catch {
                // Pending events got positions meanwhile: the lane is read again.
                guard error.isOfMovedEvents, attemptCount < Self.attemptCountMax else {
                    throw error
                }
                attemptCount += 1
            }
        }
    }

    private static let attemptCountMax = 16

    private func runOnce(
        isKnown: Bool,
        _ progress: (UInt64, UInt64) -> Void
    ) throws(DiarioError) {
        do { if !isKnown { try file.refresh() } } catch { throw DiarioError(error) }
        file.allow(allowance)
        let standing = space.store[space.id].standing()
        if file.sections.isEmpty { try catchUp(through: standing.head, progress) }
        while try finishStep() { try stop.check() }
        if needsWork(standing) {
            try withCare { (care) throws(ApplyError) in try runWhole(standing, care) }
        }
        try checkAllowance(standing.head)
        progress(standing.head, standing.head)
    }

    /// Runs `body` in one transaction; again with care as long as there are events that need it.
    func withCare<Value>(
        _ body: (ModelFile.Care) throws(ApplyError) -> Value
    ) throws(DiarioError) -> Value {
        var care = ModelFile.Care.none
        while true {
            do throws(ApplyError) { return try body(care) } catch {
                file.rollback()
                guard case .needsCare = error else { throw DiarioError(error) }
                care = .eachEvent
            }
        }
    }

    func needsWork(_ standing: SpaceStanding) -> Bool {
        file.applied < standing.head || appliedPending != standing.pending
    }

    /// True if it takes so long that a thread of its own is worth it.
    var isLong: Bool {
        let standing = space.store[space.id].standing()
        let canonical = standing.head - min(file.applied, standing.head)
        let pending = standing.pending.reduce(0) { $0 + UInt64($1.sequences.count) }
        let known = file.sections.reduce(0) { $0 + UInt64($1.count) }
        // Pending events are applied again after new canonical ones.
        let again = canonical > 0 ? pending : pending - min(known, pending)
        return canonical + again > UInt64(min(chunkCount, Self.longCount))
    }

    /// Events that take some milliseconds, in a pack to which a fifth of them belong.
    private static let longCount = 2000

    /// The pending events that are applied, as the log would tell them.
    private var appliedPending: [PendingEvents] {
        var events: [PendingEvents] = []
        for section in file.sections {
            if let last = events.last, last.replica == section.replica,
                last.sequences.upperBound + 1 == section.first
            {
                events[events.count - 1].sequences = last.sequences.lowerBound...section.last
            } else {
                events.append(
                    PendingEvents(
                        replica: section.replica,
                        sequences: section.first...section.last
                    )
                )
            }
        }
        return events
    }

    // MARK: Reading

    func events(
        at positions: ClosedRange<UInt64>,
        for models: Set<String>
    ) throws(DiarioError) -> ModelEvents {
        let types = file.plan.types(of: models).sorted()
        return ModelEvents(space, try cursor(at: positions, types), file.plan, types: types)
    }

    private func cursor(
        at positions: ClosedRange<UInt64>,
        _ types: [String]
    ) throws(DiarioError) -> LogCursor {
        var filter = LogFilter()
        let wanted = Set(types.map { Array($0.utf8) })
        filter.wantsType = { wanted.contains($0) }
        do {
            return try space.store.cursor(
                space.id,
                positions: positions,
                .canonical,
                filter: filter
            )
        } catch {
            throw DiarioError(error)
        }
    }

    /// The canonical events at `positions` to which any model listens, row by row.
    private func reader(at positions: ClosedRange<UInt64>) throws(DiarioError) -> EventReader {
        let types = file.plan.typeNames
        return EventReader(space, try cursor(at: positions, types), types: types)
    }

    // MARK: With pending events

    /// The whole update in one transaction, so that readers see all of it or nothing.
    ///
    /// Only if it exceeds the budget, the work so far is kept: the caller gets an error, and the
    /// next one continues.
    private func runWhole(
        _ standing: SpaceStanding,
        _ care: ModelFile.Care
    ) throws(ApplyError) {
        try filing { () throws(ProjectionError) in try file.begin(care) }
        let promoted = try reading { () throws(DiarioError) -> Int in
            try promotedSections(standing.head)
        }
        try filing { () throws(ProjectionError) in try file.promoteSections(promoted) }
        // Of those that were taken back, readers see all again, or none.
        var countMax = try applyCanonical(through: standing, care) ? Int.max : pendingCountMax
        for events in rest(of: standing.pending) ?? [] where !file.isSpent && countMax > 0 {
            try apply(events, countMax: &countMax, care)
        }
        try filing { () throws(ProjectionError) -> Void in
            try file.endLane()
            try file.commit()
        }
    }

    /// Takes back what pending events did if there are canonical ones to go before them, or if they
    /// are not what is pending any more; then applies the canonical ones.
    ///
    /// True if something was taken back.
    private func applyCanonical(
        through standing: SpaceStanding,
        _ care: ModelFile.Care
    ) throws(ApplyError) -> Bool {
        var reader: EventReader?
        if file.applied < standing.head {
            let positions = file.applied + 1...standing.head
            reader = try reading { () throws(DiarioError) -> EventReader in
                try self.reader(at: positions)
            }
        }
        // Most of what comes is for other packs.
        var hasEvent = try reading { () throws(DiarioError) -> Bool in
            try reader?.advance() ?? false
        }
        let isUndone = hasEvent || rest(of: standing.pending) == nil
        if isUndone { try filing { () throws(ProjectionError) in try file.undoSections() } }
        while hasEvent, let line = reader?.line {
            try file.apply(line, care)
            if file.isSpent, let position = line.position {
                file.settle(through: position)
                return isUndone
            }
            hasEvent = try reading { () throws(DiarioError) -> Bool in
                try reader?.advance() ?? false
            }
        }
        if file.applied < standing.head { file.settle(through: standing.head) }
        return isUndone
    }

    /// Applies pending events in sections, each of which ends with a certain sequence.
    ///
    /// Of many that were sent, the sections that got positions whole then need not be done again.
    private func apply(
        _ events: PendingEvents,
        countMax: inout Int,
        _ care: ModelFile.Care
    ) throws(ApplyError) {
        let sequences = events.sequences
        let cursor: LogCursor
        do { cursor = try space.store.cursor(space.id, allOf: events) } catch {
            throw ApplyError(DiarioError(error))
        }
        var reader = EventReader(space, cursor, types: file.plan.typeNames)
        var end = try beginSection(of: events.replica, at: sequences.lowerBound)
        while try reading({ () throws(DiarioError) in try reader.advance() }) {
            guard let sequence = reader.line.origin?.sequence, sequences.contains(sequence) else {
                continue
            }
            while sequence > end { end = try passSection(of: events.replica, endingAt: end) }
            try file.apply(reader.line, care)
            countMax -= 1
            guard file.isSpent || countMax == 0 else { continue }
            file.settleLane(through: sequence)
            if sequence == end { file.closeSection() }
            return
        }
        while end < sequences.upperBound {
            end = try passSection(of: events.replica, endingAt: end)
        }
        file.settleLane(through: sequences.upperBound)
        if end == sequences.upperBound { file.closeSection() }
    }

    /// The last sequence of the section that is begun, or gone on with.
    private func beginSection(
        of replica: ReplicaID,
        at sequence: UInt64
    ) throws(ApplyError) -> UInt64 {
        try filing { () throws(ProjectionError) in
            try file.beginLane(of: replica, at: sequence)
        }
        let count = UInt64(min(chunkCount, Self.sectionCountMax))
        return (sequence - 1) / count * count + count
    }

    /// Ends a section, and gives the last sequence of the next one.
    private func passSection(
        of replica: ReplicaID,
        endingAt end: UInt64
    ) throws(ApplyError) -> UInt64 {
        file.settleLane(through: end)
        file.closeSection()
        return try beginSection(of: replica, at: end + 1)
    }

    /// The pending events that are still to be applied; nil if others are applied than those.
    private func rest(of pending: [PendingEvents]) -> [PendingEvents]? {
        var rest = pending[...]
        for known in appliedPending {
            guard var first = rest.first, first.replica == known.replica,
                first.sequences.lowerBound == known.sequences.lowerBound,
                first.sequences.upperBound >= known.sequences.upperBound
            else { return nil }
            rest.removeFirst()
            if first.sequences.upperBound > known.sequences.upperBound {
                first.sequences = known.sequences.upperBound + 1...first.sequences.upperBound
                rest.insert(first, at: rest.startIndex)
            }
        }
        return Array(rest)
    }

    /// The number of oldest sections that are whole, in order, and directly after the applied
    /// events, with the same effects that they would have there.
    private func promotedSections(_ head: UInt64) throws(DiarioError) -> Int {
        guard file.applied < head, !file.sections.isEmpty else { return 0 }
        let ended: Set<Int64>
        do { ended = try file.endedSections() } catch { throw DiarioError(error) }
        let pendingCount = file.sections.reduce(0) { $0 + $1.count }
        let positions = file.applied + 1...min(head, file.applied + pendingCount)
        var (count, next) = (0, file.sections[0].first)
        do throws(LogError) {
            var cursor = try space.store.cursor(space.id, positions: positions, .canonical)
            while let events = try cursor.next() {
                let places = events.types.map { file.usesPlace($0.name) }
                for stored in events.rows {
                    let section = file.sections[count]
                    guard !ended.contains(section.number),
                        stored.row.replica == section.replica, stored.row.sequence == next,
                        !places[stored.row.typeIndex], try !isCapped(stored, events)
                    else { return count }
                    next += 1
                    guard next > section.last else { continue }
                    count += 1
                    guard count < file.sections.count else { return count }
                    next = file.sections[count].first
                }
            }
        } catch {
            throw DiarioError(error)
        }
        return count
    }

    /// True if the clock by which writers are compared is another one now.
    private func isCapped(
        _ stored: StoredRow,
        _ events: StoredEvents
    ) throws(LogError) -> Bool {
        guard let accepted = stored.acceptedAt else { return false }
        do throws(FormatError) {
            let part = try PublicPart.parse(events.bytes.span, stored.row)
            let clock = part.envelope.clock
            return clock.believed(acceptedAt: accepted.milliseconds) < clock
        } catch {
            throw .format(error)
        }
    }

    // MARK: Errors

    /// Throws if the caller has waited long enough; the next one continues from here.
    func checkAllowance(_ head: UInt64) throws(DiarioError) {
        guard file.isSpent, needsWork(space.store[space.id].standing()) else { return }
        let (name, place) = (file.plan.pack.name, "position \(file.applied) of \(head)")
        let count = file.sections.reduce(0) { $0 + $1.count }
        let rest = file.applied < head ? place : "pending event \(count)"
        throw DiarioError(
            .busy,
            "The read models of \(name) take long for their events, so this waited no longer: "
                + "they are at \(rest). Ask again to go on, or run `diario rebuild \(name)`, which "
                + "takes as long as it needs."
        )
    }

    func filing<Value: ~Copyable>(
        _ body: () throws(ProjectionError) -> Value
    ) throws(ApplyError) -> Value {
        do { return try body() } catch { throw .file(error) }
    }

    private func reading<Value: ~Copyable>(
        _ body: () throws(DiarioError) -> Value
    ) throws(ApplyError) -> Value {
        do { return try body() } catch { throw ApplyError(error) }
    }
}

/// Why events could not be read.
private final class FailedEvents: SourceFailure {
    let error: DiarioError

    init(_ error: DiarioError) { self.error = error }
}

extension ApplyError {
    /// The error of events that could not be read.
    init(_ error: DiarioError) { self = .source(FailedEvents(error)) }
}

extension DiarioError {
    fileprivate init(_ error: ApplyError) {
        switch error {
        case .file(let error): self.init(error)
        case .source(let failure):
            guard let failure = failure as? FailedEvents else {
                preconditionFailure("events come from the log")
            }
            self = failure.error
        case .needsCare: preconditionFailure("an event that needs care is applied with care")
        }
    }
}
