// With -DFUZZING the program is libFuzzer's: its `main` calls these two functions, and the options
// are its own. `--subject=NAME` names the parser; libFuzzer ignores options with two dashes.
// Without, the program runs the parser once for each file: DiarioFuzz NAME FILE...

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

private let names = Subject.allCases.map(\.rawValue)

#if FUZZING
private let chosen: Subject? = CommandLine.arguments.lazy
    .filter { $0.hasPrefix("--subject=") }
    .compactMap { Subject(rawValue: String($0.dropFirst("--subject=".count))) }
    .first

@_cdecl("LLVMFuzzerInitialize")
func fuzzerInitialize(
    _ argumentCount: UnsafeMutableRawPointer,
    _ arguments: UnsafeMutableRawPointer
) -> CInt {
    guard chosen == nil else { return 0 }
    print(names.joined(separator: "\n"))
    exit(CommandLine.arguments.contains("--list") ? 0 : 64)
}

@_cdecl("LLVMFuzzerTestOneInput")
func fuzzerTestOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // Safe: libFuzzer gives `count` bytes that stay until this returns; the array is a copy.
    let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    chosen?.run(bytes)
    return 0
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
