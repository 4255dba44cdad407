import DiarioCore
import DiarioServer

/// The counters of a server, in the text form of Prometheus.
enum MetricsText {
    /// `counts` is nil if the directory cannot be read.
    static func text(
        _ counters: ServerCounters.Snapshot,
        spaceCount: Int,
        _ counts: ServedSpaces.SpaceCounts?
    ) -> [UInt8] {
        var text = MetricsWriter()
        text.begin("diario_answers_total", "counter", "Answers by the class of their status.")
        for (digit, count) in counters.answersByClass.sorted(by: { $0.key < $1.key }) {
            text.add("diario_answers_total{class=\"\(digit)xx\"}", count)
        }
        text.single(
            "diario_broken_total",
            "counter",
            "Requests whose connection ended before their answer.",
            counters.brokenOff
        )
        text.single(
            "diario_refused_total",
            "counter",
            "Requests that were turned away because there was too much to do.",
            counters.refused
        )
        text.single(
            "diario_received_bytes_total",
            "counter",
            "Bytes of bodies that came.",
            counters.bytesReceived
        )
        text.single(
            "diario_sent_bytes_total",
            "counter",
            "Bytes of bodies that went.",
            counters.bytesSent
        )
        text.single("diario_connections", "gauge", "Open connections.", counters.openConnections)
        text.single("diario_waiting", "gauge", "Requests that wait for news.", counters.waiting)
        text.single("diario_live", "gauge", "Live streams.", counters.live)
        text.single("diario_queued", "gauge", "Requests that wait for a thread.", counters.queued)
        text.single(
            "diario_late_total",
            "counter",
            "Requests that waited for a thread longer than \(Limits.slowWaitSecondsMax) seconds.",
            counters.late
        )
        text.single(
            "diario_readings",
            "gauge",
            "Questions and scans that run.",
            counters.readingsRunning
        )
        text.single(
            "diario_readings_waiting",
            "gauge",
            "Questions and scans that wait for their turn.",
            counters.readingsWaiting
        )
        text.single("diario_spaces_open", "gauge", "Spaces at hand.", spaceCount)
        if let counts { spaces(counts, &text) }
        histogram(counters, &text)
        return text.bytes
    }

    private static func spaces(_ counts: ServedSpaces.SpaceCounts, _ text: inout MetricsWriter) {
        text.single(
            "diario_spaces_waiting",
            "gauge",
            "Spaces that wait for their operator.",
            counts.waiting
        )
        text.single(
            "diario_spaces_damaged",
            "gauge",
            "Spaces whose files are damaged.",
            counts.damaged
        )
    }

    private static func histogram(
        _ counters: ServerCounters.Snapshot,
        _ text: inout MetricsWriter
    ) {
        let name = "diario_request_seconds"
        text.begin(name, "histogram", "Time that answering took, without waiting for news.")
        var sum = 0
        for (index, count) in counters.handlerCounts.enumerated() {
            sum += count
            let steps = ServerCounters.stepsSeconds
            let end = index < steps.count ? "\(steps[index])" : "+Inf"
            text.add("\(name)_bucket{le=\"\(end)\"}", sum)
        }
        text.add("\(name)_sum", "\(counters.handlerSeconds)")
        text.add("\(name)_count", sum)
    }
}

/// Puts lines of metrics together.
private struct MetricsWriter {
    private(set) var bytes: [UInt8] = []

    mutating func begin(_ name: String, _ kind: String, _ help: String) {
        bytes += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n".utf8
    }

    mutating func add(_ name: String, _ value: Int) { add(name, "\(value)") }

    mutating func add(_ name: String, _ value: String) { bytes += "\(name) \(value)\n".utf8 }

    mutating func single(_ name: String, _ kind: String, _ help: String, _ value: Int) {
        begin(name, kind, help)
        add(name, value)
    }
}
