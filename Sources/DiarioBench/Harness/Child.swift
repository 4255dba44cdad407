import CBaseline

/// Another run of this program.
enum Child {
    /// Runs this program and waits; gives its exit code and what it wrote.
    static func run(
        _ arguments: [String],
        preload: String? = nil,
        in scratch: Scratch
    ) throws(BenchError) -> (code: Int32, output: String) {
        let output = scratch.path + "/output"
        let process = try start("/proc/self/exe", arguments, preload: preload, output: output)
        let code = baseline_wait(process)
        let text = String(decoding: try System.contents(of: output), as: UTF8.self)
        return (code, text)
    }

    /// Runs a program of the system; throws unless it succeeds.
    static func runTool(
        _ path: String,
        _ arguments: [String],
        in scratch: Scratch
    ) throws(BenchError) {
        let process = try start(
            path,
            arguments,
            preload: nil,
            output: scratch.path + "/output"
        )
        let code = baseline_wait(process)
        guard code == 0 else { throw .failed("\(path) ends with \(code)") }
    }

    private static func start(
        _ path: String,
        _ arguments: [String],
        preload: String?,
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
