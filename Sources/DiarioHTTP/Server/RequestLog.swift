import DiarioCore
import DiarioSchema
import DiarioStorage
import Synchronization

/// The record of a request.
struct RequestRecord: Sendable {
    var method = ""
    /// Without the query, which may have private values.
    var path = ""
    /// 0 if there was no answer.
    var status = 0
    var received = 0
    var sent = 0
    /// The id of the token, never its text.
    var token: String?
    /// Why the server could not do what was asked.
    var cause: String?
    /// The time that answering took, without waiting for news.
    var handling = Duration.zero
    /// True if the answer replaces one that could not be sent.
    var isReplaced = false
}

/// Writes a line of JSON for each request, on a thread of its own.
///
/// A slow reader of the lines does not hold up the server: lines without room are counted instead.
package final class RequestLog: Sendable {
    package enum Level: Sendable {
        /// Every request.
        case all
        /// Requests that the server could not answer for a reason of its own.
        case mistakes
    }

    private struct State {
        var bytes: [UInt8] = []
        var lostCount = 0
        var isClosed = false
    }

    /// Bytes that wait to be written.
    private static let waitingSizeMax = 1024 * 1024
    /// Bytes of a method or path that are shown.
    private static let shownSizeMax = 512

    private let state = Mutex(State())
    private let isFilled = Signal()
    private let ended = Signal()
    private let level: Level
    private let write: @Sendable ([UInt8]) -> Void

    /// `write` is called by one thread, with whole lines.
    package init(_ level: Level, _ write: @escaping @Sendable ([UInt8]) -> Void) {
        self.level = level
        self.write = write
        _ = WorkerThread(name: "diario-log") { self.run() }
    }

    func add(_ record: RequestRecord, time: Duration, isWhole: Bool) {
        guard level == .all || record.status == 500 || record.cause != nil else { return }
        var line = Self.line(record, time: time, isWhole: isWhole, at: SystemClock().now)
        line.append(0x0a)
        state.withLock { state in
            if state.bytes.count + line.count > Self.waitingSizeMax {
                state.lostCount += 1
            } else {
                state.bytes += line
            }
        }
        isFilled.raise()
    }

    /// Writes what is there, and ends the thread.
    package func close() {
        state.withLock { $0.isClosed = true }
        isFilled.raise()
        ended.wait()
    }

    private func run() {
        while true {
            isFilled.wait()
            let (bytes, isClosed) = state.withLock { state -> ([UInt8], Bool) in
                defer {
                    state.bytes = []
                    state.lostCount = 0
                }
                let lost = state.lostCount > 0 ? Self.lostLine(state.lostCount) : []
                return (state.bytes + lost, state.isClosed)
            }
            if !bytes.isEmpty { write(bytes) }
            if isClosed { break }
        }
        ended.raise()
    }

    static func line(
        _ record: RequestRecord,
        time: Duration,
        isWhole: Bool,
        at now: Timestamp
    ) -> [UInt8] {
        var shown: [UInt8] = []
        CivilTime.appendDateTime(CivilTime.clamped(now), to: &shown)
        let (seconds, attoseconds) = time.components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        return JSONObjectWriter.object { json in
            json.add("time", String(decoding: shown, as: UTF8.self))
            json.add("method", cut(record.method))
            json.add("path", cut(record.path))
            json.add("status", record.status)
            json.add("milliseconds", milliseconds)
            json.add("received", record.received)
            json.add("sent", record.sent)
            if let token = record.token { json.add("token", cut(token)) }
            if let cause = record.cause { json.add("cause", cut(cause)) }
            if !isWhole { json.add("brokenOff", true) }
        }
    }

    private static func lostLine(_ count: Int) -> [UInt8] {
        JSONObjectWriter.object { $0.add("linesLost", count) } + [0x0a]
    }

    /// Everything outside of printable ASCII is percent-encoded, so that nothing in a line moves a
    /// terminal's cursor or looks like another text.
    private static func cut(_ text: String) -> String {
        var shown = ""
        for byte in text.utf8.prefix(shownSizeMax) {
            if byte >= 0x20, byte < 0x7f {
                shown.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                shown += digits.utf8.count < 2 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return text.utf8.count > shownSizeMax ? shown + "..." : shown
    }
}
