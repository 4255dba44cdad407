import DiarioCore
import DiarioStorage

/// What the figures were measured on.
struct Machine: Sendable {
    let cores: Int
    let processor: String
    let system: String
    let date: String

    static let current = Machine()

    private init() {
        let information = Self.text("/proc/cpuinfo").split(separator: "\n")
        cores = information.count { $0.hasPrefix("processor") }
        let model = information.first { $0.hasPrefix("model name") }
        processor =
            model.flatMap { $0.split(separator: ":").last }.map { String($0.dropFirst()) }
            ?? "unknown processor"
        let release = Self.text("/proc/sys/kernel/osrelease").split(separator: "\n").first ?? "?"
        let name = Self.text("/proc/sys/kernel/ostype").split(separator: "\n").first ?? "?"
        system = "\(name) \(release)"
        var bytes: [UInt8] = []
        CivilTime.appendDateTime(SystemClock().now, to: &bytes)
        date = String(decoding: bytes.prefix(16), as: UTF8.self) + "Z"
    }

    private static func text(_ path: String) -> String {
        guard let bytes = try? System.contents(of: path) else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A figure of a process in kilobytes, as `/proc/self/status` names it: `VmHWM`, `VmRSS`.
    static func kilobytes(_ name: String, of process: String = "self") -> Int {
        for line in text("/proc/\(process)/status").split(separator: "\n")
        where line.hasPrefix(name) {
            return Int(line.filter(\.isNumber)) ?? 0
        }
        return 0
    }

    /// How many files this process has open.
    static var openFileCount: Int {
        guard let directory = try? POSIXDirectory(path: "/proc/self/fd", access: .read),
            let names = try? directory.list("")
        else { return 0 }
        // The directory itself is open twice while it is listed.
        return names.count - 2
    }
}
