import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioSchema
import DiarioStorage

/// The imports into a space, while one program imports: schema/format/sync.md, section 12.
struct ImportLedger {
    private let space: Space
    /// True if the space says in its own log what was imported.
    let isAuthority: Bool
    private(set) var origins: ImportedOrigins
    /// Of which `known.dimp` says nothing yet.
    private var notes: [ImportNote] = []

    /// The caller holds the imports of the space.
    init(_ space: Space, isAuthority: Bool) throws(DiarioError) {
        self.space = space
        self.isAuthority = isAuthority
        origins = try ImportedOrigins(of: space)
        let (notes, faults): ([ImportNote], [Fault])
        do { (notes, faults) = try space.store[space.id].imports.read() } catch {
            throw DiarioError(error)
        }
        if let fault = faults.first {
            throw DiarioError(
                .corrupt,
                "The list of earlier imports is damaged at \(fault.message). Move the file away "
                    + "and import again; events that it names may then be recorded a second time."
            )
        }
        var last: [ReplicaID: UInt64] = [:]
        for case .some(let group) in notes.map({ $0.group }) {
            last[group.first.replica] = max(last[group.first.replica] ?? 0, group.first.sequence)
        }
        var runs: [ImportedRun] = []
        for note in notes {
            if let group = note.group {
                // All before it were written after the events of the ones before were recorded.
                if last[group.first.replica] == group.first.sequence, try !isRecorded(group) {
                    try remove([note])
                    continue
                }
                self.notes.append(note)
            }
            runs += note.runs
        }
        origins.add(runs)
    }

    /// That of an authority, as far as `origins` were read.
    init(_ space: Space, _ origins: ImportedOrigins) {
        self.space = space
        isAuthority = true
        self.origins = origins
    }

    /// Reads what others imported meanwhile; `lines` are those that were added and not recorded.
    mutating func follow(besides lines: [Origin]) throws(DiarioError) {
        for line in lines { origins.remove(line) }
        try origins.follow(space)
    }

    /// Notes events that were just recorded, so that they need not be read.
    mutating func noteOwn(_ batches: AppendedBatches) {
        guard let first = batches.first?.firstPosition, let last = batches.last,
            let position = last.firstPosition
        else { return }
        origins.pass(first...position + UInt64(last.count) - 1)
    }

    mutating func add(_ origin: Origin, as new: Origin) { origins.add(origin, as: new) }

    /// Writes down that a group is about to be recorded.
    func note(_ note: ImportNote) throws(DiarioError) {
        guard !note.runs.isEmpty else { return }
        do { try space.store[space.id].imports.keep(note) } catch { throw DiarioError(error) }
    }

    /// Takes back that a group is about to be recorded: nothing was.
    func remove(_ notes: [ImportNote]) throws(DiarioError) {
        do { try space.store[space.id].imports.remove(notes) } catch { throw DiarioError(error) }
    }

    /// Takes up that a group was recorded.
    mutating func wasRecorded(_ note: ImportNote) throws(DiarioError) {
        if !isAuthority, !note.runs.isEmpty { notes.append(note) }
        if origins.isUnsettled { try settle() }
    }

    /// Puts all notes into one.
    mutating func settle() throws(DiarioError) {
        origins.settle()
        guard !notes.isEmpty else { return }
        try note(ImportNote(group: nil, runs: origins.all))
        try remove(notes)
        notes.removeAll()
    }

    // MARK: What was recorded

    /// True if the events that a note names were recorded, or others got their sequences.
    private func isRecorded(_ group: ImportNote.Group) throws(DiarioError) -> Bool {
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

extension Space {
    /// The events of a replica with these sequences that are in the log.
    func lines(
        _ sequences: ClosedRange<UInt64>,
        of replica: ReplicaID
    ) throws(DiarioError) -> [EventLine] {
        var filter = LogFilter()
        filter.sequences = LogFilter.Sequences(sequences, of: replica)
        let cursor: LogCursor
        do { cursor = try store.cursor(id, filter: filter) } catch { throw DiarioError(error) }
        var reader = EventReader(self, cursor, types: [])
        var found: [EventLine] = []
        while found.count < sequences.count, try reader.advance() {
            guard let origin = reader.line.origin, origin.replica == replica,
                sequences.contains(origin.sequence)
            else { continue }
            found.append(reader.line)
        }
        return found
    }
}
