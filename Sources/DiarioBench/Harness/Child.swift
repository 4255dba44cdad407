import CBaseline

/// Another run of this program, or a run of another one.
enum Child {
    /// Runs this program, which must succeed; gives the numbers that it wrote.
    static func numbers(
        _ arguments: [String],
        preload: String? = nil,
        in scratch: Scratch
    ) throws -> [Double] {
        let text = try output(of: "/proc/self/exe", arguments, preload: preload, in: scratch)
        return text.split(separator: " ").compactMap { Double($0) }
    }

    /// The program `diario`: that of `--program`, else the one beside this.
    static func program(_ arguments: inout Arguments) throws -> String {
        if let path = try arguments.value("--program") { return path }
        let beside = try System.absolute("/proc/self/exe").split(separator: "/").dropLast()
        return "/" + beside.joined(separator: "/") + "/diario"
    }

    /// Runs a program, which must succeed; gives what it wrote.
    static func output(
        of path: String,
        _ arguments: [String],
        preload: String? = nil,
        in scratch: Scratch
    ) throws -> String {
        let output = scratch.path + "/output"
        try run(path, arguments, preload: preload, output: output)
        return String(decoding: try System.contents(of: output), as: UTF8.self)
    }

    /// Runs a program, which must succeed, and throws away what it writes; gives the seconds.
    @discardableResult
    static func runTool(_ path: String, _ arguments: [String]) throws -> Double {
        let start = ContinuousClock.now
        try run(path, arguments, preload: nil, output: "/dev/null")
        return seconds(since: start)
    }

    private static func run(
        _ path: String,
        _ arguments: [String],
        preload: String?,
        output: String
    ) throws {
        let process = try spawn(path, arguments, preload: preload, output: output)
        let code = baseline_wait(process)
        guard code == 0 else {
            let words = ([path] + arguments).joined(separator: " ")
            throw BenchError.failed("\(words) ends with \(code)")
        }
    }

    /// Starts a program; gives the process, for which somebody has to wait.
    static func spawn(
        _ path: String,
        _ arguments: [String],
        preload: String? = nil,
        output: String
    ) throws -> Int64 {
        var list: [CChar] = []
        for argument in arguments { list += argument.utf8CString }
        list.append(0)
        let variable = preload.map { "LD_PRELOAD=\($0)" } ?? ""
        // Safe: the list holds as many texts as are told, each with its zero byte.
        let process = unsafe baseline_spawn(path, list, arguments.count, variable, output)
        guard process > 0 else { throw BenchError.failed("\(path) does not start: \(-process)") }
        return process
    }
}
