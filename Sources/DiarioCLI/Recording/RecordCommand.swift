import Diario
import DiarioCore
import DiarioSchema

extension Command {
    static let record = Command(
        "record",
        "record events",
        takes: [.one("TYPE", .typeName), .optional("JSON|-")],
        details: """
            Records one event of the type TYPE with the payload JSON, and prints its origin when it
            is on the disk. With - in place of JSON, or without it, the payload is read from the
            input.

            `diario record -` reads many events, one JSON object in each line: type, payload, and if
            wanted version, subject, actor, at, ifUnchanged, batch. Each line is a batch of its own,
            but consecutive lines with the same batch are recorded all or none. The origin of each
            event is printed as soon as it is on the disk; lines that wait in the pipe share a sync.
            At the first bad line it ends with 1: earlier batches are recorded; the batch of that
            line and all later ones are not.
            """,
        options: [
            .value("subject TEXT", "what the event is about, where its type has no such field"),
            .value("actor ID", "who did it: an opaque id, never a name"),
            .value("at TIME", "when it happened: RFC 3339, a date, or milliseconds; else now"),
            .value("version N", "the version of the type; else the newest"),
            .flag("if-unchanged", "refuse if another replica wrote about the subject meanwhile"),
            .flag("quiet", "with `record -`: print no origins, and a summary at the end"),
            .noProgress,
        ],
        examples: [
            "diario record meals.weight.recorded "
                + #"'{"day":"2026-03-02","weightG":78400,"source":"manual"}'"#: "one event",
            "diario record - --quiet < events.jsonl": "a file of events",
        ],
        run: { try RecordCommand.run($0) }
    )
}

/// The command `diario record`.
enum RecordCommand {
    static func run(_ call: Invocation) throws {
        guard call.operands[0] == "-" else {
            let line = try eventLine(call)
            return try call.writing { space in
                try record(line, LineRecorder(space), call)
            }
        }
        for name in ["subject", "actor", "at", "version", "if-unchanged"]
        where call.has(name) {
            throw Failure.usage("--\(name) is for one event; with `record -` put it into each line")
        }
        guard call.operands.count == 1 else {
            throw Failure.usage(
                "`record -` takes all of an event from its line, so nothing follows -"
            )
        }
        try call.writing { space in
            var stream = RecordStream(call, LineRecorder(space))
            try stream.run()
        }
    }

    private static func record(
        _ line: [UInt8],
        _ recorder: consuming LineRecorder,
        _ call: Invocation
    ) throws {
        let origins: [Origin]
        do {
            try recorder.add(line.span)
            recorder.finish()
            origins = try recorder.commit()
        } catch {
            // Nobody wrote a line, so its number says nothing.
            let (prefix, message) = ("line 1: ", error.message)
            let isOfLine = message.hasPrefix(prefix)
            throw Failure.failed(isOfLine ? String(message.dropFirst(prefix.count)) : message)
        }
        guard !call.has("quiet") else { return }
        // The events are recorded, whether or not somebody reads their origins.
        for origin in origins { try? call.output.line(origin.text) }
    }

    /// The event of the command line, as a line of `record -`.
    private static func eventLine(_ call: Invocation) throws -> [UInt8] {
        let arguments = call.arguments
        let version = try arguments.count("version", from: 1)
        let at = try arguments.time("at")
        let fields: Fields = [
            "type": arguments.operands[0], "version": ifKnown(version),
            "payload": JSONText(bytes: try payload(call)),
            "subject": ifKnown(arguments.value("subject")),
            "actor": ifKnown(arguments.value("actor")),
            "at": ifKnown(at.map { Int($0.milliseconds) }),
            "ifUnchanged": ifKnown(arguments.has("if-unchanged") ? true : nil),
        ]
        return fields.json
    }

    /// The payload that was given, known to be one value of JSON.
    private static func payload(_ call: Invocation) throws -> [UInt8] {
        let given = call.operands.dropFirst().first ?? "-"
        let bytes =
            given == "-"
            ? try call.wholeInput("the payload", sizeMax: Limits.lineSizeMax) : Array(given.utf8)
        do { _ = try JSON.parse(bytes) } catch {
            throw Failure.failed("the payload is no JSON: \(error.description)")
        }
        return bytes
    }
}

/// Records the lines of the input as they come.
private struct RecordStream: ~Copyable {
    private let call: Invocation
    private var recorder: LineRecorder
    private var recordedCount: UInt64 = 0
    private let isQuiet: Bool
    /// The size of the input, if it is a file.
    private let fileSize: UInt64?
    private let progress: ProgressBar
    private let start = ContinuousClock.now

    init(_ call: Invocation, _ recorder: LineRecorder) {
        self.call = call
        self.recorder = recorder
        isQuiet = call.has("quiet")
        fileSize = SystemCall.regularFileSize(0)
        progress = call.progressBar("Recording", unit: fileSize == nil ? "events" : "bytes")
    }

    mutating func run() throws {
        Interrupt.catchSignals()
        defer { progress.finish() }
        var source = LineSource(descriptor: 0, name: "the input")
        do { try takeAll(of: &source) } catch {
            progress.finish()
            // Earlier lines are recorded, and stay so.
            try? summarize()
            throw error
        }
        guard !Interrupt.isRaised else { throw stopped("interrupted") }
        recorder.finish()
        try commit(source.byteCount)
        progress.finish()
        try summarize()
    }

    private func stopped(_ reason: String) -> Failure {
        progress.finish()
        let count = Show.count(recordedCount, "event")
        return .failed("\(reason). \(count) recorded, and none of the later ones")
    }

    private mutating func takeAll(of source: inout LineSource) throws {
        while try source.fill() {
            try takeLines(of: &source)
            try commit(source.byteCount)
            guard !Interrupt.isRaised else { return }
        }
    }

    /// Takes in all lines that are there; records what is complete before a bad one.
    private mutating func takeLines(of source: inout LineSource) throws {
        var isMore = true
        while isMore {
            do { isMore = try source.next { line, _ in try recorder.add(line) } } catch {
                try commit(source.byteCount)
                throw error
            }
            if recorder.isFull { try commit(source.byteCount) }
        }
    }

    /// Records the lines that were taken in: the first `byteCount` bytes of the input.
    private mutating func commit(_ byteCount: UInt64) throws {
        let origins = try recorder.commit()
        recordedCount += UInt64(origins.count)
        // Origins on a terminal show by themselves that it goes on.
        if isQuiet || !call.output.isTerminal {
            progress.update(done: fileSize == nil ? recordedCount : byteCount, total: fileSize)
        }
        guard !isQuiet else { return }
        do {
            for origin in origins { try call.output.line(origin.text) }
            try call.output.flush()
        } catch Failure.outputClosed {
            // Nobody reads the origins, so the rest is not recorded.
            throw stopped("the output was closed")
        }
    }

    private func summarize() throws {
        guard isQuiet else { return }
        let seconds = (ContinuousClock.now - start) / Duration.seconds(1)
        let tenths = Int((seconds * 10).rounded())
        try call.output.line(
            "recorded \(Show.count(recordedCount, "event")) in \(tenths / 10).\(tenths % 10) s"
        )
    }
}
