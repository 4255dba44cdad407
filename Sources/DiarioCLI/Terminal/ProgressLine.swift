/// The line of a progress bar at one moment; pure, so that it can be tested.
package struct ProgressLine: Sendable {
    /// The activity, as `Verifying`.
    package let label: String
    /// The unit that is counted, in the plural.
    package let unit: String
    package let done: UInt64
    /// Nil if the total is not known.
    package let total: UInt64?
    package let seconds: Double

    private static let barMin = 8
    private static let barMax = 30

    package init(label: String, unit: String, done: UInt64, total: UInt64?, seconds: Double) {
        self.label = label
        self.unit = unit
        self.done = done
        self.total = total
        self.seconds = seconds
    }

    /// The line, at most `width` columns long: the bar goes first where there is no room, then the
    /// time that is left.
    package func text(width: Int) -> String {
        let elapsed = Self.duration(seconds)
        guard let total, total > 0 else {
            return CellText.cut("\(label): \(Self.grouped(done)) \(unit), \(elapsed)", to: width)
        }
        let share = Double(min(done, total)) / Double(total)
        let counts = "\(Self.grouped(done)) of \(Self.grouped(total)) \(unit)"
        let short = "\(label): \(counts), \(Int(share * 100)) %, \(elapsed)"
        let text = timeLeft(share).map { "\(short), \(Self.duration($0)) left" } ?? short
        let room = min(Self.barMax, width - CellText.width(text) - 3)
        if room >= Self.barMin {
            let filled = Int(share * Double(room))
            let bar = String(repeating: "#", count: filled)
            return "\(text) [\(bar)\(String(repeating: "-", count: room - filled))]"
        }
        return CellText.width(text) <= width ? text : CellText.cut(short, to: width)
    }

    /// The seconds that are left if it goes on as it went; nil while that cannot be told.
    private func timeLeft(_ share: Double) -> Double? {
        guard share > 0, share < 1, seconds > 0 else { return nil }
        return (seconds * (1 - share) / share).rounded(.up)
    }

    /// `3 s`, `2 min 5 s`, `3 h 0 min`.
    package static func duration(_ seconds: Double) -> String {
        // Ten years, so that no number of a bad clock is too large for an integer.
        let count = Int(min(max(0, seconds), 315_360_000))
        if count < 60 { return "\(count) s" }
        if count < 3600 { return "\(count / 60) min \(count % 60) s" }
        return "\(count / 3600) h \(count / 60 % 60) min"
    }

    /// 65536 as 65,536.
    package static func grouped(_ value: UInt64) -> String {
        let digits = Array("\(value)".utf8)
        var result: [UInt8] = []
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { result.append(0x2c) }
            result.append(digit)
        }
        return String(decoding: result, as: UTF8.self)
    }
}
