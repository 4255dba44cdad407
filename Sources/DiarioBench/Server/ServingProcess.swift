import CBaseline
import DiarioStorage
import Synchronization

/// A server in a process of its own, so that its processor time and memory are not ours.
final class ServingProcess: Sendable {
    /// Where it listens, on this machine.
    let port: UInt16
    private let process: Int64
    private let hasEnded = Mutex(false)

    private static let patience = Duration.seconds(120)

    /// Starts a program that writes where it listens to its standard output.
    init(_ path: String, _ arguments: [String], in scratch: Scratch) async throws(BenchError) {
        let output = scratch.path + "/output-\(SystemEntropy().next())"
        let process = try Child.spawn(path, arguments, output: output)
        self.process = process
        do throws(BenchError) {
            port = try await Self.port(in: output, of: process)
        } catch {
            Self.end(process, atOnce: true)
            throw error
        }
    }

    deinit { end(atOnce: true) }

    /// Waits for the line that says where it listens.
    private static func port(
        in output: String,
        of process: Int64
    ) async throws(BenchError) -> UInt16 {
        let start = ContinuousClock.now
        while ContinuousClock.now - start < patience {
            let text = String(decoding: try System.contents(of: output), as: UTF8.self)
            if text.hasSuffix("\n"), let address = text.split(separator: "127.0.0.1:").last,
                let port = UInt16(address.prefix(while: \.isNumber))
            {
                return port
            }
            guard baseline_has_ended(process) == 0 else {
                throw .failed("a server ended at once: \(text)")
            }
            try? await Task.sleep(for: .milliseconds(2))
        }
        throw .failed("a server does not start")
    }

    /// User and system time so far, in nanoseconds.
    var processorNanoseconds: Int64 { baseline_child_nanoseconds(process) }

    /// Memory that is resident now, in bytes.
    var memory: Int { Machine.kilobytes("VmRSS", of: "\(process)") * 1024 }

    /// Lets it end in good order, or kills it; returns when it has ended.
    func end(atOnce: Bool = false) {
        let isNew = hasEnded.withLock { hasEnded in
            defer { hasEnded = true }
            return !hasEnded
        }
        if isNew { Self.end(process, atOnce: atOnce) }
    }

    private static func end(_ process: Int64, atOnce: Bool) {
        baseline_end(process, atOnce ? 1 : 0)
        var usage = baseline_usage()
        // Safe: a plain call into C, which keeps no pointer.
        _ = unsafe baseline_wait(process, &usage)
    }
}
