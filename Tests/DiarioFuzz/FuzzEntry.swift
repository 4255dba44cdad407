// With -DFUZZING the program hands itself to libFuzzer, and the options are those of libFuzzer.
// `--subject=NAME` names the parser; libFuzzer ignores options with two dashes.
// Without, the program runs the parser once for each file: DiarioFuzz NAME FILE...

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

private let names = Subject.allCases.map(\.rawValue)

#if FUZZING
private typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

/// Of libFuzzer: calls `run` with one input after another, as the options say.
@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
    _ argumentCount: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<Arguments>,
    _ run: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

private let chosen: Subject? = CommandLine.arguments.lazy
    .filter { $0.hasPrefix("--subject=") }
    .compactMap { Subject(rawValue: String($0.dropFirst("--subject=".count))) }
    .first

@main enum Fuzzer {
    static func main() {
        guard chosen != nil else {
            print(names.joined(separator: "\n"))
            exit(CommandLine.arguments.contains("--list") ? 0 : 64)
        }
        var count = CommandLine.argc
        // Safe: libFuzzer reads the arguments of this program, which stay to its end, and gives
        // `count` bytes that stay until the call returns; the array is a copy.
        var arguments = unsafe CommandLine.unsafeArgv
        exit(
            unsafe runFuzzer(&count, &arguments) { start, count in
                chosen?.run(unsafe Array(UnsafeBufferPointer(start: start, count: count)))
                return 0
            }
        )
    }
}
#else
@main enum Replay {
    static func main() {
        guard let name = CommandLine.arguments.dropFirst().first,
            let subject = Subject(rawValue: name)
        else {
            print("use: DiarioFuzz NAME FILE...\nNAME is one of: \(names.joined(separator: ", "))")
            exit(64)
        }
        for path in CommandLine.arguments.dropFirst(2) {
            guard let bytes = read(path) else {
                print("cannot read \(path)")
                exit(66)
            }
            subject.run(bytes)
            print("\(path): \(bytes.count) bytes, no fault")
        }
    }

    private static func read(_ path: String) -> [UInt8]? {
        // Safe: plain calls into C; `fread` writes at most the count that the buffer has.
        guard let file = unsafe fopen(path, "rb") else { return nil }
        defer { unsafe fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            // Safe: see above.
            let count = unsafe fread(&buffer, 1, buffer.count, file)
            guard count > 0 else { return bytes }
            bytes += buffer.prefix(count)
        }
    }
}
#endif
