/// Shows on stderr how far a command has come, once it takes more than a second.
///
/// Shows nothing where stderr is no terminal.
package final class ProgressBar {
    private let label: String
    private let unit: String
    private let output: Output
    private let start = ContinuousClock.now
    private var next: ContinuousClock.Instant
    private let isPossible: Bool
    private var isShown = false

    private static let delay = Duration.seconds(1)
    private static let interval = Duration.milliseconds(100)

    package init(_ label: String, unit: String, on output: Output) {
        self.label = label
        self.unit = unit
        self.output = output
        next = start + Self.delay
        isPossible = output.isTerminal
    }

    /// Notes how much is done; cheap enough to be called often.
    package func update(done: UInt64, total: UInt64?) {
        guard isPossible else { return }
        let now = ContinuousClock.now
        guard now >= next else { return }
        next = now + Self.interval
        isShown = true
        let line = ProgressLine(
            label: label,
            unit: unit,
            done: done,
            total: total,
            seconds: (now - start) / Duration.seconds(1)
        )
        show("\r\u{1b}[K" + line.text(width: output.width - 1))
    }

    /// Takes the bar away again.
    package func finish() {
        guard isShown else { return }
        isShown = false
        show("\r\u{1b}[K")
    }

    private func show(_ text: String) {
        // A bar that cannot be shown is no reason to stop.
        try? output.append { $0.append(contentsOf: text.utf8) }
        try? output.flush()
    }
}
