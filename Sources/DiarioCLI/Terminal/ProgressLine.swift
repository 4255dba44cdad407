/// What a progress bar shows at one moment; pure, so that it can be tested.
package struct ProgressLine: Sendable {
    /// What is going on, as `Verifying`.
    package let label: String
    /// What is counted, in the plural.
    package let unit: String
    package let done: UInt64
    /// Nil if nobody knows how much there is.
    package let total: UInt64?
    package let seconds: Double

    package init(label: String, unit: String, done: UInt64, total: UInt64?, seconds: Double) {
        self.label = label
        self.unit = unit
        self.done = done
        self.total = total
        self.seconds = seconds
    }

    /// The line, at most `width` columns long.
    package func text(width: Int) -> String {
        let elapsed = "\(UInt64(max(0, seconds))) s"
        guard let total, total > 0 else {
            return CellText.cut("\(label): \(Self.grouped(done)) \(unit), \(elapsed)", to: width)
        }
        let share = Double(min(done, total)) / Double(total)
        let counts = "\(Self.grouped(done)) of \(Self.grouped(total)) \(unit)"
        let text = "\(label): \(counts), \(Int(share * 100)) %, \(elapsed)"
        let room = min(30, width - text.utf8.count - 3)
        guard room >= 8 else { return CellText.cut(text, to: width) }
        let filled = Int(share * Double(room))
        let bar = String(repeating: "#", count: filled)
        return "\(text) [\(bar)\(String(repeating: "-", count: room - filled))]"
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
