import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioSchema

/// Records events of other spaces as new events of this replica, each origin once.
struct ImportRecorder {
    private let space: Space
    private var reader: EventLineReader
    private var line = EventLine()
    private(set) var origins: ImportedOrigins
    /// The actors that events may have.
    private let policy: ActorPolicy?
    /// The last sequence that each replica had here before: their events need no taking up.
    private let own: [ReplicaID: UInt64]
    /// The authorities in the lines, whose events are not recorded again.
    private var authorities: Set<ReplicaID> = []
    /// True if there may be such events.
    private var takesAuthority = true
    /// The batch of the last line that was checked; only there to see that it keeps to its limits.
    private var checkedBatch = DraftBatch()
    private var checkedBatches = BatchGrouping()
    private var batches = BatchGrouping()
    /// True if the next line that is recorded begins a batch.
    private var beginsBatch = true
    /// Lines that are recorded together.
    private var lines: [Line] = []
    private var lineOrigins: Set<Origin> = []
    private var linesSize = 0
    private(set) var imported = 0
    private var known = 0
    private var unresolved = 0

    private struct Line {
        var event: EventLine
        var beginsBatch: Bool
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
            try ImportedOrigins(of: space, isAuthority: isAuthority),
            own: own,
            by: nil
        )
        self.takesAuthority = takesAuthority
    }

    init(
        _ space: Space,
        _ origins: ImportedOrigins,
        own: [ReplicaID: UInt64],
        by policy: ActorPolicy?
    ) {
        self.space = space
        self.origins = origins
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
        while try checked.next({ (text, place) throws(DiarioError) in
            guard !text.isBlank else { return }
            _ = try check(text, place)
        }) {
            if checked.number % 4096 == 0 { progress(checked.offset, 2 * fileSize) }
        }
        var lines = try input()
        while try lines.next({ (text, _) throws(DiarioError) in
            guard !text.isBlank else { return }
            try take(text)
        }) {
            if lines.number % 4096 == 0 { progress(fileSize + lines.offset, 2 * fileSize) }
        }
        try finish()
        try origins.settle(space)
        return ImportSummary(
            space: space,
            imported: imported,
            known: known,
            unresolved: unresolved,
            ignoredNames: lines.ignoredNames
        )
    }

    /// Checks the next line; gives its origin.
    mutating func check(_ text: Span<UInt8>, _ place: InputPlace) throws(DiarioError) -> Origin? {
        try read(text, place)
        // Of the events of a file, those with positions were accepted with their times.
        if line.type.pack != "engine", policy != nil || line.position == nil {
            try EventTime.check(line.at, now: space.now, at: place)
        }
        if checkedBatches.begins(with: line) { checkedBatch.removeAll() }
        do throws(FormatError) { try checkedBatch.append(line, origin: line.origin) } catch {
            throw DiarioError(error, at: place)
        }
        return line.origin
    }

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
        if batches.begins(with: line) { beginsBatch = true }
        if let origin = line.origin {
            guard !authorities.contains(origin.replica) else { return }
            // Twice in one file is once here as well.
            guard origins[origin] == nil, origin.sequence > own[origin.replica] ?? 0,
                !lineOrigins.contains(origin)
            else {
                known += 1
                return
            }
        }
        if beginsBatch,
            linesSize >= Self.groupSizeMax || lines.count >= Limits.batchCountMax / 2
        {
            try finish()
        }
        if let origin = line.origin { lineOrigins.insert(origin) }
        lines.append(Line(event: line, beginsBatch: beginsBatch))
        beginsBatch = false
        linesSize += text.count
    }

    /// Records what was taken and is not recorded yet.
    mutating func finish() throws(DiarioError) {
        defer {
            lines.removeAll()
            lineOrigins.removeAll()
            linesSize = 0
        }
        for _ in 0..<Self.attemptCountMax {
            let (replica, last): (ReplicaID, UInt64)
            do { (replica, last) = try space.store[space.id].author() } catch {
                throw DiarioError(error)
            }
            // The next recorded event takes that sequence, unless others record before that.
            try origins.follow(space)
            leaveOutKnown()
            guard !lines.isEmpty else { return }
            let (group, openCount) = try group(from: Origin(replica: replica, sequence: last + 1))
            try space.check(group.asked)
            if try origins.record(group, in: space) {
                imported += group.count
                unresolved += openCount
                return
            }
        }
        throw DiarioError(
            .busy,
            "Other programs record into this space all the time, so the import ended after "
                + "\(imported) events, which are recorded. Import the file again later to "
                + "continue; lines without an origin would come twice."
        )
    }

    /// Leaves out what a server, or another import, recorded meanwhile.
    private mutating func leaveOutKnown() {
        var rest: [Line] = []
        var beginsBatch = false
        for var line in lines {
            beginsBatch = beginsBatch || line.beginsBatch
            if let origin = line.event.origin, origins[origin] != nil {
                known += 1
                continue
            }
            line.beginsBatch = beginsBatch
            beginsBatch = false
            rest.append(line)
        }
        lines = rest
    }

    /// The lines as events of which the first gets the origin `first`, and how many references lead
    /// nowhere.
    private func group(from first: Origin) throws(DiarioError) -> (ImportGroup, openCount: Int) {
        var group = ImportGroup(first: first, count: lines.count)
        for (index, line) in lines.enumerated() {
            guard let origin = line.event.origin else { continue }
            let new = first.advanced(by: index)
            group.runs.appendMerging(ImportedRun(first: origin, count: 1, newFirst: new))
            group.origins[origin] = new
        }
        var openCount = 0
        var digest = ImportDigest()
        for (index, line) in lines.enumerated() {
            var event = line.event
            let own = first.advanced(by: index)
            openCount += rewrite(&event, in: group)
            if line.beginsBatch { group.batches.append(DraftBatch()) }
            let last = group.batches.count - 1
            do throws(FormatError) { try group.batches[last].append(event) } catch {
                throw DiarioError(error)
            }
            let number = group.batches[last].count
            if let asked = AskedEvent(event, in: space, origin: own, number: number) {
                group.asked.append(asked)
            }
            if !origins.isAuthority { digest.add(event, as: own) }
        }
        if !origins.isAuthority { group.digest = digest.value }
        return (group, openCount)
    }

    /// Gives references to events that were imported their new ids; gives the number of those that
    /// lead nowhere.
    private func rewrite(_ line: inout EventLine, in group: ImportGroup) -> Int {
        func new(_ origin: Origin) -> Origin? { group.origins[origin] ?? origins[origin] }
        var openCount = 0
        for (index, field) in line.type.fields.enumerated()
        where field.isNewID || field.referenceKind != nil {
            guard let bytes = line.payload.bytes(at: index),
                let origin = Origin(text: String(decoding: bytes, as: UTF8.self))
            else { continue }
            if field.isNewID, origin == line.origin {
                // It was derived from the old origin, and now is from the new one.
                line.payload.slots[index] = .absent
            } else if let new = new(origin) {
                line.payload.setBytes(Array(new.text.utf8).span, at: index)
            } else if !field.isNewID, own[origin.replica] == nil {
                // No event of this space has it, unless a thing was given exactly this id.
                openCount += 1
            }
        }
        if let range = line.subject,
            let origin = Origin(text: String(decoding: line.arena[range], as: UTF8.self)),
            let new = new(origin)
        {
            line.subject = line.keep(Array(new.text.utf8).span)
        }
        if line.at == nil, let clock = line.clock {
            line.at = Timestamp(milliseconds: clock.milliseconds)
        }
        return openCount
    }
}

/// Events of other spaces as they are recorded together.
struct ImportGroup {
    /// The origin here of the first of them.
    let first: Origin
    let count: Int
    /// The origins elsewhere, with those here.
    var origins: [Origin: Origin] = [:]
    var runs: [ImportedRun] = []
    var batches: [DraftBatch] = []
    var asked: [AskedEvent] = []
    /// Of all events, where a note is written.
    var digest = Hash32.zero
}

/// A digest of events that does not depend on when and under which origin they were recorded.
struct ImportDigest {
    private let stream = SHA256Stream()
    private var text: [UInt8] = []

    /// Takes an event that is recorded under an origin, or was.
    mutating func add(_ line: EventLine, as origin: Origin) {
        var line = line
        if let index = line.type.newIDFieldIndex, case .absent = line.payload.slots[index] {
            line.payload.setBytes(Array(origin.text.utf8).span, at: index)
        }
        line.origin = nil
        line.position = nil
        line.base = nil
        line.clock = nil
        line.acceptedAt = nil
        line.batch = nil
        text.removeAll(keepingCapacity: true)
        EventLineWriter.append(line, to: &text)
        text.append(0x0a)
        stream.update(text.span)
    }

    /// Of all that was added; then it is ready for others.
    var value: Hash32 { stream.finalize() }
}
