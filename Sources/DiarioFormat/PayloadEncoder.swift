import DiarioCore
import DiarioSchema

/// Writes the parts of one payload, in memory that has room for them.
@unsafe struct PayloadEncoder {
    let payload: Payload
    let type: EventType
    /// The bytes of the payload's arena.
    let arena: UnsafeRawBufferPointer
    /// What stands for the fields that refer to earlier events of the batch.
    let resolved: [ResolvedReference]
    /// The field that is left out because it is derived, or -1.
    let derivedField: Int
    /// Where ids have to be filled in later.
    var references: [DraftReference] = []
    /// Where the id lies that the event brought along.
    var given: Range<Int>?

    /// Whether any of the fields has a value.
    func hasValue(in fields: [Int]) -> Bool {
        for index in fields where unsafe payload.slots[index] != .absent { return true }
        return false
    }

    /// Writes the bitmap and the values of some fields.
    mutating func encode(
        _ fields: [Int],
        into writer: inout WireWriter
    ) throws(FormatError) {
        let bitmap = unsafe writer.offset
        for _ in 0..<PayloadCodec.bitmapSize(fields.count) { unsafe writer.byte(0) }
        var bits: UInt8 = 0
        for place in 0..<fields.count {
            if place & 7 == 0 { bits = 0 }
            let index = fields[place]
            let slot = unsafe payload.slots[index]
            if slot != .absent, unsafe index != derivedField {
                bits |= 1 << UInt8(place & 7)
                unsafe try encode(slot, index, into: &writer)
            }
            unsafe writer.set(bitmap + place >> 3, bits)
        }
    }

    private mutating func encode(
        _ slot: Slot,
        _ index: Int,
        into writer: inout WireWriter
    ) throws(FormatError) {
        let kind = unsafe type.fields[index].kind
        switch (slot, kind) {
        case (.integer(let value), .integer): unsafe writer.zigzag(value)
        case (.integer(let value), .date)
        where CivilTime.daysMin...CivilTime.daysMax ~= value:
            unsafe writer.zigzag(value)
        case (.integer(let value), .dateTime)
        where CivilTime.contains(Timestamp(milliseconds: value)):
            unsafe writer.zigzag(value)
        case (.integer(let value), .boolean) where 0...1 ~= value:
            unsafe writer.byte(UInt8(value))
        case (.integer(let value), .enumeration)
        where unsafe 0..<type.fields[index].bounds.values.count ~= Int(value):
            unsafe writer.varint(UInt64(value))
        case (.number(let value), .number) where value.isFinite:
            // There is one zero.
            unsafe writer.fixed(value == 0 ? 0 : value.bitPattern)
        case (.bytes(let start, let count), .string), (.bytes(let start, let count), .nested):
            unsafe try encodeText(Int(start), Int(count), index, into: &writer)
        case (.bytes(let start, let count), .uuid) where count == 16:
            unsafe writer.bytes(bytes(Int(start), Int(count)))
        case (.bytes(let start, let count), .bytes):
            unsafe writer.varint(UInt64(count))
            unsafe writer.bytes(bytes(Int(start), Int(count)))
        default: throw .invalidField(index: index)
        }
    }

    private mutating func encodeText(
        _ start: Int,
        _ count: Int,
        _ index: Int,
        into writer: inout WireWriter
    ) throws(FormatError) {
        if unsafe !resolved.isEmpty,
            let own = unsafe resolved.first(where: { $0.fieldIndex == index })
        {
            guard own.text.isEmpty else {
                unsafe writer.varint(UInt64(own.text.count))
                unsafe own.text.withUnsafeBytes { unsafe writer.bytes($0) }
                return
            }
            unsafe references.append(
                DraftReference(offset: Int32(writer.place), target: own.target)
            )
            return
        }
        let text = unsafe bytes(start, count)
        guard unsafe Text.isValid(RawSpan(_unsafeBytes: text), 0..<count) else {
            throw .invalidField(index: index)
        }
        unsafe writer.varint(UInt64(count))
        if unsafe index == type.newIDFieldIndex {
            unsafe given = writer.place..<writer.place + count
        }
        unsafe writer.bytes(text)
    }

    /// The part of the arena that a slot names; slicing checks that it lies there.
    private func bytes(_ start: Int, _ count: Int) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: arena[start..<start + count])
    }
}

/// A field of a draft that refers to an earlier event of its batch.
struct ResolvedReference {
    var fieldIndex: Int
    /// The earlier event, whose origin is not known yet.
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
        for slot in payload.slots {
            if case .bytes(_, let count) = slot { contentSize += Int(count) }
        }
        self.contentSize = contentSize
        // Each field takes a number or a length, and both bitmaps fill up their last byte.
        sizeMax =
            contentSize + payload.slots.count * Varint.sizeMax + payload.slots.count / 8 + 2
    }
}
