import DiarioCore

/// Values as texts for people.
enum Show {
    private static let digits = Array("0123456789abcdef")
    /// More bytes than that are not shown.
    private static let countMax = 32

    /// A number with what it counts: `1 event`, `65,536 events`.
    static func count(_ value: UInt64, _ noun: String) -> String {
        "\(ProgressLine.grouped(value)) \(noun)\(value == 1 ? "" : "s")"
    }

    static func grouped(_ value: Int) -> String { ProgressLine.grouped(UInt64(max(0, value))) }

    static func id(_ value: UInt64) -> String {
        ReplicaID(rawValue: value)?.text ?? "none"
    }

    static func word(_ value: UInt32) -> String {
        hexadecimal((0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }[...])
    }

    static func long(_ value: UInt64) -> String {
        hexadecimal((0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) }[...])
    }

    static func clock(_ value: UInt64) -> String {
        let clock = HybridTime(rawValue: value)
        return "\(clock.milliseconds)-\(clock.counter)"
    }

    static func time(_ value: UInt64) -> String { time(Int64(bitPattern: value)) }

    static func time(_ milliseconds: Int64) -> String {
        let time = Timestamp(milliseconds: milliseconds)
        guard CivilTime.contains(time) else { return "\(milliseconds) ms" }
        var bytes: [UInt8] = []
        CivilTime.appendDateTime(time, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    static func time(_ time: Timestamp) -> String { self.time(time.milliseconds) }

    static func day(_ time: Timestamp) -> String { String(self.time(time).prefix(10)) }

    static func nanoseconds(_ value: UInt64) -> String {
        value == 0 ? "unknown" : time(Int64(clamping: value / 1_000_000))
    }

    static func hexadecimal(_ bytes: ArraySlice<UInt8>) -> String {
        let shown = bytes.prefix(countMax)
        let text = String(shown.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
        return bytes.count > shown.count ? "\(text)... (\(bytes.count) bytes)" : text
    }

    static func secret(_ bytes: ArraySlice<UInt8>) -> String { "\(bytes.count) secret bytes" }

    /// The names of the bits that are set.
    static func flags(_ value: UInt64, _ names: [String]) -> String {
        let set = names.indices.filter { value >> UInt64($0) & 1 == 1 }.map { names[$0] }
        return set.isEmpty ? "none" : set.joined(separator: " ")
    }
}
