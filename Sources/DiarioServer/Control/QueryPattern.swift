import DiarioCore
package import DiarioSchema

/// Named queries, by the beginning of their names: schema/format/control.md, section 5.
package struct QueryPattern: Hashable, Comparable, Sendable {
    /// `fish.public-*`.
    package let text: String

    /// Nil unless `text` is `PACK.QUERY`, of which QUERY may end with `*`.
    package init?(_ text: some StringProtocol) {
        guard let query = PackWords.rest(ofQualified: text, allowing: [0x2d, 0x5f, 0x2a]),
            query.utf8.dropLast().allSatisfy({ $0 != 0x2a })
        else { return nil }
        self.text = String(text)
    }

    /// True if a query, by its whole name, is among them.
    package func matches(_ name: String) -> Bool {
        text.hasSuffix("*") ? name.utf8.starts(with: text.utf8.dropLast()) : name == text
    }

    package static func < (left: QueryPattern, right: QueryPattern) -> Bool {
        left.text < right.text
    }
}

/// Names that packs give, as the columns of a control file hold them.
package enum PackWords {
    /// True for `PACK.ROLE`.
    package static func isRole(_ text: some StringProtocol) -> Bool {
        rest(ofQualified: text, allowing: [0x2d]) != nil
    }

    /// The part after the name of a pack; nil unless both have the form of a name.
    static func rest<Text: StringProtocol>(
        ofQualified text: Text,
        allowing others: [UInt8]
    ) -> Text.SubSequence? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard text.utf8.count <= Limits.qualifiedNameSizeMax, parts.count == 2,
            isWord(parts[0], allowing: []), isWord(parts[1], allowing: others)
        else { return nil }
        return parts[1]
    }

    private static func isWord(_ word: some StringProtocol, allowing others: [UInt8]) -> Bool {
        guard let first = word.utf8.first, isLetter(first) || first == 0x2a else { return false }
        return word.utf8.allSatisfy {
            isLetter($0) || 0x30...0x39 ~= $0 || others.contains($0)
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { 0x61...0x7a ~= byte }

    /// Why nobody can have these roles; nil if somebody can.
    static func fault(inRoles roles: [String]) -> String? {
        if let wrong = roles.first(where: { !isRole($0) }) {
            return "\(wrong) is not a role: give PACK.ROLE, such as plants.keeper, in lower-case "
                + "letters, digits and -."
        }
        return roles.count <= Limits.tokenRoleCountMax
            ? nil : "A token has at most \(Limits.tokenRoleCountMax) roles."
    }

    /// Why nothing can be for these queries; nil if something can.
    static func fault(in queries: [QueryPattern]) -> String? {
        queries.count <= Limits.queryPatternCountMax
            ? nil : "At most \(Limits.queryPatternCountMax) patterns of queries can be given."
    }

    /// The text of a column: in byte order with one blank between, or nil for none.
    static func column(_ words: [String]) -> String? {
        words.isEmpty ? nil : Set(words).sorted().joined(separator: " ")
    }

    /// The words of a column, each as `read` reads it.
    ///
    /// - Throws: if one has not the form of such a word, for nobody wrote it then.
    static func words<Word>(
        _ value: SQLValue,
        of table: String,
        _ read: (String) -> Word?
    ) throws(ControlError) -> [Word] {
        guard value != .null else { return [] }
        let parts = value.asText?.split(separator: " ", omittingEmptySubsequences: false) ?? []
        let words = parts.compactMap { read(String($0)) }
        guard !words.isEmpty, words.count == parts.count else {
            throw .damaged(what: "a row of `\(table)` is none")
        }
        return words
    }
}

extension TokenDraft {
    /// Refuses roles that the packs in use of its space do not declare.
    package func checkRoles(of packs: [Pack]) throws {
        if let fault = PackWords.fault(inRoles: roles) { throw ControlError.invalid(fault) }
        let declared = packs.flatMap(\.roles)
        for role in roles where !declared.contains(where: { $0.name == role }) {
            let names = declared.map { "\($0.name) (\($0.description))" }
            throw ControlError.invalid(
                "No pack in use of \(space.text) declares the role \(role)."
                    + (names.isEmpty
                        ? " None declares any; diario schema adopt --pack NAME adds a pack."
                        : " There is: \(names.joined(separator: " "))")
            )
        }
    }
}
