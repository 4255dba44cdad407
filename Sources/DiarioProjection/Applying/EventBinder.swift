package import DiarioCore
import DiarioSQLite
import DiarioSchema

/// Binds an event, read from its row, to parameters of statements.
struct EventBinder {
    /// Made to be used again: a text that SQLite is given.
    private var text: [UInt8] = []
    /// The replica whose text was made last.
    private var replica: ReplicaID?
    private var replicaText: [UInt8] = []

    /// The clock by which writers are compared: the event's own, unless it was far ahead when the
    /// event was accepted.
    static func clock(of event: EventLine) -> Int64? {
        guard let clock = event.clock else { return nil }
        let accepted = event.acceptedAt?.milliseconds
        return Int64((accepted.map { clock.believed(acceptedAt: $0) } ?? clock).rawValue)
    }

    /// Binds the value of a source to the parameter at `index`.
    mutating func bind(
        _ source: ParameterSource,
        _ event: borrowing EventLine,
        to statement: borrowing Statement,
        at index: Int
    ) throws(SQLiteError) {
        switch source {
        case .nothing: try statement.bindNull(at: index)
        case .field(let field): try bind(field, of: event, to: statement, at: index)
        case .envelope(let parameter):
            try bind(parameter, of: event, to: statement, at: index)
        }
    }

    /// Binds a field as its kind is known to SQL.
    private mutating func bind(
        _ field: Int,
        of event: borrowing EventLine,
        to statement: borrowing Statement,
        at index: Int
    ) throws(SQLiteError) {
        switch event.payload.slots[field] {
        case .absent: try statement.bindNull(at: index)
        case .number(let value): try statement.bind(value, at: index)
        case .integer(let value):
            switch event.type.fields[field].kind {
            case .enumeration:
                try bind(event.type.fields[field].bounds.values[Int(value)], to: statement, index)
            case .date:
                text.removeAll(keepingCapacity: true)
                CivilTime.appendDate(value, to: &text)
                try statement.bind(text: text.span, at: index)
            default: try statement.bind(value, at: index)
            }
        case .bytes(let start, let count):
            let bytes = event.payload.arena.span
                .extracting(Int(start)..<Int(start) + Int(count))
            switch event.type.fields[field].kind {
            case .uuid:
                text.removeAll(keepingCapacity: true)
                Payload.appendUUID(bytes, to: &text)
                try statement.bind(text: text.span, at: index)
            case .bytes: try statement.bind(blob: bytes, at: index)
            default: try statement.bind(text: bytes, at: index)
            }
        }
    }

    private mutating func bind(
        _ parameter: EnvelopeParameter,
        of event: borrowing EventLine,
        to statement: borrowing Statement,
        at index: Int
    ) throws(SQLiteError) {
        switch parameter {
        case .position: try bind(event.position.map { Int64($0) }, to: statement, index)
        case .sequence: try bind(event.origin.map { Int64($0.sequence) }, to: statement, index)
        case .version: try statement.bind(Int64(event.type.version), at: index)
        case .at: try bind(event.at?.milliseconds, to: statement, index)
        case .clock: try bind(Self.clock(of: event), to: statement, index)
        case .accepted: try bind(event.acceptedAt?.milliseconds, to: statement, index)
        case .base: try bind(event.base.map { Int64($0) }, to: statement, index)
        case .stamp:
            guard let clock = Self.clock(of: event), let origin = event.origin else {
                return try statement.bindNull(at: index)
            }
            text.removeAll(keepingCapacity: true)
            Stamp.append(clock, origin, to: &text)
            try statement.bind(blob: text.span, at: index)
        case .type:
            let name = event.type.nameBytes
            try statement.bind(text: name.span, at: index)
        case .origin: try bind(event.origin?.text, to: statement, index)
        case .replica:
            if replica != event.origin?.replica {
                replica = event.origin?.replica
                replicaText = Array((replica?.text ?? "").utf8)
            }
            try statement.bind(text: replicaText.span, at: index)
        case .actor:
            guard let actor = event.actor else { return try statement.bindNull(at: index) }
            try statement.bind(text: event.arena.span.extracting(actor), at: index)
        case .subject:
            if let field = event.type.subjectFieldIndex {
                try bindText(ofField: field, of: event, to: statement, at: index)
            } else if let subject = event.subject {
                try statement.bind(text: event.arena.span.extracting(subject), at: index)
            } else {
                try statement.bindNull(at: index)
            }
        }
    }

    /// A subject is a text, whatever its field is.
    private mutating func bindText(
        ofField field: Int,
        of event: borrowing EventLine,
        to statement: borrowing Statement,
        at index: Int
    ) throws(SQLiteError) {
        if case .integer(let value) = event.payload.slots[field],
            event.type.fields[field].kind == .integer
        {
            try bind(String(value), to: statement, index)
        } else {
            try bind(field, of: event, to: statement, at: index)
        }
    }

    private func bind(
        _ value: Int64?,
        to statement: borrowing Statement,
        _ index: Int
    ) throws(SQLiteError) {
        if let value {
            try statement.bind(value, at: index)
        } else {
            try statement.bindNull(at: index)
        }
    }

    private mutating func bind(
        _ value: String?,
        to statement: borrowing Statement,
        _ index: Int
    ) throws(SQLiteError) {
        guard let value else { return try statement.bindNull(at: index) }
        text.removeAll(keepingCapacity: true)
        text.append(contentsOf: value.utf8)
        try statement.bind(text: text.span, at: index)
    }
}

/// The value of `:_stamp`: clock, replica and sequence as bytes that sort as the three do.
package enum Stamp {
    package static let size = 24

    package static func append(_ clock: Int64, _ origin: Origin, to bytes: inout [UInt8]) {
        for number in [UInt64(bitPattern: clock), origin.replica.rawValue, origin.sequence] {
            for shift in stride(from: UInt64(56), through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: number >> shift))
            }
        }
    }
}
