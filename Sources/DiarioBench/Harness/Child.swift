import CBaseline

/// Another run of this program, or a run of another one.
enum Child {
    /// How a run ended, and what it took.
    struct End {
        let code: Int32
        /// What it wrote to its standard output; nothing if that was thrown away.
        let output: String
        let seconds: Double
        let processorSeconds: Double
        /// The most memory that it had resident.
        let megabytes: Double
    }

    /// Runs this program and waits.
    static func run(
        _ arguments: [String],
        preload: String? = nil,
        in scratch: Scratch
    ) throws(BenchError) -> End {
        try run("/proc/self/exe", arguments, preload: preload, output: scratch.path + "/output")
    }

    /// Runs this program, which must succeed; gives the numbers that it wrote.
    static func numbers(
        _ arguments: [String],
        preload: String? = nil,
        in scratch: Scratch
    ) throws(BenchError) -> [Double] {
        let end = try run(arguments, preload: preload, in: scratch)
        guard end.code == 0 else {
            throw .failed("\(arguments[0]) ends with \(end.code): \(end.output)")
        }
        return end.output.split(separator: " ").compactMap { Double($0) }
    }

    /// The program `diario`: that of `--program`, else the one beside this.
    static func program(_ arguments: inout Arguments) throws(BenchError) -> String {
        if let path = try arguments.value("--program") { return path }
        let beside = try System.absolute("/proc/self/exe").split(separator: "/").dropLast()
        return "/" + beside.joined(separator: "/") + "/diario"
    }

    /// Runs another program, which must succeed; gives what it wrote.
    static func output(
        of path: String,
        _ arguments: [String],
        in scratch: Scratch
    ) throws(BenchError) -> String {
        let end = try run(path, arguments, preload: nil, output: scratch.path + "/output")
        guard end.code == 0 else {
            throw .failed("\(path) \(arguments.joined(separator: " ")) ends with \(end.code)")
        }
        return end.output
    }

    /// Runs another program, which must succeed; what it writes is thrown away.
    @discardableResult
    static func runTool(
        _ path: String,
        _ arguments: [String],
        preload: String? = nil
    ) throws(BenchError) -> End {
        let end = try run(path, arguments, preload: preload, output: "/dev/null")
        guard end.code == 0 else {
            throw .failed("\(path) \(arguments.joined(separator: " ")) ends with \(end.code)")
        }
        return end
    }

    private static func run(
        _ path: String,
        _ arguments: [String],
        preload: String?,
        output: String
    ) throws(BenchError) -> End {
        let start = ContinuousClock.now
        let process = try spawn(path, arguments, preload: preload, output: output)
        var usage = baseline_usage()
        // Safe: a plain call into C, which keeps no pointer.
        let code = unsafe baseline_wait(process, &usage)
        let seconds = seconds(since: start)
        let isKept = output != "/dev/null"
        return End(
            code: code,
            output: isKept ? String(decoding: try System.contents(of: output), as: UTF8.self) : "",
            seconds: seconds,
            processorSeconds: Double(usage.processor) / 1e9,
            megabytes: Double(usage.memory) / 1e6
        )
    }

    /// Starts a program; gives the process, for which somebody has to wait.
    static func spawn(
        _ path: String,
        _ arguments: [String],
        preload: String? = nil,
        output: String
    ) throws(BenchError) -> Int64 {
        var list: [CChar] = []
        for argument in arguments { list += argument.utf8CString }
        list.append(0)
        let variable = preload.map { "LD_PRELOAD=\($0)" } ?? ""
        // Safe: the list holds as many texts as are told, each with its zero byte.
        let process = unsafe baseline_spawn(path, list, arguments.count, variable, output)
        guard process > 0 else { throw .failed("\(path) does not start: \(-process)") }
        return process
    }
}
