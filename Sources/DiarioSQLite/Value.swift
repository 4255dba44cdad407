import DiarioCore

/// A value as SQLite keeps it.
package enum Value: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    /// Two values are the same if a database cannot tell them apart: reals by their bits.
    package static func == (left: Value, right: Value) -> Bool {
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

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .integer(let value): hasher.combine(value)
        case .real(let value): hasher.combine(value.bitPattern)
        case .text(let value): for byte in value.utf8 { hasher.combine(byte) }
        case .blob(let value): hasher.combine(value)
        }
    }
}

/// The kind of a value in a column of one row.
package enum ValueKind: Sendable {
    case null, integer, real, text, blob
}
