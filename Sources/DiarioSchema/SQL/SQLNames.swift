/// The names of an event's envelope in SQL of a pack.
package enum EnvelopeParameter: String, CaseIterable, Sendable {
    case position = "_position"
    case replica = "_replica"
    case sequence = "_sequence"
    case origin = "_origin"
    case type = "_type"
    case version = "_version"
    case at = "_at"
    case clock = "_clock"
    case accepted = "_accepted"
    case actor = "_actor"
    case subject = "_subject"
    case base = "_base"
    /// Clock, replica and sequence as 24 bytes, which sort as the three do.
    case stamp = "_stamp"
}

/// The rule for names of read models and queries.
package enum SQLNames {
    static let nameSizeMax = 64
    static let rule = "a lower-case letter, then at most 63 letters, digits, - or _"

    static func isName(_ name: some StringProtocol) -> Bool {
        guard let first = name.utf8.first, 0x61...0x7a ~= first, name.utf8.count <= nameSizeMax
        else { return false }
        return name.utf8.allSatisfy { byte in
            0x61...0x7a ~= byte || 0x30...0x39 ~= byte || byte == 0x2d || byte == 0x5f
        }
    }
}
