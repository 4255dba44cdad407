import DiarioCore

/// The value of one field; how each kind of field uses it, `Field.Kind` says.
package enum Slot: Equatable, Sendable {
    case absent
    case integer(Int64)
    case number(Double)
    /// A part of the payload's arena.
    case bytes(start: UInt32, count: UInt32)
}

/// A field with the text `#3`: the id that the third event of the batch makes.
package struct BatchReference: Equatable, Sendable {
    package let fieldIndex: Int
    /// The number of the event in its batch, counted from 1.
    package let number: Int
}

/// The values of one event's fields, in the order of its type's fields.
///
/// Made to be used again: a payload that has held its largest event allocates no more.
package struct Payload: Sendable {
    /// One for each field of the type.
    ///
    /// Ranges of slots must be within the arena.
    package var slots: [Slot] = []
    /// The bytes of texts, uuids, byte strings and nested values, in any order.
    package var arena: [UInt8] = []
    /// The fields that still hold `#n`; recording the batch replaces them by `setBytes`.
    package var references: [BatchReference] = []

    package init() {}

    /// Starts over with `fieldCount` absent fields.
    package mutating func reset(fieldCount: Int) {
        if slots.count == fieldCount {
            for index in slots.indices { slots[index] = .absent }
        } else {
            slots.removeAll(keepingCapacity: true)
            slots.append(repeating: .absent, count: fieldCount)
        }
        if !arena.isEmpty { arena.removeAll(keepingCapacity: true) }
        if !references.isEmpty { references.removeAll(keepingCapacity: true) }
    }

    /// Sets the field `index` to a copy of `bytes`; the old value stays unused in the arena.
    package mutating func setBytes(_ bytes: Span<UInt8>, at index: Int) {
        let start = arena.count
        JSONWriter.append(bytes, to: &arena)
        slots[index] = .bytes(start: UInt32(start), count: UInt32(bytes.count))
    }

    /// The bytes of the field `index`; nil if it is absent or holds a number.
    package func bytes(at index: Int) -> ArraySlice<UInt8>? {
        guard case .bytes(let start, let count) = slots[index] else { return nil }
        return arena[Int(start)..<Int(start) + Int(count)]
    }

    /// Puts other ids in the place of those for which `replacement` gives one; `type` is that of
    /// the payload.
    package mutating func replaceIDs(
        of type: EventType,
        by replacement: (ArraySlice<UInt8>) -> [UInt8]?
    ) {
        for index in type.idFieldIndices {
            guard let old = bytes(at: index), let new = replacement(old) else { continue }
            setBytes(new.span, at: index)
        }
    }
}

/// Two payloads of one type are equal if their fields are, however their arenas are laid out.
extension Payload: Equatable {
    package static func == (left: Payload, right: Payload) -> Bool {
        guard left.slots.count == right.slots.count, left.references == right.references else {
            return false
        }
        return left.slots.indices.allSatisfy { index in
            if let bytes = left.bytes(at: index) { return bytes == right.bytes(at: index) }
            return left.slots[index] == right.slots[index]
        }
    }
}

extension Payload {
    /// Appends a uuid of 16 bytes as the text that SQL and JSON show.
    package static func appendUUID(_ bytes: Span<UInt8>, to output: inout [UInt8]) {
        TextEncodings.appendUUIDText(bytes, to: &output)
    }
}
