import DiarioCore
import DiarioFormat
import DiarioSQLite
import DiarioSchema

// Columns of a segment as statements are bound to them.

/// The columns of a table of the envelope.
enum EnvelopeColumnPlace: Int, CaseIterable {
    case position, sequence, replica, at, clock, accepted, base, actor, subject, stamp

    /// Nil for values that are the same for all events of a type.
    init?(_ parameter: EnvelopeParameter) {
        switch parameter {
        case .position: self = .position
        case .sequence: self = .sequence
        case .replica: self = .replica
        case .at: self = .at
        case .clock: self = .clock
        case .accepted: self = .accepted
        case .base: self = .base
        case .actor: self = .actor
        case .subject: self = .subject
        case .stamp: self = .stamp
        case .origin, .type, .version: return nil
        }
    }
}

/// The columns of a table of fields after those of the fields.
enum TypeColumn: Int, CaseIterable {
    /// The text of the event's origin.
    case origin
    /// The full name of the type.
    case name
    /// The subject as a text, if its field holds integers.
    case subject
}

extension ValueTable {
    /// The envelope of some events of a segment, laid out for statements.
    convenience init(
        _ envelope: SegmentEnvelope,
        _ events: [Int32],
        _ parameters: Set<EnvelopeParameter>
    ) {
        self.init(columnCount: EnvelopeColumnPlace.allCases.count)
        for parameter in parameters {
            switch parameter {
            case .position:
                let first = Int64(bitPattern: envelope.firstPosition)
                set(.position, events) { first + Int64($0) }
            case .sequence: set(.sequence, events) { envelope.sequences[$0] }
            case .at: set(.at, events) { envelope.times[$0] }
            case .clock: set(.clock, events) { envelope.clock(of: $0) }
            case .accepted: set(.accepted, events) { envelope.accepted[$0] }
            case .base: set(.base, events) { envelope.bases[$0] }
            case .replica:
                var names = TextList()
                for replica in envelope.names { names.append(Array(replica.text.utf8)) }
                let codes = events.map { envelope.replicas[Int($0)] }
                let place = EnvelopeColumnPlace.replica.rawValue
                set(place, names, codes: codes, rows: nil, of: events.count)
            case .stamp: setStamps(envelope, events)
            case .actor: set(.actor, envelope.actors, events)
            case .subject: set(.subject, envelope.subjects, events)
            case .origin, .type, .version: break
            }
        }
    }

    private func setStamps(_ envelope: SegmentEnvelope, _ events: [Int32]) {
        var bytes: [UInt8] = []
        var bounds: [UInt32] = [0]
        bytes.reserveCapacity(Stamp.size * events.count)
        for event in events {
            let event = Int(event)
            Stamp.append(envelope.clock(of: event), envelope.origin(of: event), to: &bytes)
            bounds.append(UInt32(bytes.count))
        }
        set(
            EnvelopeColumnPlace.stamp.rawValue,
            bytes.span,
            bounds.span,
            codes: nil,
            rows: nil,
            of: events.count,
            areBlobs: true
        )
    }

    private func set(
        _ column: EnvelopeColumnPlace,
        _ events: [Int32],
        _ value: (Int) -> Int64
    ) {
        var values: [Int64] = []
        values.reserveCapacity(events.count)
        for event in events { values.append(value(Int(event))) }
        set(column.rawValue, integers: values.span, rows: nil, of: events.count)
    }

    private func set(
        _ column: EnvelopeColumnPlace,
        _ texts: EnvelopeTexts?,
        _ events: [Int32]
    ) {
        guard let texts else { return }
        var rows: [Int32] = []
        var codes: [UInt32] = []
        rows.reserveCapacity(events.count)
        codes.reserveCapacity(events.count)
        var next = 0
        for (row, event) in events.enumerated() {
            var place = Int(event)
            if let present = texts.present {
                while next < present.count, present[next] < event { next += 1 }
                guard next < present.count, present[next] == event else { continue }
                place = next
            }
            rows.append(Int32(truncatingIfNeeded: row))
            codes.append(texts.values.codes?[place] ?? UInt32(place))
        }
        set(
            column.rawValue,
            texts.values.strings.bytes.span,
            texts.values.strings.bounds.span,
            codes: codes,
            rows: rows,
            of: events.count
        )
    }

    /// The fields of a block, each as its kind is known to SQL.
    convenience init(
        _ block: TypeBlock,
        _ type: EventType,
        _ parameters: Set<EnvelopeParameter>
    ) {
        let (fieldCount, rowCount) = (type.fields.count, block.rows.count)
        self.init(columnCount: fieldCount + TypeColumn.allCases.count)
        for column in block.columns where column.field < fieldCount {
            set(column, type.fields[column.field], of: rowCount)
        }
        if parameters.contains(.type) {
            var names = TextList()
            names.append(type.nameBytes)
            let codes = [UInt32](repeating: 0, count: rowCount)
            let place = fieldCount + TypeColumn.name.rawValue
            set(place, names, codes: codes, rows: nil, of: rowCount)
        }
        if parameters.contains(.subject), let field = type.subjectFieldIndex,
            let column = block.columns.first(where: { $0.field == field }),
            case .integers(let values) = column.values, type.fields[field].kind == .integer
        {
            var texts = TextList()
            for value in values { texts.append(Array(String(value).utf8)) }
            let place = fieldCount + TypeColumn.subject.rawValue
            set(place, texts, codes: nil, rows: column.present, of: rowCount)
        }
    }

    /// The origins of the events of a block.
    func setOrigins(_ block: TypeBlock, _ type: EventType, _ envelope: SegmentEnvelope) {
        var texts = TextList()
        for event in block.events { texts.append(envelope.origin(of: Int(event))) }
        let place = type.fields.count + TypeColumn.origin.rawValue
        set(place, texts, codes: nil, rows: nil, of: block.rows.count)
    }

    private func set(_ column: FieldColumn, _ field: Field, of count: Int) {
        let (index, rows) = (column.field, column.present)
        switch column.values {
        case .none: break
        case .numbers(let values): set(index, reals: values.span, rows: rows, of: count)
        case .integers(let values):
            guard field.kind == .date else {
                return set(index, integers: values.span, rows: rows, of: count)
            }
            let (texts, codes) = TextList.dates(values)
            set(index, texts, codes: codes, rows: rows, of: count)
        case .codes(let codes):
            guard field.kind == .enumeration else {
                let values = codes.map { Int64($0) }
                return set(index, integers: values.span, rows: rows, of: count)
            }
            var texts = TextList()
            for value in field.bounds.values { texts.append(Array(value.utf8)) }
            set(index, texts, codes: codes, rows: rows, of: count)
        case .texts(let values):
            if field.kind == .uuid {
                let texts = TextList.uuids(values.strings)
                return set(index, texts, codes: values.codes, rows: rows, of: count)
            }
            set(
                index,
                values.strings.bytes.span,
                values.strings.bounds.span,
                codes: values.codes,
                rows: rows,
                of: count,
                areBlobs: field.kind == .bytes
            )
        }
    }

    private func set(
        _ column: Int,
        _ texts: TextList,
        codes: [UInt32]?,
        rows: [Int32]?,
        of count: Int
    ) {
        set(
            column,
            texts.bytes.span,
            texts.bounds.span,
            codes: codes,
            rows: rows,
            of: count
        )
    }
}

/// Texts that follow one another.
private struct TextList {
    private(set) var bytes: [UInt8] = []
    private(set) var bounds: [UInt32] = [0]

    mutating func append(_ text: [UInt8]) {
        bytes += text
        bounds.append(UInt32(bytes.count))
    }

    mutating func append(_ origin: Origin) {
        bytes.append(textOf: origin)
        bounds.append(UInt32(bytes.count))
    }

    /// Days as texts; those that follow one another and are the same share one.
    static func dates(_ values: [Int64]) -> (TextList, codes: [UInt32]) {
        var texts = TextList()
        var codes: [UInt32] = []
        codes.reserveCapacity(values.count)
        var last: Int64?
        for value in values {
            if value != last {
                CivilTime.appendDate(value, to: &texts.bytes)
                texts.bounds.append(UInt32(texts.bytes.count))
                last = value
            }
            codes.append(UInt32(texts.bounds.count - 2))
        }
        return (texts, codes)
    }

    static func uuids(_ strings: ByteStrings) -> TextList {
        var texts = TextList()
        for index in 0..<strings.count {
            Payload.appendUUID(strings[index], to: &texts.bytes)
            texts.bounds.append(UInt32(texts.bytes.count))
        }
        return texts
    }
}
