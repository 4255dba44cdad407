/// A value of a row in SQLite, or of a parameter of a query.
public enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    /// Two values are the same if a database cannot tell them apart: reals by their bits.
    public static func == (left: SQLValue, right: SQLValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let one), .integer(let other)): one == other
        case (.real(let one), .real(let other)): one.bitPattern == other.bitPattern
        // By bytes: SQLite does not know that two texts may be written differently.
        case (.text(let one), .text(let other)): one.hasBytes(of: other)
        case (.blob(let one), .blob(let other)): one == other
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .integer(let value): hasher.combine(value)
        case .real(let value): hasher.combine(value.bitPattern)
        case .text(let value): for byte in value.utf8 { hasher.combine(byte) }
        case .blob(let value): hasher.combine(value)
        }
    }
}

extension SQLValue: CustomStringConvertible {
    /// A text as it is, and the rest as SQL writes it.
    public var description: String {
        switch self {
        case .null: "NULL"
        case .integer(let value): "\(value)"
        case .real(let value): "\(value)"
        case .text(let text): text
        case .blob(let bytes):
            bytes.reduce("x'") {
                $0 + String($1 >> 4, radix: 16) + String($1 & 0xf, radix: 16)
            } + "'"
        }
    }
}
