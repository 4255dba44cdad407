package import DiarioCore
import DiarioCrypto

/// A token as its bearer has it: schema/format/control.md, section 5.
///
/// The one value in which the secret is. It is shown once and never logged: whatever prints this
/// value prints its id.
package struct TokenKey: Sendable, CustomStringConvertible, CustomReflectable {
    package let id: TokenID
    /// What is handed to the bearer.
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
        let length = Self.prefix.utf8.count + (Self.wordCount + 1) * Self.wordLength + 1
        guard text.utf8.count == length, text.hasPrefix(Self.prefix) else { return nil }
        let parts = text.dropFirst(Self.prefix.count).split(
            separator: "_",
            omittingEmptySubsequences: false
        )
        guard parts.count == 2, let id = TokenID(text: parts[0]) else { return nil }
        let secret = Array(parts[1].utf8)
        guard secret.count == Self.wordCount * Self.wordLength else { return nil }
        for start in stride(from: 0, to: secret.count, by: Self.wordLength) {
            let word = secret[start..<start + Self.wordLength]
            guard Base32.decode(text: String(decoding: word, as: UTF8.self)) != nil else {
                return nil
            }
        }
        self.id = id
        self.text = String(text)
    }

    /// What is kept of it.
    var hash: Hash32 { SHA256.hash(Array(text.utf8).span) }

    package var description: String { Self.prefix + id.text }

    package var customMirror: Mirror { Mirror(self, children: ["id": id.text]) }
}
