/// One field of a structure, as the documents list them; files are tables of these.
struct Field: Sendable {
    let name: String
    let kind: Kind
    /// The value for people, by the fields that were read before.
    var show: @Sendable (UInt64, FieldReader) -> String = { value, _ in "\(value)" }
    /// The fault of the value; nil if there is none.
    var fault: (@Sendable (UInt64, FieldReader) -> String?)?

    enum Kind: Sendable {
        /// A little-endian number of so many bytes.
        case number(Int)
        case varint
        /// A signed varint; if it `sums`, the difference from the last one with its name.
        case zigzag(sums: Bool)
        /// A text with its length in front.
        case text
        case bytes(Int, isSecret: Bool)
        /// A block, which all bytes that are left are.
        case block
        /// All bytes that are left, in parts of so many.
        case rest(Int)
        /// So many zeros, or all bytes that are left.
        case zeros(Int?)
        case magic
        /// The CRC32C of all bytes before it, of all after it, or of both.
        case checksum(ofBefore: Bool, ofAfter: Bool)
        /// Entries, as many as the last number with this name says, or has bits; the first field
        /// heads the rest.
        case list(of: String, countsBits: Bool, [Field])
        /// Fields that are there if the last number with this name has this bit, or is zero.
        case ifBit(String, UInt64, [Field])
        case ifZero(String, Bool, [Field])
    }

    // MARK: Fields

    static func number(_ name: String, _ size: Int = 8) -> Field {
        Field(name: name, kind: .number(size))
    }

    static func varint(_ name: String) -> Field { Field(name: name, kind: .varint) }
    static func zigzag(_ name: String, sums: Bool = false) -> Field {
        Field(name: name, kind: .zigzag(sums: sums)).shown { "\(Int64(bitPattern: $0))" }
    }
    static func text(_ name: String) -> Field { Field(name: name, kind: .text) }
    static func rest(_ name: String, partSize: Int = 1) -> Field {
        Field(name: name, kind: .rest(partSize))
    }

    static func bytes(_ name: String, _ count: Int, isSecret: Bool = false) -> Field {
        Field(name: name, kind: .bytes(count, isSecret: isSecret))
    }

    static let block = Field(name: "block", kind: .block)
    static func zeros(_ count: Int?) -> Field { Field(name: "zeros", kind: .zeros(count)) }
    static func magic(_ letters: String) -> Field { Field(name: letters, kind: .magic) }
    static let checksum = checksum(ofBefore: true)
    static let checksumOfAll = checksum(ofBefore: true, ofAfter: true)
    static let checksumOfRest = checksum(ofAfter: true)

    private static func checksum(ofBefore: Bool = false, ofAfter: Bool = false) -> Field {
        Field(name: "CRC32C", kind: .checksum(ofBefore: ofBefore, ofAfter: ofAfter))
    }

    /// A version of `size` bytes from 1 to `newest`.
    static func version(_ size: Int = 1, newest: UInt64 = 1) -> Field {
        number("version", size).from(1, to: newest, "unknown version")
    }

    /// An id of a space or a replica, which is never zero.
    static func id(_ name: String) -> Field { idOrNone(name).notZero("an id is not zero") }

    static func idOrNone(_ name: String) -> Field { number(name).shown { Show.id($0) } }
    static func time(_ name: String) -> Field { number(name).shown { Show.time($0) } }
    static func clock(_ name: String) -> Field { number(name).shown { Show.clock($0) } }
    static func hex(_ name: String) -> Field { number(name).shown { Show.long($0) } }
    static func crc(_ name: String) -> Field { number(name, 4).shown { Show.word(UInt32($0)) } }

    /// Bits with names; others are wrong.
    static func flags(_ name: String, _ size: Int, _ names: [String]) -> Field {
        number(name, size).shown { value in
            let set = names.indices.filter { value >> UInt64($0) & 1 == 1 }.map { names[$0] }
            return set.isEmpty ? "none" : set.joined(separator: " ")
        }.from(0, to: 1 << UInt64(names.count) - 1, "unknown flags")
    }

    /// A number that represents one of a few words; `first` is that of the first word.
    static func words(_ name: String, _ size: Int, from first: UInt64, _ words: [String]) -> Field {
        number(name, size).shown { value in
            let index = value &- first
            return index < words.count ? words[Int(index)] : "\(value)"
        }.from(first, to: first + UInt64(words.count) - 1, "unknown")
    }

    static func list(of name: String, countsBits: Bool = false, _ fields: [Field]) -> Field {
        Field(name: name, kind: .list(of: name, countsBits: countsBits, fields))
    }

    /// Fields that are there if the number `name` has the bit `mask`.
    static func ifBit(_ mask: UInt64, of name: String, _ fields: [Field]) -> Field {
        Field(name: name, kind: .ifBit(name, mask, fields))
    }

    /// Fields that are there if the number `name` is zero, or is not.
    static func ifZero(_ name: String, _ fields: [Field], isZero: Bool = true) -> Field {
        Field(name: name, kind: .ifZero(name, isZero, fields))
    }

    // MARK: Changes of a field

    func shown(_ text: @escaping @Sendable (UInt64) -> String) -> Field {
        var field = self
        field.show = { value, _ in text(value) }
        return field
    }

    func wrong(_ fault: @escaping @Sendable (UInt64, FieldReader) -> String?) -> Field {
        var field = self
        field.fault = fault
        return field
    }

    func notZero(_ reason: String = "zero") -> Field {
        wrong { value, _ in value == 0 ? reason : nil }
    }

    func from(_ low: UInt64, to high: UInt64, _ reason: String) -> Field {
        wrong { value, _ in low <= value && value <= high ? nil : reason }
    }
}

extension [Field] {
    /// The fields of a small file between its header and its checksum.
    static func smallFile(_ magic: String, flags: [String] = [], _ fields: [Field]) -> [Field] {
        let head: [Field] = [.magic(magic), .version()]
        return head + (flags.isEmpty ? [.zeros(3)] : [.flags("flags", 1, flags), .zeros(2)])
            + fields + [.checksum]
    }

    /// Entries, each with these fields, with their count in front.
    static func counted(_ name: String, _ size: Int, _ fields: [Field]) -> [Field] {
        [.number(name, size), .list(of: name, fields)]
    }

    /// The same with a varint in front.
    static func counted(_ name: String, _ fields: [Field]) -> [Field] {
        let count = Field.varint(name).wrong { value, reader in
            value > reader.remaining ? "more than there are bytes" : nil
        }
        return [count, .list(of: name, fields)]
    }
}
