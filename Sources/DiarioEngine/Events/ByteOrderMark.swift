/// The mark that some editors put before a text in UTF-8, where it says nothing (RFC 3629).
///
/// It is passed over at the very start of an input. Anywhere else it is a character that JSON has
/// no place for outside of strings, so there it is refused.
package enum ByteOrderMark {
    private static let bytes: [UInt8] = [0xef, 0xbb, 0xbf]

    /// The size of the mark at the start of `text`: 3, or 0 if there is none.
    package static func size(atStartOf text: [UInt8]) -> Int {
        text.starts(with: bytes) ? bytes.count : 0
    }
}
