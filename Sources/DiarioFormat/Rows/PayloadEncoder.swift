import DiarioCore
import DiarioSchema

/// Writes the parts of one payload.
struct PayloadEncoder: ~Escapable {
    private let slots: Span<Slot>
    /// The bytes of the payload's arena.
    private let arena: RawSpan
    /// The values of fields that refer to earlier events of the batch.
    private let resolved: Span<ResolvedReference>
    /// The field that is left out because it is derived, or -1.
    private let derivedField: Int
    /// The field whose value is the id that the event brings along, or -1.
    private let givenField: Int
    /// The start of the event in the batch; bytes are written at its end.
    private let start: Int
    /// The places of ids that are filled in later.
    private(set) var references: [DraftReference] = []
    /// The place of the id that the event was given.
    private(set) var given: Range<Int>?

    @_lifetime(copy slots, copy arena, copy resolved)
    init(
        slots: Span<Slot>,
        arena: RawSpan,
        resolved: Span<ResolvedReference>,
        plan: PayloadPlan,
        isDerived: Bool,
        start: Int
    ) {
        self.slots = slots
        self.arena = arena
        self.resolved = resolved
        self.start = start
        derivedField = isDerived ? plan.newIDField : -1
        givenField = isDerived ? -1 : plan.newIDField
    }

    /// True if one of the fields has a value.
    func hasValue(in fields: Span<PlannedField>) -> Bool {
        for place in fields.indices {
            if case .absent = slots[fields[place].index] { continue }
            return true
        }
        return false
    }

    /// Writes the bitmap and the values of some fields.
    @_lifetime(self: copy self)
    mutating func encode(
        _ fields: Span<PlannedField>,
        into output: inout OutputSpan<UInt8>
    ) throws(FormatError) {
        let bitmap = output.count
        output.append(repeating: 0, count: PayloadCodec.bitmapSize(fields.count))
        var bits: UInt8 = 0
        for place in fields.indices {
            if place & 7 == 0 { bits = 0 }
            guard try encode(fields[place], into: &output) else { continue }
            bits |= 1 << UInt8(place & 7)
            var bytes = output.mutableSpan
            bytes[bitmap + place >> 3] = bits
        }
    }

    /// Writes the value of a field; false if there is none, or if it is left out.
    @_lifetime(self: copy self)
    private mutating func encode(
        _ field: PlannedField,
        into output: inout OutputSpan<UInt8>
    ) throws(FormatError) -> Bool {
        switch slots[field.index] {
        case .absent: return false
        case .integer(let value): try encode(value, field, into: &output)
        case .number(let value):
            guard field.kind == .number, value.isFinite else {
                throw .invalidField(index: field.index)
            }
            // There is one zero.
            output.append(littleEndian: value == 0 ? UInt64(0) : value.bitPattern)
        case .bytes(let start, let count):
            guard field.index != derivedField else { return false }
            let bytes = arena.extracting(Int(start)..<Int(start) + Int(count))
            try encode(bytes, field, into: &output)
        }
        return true
    }

    private func encode(
        _ value: Int64,
        _ field: PlannedField,
        into output: inout OutputSpan<UInt8>
    ) throws(FormatError) {
        let isValid =
            switch field.kind {
            case .integer: true
            case .boolean: 0...1 ~= value
            case .enumeration: 0..<Int64(field.valueCount) ~= value
            case .date: CivilTime.daysMin...CivilTime.daysMax ~= value
            case .dateTime: CivilTime.contains(Timestamp(milliseconds: value))
            case .number, .string, .uuid, .bytes, .nested: false
            }
        guard isValid else { throw .invalidField(index: field.index) }
        switch field.kind {
        case .boolean, .enumeration: output.append(varint: UInt64(value))
        default: output.append(zigzag: value)
        }
    }

    @_lifetime(self: copy self)
    private mutating func encode(
        _ bytes: RawSpan,
        _ field: PlannedField,
        into output: inout OutputSpan<UInt8>
    ) throws(FormatError) {
        switch field.kind {
        case .string, .nested:
            guard try !encodeReference(field, into: &output) else { return }
            guard Text.isValid(bytes, 0..<bytes.byteCount) else {
                throw .invalidField(index: field.index)
            }
            output.append(varint: UInt64(bytes.byteCount))
            if field.index == givenField {
                given = start + output.count..<start + output.count + bytes.byteCount
            }
        case .bytes: output.append(varint: UInt64(bytes.byteCount))
        case .uuid:
            guard bytes.byteCount == 16 else { throw .invalidField(index: field.index) }
        case .integer, .number, .boolean, .enumeration, .date, .dateTime:
            throw .invalidField(index: field.index)
        }
        output.append(contentsOf: bytes)
    }

    /// Writes the id that a field refers to, or notes that it is filled in later.
    @_lifetime(self: copy self)
    private mutating func encodeReference(
        _ field: PlannedField,
        into output: inout OutputSpan<UInt8>
    ) throws(FormatError) -> Bool {
        for index in resolved.indices where resolved[index].fieldIndex == field.index {
            let target = resolved[index].target
            let text = resolved[index].text
            if text.isEmpty {
                references.append(
                    DraftReference(offset: Int32(start + output.count), target: target)
                )
            } else {
                output.append(varint: UInt64(text.count))
                output.append(contentsOf: text.span.raw)
            }
            return true
        }
        return false
    }
}

/// A field of a draft that refers to an earlier event of its batch.
struct ResolvedReference {
    var fieldIndex: Int
    /// The index of the earlier event, whose origin is not known yet.
    var target: Int32
    /// The id that the earlier event brought along; empty if it is derived.
    var text: [UInt8]
}

/// Bounds of a payload's encoded size, before it is encoded.
struct PayloadBounds {
    /// The bytes of texts and the like.
    let contentSize: Int
    /// At least the bytes of both parts.
    let sizeMax: Int

    /// `texts` are the bytes that replace references.
    init(of payload: Payload, texts: Int) {
        var contentSize = texts
        let slots = payload.slots.span
        for index in slots.indices {
            if case .bytes(_, let count) = slots[index] { contentSize += Int(count) }
        }
        self.contentSize = contentSize
        // Each field takes a number or a length, and both bitmaps fill up their last byte.
        sizeMax = contentSize + slots.count * Varint.sizeMax + slots.count / 8 + 2
    }
}
