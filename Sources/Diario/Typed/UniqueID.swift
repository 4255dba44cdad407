import DiarioSchema

/// A uuid: 128 bits.
///
/// One of Foundation becomes one of these by its text: `UniqueID(text: UUID().uuidString)`.
public struct UniqueID: Hashable, Sendable {
    /// The first eight bytes, the first of them the highest.
    public let high: UInt64
    /// The last eight bytes.
    public let low: UInt64

    /// The uuid of these sixteen bytes.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads `0b8a1d1e-5c7f-4d3a-9b57-2f6c1a9e4d10`, in either case; nil for anything else.
    public init?(text: some StringProtocol) {
        let characters = Array(text.utf8)
        var bytes: [UInt8] = []
        guard TextEncodings.appendUUID(characters.span, to: &bytes) else { return nil }
        high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The uuid in lower case.
    public var text: String {
        let bytes = [high, low].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) }
        }
        var characters: [UInt8] = []
        TextEncodings.appendUUIDText(bytes.span, to: &characters)
        return String(decoding: characters, as: UTF8.self)
    }
}
