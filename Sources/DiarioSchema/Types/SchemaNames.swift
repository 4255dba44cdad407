import DiarioCore

/// The rules for the names in packs.
enum SchemaNames {
    static let packRule = "a lower-case letter, then at most 31 lower-case letters and digits"
    static let typeRule =
        "lower-case words of letters, digits and dashes with dots between them, at most "
        + "\(Limits.typeNameSizeMax) bytes"
    static let fieldRule = "a letter, then at most 63 letters, digits and underscores"
    static let kindRule = "a letter, then at most 63 letters, digits, dots, dashes and underscores"
    /// The highest version of a type: it is kept in 16 bits.
    static let versionMax: Int64 = 65_535

    static func isPack(_ name: some StringProtocol) -> Bool {
        name.utf8.count <= 32 && isLower(name.utf8.first)
            && name.utf8.allSatisfy { isLower($0) || isDigit($0) }
    }

    /// True for a name with or without the pack in front.
    static func isType(_ name: some StringProtocol) -> Bool {
        name.utf8.count <= Limits.typeNameSizeMax
            && name.utf8.split(separator: 0x2e, omittingEmptySubsequences: false).allSatisfy {
                isLower($0.first) && $0.allSatisfy { isLower($0) || isDigit($0) || $0 == 0x2d }
            }
    }

    static func isField(_ name: some StringProtocol) -> Bool {
        name.utf8.count <= 64 && isLetter(name.utf8.first)
            && name.utf8.allSatisfy { isLetter($0) || isDigit($0) || $0 == 0x5f }
    }

    static func isReferenceKind(_ name: some StringProtocol) -> Bool {
        name.utf8.count <= 64 && isLetter(name.utf8.first)
            && name.utf8.allSatisfy {
                isLetter($0) || isDigit($0) || $0 == 0x5f || $0 == 0x2e || $0 == 0x2d
            }
    }

    /// True for the name of a type in `types.json`.
    static func isNamedType(_ name: some StringProtocol) -> Bool {
        name.utf8.count <= 64 && name.utf8.first.map { 0x41...0x5a ~= $0 } == true
            && name.utf8.allSatisfy { isLetter($0) || isDigit($0) }
    }

    /// `report.filed` as `ReportFiled`.
    static func asType(_ name: some StringProtocol) -> String {
        name.split { $0 == "." || $0 == "-" }
            .map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// A name as errors tell it: one that is too long to be one only by its start.
    static func told(_ name: String) -> String {
        guard name.utf8.count > Limits.typeNameSizeMax else { return name }
        return "\(String(String.UnicodeScalarView(name.unicodeScalars.prefix(32))))... "
            + "(\(name.utf8.count) bytes)"
    }

    private static func isLower(_ byte: UInt8?) -> Bool { byte.map { 0x61...0x7a ~= $0 } ?? false }

    private static func isLetter(_ byte: UInt8?) -> Bool {
        byte.map { 0x61...0x7a ~= $0 | 0x20 } ?? false
    }

    private static func isDigit(_ byte: UInt8) -> Bool { 0x30...0x39 ~= byte }
}
