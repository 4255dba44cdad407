/// One installation that writes to a space: 64 random bits, never zero.
public struct ReplicaID: Hashable, Comparable, Sendable {
    public let rawValue: UInt64

    /// Nil for zero, which no replica may have.
    public init?(rawValue: UInt64) {
        guard rawValue != 0 else { return nil }
        self.rawValue = rawValue
    }

    /// Reads the 13 characters that `text` shows; nil for anything else.
    public init?(text: some StringProtocol) {
        guard let value = Base32.decode(text: text) else { return nil }
        self.init(rawValue: value)
    }

    /// Reads the 13 characters that `text` shows; nil for anything else.
    public init?(text: Span<UInt8>) {
        guard let value = Base32.decode(text) else { return nil }
        self.init(rawValue: value)
    }

    /// 13 characters of lower-case Crockford base32.
    public var text: String { Base32.encode(rawValue) }

    public static func < (left: ReplicaID, right: ReplicaID) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// Names a space inside a data directory: 64 random bits, never zero.
///
/// Not its lineage.
public struct SpaceID: Hashable, Comparable, Sendable {
    public let rawValue: UInt64

    /// Nil for zero, which no space may have.
    public init?(rawValue: UInt64) {
        guard rawValue != 0 else { return nil }
        self.rawValue = rawValue
    }

    /// Reads the 13 characters that `text` shows; nil for anything else.
    public init?(text: some StringProtocol) {
        guard let value = Base32.decode(text: text) else { return nil }
        self.init(rawValue: value)
    }

    /// 13 characters of lower-case Crockford base32.
    public var text: String { Base32.encode(rawValue) }

    public static func < (left: SpaceID, right: SpaceID) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The author of an event and its number among the author's events; never changes.
public struct Origin: Hashable, Comparable, Sendable {
    public let replica: ReplicaID
    /// The number of the event among those of its replica, counted from 1.
    ///
    /// Not a position.
    public let sequence: UInt64

    public init(replica: ReplicaID, sequence: UInt64) {
        self.replica = replica
        self.sequence = sequence
    }

    /// Reads `7zk3m9q2c1f4a-17`; nil for anything that `text` would not write.
    public init?(text: some StringProtocol) {
        guard let dash = text.firstIndex(of: "-") else { return nil }
        let digits = text[text.index(after: dash)...]
        guard let replica = ReplicaID(text: text[..<dash]),
            digits.utf8.first != 0x30, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
            let sequence = UInt64(digits)
        else { return nil }
        self.init(replica: replica, sequence: sequence)
    }

    /// The replica, a dash, the sequence in decimal.
    public var text: String { "\(replica.text)-\(sequence)" }

    public static func < (left: Origin, right: Origin) -> Bool {
        (left.replica, left.sequence) < (right.replica, right.sequence)
    }
}

/// The random birth mark of a space: 128 bits, shown as 26 characters.
package struct Lineage: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package init(drawnFrom entropy: any EntropySource) {
        self.init(high: entropy.next(), low: entropy.next())
    }

    /// Reads the 32 digits that `text` shows; nil for anything else.
    package init?(text: some StringProtocol) {
        let digits = text.utf8
        guard digits.count == 32,
            digits.allSatisfy({ 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }),
            let high = UInt64(text.prefix(16), radix: 16),
            let low = UInt64(text.suffix(16), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }

    /// 32 digits of lower-case hexadecimal.
    package var text: String {
        [high, low].map { half in
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
