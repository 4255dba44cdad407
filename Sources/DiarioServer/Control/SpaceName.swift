import DiarioCore

/// The name of a space in an address: schema/format/control.md, section 4.
package struct SpaceName: Hashable, Comparable, Sendable {
    package let text: String

    /// Nil unless `text` obeys the rules of names.
    package init?(_ text: some StringProtocol) {
        let bytes = text.utf8
        guard let first = bytes.first, Self.isLetterOrDigit(first),
            bytes.count <= Limits.spaceNameSizeMax,
            bytes.allSatisfy({ Self.isLetterOrDigit($0) || [0x2d, 0x2e, 0x5f].contains($0) })
        else { return nil }
        self.text = String(text)
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        0x61...0x7a ~= byte || 0x30...0x39 ~= byte
    }

    package static func < (left: SpaceName, right: SpaceName) -> Bool {
        left.text < right.text
    }

    /// The rules, for those who broke one.
    package static let rules =
        "1 to 64 lower-case letters, digits, '-', '_' or '.', the first a letter or a digit"
}
