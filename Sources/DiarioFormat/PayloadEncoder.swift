import DiarioCore
import DiarioSchema

/// Writes the parts of one payload, in memory that has room for them.
struct PayloadEncoder: ~Escapable {
    private let slots: Span<Slot>
    /// The bytes of the payload's arena.
    private let arena: RawSpan
    /// What stands for the fields that refer to earlier events of the batch.
    private let resolved: Span<ResolvedReference>
    /// The field that is left out because it is derived, or -1.
    private let derivedField: Int
    /// The field whose value is the id that the event brings along, or -1.
    private let givenField: Int
    /// Where ids have to be filled in later.
    private(set) var references: [DraftReference] = []
    /// Where the id lies that the event brought along.
    private(set) var given: Range<Int>?

    @_lifetime(copy slots, copy arena, copy resolved)
    init(
        slots: Span<Slot>,
        arena: RawSpan,
        resolved: Span<ResolvedReference>,
        plan: PayloadPlan,
        isDerived: Bool
    ) {
        self.slots = slots
        self.arena = arena
        self.resolved = resolved
        derivedField = isDerived ? plan.newIDField : -1
        givenField = isDerived ? -1 : plan.newIDField
    }

    /// Whether any of the fields has a value.
    func hasValue(in fields: Span<PlannedField>) -> Bool {
        for place in fields.indices {
            if case .absent = slots[fields[place].index] { continue }
            return true
        }
        return false
    }

    /// Writes the bitmap and the values of some fields.
    // Safe: the caller made room for the whole part, by `PayloadBounds`.
    @_lifetime(self: copy self)
    mutating func encode(
        _ fields: Span<PlannedField>,
        into writer: inout WireWriter
    ) throws(FormatError) {
        let bitmap = unsafe writer.offset
        for _ in 0..<PayloadCodec.bitmapSize(fields.count) { unsafe writer.byte(0) }
        var bits: UInt8 = 0
        for place in fields.indices {
            if place & 7 == 0 { bits = 0 }
            guard unsafe try encode(fields[place], into: &writer) else { continue }
            bits |= 1 << UInt8(place & 7)
            unsafe writer.set(bitmap + place >> 3, bits)
        }
    }

    /// Writes the value of a field; false if there is none, or if it is left out.
    // Safe: the caller made room for the whole part, by `PayloadBounds`.
    @_lifetime(self: copy self)
    private mutating func encode(
        _ field: PlannedField,
        into writer: inout WireWriter
    ) throws(FormatError) -> Bool {
        switch slots[field.index] {
        case .absent: return false
        case .integer(let value): unsafe try encode(value, field, into: &writer)
        case .number(let value):
            guard field.kind == .number, value.isFinite else {
                throw .invalidField(index: field.index)
            }
            // There is one zero.
            unsafe writer.fixed(value == 0 ? 0 : value.bitPattern)
        case .bytes(let start, let count):
            guard field.index != derivedField else { return false }
            let bytes = arena.extracting(Int(start)..<Int(start) + Int(count))
            unsafe try encode(bytes, field, into: &writer)
        }
        return true
    }

    // Safe: the caller made room for the whole part, by `PayloadBounds`.
    private func encode(
        _ value: Int64,
        _ field: PlannedField,
        into writer: inout WireWriter
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
        case .boolean, .enumeration: unsafe writer.varint(UInt64(value))
        default: unsafe writer.zigzag(value)
        }
    }

    // Safe: the caller made room for the whole part, by `PayloadBounds`.
    @_lifetime(self: copy self)
    private mutating func encode(
        _ bytes: RawSpan,
        _ field: PlannedField,
        into writer: inout WireWriter
    ) throws(FormatError) {
        switch field.kind {
        case .string, .nested:
            guard unsafe try !encodeReference(field, into: &writer) else { return }
            guard Text.isValid(bytes, 0..<bytes.byteCount) else {
                throw .invalidField(index: field.index)
            }
            unsafe writer.varint(UInt64(bytes.byteCount))
            if field.index == givenField {
                given = unsafe writer.place..<writer.place + bytes.byteCount
            }
        case .bytes: unsafe writer.varint(UInt64(bytes.byteCount))
        case .uuid:
            guard bytes.byteCount == 16 else { throw .invalidField(index: field.index) }
        case .integer, .number, .boolean, .enumeration, .date, .dateTime:
            throw .invalidField(index: field.index)
        }
        unsafe writer.bytes(bytes)
    }

    /// Writes the id that a field refers to, or notes that it is filled in later.
    // Safe: the caller made room for the whole part, by `PayloadBounds`.
    @_lifetime(self: copy self)
    private mutating func encodeReference(
        _ field: PlannedField,
        into writer: inout WireWriter
    ) throws(FormatError) -> Bool {
        for index in resolved.indices where resolved[index].fieldIndex == field.index {
            let target = resolved[index].target
            let text = resolved[index].text
            if text.isEmpty {
                references.append(
                    DraftReference(offset: unsafe Int32(writer.place), target: target)
                )
            } else {
                unsafe writer.varint(UInt64(text.count))
                unsafe writer.bytes(text.span.raw)
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

/// What is known of a payload's encoded size before it is encoded.
struct PayloadBounds {
    /// The bytes of texts and the like.
    let contentSize: Int
    /// At least the bytes of both parts.
    let sizeMax: Int

    /// `texts` are bytes that stand in for references.
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
