package import DiarioCore
import DiarioSchema

/// The columns of a segment that somebody asks for: of some types, and of these some fields.
///
///     let columns = try SegmentColumns(reader, selection)
///     let window = try columns.window(from: 0)    // reads blocks
///     for event in window.events { use(window.types[event], ...) }
///
/// Holds the envelope and, of each wanted type, the block of fields with the rows at hand. Blocks
/// of other types are not read.
package struct SegmentColumns: ~Copyable {
    package var reader: SegmentReader
    package let envelope: SegmentEnvelope
    private let selection: SegmentSelection
    /// By type index: the numbers of the blocks of fields; empty if the type is not wanted.
    private let blocks: [[Int]]
    private var loaded: [TypeBlock?]
    /// The events of wanted types.
    package let wantedEvents: [Int32]

    package init(
        _ reader: consuming SegmentReader,
        _ selection: SegmentSelection
    ) throws(SegmentError) {
        precondition(
            selection.fields.count == reader.index.types.count,
            "of each type it is said whether it is wanted"
        )
        var reader = reader
        let envelope = try SegmentEnvelope(&reader, selection.envelope)
        self.init(reader, envelope, selection)
    }

    private init(
        _ reader: consuming SegmentReader,
        _ envelope: SegmentEnvelope,
        _ selection: SegmentSelection
    ) {
        let index = reader.index
        blocks = index.types.indices.map { type in
            selection.fields[type] == nil ? [] : index.fieldBlocks(ofType: type)
        }
        loaded = index.types.map { _ in nil }
        let isWanted = selection.fields.map { $0 != nil }
        wantedEvents = envelope.types.rows { isWanted[Int($0)] }
        self.envelope = envelope
        self.selection = selection
        self.reader = reader
    }

    /// The events from this one on whose blocks are read together; at least that one.
    package mutating func window(from event: Int) throws(SegmentError) -> ColumnWindow {
        precondition(envelope.types.indices.contains(event), "an event of the segment is asked for")
        var end = envelope.types.count
        var window = ColumnWindow(
            types: envelope.types,
            wantedEvents: wantedEvents,
            blocks: loaded,
            rows: []
        )
        for type in blocks.indices {
            window.rows.append(0)
            guard !blocks[type].isEmpty else { continue }
            let events = try reader.events(ofType: type)
            let row = events.firstPlace(notBefore: event)
            guard row < events.count else { continue }
            let block = try block(ofType: type, row)
            window.blocks[type] = block
            window.rows[type] = row - block.rows.lowerBound
            if block.rows.upperBound < events.count {
                end = min(end, Int(events[block.rows.upperBound]))
            }
        }
        window.events = event..<end
        return window
    }

    /// The block that holds a row of a type.
    private mutating func block(
        ofType type: Int,
        _ row: Int
    ) throws(SegmentError) -> TypeBlock {
        if let known = loaded[type], known.rows.contains(row) { return known }
        loaded[type] = nil
        guard
            let number = blocks[type].first(where: { reader.index.blocks[$0].rows.contains(row) }),
            let fields = selection.fields[type]
        else { preconditionFailure("the blocks of a type cover its rows") }
        let block = try load(number, fields, type)
        loaded[type] = block
        return block
    }

    private mutating func load(
        _ number: Int,
        _ selection: FieldSelection,
        _ type: Int
    ) throws(SegmentError) -> TypeBlock {
        let block = reader.index.blocks[number]
        let eventType = try reader.eventType(type)
        let found = try reader.fields(inBlock: number)
        try reader.checkRules(found, block: number)
        var columns = found.columns
        if let personal = try reader.personalFields(inBlock: number) {
            let rows = try reader.personalRows(inBlock: number)
            for var column in personal.columns {
                column.present = column.present.map { $0.map { rows[Int($0)] } } ?? rows
                columns.append(column)
            }
        }
        let events = try reader.events(ofType: type, block.rows)
        var derived: [UInt8]?
        if let field = eventType.newIDFieldIndex, selection.contains(field) {
            let flags = try reader.flags()
            derived = events.map { flags[Int($0)] & RowFlags.derived.rawValue }
        }
        columns.removeAll { !selection.contains($0.field) }
        return TypeBlock(rows: block.rows, events: events, columns: columns, derived: derived)
    }
}

/// What is wanted of the events of a segment.
package struct SegmentSelection: Sendable {
    /// By type index; nil if no event of the type is wanted.
    package var fields: [FieldSelection?] = []
    package var envelope: Set<EnvelopePart> = []

    package init() {}
}

/// Fields of a type, by their indices.
package struct FieldSelection: Equatable, Sendable {
    private var marks: [Bool] = []

    package init() {}

    /// All of so many fields.
    package init(all count: Int) { marks = [Bool](repeating: true, count: count) }

    package mutating func insert(_ field: Int) {
        while marks.count <= field { marks.append(false) }
        marks[field] = true
    }

    package func contains(_ field: Int) -> Bool { field < marks.count && marks[field] }
}

/// A part of the envelope that is read only if somebody asks for it.
package enum EnvelopePart: Hashable, Sendable {
    /// When the author says it happened.
    case times
    /// The hybrid time, and when the event was accepted.
    case clocks
    case accepted
    case bases
    case actors
    case subjects
}

/// The envelope of all events of a segment with positions; what nobody asked for is empty.
package struct SegmentEnvelope: Sendable {
    package let firstPosition: UInt64
    /// By type index of the segment.
    package let types: [UInt32]
    /// Those that the index in `replicas` counts in.
    package let names: [ReplicaID]
    package let replicas: [UInt32]
    package let sequences: [Int64]
    package private(set) var clocks: [Int64] = []
    package private(set) var times: [Int64] = []
    package private(set) var accepted: [Int64] = []
    package private(set) var bases: [Int64] = []
    package private(set) var actors: EnvelopeTexts?
    package private(set) var subjects: EnvelopeTexts?

    fileprivate init(
        _ reader: inout SegmentReader,
        _ wanted: Set<EnvelopePart>
    ) throws(SegmentError) {
        firstPosition = reader.header.firstPosition
        types = try reader.typeIndices()
        names = reader.index.replicas.map { $0.replica }
        replicas = try reader.replicaIndices()
        sequences = try reader.numbers(.sequences)
        if wanted.contains(.clocks) { clocks = try reader.numbers(.clocks) }
        if wanted.contains(.times) { times = try reader.numbers(.times) }
        if wanted.contains(.accepted) || wanted.contains(.clocks) && reader.index.mayBeCapped {
            accepted = try reader.numbers(.accepted)
        }
        if wanted.contains(.bases) { bases = try reader.numbers(.bases) }
        if wanted.contains(.actors) { actors = try reader.actors() }
        if wanted.contains(.subjects) { subjects = try reader.subjects() }
    }

    /// The clock by which writers are compared: the event's own, unless it was far ahead when the
    /// event was accepted.
    package func clock(of event: Int) -> Int64 {
        guard !accepted.isEmpty else { return clocks[event] }
        let clock = HybridTime(rawValue: UInt64(bitPattern: clocks[event]))
        return Int64(bitPattern: clock.believed(acceptedAt: accepted[event]).rawValue)
    }

    package func origin(of event: Int) -> Origin {
        Origin(
            replica: names[Int(replicas[event])],
            sequence: UInt64(bitPattern: sequences[event])
        )
    }
}

extension SegmentIndex {
    /// Whether a clock may be further ahead of when its event was accepted than is believed.
    fileprivate var mayBeCapped: Bool {
        guard let acceptedAt else { return true }
        let last = HybridTime(rawValue: clocks.upperBound)
        return last.believed(acceptedAt: acceptedAt.lowerBound) < last
    }
}

/// Consecutive events of a segment, and the columns of those that are wanted.
package struct ColumnWindow {
    package fileprivate(set) var events = 0..<0
    /// By event of the segment: the index of its type.
    package let types: [UInt32]
    /// The events of the segment that are wanted.
    fileprivate let wantedEvents: [Int32]
    /// By type index; nil if no row of the type is wanted any more.
    package fileprivate(set) var blocks: [TypeBlock?]
    /// By type index: the row of its block with which the window begins.
    package fileprivate(set) var rows: [Int]

    /// Those of the window that are wanted.
    package var wanted: ArraySlice<Int32> { wantedEvents[wantedPlaces] }

    /// Their places among the wanted ones of the segment.
    package var wantedPlaces: Range<Int> {
        let start = wantedEvents.firstPlace(notBefore: events.lowerBound)
        return start..<wantedEvents.firstPlace(notBefore: events.upperBound)
    }

    /// Leaves out the events from this one on.
    package mutating func end(before event: Int) {
        events = events.lowerBound..<max(events.lowerBound, min(event, events.upperBound))
    }
}

/// Rows of one type, by column.
package final class TypeBlock: Sendable {
    /// Counted among all rows of the type in the segment.
    package let rows: Range<Int>
    /// For each row the number of its event in the segment.
    package let events: [Int32]
    /// The fields that were asked for; rows that have a value count from the first of the block.
    package let columns: [FieldColumn]
    /// For each row whether its new id is its own origin; nil if nobody asked for the id.
    package let derived: [UInt8]?

    init(rows: Range<Int>, events: [Int32], columns: [FieldColumn], derived: [UInt8]?) {
        self.rows = rows
        self.events = events
        self.columns = columns
        self.derived = derived
    }
}
