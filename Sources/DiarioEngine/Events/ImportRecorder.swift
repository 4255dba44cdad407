import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSchema

/// Records events of other spaces as new events of this replica, each origin once.
struct ImportRecorder {
    private let space: Space
    private var reader: EventLineReader
    private var line = EventLine()
    private(set) var ledger: ImportLedger
    /// The actors that events may have.
    private let policy: ActorPolicy?
    /// The last sequence that each replica had here before: their events need no taking up.
    private let own: [ReplicaID: UInt64]
    /// The authorities in the lines, whose events are not recorded again.
    private var authorities: Set<ReplicaID> = []
    /// True if there may be such events.
    private var takesAuthority = true
    private var group = Group()
    private var grouping = BatchGrouping()
    /// True if the next line that is recorded begins a batch.
    private var beginsBatch = true
    private(set) var imported = 0
    private var known = 0
    private var unresolved = 0

    /// Lines that are recorded together, with the event that says so.
    private struct Group {
        var lines: [Line] = []
        var origins: Set<Origin> = []
        var size = 0
    }

    private struct Line {
        let text: [UInt8]
        var beginsBatch: Bool
        let origin: Origin?
    }

    /// Tells which lines are one batch: those with one name that follow each other in the file,
    /// whether they are recorded or not.
    fileprivate struct BatchGrouping {
        private var name: [UInt8]?

        /// True if a batch begins with this line.
        mutating func begins(with line: EventLine) -> Bool {
            let last = name
            name = line.batch.map { Array(line.arena[$0]) }
            return name == nil || name != last
        }
    }

    private static let groupSizeMax = Limits.batchSizeMax / 2
    private static let attemptCountMax = 16
    /// The place of lines that were checked before.
    private static let nowhere = InputPlace(line: 0)

    /// The caller holds the imports of the space.
    init(
        _ space: Space,
        _ status: SpaceStatus,
        takesAuthority: Bool
    ) throws(DiarioError) {
        let isAuthority = status.manifest.authority != nil
        var own: [ReplicaID: UInt64] = [:]
        for tally in status.tallies {
            own[tally.replica] = max(own[tally.replica] ?? 0, tally.lastSequence)
        }
        self.init(
            space,
            try ImportLedger(space, isAuthority: isAuthority),
            own: own,
            by: nil
        )
        self.takesAuthority = takesAuthority
    }

    init(
        _ space: Space,
        _ ledger: ImportLedger,
        own: [ReplicaID: UInt64],
        by policy: ActorPolicy?
    ) {
        self.space = space
        self.ledger = ledger
        self.own = own
        self.policy = policy
        reader = EventLineReader(catalog: space.catalog, options: [.exportKeys])
    }

    mutating func record(
        _ input: () throws(DiarioError) -> EventInput,
        _ fileSize: Int,
        _ progress: (Int, Int) -> Void
    ) throws(DiarioError) -> ImportSummary {
        // First all lines are read without recording any, because a bad one must leave no trace.
        var checked = try input()
        try check(&checked, progress, 2 * fileSize)
        var lines = try input()
        while try lines.next({ (text, place) throws(DiarioError) in
            guard !text.isBlank else { return }
            try take(text)
        }) {
            if lines.number % 4096 == 0 { progress(fileSize + lines.offset, 2 * fileSize) }
        }
        try finish()
        try ledger.settle()
        return ImportSummary(
            space: space,
            imported: imported,
            known: known,
            unresolved: unresolved,
            ignoredNames: lines.ignoredNames
        )
    }

    private mutating func check(
        _ lines: inout EventInput,
        _ progress: (Int, Int) -> Void,
        _ total: Int
    ) throws(DiarioError) {
        var check = Check()
        while try lines.next({ (text, place) throws(DiarioError) in
            guard !text.isBlank else { return }
            _ = try self.check(text, place, &check)
        }) {
            if lines.number % 4096 == 0 { progress(lines.offset, total) }
        }
    }

    /// The state of checking lines, none of which is recorded yet.
    struct Check {
        fileprivate var draft = DraftBatch()
        fileprivate var grouping = BatchGrouping()
    }

    /// Checks the next line; gives its origin.
    mutating func check(
        _ text: Span<UInt8>,
        _ place: InputPlace,
        _ check: inout Check
    ) throws(DiarioError) -> Origin? {
        try read(text, place)
        // Of the events of a file, those with positions were accepted with their times.
        if line.type.pack != "engine", policy != nil || line.position == nil {
            try EventTime.check(line.at, now: space.now, at: place)
        }
        if check.grouping.begins(with: line) { check.draft.removeAll() }
        do throws(FormatError) { try check.draft.append(line, origin: line.origin) } catch {
            throw DiarioError(error, at: place)
        }
        return line.origin
    }

    /// Records what was taken and is not recorded yet.
    mutating func finish() throws(DiarioError) { try recordGroup() }

    private mutating func read(_ text: Span<UInt8>, _ place: InputPlace) throws(DiarioError) {
        do throws(SchemaError) { try reader.read(text, into: &line) } catch {
            throw DiarioError(error, at: place)
        }
        try policy?.settle(&line, at: place)
        guard let origin = line.origin else { return }
        guard origin.sequence <= LogNumber.max else {
            throw DiarioError.refused(
                place,
                "the origin \(origin.text) is out of all bounds; its number is at most "
                    + "\(LogNumber.max)"
            )
        }
        guard line.type.pack == "engine" else { return }
        guard takesAuthority else {
            throw DiarioError.refused(
                place,
                "it is of an export of all events, whose first one is not the one at position 1: "
                    + "a part is missing. Import all of it."
            )
        }
        authorities.insert(origin.replica)
    }

    /// Takes a line that was checked; many of them are recorded together.
    mutating func take(_ text: Span<UInt8>) throws(DiarioError) {
        try read(text, Self.nowhere)
        // Also if this line is passed over: what is one batch was checked by all lines.
        if grouping.begins(with: line) { beginsBatch = true }
        if let origin = line.origin {
            guard !authorities.contains(origin.replica) else { return }
            // Twice in one file is once here as well.
            guard ledger.origins[origin] == nil, origin.sequence > own[origin.replica] ?? 0,
                !group.origins.contains(origin)
            else {
                known += 1
                return
            }
        }
        if beginsBatch,
            group.size >= Self.groupSizeMax || group.lines.count >= Limits.batchCountMax / 2
        {
            try recordGroup()
        }
        if let origin = line.origin { group.origins.insert(origin) }
        var bytes: [UInt8] = []
        for index in text.indices { bytes.append(text[index]) }
        group.lines.append(Line(text: bytes, beginsBatch: beginsBatch, origin: line.origin))
        beginsBatch = false
        group.size += bytes.count
    }

    /// Records the group and notes its origins, in one frame of the log.
    private mutating func recordGroup() throws(DiarioError) {
        var lines = group.lines
        group = Group()
        for _ in 0..<Self.attemptCountMax {
            let (replica, last): (ReplicaID, UInt64)
            do { (replica, last) = try space.store[space.id].author() } catch {
                throw DiarioError(error)
            }
            // The next recorded event takes that sequence.
            if ledger.isAuthority { try leaveOutKnown(&lines) }
            guard !lines.isEmpty else { return }
            let first = Origin(replica: replica, sequence: last + 1)
            let before = unresolved
            let (append, note, asked) = try build(lines, from: first)
            try space.check(asked)
            if !ledger.isAuthority { try ledger.note(note) }
            do throws(LogError) {
                ledger.noteOwn(try space.store.append(append))
            } catch {
                if !ledger.isAuthority { try ledger.remove([note]) }
                unresolved = before
                // Another process recorded something meanwhile: the ids are others now.
                guard case .outOfOrder = error else { throw DiarioError(error) }
                continue
            }
            try ledger.wasRecorded(note)
            imported += lines.count
            return
        }
        throw DiarioError(
            .busy,
            "Other programs record into this space all the time, so the import ended after "
                + "\(imported) events, which are recorded. Import the file again later to "
                + "continue; lines without an origin would come twice."
        )
    }

    /// Leaves out what a server, or another import, recorded meanwhile.
    private mutating func leaveOutKnown(_ lines: inout [Line]) throws(DiarioError) {
        try ledger.follow(besides: lines.compactMap { $0.origin })
        var rest: [Line] = []
        var beginsBatch = false
        for var line in lines {
            beginsBatch = beginsBatch || line.beginsBatch
            if let origin = line.origin, ledger.origins[origin] != nil {
                known += 1
                continue
            }
            line.beginsBatch = beginsBatch
            beginsBatch = false
            rest.append(line)
        }
        lines = rest
    }

    /// The append of a group whose first event gets the origin `first`, and what is noted of it.
    private mutating func build(
        _ lines: [Line],
        from first: Origin
    ) throws(DiarioError) -> (Append, ImportNote, [AskedEvent]) {
        var runs: [ImportedRun] = []
        for (index, source) in lines.enumerated() {
            try read(source.text.span, Self.nowhere)
            guard let origin = line.origin else { continue }
            let new = first.advanced(by: index)
            runs.appendMerging(ImportedRun(first: origin, count: 1, newFirst: new))
            ledger.add(origin, as: new)
        }
        var batches: [DraftBatch] = []
        var asked: [AskedEvent] = []
        var digest = ImportDigest()
        for (index, source) in lines.enumerated() {
            try read(source.text.span, Self.nowhere)
            rewrite()
            if source.beginsBatch { batches.append(DraftBatch()) }
            do throws(FormatError) { try batches[batches.count - 1].append(line) } catch {
                throw DiarioError(error)
            }
            let (own, number) = (first.advanced(by: index), batches[batches.count - 1].count)
            if let event = AskedEvent(line, in: space, origin: own, number: number) {
                asked.append(event)
            }
            if !ledger.isAuthority { digest.add(line, as: first.advanced(by: index)) }
        }
        var contents = [Append.Content.new(batches)]
        if ledger.isAuthority, !runs.isEmpty {
            contents.append(.new(try ImportedOrigins.notes(runs, space), .authority))
        }
        let append = Append(
            space: space.id,
            contents: contents,
            firstSequence: first.sequence
        )
        let group = ImportNote.Group(first: first, count: lines.count, digest: digest.value)
        return (append, ImportNote(group: group, runs: runs), asked)
    }

    /// Gives references to events that were imported their new ids.
    private mutating func rewrite() {
        for (index, field) in line.type.fields.enumerated()
        where field.isNewID || field.referenceKind != nil {
            guard let bytes = line.payload.bytes(at: index),
                let origin = Origin(text: String(decoding: bytes, as: UTF8.self))
            else { continue }
            if field.isNewID, origin == line.origin {
                // It was derived from the old origin, and now is from the new one.
                line.payload.slots[index] = .absent
            } else if let new = ledger.origins[origin] {
                line.payload.setBytes(Array(new.text.utf8).span, at: index)
            } else if !field.isNewID, own[origin.replica] == nil {
                // No event of this space has it, unless a thing was given exactly this id.
                unresolved += 1
            }
        }
        if let range = line.subject,
            let origin = Origin(text: String(decoding: line.arena[range], as: UTF8.self)),
            let new = ledger.origins[origin]
        {
            line.subject = line.keep(Array(new.text.utf8).span)
        }
        if line.at == nil, let clock = line.clock {
            line.at = Timestamp(milliseconds: clock.milliseconds)
        }
    }
}
