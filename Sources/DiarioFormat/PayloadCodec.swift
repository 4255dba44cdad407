package import DiarioCore
package import DiarioSchema

// A part of a payload: a presence bitmap over its fields, then the values of those present, in
// byte order of the names. Specified in schema/format/log.md, section 3.

/// Turns payloads into the two parts of a row and back.
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
        type: EventType,
        into payload: inout Payload
    ) throws(FormatError) {
        guard part.subject == nil || type.subjectFieldIndex == nil else {
            throw .malformed(.subject, at: row.publicPart.lowerBound)
        }
        let personal: Range<Int>? =
            if case .present(let range) = row.personal { range } else { nil }
        guard row.personal == .absent || !type.personalFieldIndices.isEmpty else {
            throw .malformed(.personalPart, at: row.publicPart.upperBound)
        }
        try decode(
            block,
            publicPayload: part.payload,
            personalPayload: personal,
            type: type,
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
        type: EventType,
        isDerived: Bool,
        origin: Origin,
        into payload: inout Payload
    ) throws(FormatError) {
        payload.reset(fieldCount: type.fields.count)
        _ = try decodePart(
            bytes,
            publicPayload,
            fields: type.publicFieldIndices,
            type: type,
            into: &payload
        )
        if let personalPayload {
            let count = try decodePart(
                bytes,
                personalPayload,
                fields: type.personalFieldIndices,
                type: type,
                into: &payload
            )
            // Without a personal value there is no personal part.
            guard count > 0 else {
                throw .malformed(.personalPart, at: personalPayload.lowerBound)
            }
        }
        try restoreIdentifier(
            isDerived: isDerived,
            origin: origin,
            type: type,
            at: publicPayload.lowerBound,
            into: &payload
        )
    }

    /// L1: the own origin is never written out, and nothing else is left out.
    private static func restoreIdentifier(
        isDerived: Bool,
        origin: Origin,
        type: EventType,
        at offset: Int,
        into payload: inout Payload
    ) throws(FormatError) {
        guard let index = type.newIDFieldIndex else {
            guard !isDerived else { throw .malformed(.rowFlags, at: offset) }
            return
        }
        if isDerived {
            guard payload.slots[index] == .absent else {
                throw .malformed(.identifier, at: offset)
            }
            let text = OriginText.bytes(origin)
            payload.setBytes(text.span, at: index)
            return
        }
        guard let bytes = payload.bytes(at: index),
            !OriginText.matches(origin, payload.arena.span, bytes.startIndex..<bytes.endIndex)
        else { throw .malformed(.identifier, at: offset) }
    }

    /// Reads one part; gives the number of values in it.
    private static func decodePart(
        _ bytes: Span<UInt8>,
        _ range: Range<Int>,
        fields: [Int],
        type: EventType,
        into payload: inout Payload
    ) throws(FormatError) -> Int {
        var reader = ByteReader(bytes.raw, range: range)
        let bitmap = try reader.nextRange(count: bitmapSize(fields.count))
        var presentCount = 0
        for (place, index) in fields.enumerated()
        where bytes[bitmap.lowerBound + place / 8] & 1 << UInt8(place % 8) != 0 {
            try decodeValue(&reader, bytes, index, type, into: &payload)
            presentCount += 1
        }
        let unused = bitmap.count * 8 - fields.count
        if unused > 0, bytes[bitmap.upperBound - 1] >> UInt8(8 - unused) != 0 {
            throw .malformed(.presence, at: bitmap.upperBound - 1)
        }
        guard reader.isAtEnd else { throw .trailingBytes(at: reader.offset) }
        return presentCount
    }

    private static func decodeValue(
        _ reader: inout ByteReader,
        _ bytes: Span<UInt8>,
        _ index: Int,
        _ type: EventType,
        into payload: inout Payload
    ) throws(FormatError) {
        let start = reader.offset
        switch type.fields[index].kind {
        case .integer: payload.slots[index] = .integer(try reader.nextZigzag())
        case .number:
            let value = Double(bitPattern: try reader.next(UInt64.self))
            guard value.isFinite, value != 0 || value.sign == .plus else {
                throw .malformed(.number, at: start)
            }
            payload.slots[index] = .number(value)
        case .string, .nested:
            payload.setBytes(bytes.extracting(try reader.nextText()), at: index)
        case .boolean:
            let value = try reader.next(UInt8.self)
            guard value <= 1 else { throw .malformed(.boolean, at: start) }
            payload.slots[index] = .integer(Int64(value))
        case .enumeration:
            let value = try reader.nextVarint()
            guard value < type.fields[index].bounds.values.count else {
                throw .malformed(.enumIndex, at: start)
            }
            payload.slots[index] = .integer(Int64(value))
        case .date:
            let days = try reader.nextZigzag()
            guard CivilTime.daysMin...CivilTime.daysMax ~= days else {
                throw .malformed(.date, at: start)
            }
            payload.slots[index] = .integer(days)
        case .dateTime:
            let time = Timestamp(milliseconds: try reader.nextZigzag())
            guard CivilTime.contains(time) else { throw .malformed(.dateTime, at: start) }
            payload.slots[index] = .integer(time.milliseconds)
        case .uuid:
            payload.setBytes(bytes.extracting(try reader.nextRange(count: 16)), at: index)
        case .bytes:
            payload.setBytes(bytes.extracting(try reader.nextBytes()), at: index)
        }
    }

    /// Bytes of the presence bitmap over so many fields.
    static func bitmapSize(_ fieldCount: Int) -> Int { (fieldCount + 7) / 8 }
}
