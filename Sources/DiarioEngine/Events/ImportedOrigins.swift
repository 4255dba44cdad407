import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSchema

/// Where events of other spaces were recorded here, each once.
///
/// An authority keeps that in the space's own history, as events `engine.events.imported` in the
/// frames of what was imported; if the authority is elsewhere notes beside the log keep it:
/// schema/format/sync.md, section 12.
///
/// Follows the log: the part that was read once is not read again.
package struct ImportedOrigins: Sendable {
    /// True if the space says in its own log what was imported.
    let isAuthority: Bool
    /// The position up to which the log was read.
    private var end: UInt64 = 0
    /// For each replica its runs in order of sequence, without overlap.
    private var runs: [ReplicaID: [ImportedRun]] = [:]
    private var runCount = 0
    /// The origins added since the runs were sorted.
    private var recent: [Origin: Origin] = [:]
    /// Notes of groups of which `known.dimp` says nothing yet.
    private var notes: [ImportNote] = []

    private static let typeName = "engine.events.imported"
    /// Runs that an event takes: with the longest numbers they take 144 bytes each.
    private static let noteRunCountMax = 400
    private static let recentCountMin = 65_536

    /// Those of an authority, of whose log nothing was read yet.
    package init() { isAuthority = true }

    /// All that is known; the caller holds the imports of the space.
    init(of space: Space, isAuthority: Bool) throws(DiarioError) {
        self.isAuthority = isAuthority
        try follow(space)
        try readNotes(space)
    }

    /// Reads the new events of the log.
    mutating func follow(_ space: Space) throws(DiarioError) {
        let head = space.store[space.id].head()
        guard end < head else { return }
        var filter = EventFilter(types: [Self.typeName])
        filter.positions = end + 1...head
        var reader = try EventReader(space, filter)
        var changed: Set<ReplicaID> = []
        while let line = try reader.next() {
            guard let index = line.type.fields.firstIndex(where: { $0.name == "runs" }),
                let bytes = line.payload.bytes(at: index)
            else { continue }
            let item: JSON.Item
            do throws(SchemaError) { item = try JSON.parse(Array(bytes)) } catch {
                throw DiarioError(error)
            }
            guard case .array(let items) = item.value else { continue }
            for run in items.compactMap({ Self.run($0.value) }) {
                runs[run.first.replica, default: []].append(run)
                changed.insert(run.first.replica)
                runCount += 1
            }
        }
        for replica in changed { runs[replica] = runs[replica]?.inOrder() }
        end = head
    }

    /// The origin here of an event of another space; nil if it was not recorded here.
    subscript(origin: Origin) -> Origin? {
        if let new = recent[origin] { return new }
        guard let runs = runs[origin.replica] else { return nil }
        let index = runs.sortedIndex(behindAll: { $0.end <= origin.sequence })
        guard index < runs.count, runs[index].first.sequence <= origin.sequence else { return nil }
        return runs[index].dropFirst(origin.sequence - runs[index].first.sequence).newFirst
    }

    /// Records events of other spaces, durably, with what says where they are; false if another
    /// program recorded something meanwhile, and nothing was recorded.
    mutating func record(_ group: ImportGroup, in space: Space) throws(DiarioError) -> Bool {
        let imports = space.store[space.id].imports
        var contents = [Append.Content.new(group.batches)]
        var note: ImportNote?
        if isAuthority, !group.runs.isEmpty {
            contents.append(.new(try Self.events(group.runs, space), .authority))
        } else if !group.runs.isEmpty {
            note = ImportNote(
                group: .init(first: group.first, count: group.count, digest: group.digest),
                runs: group.runs
            )
        }
        let append = Append(
            space: space.id,
            contents: contents,
            firstSequence: group.first.sequence
        )
        do throws(LogError) {
            if let note { try imports.keep(note) }
            pass(try space.store.append(append))
        } catch {
            if let note { try remove([note], from: imports) }
            guard case .outOfOrder = error else { throw DiarioError(error) }
            return false
        }
        for (origin, new) in group.origins { recent[origin] = new }
        if let note { notes.append(note) }
        if recent.count >= Self.recentCountMin + runCount / 4 { try settle(space) }
        return true
    }

    /// Goes past events that were just recorded here, which need not be read.
    private mutating func pass(_ batches: AppendedBatches) {
        // Behind what others recorded they are read with that.
        guard batches.first?.firstPosition == end + 1 else { return }
        end += batches.reduce(0) { $0 + UInt64($1.count) }
    }

    /// Puts all in order, and all notes into one.
    mutating func settle(_ space: Space) throws(DiarioError) {
        for (origin, new) in recent {
            runs[origin.replica, default: []].append(
                ImportedRun(first: origin, count: 1, newFirst: new)
            )
        }
        recent.removeAll()
        sortRuns()
        guard !notes.isEmpty else { return }
        let all = runs.keys.sorted().flatMap { runs[$0] ?? [] }
        let imports = space.store[space.id].imports
        do { try imports.keep(ImportNote(group: nil, runs: all)) } catch {
            throw DiarioError(error)
        }
        try remove(notes, from: imports)
        notes.removeAll()
    }

    private func remove(
        _ notes: [ImportNote],
        from imports: ImportFiles
    ) throws(DiarioError) {
        do { try imports.remove(notes) } catch { throw DiarioError(error) }
    }

    private mutating func sortRuns() {
        for replica in runs.keys { runs[replica] = runs[replica]?.inOrder() }
        runCount = runs.values.reduce(0) { $0 + $1.count }
    }

    // MARK: Notes beside the log

    private mutating func readNotes(_ space: Space) throws(DiarioError) {
        let imports = space.store[space.id].imports
        let (read, faults): ([ImportNote], [Fault])
        do { (read, faults) = try imports.read() } catch { throw DiarioError(error) }
        if let fault = faults.first {
            throw DiarioError(
                .corrupt,
                "The list of earlier imports is damaged at \(fault.message). Move the file away "
                    + "and import again; events that it names may then be recorded a second time."
            )
        }
        var last: [ReplicaID: UInt64] = [:]
        for case .some(let group) in read.map({ $0.group }) {
            last[group.first.replica] = max(last[group.first.replica] ?? 0, group.first.sequence)
        }
        for note in read {
            if let group = note.group {
                // All before it were written after the events of the ones before were recorded.
                if last[group.first.replica] == group.first.sequence,
                    try !Self.isRecorded(group, in: space)
                {
                    try remove([note], from: imports)
                    continue
                }
                notes.append(note)
            }
            for run in note.runs { runs[run.first.replica, default: []].append(run) }
        }
        sortRuns()
    }

    /// True if the events that a note names were recorded, or others got their sequences.
    private static func isRecorded(
        _ group: ImportNote.Group,
        in space: Space
    ) throws(DiarioError) -> Bool {
        let replica = group.first.replica
        guard space.store[space.id].lastSequence(of: replica) >= group.sequences.upperBound
        else { return false }
        var digest = ImportDigest()
        let lines = try space.lines(group.sequences, of: replica)
        // Some are not in the log any more if they were refused: then they had been recorded.
        guard lines.count == group.count else { return true }
        for (index, line) in lines.enumerated() {
            digest.add(line, as: group.first.advanced(by: index))
        }
        return digest.value == group.digest
    }

    // MARK: Events of the log

    /// The events that say that these runs were recorded.
    private static func events(
        _ runs: [ImportedRun],
        _ space: Space
    ) throws(DiarioError) -> [DraftBatch] {
        var batches: [DraftBatch] = []
        for start in stride(from: 0, to: runs.count, by: noteRunCountMax) {
            let end = min(runs.count, start + noteRunCountMax)
            batches.append(try event(runs[start..<end], space))
        }
        return batches
    }

    private static func event(
        _ runs: ArraySlice<ImportedRun>,
        _ space: Space
    ) throws(DiarioError) -> DraftBatch {
        guard let type = space.catalog.type(typeName, version: 1),
            let index = type.fields.firstIndex(where: { $0.name == "runs" })
        else { preconditionFailure("the engine's types are in every catalog") }
        // Keys in the order of their bytes, no blanks: canonical as it is written.
        let items = runs.map { run in
            #"{"count":\#(run.count),"first":\#(run.first.sequence),"#
                + #""newFirst":\#(run.newFirst.sequence),"#
                + #""newReplica":"\#(run.newFirst.replica.text)","#
                + #""replica":"\#(run.first.replica.text)"}"#
        }
        var payload = Payload()
        payload.reset(fieldCount: type.fields.count)
        let text = "[" + items.joined(separator: ",") + "]"
        payload.setBytes(Array(text.utf8).span, at: index)
        var batch = DraftBatch()
        do throws(FormatError) { try batch.append(payload, type: type) } catch {
            throw DiarioError(error)
        }
        return batch
    }

    private static func run(_ value: JSON) -> ImportedRun? {
        func text(_ key: String) -> String? {
            guard case .string(let text) = value.member(key)?.item.value else { return nil }
            return text
        }
        func number(_ key: String) -> UInt64? {
            guard case .integer(let number) = value.member(key)?.item.value else { return nil }
            return UInt64(exactly: number)
        }
        guard let replica = text("replica").flatMap({ ReplicaID(text: $0) }),
            let newReplica = text("newReplica").flatMap({ ReplicaID(text: $0) }),
            let first = number("first"), let count = number("count"), count > 0,
            let newFirst = number("newFirst"), LogNumber.isValid(first, count: count),
            LogNumber.isValid(newFirst, count: count)
        else { return nil }
        return ImportedRun(
            first: Origin(replica: replica, sequence: first),
            count: count,
            newFirst: Origin(replica: newReplica, sequence: newFirst)
        )
    }
}
