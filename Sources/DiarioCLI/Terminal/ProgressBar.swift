/// Shows the progress of a command on stderr, once it takes more than a second.
///
/// Shows nothing where stderr is no terminal. Feed it with counters as often as you like: it draws
/// ten times a second at most.
final class ProgressBar {
    private var pace: ProgressPace
    private let output: Output
    private let isPossible: Bool
    /// By the clock that a change of the date does not move.
    private let start = ContinuousClock.now

    init(_ label: String, unit: String, on output: Output, isWanted: Bool) {
        pace = ProgressPace(label: label, unit: unit)
        self.output = output
        isPossible = isWanted && output.isTerminal
    }

    /// Notes how much is done; cheap enough to be called often.
    func update(done: UInt64, total: UInt64?) {
        guard isPossible else { return }
        let wasShown = pace.isShown
        let elapsed = ContinuousClock.now - start
        guard let line = pace.update(done: done, total: total, at: elapsed) else { return }
        // Now there is something to take away should a signal end the program.
        if !wasShown { Interrupt.clearLineWhenEnding() }
        // A line as wide as the terminal would wrap when the cursor moves on.
        show(ProgressPace.clearing + line.text(width: output.width - 1))
    }

    /// Takes the bar away again; call it before anything else is printed, and when all has failed.
    func finish() {
        guard pace.finish() else { return }
        show(ProgressPace.clearing)
    }

    private func show(_ text: String) {
        // A bar that cannot be shown is no reason to stop.
        try? output.append { $0.append(contentsOf: text.utf8) }
        try? output.flush()
    }
}

/// When a progress bar draws; pure, so that it can be tested: the time is passed in.
package struct ProgressPace: Sendable {
    private let label: String
    private let unit: String
    private var next = ProgressPace.delay
    /// True if there is a line on the terminal.
    package private(set) var isShown = false

    /// Nothing is shown of what takes no longer.
    package static let delay = Duration.seconds(1)
    package static let interval = Duration.milliseconds(100)
    /// Goes to the start of the line and empties it.
    package static let clearing = "\r\u{1b}[K"

    package init(label: String, unit: String) {
        self.label = label
        self.unit = unit
    }

    /// The line to show now; nil if it is too early.
    package mutating func update(
        done: UInt64,
        total: UInt64?,
        at elapsed: Duration
    ) -> ProgressLine? {
        guard elapsed >= next else { return nil }
        next = elapsed + Self.interval
        isShown = true
        return ProgressLine(
            label: label,
            unit: unit,
            done: done,
            total: total,
            seconds: elapsed / Duration.seconds(1)
        )
    }

    /// Ends the drawing; true if there is a line to be taken away.
    package mutating func finish() -> Bool {
        defer { isShown = false }
        return isShown
    }
}
