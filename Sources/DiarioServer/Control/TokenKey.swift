package import DiarioCore
import DiarioCrypto

/// A token as its bearer has it: schema/format/control.md, section 5.
///
/// The one value in which the secret is. It is shown once and never logged: whatever prints this
/// value prints its id.
package struct TokenKey: Sendable, CustomStringConvertible, CustomReflectable {
    package let id: TokenID
    /// The text for the bearer.
    package let text: String

    private static let prefix = "diario_"
    private static let wordCount = 4
    private static let wordLength = 13

    package init(drawnFrom entropy: any EntropySource) {
        id = TokenID(drawnFrom: entropy)
        let secret = (0..<Self.wordCount).map { _ in Base32.encode(entropy.next()) }
        text = Self.prefix + id.text + "_" + secret.joined()
    }

    /// Nil unless `text` has the form of a token.
    package init?(text: some StringProtocol) {
        let characters = Array(text.utf8)
        let start = Self.prefix.utf8.count
        let secret = start + Self.wordLength + 1
        guard characters.count == secret + Self.wordCount * Self.wordLength,
            characters.starts(with: Self.prefix.utf8), characters[secret - 1] == 0x5f,
            let id = Self.word(characters, at: start)
        else { return nil }
        for index in 0..<Self.wordCount {
            guard Self.word(characters, at: secret + index * Self.wordLength) != nil else {
                return nil
            }
        }
        self.id = TokenID(rawValue: id)
        self.text = String(text)
    }

    private static func word(_ characters: [UInt8], at start: Int) -> UInt64? {
        Base32.decode(characters.span.extracting(start..<start + wordLength))
    }

    /// The stored hash.
    var hash: Hash32 { SHA256.hash(Array(text.utf8).span) }

    package var description: String { Self.prefix + id.text }

    package var customMirror: Mirror { Mirror(self, children: ["id": id.text]) }
}
