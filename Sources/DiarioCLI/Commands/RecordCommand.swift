import Diario
import DiarioCore
import DiarioLog
import DiarioSchema

/// The command `diario record`.
enum RecordCommand {
    static func run(_ call: Invocation) throws(Failure) {
        let durability = try checkingUsage { () throws(UsageError) in
            try call.arguments.choice(
                "durability",
                [("synced", Durability.synced), ("written", Durability.written)]
            )
        }
        let operands = call.arguments.operands
        if operands[0] == "-" {
            try refuseEventOptions(call)
            guard operands.count == 1 else {
                throw .usage("`record -` takes all of an event from its line, so nothing follows -")
            }
            try call.withSpace(.readWrite) { (space) throws(Failure) in
                var stream = RecordStream(
                    call,
                    LineRecorder(space, durability: durability ?? .synced)
                )
                try stream.run()
            }
            return
        }
        let line = try eventLine(call)
        try call.withSpace(.readWrite) { (space) throws(Failure) in
            var recorder = LineRecorder(space, durability: durability ?? .synced)
            do throws(DiarioError) {
                try recorder.add(line.span)
                recorder.finish()
                let origins = try recorder.commit()
                guard !call.arguments.has("quiet") else { return }
                for origin in origins {
                    do throws(Failure) { try call.output.line(origin.text) } catch { return }
                }
            } catch {
                throw .failed(withoutLine(error))
            }
        }
    }

    /// What only makes sense for one event.
    private static func refuseEventOptions(_ call: Invocation) throws(Failure) {
        for name in ["subject", "actor", "at", "version", "if-unchanged"]
        where call.arguments.has(name) {
            throw .usage("--\(name) is for one event; with `record -` put it into each line")
        }
    }

    /// The event of the command line, as a line of `record -`.
    private static func eventLine(_ call: Invocation) throws(Failure) -> [UInt8] {
        let arguments = call.arguments
        let (version, at) = try checkingUsage { () throws(UsageError) in
            (try arguments.count("version", from: 1), try arguments.time("at"))
        }
        let payload = try payload(call)
        return JSONObjectWriter.object { json in
            json.add("type", arguments.operands[0])
            if let version { json.add("version", version) }
            json.add("payload", json: payload)
            if let subject = arguments.value("subject") { json.add("subject", subject) }
            if let actor = arguments.value("actor") { json.add("actor", actor) }
            if let at { json.add("at", at.milliseconds) }
            if arguments.has("if-unchanged") { json.add("ifUnchanged", true) }
        }
    }

    /// The payload that was given, known to be one value of JSON.
    private static func payload(_ call: Invocation) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        if call.arguments.operands.count == 2, call.arguments.operands[1] != "-" {
            bytes = Array(call.arguments.operands[1].utf8)
        } else {
            if SystemCall.isTerminal(0) {
                call.remark("reading the payload from the terminal; end it with Ctrl-D")
            }
            bytes = try LineSource.wholeInput(sizeMax: Limits.lineSizeMax)
            bytes.removeFirst(ByteOrderMark.size(atStartOf: bytes))
        }
        do throws(SchemaError) { _ = try JSON.parse(bytes) } catch {
            throw .failed("the payload is no JSON: \(error.description)")
        }
        return bytes
    }

    /// The message without the number of a line that nobody wrote.
    private static func withoutLine(_ error: DiarioError) -> String {
        let prefix = "line 1: "
        return error.message.hasPrefix(prefix)
            ? String(error.message.dropFirst(prefix.count)) : error.message
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
        isQuiet = call.arguments.has("quiet")
        fileSize = SystemCall.regularFileSize(0)
        progress = call.progressBar("Recording", unit: fileSize == nil ? "events" : "bytes")
    }

    mutating func run() throws(Failure) {
        Interrupt.catchSignals()
        defer { progress.finish() }
        var source = LineSource(descriptor: 0, name: "the input")
        do throws(Failure) { try takeAll(of: &source) } catch {
            progress.finish()
            // What came before it is recorded, and stays so.
            try? summarize()
            throw error
        }
        guard !Interrupt.isRaised else {
            progress.finish()
            let count = Show.count(recordedCount, "event")
            throw .failed("interrupted. \(count) recorded, and nothing behind them")
        }
        recorder.finish()
        try commit(source.byteCount)
        progress.finish()
        try summarize()
    }

    private mutating func takeAll(of source: inout LineSource) throws(Failure) {
        while try source.fill() {
            try takeLines(of: &source)
            try commit(source.byteCount)
            guard !Interrupt.isRaised else { return }
        }
    }

    /// Takes in all lines that are there; records what is complete before a bad one.
    private mutating func takeLines(of source: inout LineSource) throws(Failure) {
        var isMore = true
        while isMore {
            do throws(Failure) {
                isMore = try source.next { (line, _) throws(Failure) in
                    try reporting { () throws(DiarioError) in try recorder.add(line) }
                }
            } catch {
                try commit(source.byteCount)
                throw error
            }
            if recorder.isFull { try commit(source.byteCount) }
        }
    }

    /// Records what was taken in, when `byteCount` bytes of the input were.
    private mutating func commit(_ byteCount: UInt64) throws(Failure) {
        let origins = try reporting { () throws(DiarioError) in try recorder.commit() }
        recordedCount += UInt64(origins.count)
        // Origins on a terminal show by themselves that it goes on.
        if isQuiet || !call.output.isTerminal {
            let done = fileSize == nil ? recordedCount : byteCount
            progress.update(done: done, total: fileSize)
        }
        guard !isQuiet else { return }
        do throws(Failure) {
            for origin in origins { try call.output.line(origin.text) }
            try call.output.flush()
        } catch .outputClosed {
            // Nobody reads the origins, so what is left is not recorded.
            throw .failed(
                "the output was closed. \(Show.count(recordedCount, "event")) recorded, and "
                    + "nothing behind them"
            )
        }
    }

    private func summarize() throws(Failure) {
        guard isQuiet else { return }
        let seconds = (ContinuousClock.now - start) / Duration.seconds(1)
        let tenths = Int((seconds * 10).rounded())
        try call.output.line(
            "recorded \(Show.count(recordedCount, "event")) in \(tenths / 10).\(tenths % 10) s"
        )
    }
}
