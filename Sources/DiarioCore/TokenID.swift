/// Names a token, and is no secret: 64 random bits.
package struct TokenID: Hashable, Comparable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package init(drawnFrom entropy: any EntropySource) { rawValue = entropy.next() }

    /// Reads the 13 characters that `text` shows; nil for anything else.
    package init?(text: some StringProtocol) {
        guard let value = Base32.decode(text: text) else { return nil }
        rawValue = value
    }

    /// 13 characters of lower-case Crockford base32.
    package var text: String { Base32.encode(rawValue) }

    package static func < (left: TokenID, right: TokenID) -> Bool {
        left.rawValue < right.rawValue
    }
}
