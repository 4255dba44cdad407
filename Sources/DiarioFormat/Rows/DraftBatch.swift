package import DiarioCore
package import DiarioSchema

/// A batch ready to be appended: payloads encoded, no sequences, clocks or positions yet.
///
/// Made to be used again: it keeps its memory, and what it knows of the types.
package struct DraftBatch: Sendable {
    /// Always one.
    ///
    /// A batch is one reference, so that passing it between threads counts no others. Counting
    /// references that all batches share slows the threads down.
    private var box: [DraftContents]

    package init() { self.init(isContainer: false) }

    /// With `isContainer` it gathers several batches that share a block; the caller keeps each of
    /// them within its limits.
    package init(isContainer: Bool) { box = [DraftContents(isContainer: isContainer)] }

    package var events: [DraftEvent] { box[0].events }
    package var isEmpty: Bool { box[0].isEmpty }

    /// The number of events.
    package var count: Int { box[0].events.count }

    /// True if an event has personal fields.
    package var hasPersonal: Bool { box[0].hasPersonal }

    /// The flags of one event.
    package func flags(of index: Int) -> RowFlags { box[0].events[index].flags }

    /// Flags, actors, subjects and payloads, laid out as `DraftEvent` says.
    package var bytes: [UInt8] { box[0].bytes }

    /// The types of the events, each once.
    package var types: [EventType] { box[0].types }

    /// The entries of the types in a block.
    package var entries: [TypeEntry] { box[0].entries }

    /// Bytes of the events, with the longest ids where ids are filled in later.
    package var size: Int { box[0].size }

    /// An upper bound of the bytes that a block grows by when it takes the batch.
    package var sizeInBlockMax: Int { box[0].sizeInBlockMax }

    /// An upper bound of the bytes that the rows take in a block.
    var rowsSizeMax: Int { box[0].rowsSizeMax }

    /// One of the types that the events have.
    func listed(_ index: Int) -> KnownType { box[0].listed(index) }

    func references(of event: DraftEvent) -> ArraySlice<DraftReference> {
        box[0].references(of: event)
    }

    /// The contents, one, where they are.
    var contents: Span<DraftContents> {
        @_lifetime(borrow self) get { box.span }
    }

    /// Gets to know types beforehand, so that copies of this batch know them too.
    package mutating func learn(_ types: [KnownType]) { box[0].learn(types) }

    /// Forgets all events.
    package mutating func removeAll(keepingCapacity: Bool = true) {
        box[0].removeAll(keepingCapacity: keepingCapacity)
    }

    /// Adds the event that a line tells; when it throws, nothing is added.
    package mutating func append(_ line: EventLine) throws(FormatError) { try box[0].append(line) }

    /// Adds an event; when it throws, nothing is added.
    ///
    /// Where a field refers to `#n`, event n of this batch, counted from 1, must already be here
    /// and make an id. A row that keeps its own values gives its `origin`, so that an id that is
    /// the own origin can be told from others.
    package mutating func append(
        _ payload: Payload,
        type: EventType,
        at: Timestamp? = nil,
        actor: Span<UInt8>? = nil,
        subject: Span<UInt8>? = nil,
        ifUnchanged: Bool = false,
        origin: Origin? = nil
    ) throws(FormatError) {
        try box[0].append(
            payload,
            type: type,
            at: at,
            actor: actor,
            subject: subject,
            ifUnchanged: ifUnchanged,
            origin: origin
        )
    }
}
