package import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSchema

/// Records events that come as lines of JSON, as `diario record -` reads them.
///
/// Each line is a batch of its own; consecutive lines with the same `batch` are one. Lines are
/// taken in with `add`, and recorded with `commit`: those of one call share a sync.
package struct LineRecorder {
    private var space: Space
    private let options: EventLineReader.Options
    private var reader: EventLineReader
    private var line = EventLine()
    private var lineNumber = 0
    /// The actors that events may have.
    private let policy: ActorPolicy?
    /// The number of events added.
    package private(set) var count = 0
    /// Complete batches, in the order of the lines.
    private var contents: [Append.Content] = []
    private var contentSize = 0
    /// Lines without a batch that follow one another.
    private var singles = DraftBatch()
    private var open: OpenBatch?
    /// Events of which it matters who records them, and that are not recorded yet.
    private var asked: [AskedEvent] = []
    /// The events, if they have origins of a client's own.
    private(set) var named: NamedEvents?

    /// Lines with the same `batch`, of which more may follow.
    private struct OpenBatch {
        let name: [UInt8]
        var draft = DraftBatch()
    }

    package init(_ space: Space) {
        self.init(space, policy: nil, options: [.batchReferences])
    }

    init(
        _ space: Space,
        policy: ActorPolicy?,
        options: EventLineReader.Options
    ) {
        self.space = space
        self.policy = policy
        self.options = options
        reader = EventLineReader(catalog: space.catalog, options: options)
    }

    /// True if so much was taken in that it should be recorded before more is.
    package var isFull: Bool { contentSize + singles.size >= Limits.batchSizeMax }

    /// Takes in one line, without its line feed; empty lines are passed over.
    ///
    /// When this throws, nothing of the line's batch is recorded; what was complete before it is,
    /// by the next `commit`.
    package mutating func add(_ text: Span<UInt8>) throws(DiarioError) {
        lineNumber += 1
        guard !text.isBlank else { return }
        try add(text, at: InputPlace(line: lineNumber))
    }

    /// The same, for an event that is not on the next line.
    mutating func add(_ text: Span<UInt8>, at place: InputPlace) throws(DiarioError) {
        do throws(DiarioError) { try read(text, at: place) } catch {
            endBatch(unlessIn: text)
            throw error
        }
        guard line.type.pack != "engine" else {
            endBatch(unlessIn: text)
            throw DiarioError(
                .invalid,
                "\(place.text): \(line.type.name) is of the pack engine, whose events only "
                    + "the engine records; record an event of another pack",
                line: place.line,
                rule: "engine-type"
            )
        }
        try policy?.settle(&line, at: place)
        if line.actor == nil, let own = space.gate?.actor,
            space.types[line.type]?.asked != nil
        {
            line.actor = line.keep(Array(own.utf8).span)
        }
        // Of events with origins only new ones are asked: see `NamedEvents`.
        if line.origin == nil { try checkTime(text, at: place) }
        if line.origin != nil || line.base != nil || named != nil {
            try addNamed(text, at: place)
            count += 1
            return
        }
        do throws(FormatError) {
            if let name = line.batch.map({ Array(line.arena[$0]) }) {
                if open?.name != name { beginBatch(name) }
                try open?.draft.append(line)
            } else {
                closeBatch()
                guard line.payload.references.isEmpty else {
                    throw .unresolvedReference(number: line.payload.references[0].number)
                }
                try appendSingle()
            }
        } catch {
            if line.batch != nil { open = nil }
            throw DiarioError(error, at: place)
        }
        let number = open?.draft.count ?? 1
        if let event = AskedEvent(line, in: space, number: number, at: place) {
            asked.append(event)
        }
        count += 1
    }

    private mutating func checkTime(
        _ text: Span<UInt8>,
        at place: InputPlace
    ) throws(DiarioError) {
        do throws(DiarioError) {
            try EventTime.check(line.at, now: space.now, at: place)
        } catch {
            endBatch(unlessIn: text)
            throw error
        }
    }

    /// Takes in an event with an origin: all have one, or none has.
    private mutating func addNamed(
        _ text: Span<UInt8>,
        at place: InputPlace
    ) throws(DiarioError) {
        guard let origin = line.origin, count == 0 || named != nil else {
            throw .refused(
                place,
                line.base != nil && line.origin == nil
                    ? "`base` comes with an `origin`."
                    : "either all events of a request have an `origin`, or none has."
            )
        }
        if named == nil { named = NamedEvents(space, reader, of: origin.replica) }
        try named?.add(line, text, at: place)
    }

    /// Reads a line, by the packs that were adopted meanwhile if it does not fit those known.
    private mutating func read(_ text: Span<UInt8>, at place: InputPlace) throws(DiarioError) {
        do throws(SchemaError) { return try reader.read(text, into: &line) } catch {
            try space.refresh()
            guard try space.takeUpAdoptions() else { throw DiarioError(error, at: place) }
        }
        reader = EventLineReader(catalog: space.catalog, options: options)
        do throws(SchemaError) { try reader.read(text, into: &line) } catch {
            throw DiarioError(error, at: place)
        }
    }

    /// Records the complete batches; durable as promised when this returns.
    ///
    /// Gives the origins of the events, in the order of their lines.
    package mutating func commit() throws(DiarioError) -> [Origin] {
        try commitBatches().flatMap { $0.origins }
    }

    /// The same, with the batches in which they were recorded.
    mutating func commitBatches() throws(DiarioError) -> [AppendedBatch] {
        closeSingles()
        defer {
            contents.removeAll(keepingCapacity: true)
            contentSize = 0
            asked.removeAll(keepingCapacity: true)
        }
        try space.check(asked)
        var batches: [AppendedBatch] = []
        while !contents.isEmpty {
            let id = space.id
            var appended = 0
            do throws(LogError) {
                let appends = contents.map { Append(space: id, content: $0) }
                let outcomes = space.store.commit(appends)
                space.store.helper?.pace()
                for outcome in outcomes {
                    batches += try outcome.get()
                    appended += 1
                }
                contents.removeAll(keepingCapacity: true)
            } catch {
                guard case .unknownSpace = error, try space.followRenewal(of: id) else {
                    throw DiarioError(error)
                }
                contents.removeFirst(appended)
                try checkTypes()
            }
        }
        return batches
    }

    /// Makes sure that what is to be recorded can be read in the space that took the place of the
    /// one that the lines were read for.
    private mutating func checkTypes() throws(DiarioError) {
        for content in contents {
            guard case .new(let drafts, _) = content else {
                preconditionFailure("lines make nothing else")
            }
            for draft in drafts { try space.check(draft.types) }
        }
    }

    /// Ends the batch that the last lines began; call it at the end of the input.
    package mutating func finish() { closeBatch() }

    private mutating func appendSingle() throws(FormatError) {
        if singles.events.count == Limits.batchCountMax || singles.size > Limits.batchSizeMax / 2 {
            closeSingles()
        }
        try singles.append(line)
    }

    private mutating func beginBatch(_ name: [UInt8]) {
        closeBatch()
        closeSingles()
        open = OpenBatch(name: name)
    }

    private mutating func closeBatch() {
        guard let batch = open else { return }
        open = nil
        guard !batch.draft.isEmpty else { return }
        contents.append(.new([batch.draft]))
        contentSize += batch.draft.size
    }

    private mutating func closeSingles() {
        guard !singles.isEmpty else { return }
        contents.append(.new([singles], .replicaSingly))
        contentSize += singles.size
        singles.removeAll()
    }

    /// After a bad line: the open batch is complete if the line shows that it belongs to another.
    private mutating func endBatch(unlessIn text: Span<UInt8>) {
        guard let name = open?.name else { return }
        var bytes: [UInt8] = []
        for index in text.indices { bytes.append(text[index]) }
        guard let item = try? JSON.parse(bytes), case .object = item.value else {
            open = nil
            return
        }
        if case .string(let other) = item.value.member("batch")?.item.value,
            other.utf8.elementsEqual(name)
        {
            open = nil
        } else {
            closeBatch()
        }
    }
}

/// Tells which lines are one batch: those with one name that follow each other.
struct BatchGrouping {
    private var name: [UInt8]?

    /// True if a batch begins with this line.
    mutating func begins(with line: EventLine) -> Bool {
        let last = name
        name = line.batch.map { Array(line.arena[$0]) }
        return name == nil || name != last
    }
}

extension DraftBatch {
    /// Adds the event that a line tells.
    mutating func append(_ line: EventLine, origin: Origin? = nil) throws(FormatError) {
        let arena = line.arena.span
        // A span in an optional is made by hand: `map` does not take what cannot escape.
        var actor: Span<UInt8>?
        if let range = line.actor { actor = arena.extracting(range) }
        var subject: Span<UInt8>?
        if let range = line.subject { subject = arena.extracting(range) }
        try append(
            line.payload,
            type: line.type,
            at: line.at,
            actor: actor,
            subject: subject,
            ifUnchanged: line.ifUnchanged,
            origin: origin
        )
    }
}

extension Span where Element == UInt8 {
    /// True if there is nothing but blanks.
    var isBlank: Bool {
        for index in indices where self[index] != 0x20 && self[index] != 0x0d && self[index] != 9 {
            return false
        }
        return true
    }
}
