package import DiarioCore
package import DiarioSchema

// A part of a payload: a presence bitmap over its fields, then the values of those present, in
// byte order of the names. Specified in schema/format/rows.md, section 3.

/// Reads the two parts of payloads; `DraftBatch` writes them.
package enum PayloadCodec {
    /// Reads the payload of a row, checked against its type.
    ///
    /// Bounds and patterns are not looked at, nor whether required fields are there. The field
    /// marked "new" gets the text of the origin where it is derived. Fields of an erased personal
    /// part are absent.
    package static func decode(
        _ block: Span<UInt8>,
        _ row: BlockRow,
        _ part: PublicPart,
        plan: PayloadPlan,
        into payload: inout Payload
    ) throws(FormatError) {
        guard part.subject == nil || !plan.hasSubjectField else {
            throw .malformed(.subject, at: row.publicPart.lowerBound)
        }
        guard row.personal == .absent || !plan.personalFields.isEmpty else {
            throw .malformed(.personalPart, at: row.publicPart.upperBound)
        }
        let personal: Range<Int>? =
            if case .present(let range) = row.personal { range } else { nil }
        try decode(
            block,
            publicPayload: part.payload,
            personalPayload: personal,
            plan: plan,
            isDerived: part.flags.contains(.derived),
            origin: row.origin,
            into: &payload
        )
    }

    /// Reads the two parts of a payload, of which the personal one may be absent or erased.
    package static func decode(
        _ bytes: Span<UInt8>,
        publicPayload: Range<Int>,
        personalPayload: Range<Int>?,
        plan: PayloadPlan,
        isDerived: Bool,
        origin: Origin,
        into payload: inout Payload
    ) throws(FormatError) {
        payload.reset(fieldCount: plan.fieldCount)
        var decoder = PayloadDecoder(bytes, publicPayload)
        let publicFields = plan.publicFields
        _ = try decoder.decode(publicFields.span, into: &payload)
        if let personalPayload {
            decoder = PayloadDecoder(bytes, personalPayload)
            let personalFields = plan.personalFields
            // Without a personal value there is no personal part.
            guard try decoder.decode(personalFields.span, into: &payload) > 0 else {
                throw .malformed(.personalPart, at: personalPayload.lowerBound)
            }
        }
        try restoreIdentifier(
            isDerived: isDerived,
            origin: origin,
            plan: plan,
            at: publicPayload.lowerBound,
            into: &payload
        )
    }

    /// R1: the own origin is never written out, and nothing else is left out.
    private static func restoreIdentifier(
        isDerived: Bool,
        origin: Origin,
        plan: PayloadPlan,
        at offset: Int,
        into payload: inout Payload
    ) throws(FormatError) {
        let index = plan.newIDField
        guard index >= 0 else {
            guard !isDerived else { throw .malformed(.rowFlags, at: offset) }
            return
        }
        if isDerived {
            guard case .absent = payload.slots[index] else {
                throw .malformed(.identifier, at: offset)
            }
            let start = payload.arena.count
            payload.arena.append(textOf: origin)
            payload.slots[index] = .bytes(
                start: UInt32(start),
                count: UInt32(payload.arena.count - start)
            )
            return
        }
        guard case .bytes(let start, let count) = payload.slots[index] else {
            throw .malformed(.identifier, at: offset)
        }
        let range = Int(start)..<Int(start) + Int(count)
        guard !OriginText.matches(origin, payload.arena.span, range) else {
            throw .malformed(.identifier, at: offset)
        }
    }

    /// Bytes of the presence bitmap over so many fields.
    static func bitmapSize(_ fieldCount: Int) -> Int { (fieldCount + 7) / 8 }
}

/// Reads one part of a payload.
private struct PayloadDecoder: ~Escapable {
    private let bytes: Span<UInt8>
    private var reader: ByteReader

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        self.bytes = bytes
        reader = ByteReader(bytes.raw, range: range)
    }

    /// Gives the number of fields that have a value.
    @_lifetime(self: copy self)
    mutating func decode(
        _ fields: Span<PlannedField>,
        into payload: inout Payload
    ) throws(FormatError) -> Int {
        let bitmap = try reader.nextRange(count: PayloadCodec.bitmapSize(fields.count))
        var presentCount = 0
        for place in fields.indices
        where bytes[bitmap.lowerBound + place >> 3] >> UInt8(place & 7) & 1 != 0 {
            let slot = try decodeValue(fields[place], into: &payload.arena)
            payload.slots[fields[place].index] = slot
            presentCount += 1
        }
        if fields.count & 7 != 0, bytes[bitmap.upperBound - 1] >> UInt8(fields.count & 7) != 0 {
            throw .malformed(.presence, at: bitmap.upperBound - 1)
        }
        guard reader.isAtEnd else { throw .trailingBytes(at: reader.offset) }
        return presentCount
    }

    @_lifetime(self: copy self)
    private mutating func decodeValue(
        _ field: PlannedField,
        into arena: inout [UInt8]
    ) throws(FormatError) -> Slot {
        let start = reader.offset
        switch field.kind {
        case .integer: return .integer(try reader.nextZigzag())
        case .number:
            let value = Double(bitPattern: try reader.next(UInt64.self))
            guard value.isFinite, value != 0 || value.sign == .plus else {
                throw .malformed(.number, at: start)
            }
            return .number(value)
        case .boolean:
            let value = try reader.next(UInt8.self)
            guard value <= 1 else { throw .malformed(.boolean, at: start) }
            return .integer(Int64(value))
        case .enumeration:
            let value = try reader.nextVarint()
            guard value < field.valueCount else { throw .malformed(.enumIndex, at: start) }
            return .integer(Int64(value))
        case .date:
            let days = try reader.nextZigzag()
            guard CivilTime.daysMin...CivilTime.daysMax ~= days else {
                throw .malformed(.date, at: start)
            }
            return .integer(days)
        case .dateTime:
            let time = Timestamp(milliseconds: try reader.nextZigzag())
            guard CivilTime.contains(time) else { throw .malformed(.dateTime, at: start) }
            return .integer(time.milliseconds)
        case .string, .nested: return keep(try reader.nextText(), in: &arena)
        case .uuid: return keep(try reader.nextRange(count: 16), in: &arena)
        case .bytes: return keep(try reader.nextBytes(), in: &arena)
        }
    }

    private func keep(_ range: Range<Int>, in arena: inout [UInt8]) -> Slot {
        let start = arena.count
        arena.append(contentsOf: bytes.raw.extracting(range))
        return .bytes(start: UInt32(start), count: UInt32(range.count))
    }
}
