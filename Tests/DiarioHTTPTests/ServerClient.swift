import DiarioHTTP
import DiarioStorage
import Synchronization

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A client that sends what it is told to, byte by byte if need be, right or wrong.
final class ServerClient: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    struct Answer: Sendable {
        var status: Int
        /// By name in lower case.
        var headers: [String: String]
        var body: [UInt8]
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    private let descriptor: Int32
    /// What was read and belongs to the next answer.
    private let rest = Mutex<[UInt8]>([])

    /// Connects to this machine.
    ///
    /// Whoever waits longer than 20 seconds gets an error: it would wait for ever.
    init(port: Int) throws {
        // Safe: each call is given structures of the size that it is told.
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, size)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, size)
        let result = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            closeNow()
            throw Failure(description: "cannot connect, error \(errno)")
        }
    }

    deinit { closeNow() }

    private let isClosed = Mutex(false)

    func closeNow() {
        isClosed.withLock { isClosed in
            if !isClosed { _ = close(descriptor) }
            isClosed = true
        }
    }

    /// Sends no more, and goes on reading.
    func closeSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    /// Has the connection reset when it is closed.
    func resetWhenClosed() {
        var value = linger(l_onoff: 1, l_linger: 0)
        // Safe: the call is told the structure's size.
        _ = unsafe setsockopt(
            descriptor,
            SOL_SOCKET,
            SO_LINGER,
            &value,
            socklen_t(MemoryLayout<linger>.size)
        )
    }

    /// Sends what fits; false once the server has closed.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            // Safe: no more is read than the array has behind `sent`.
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.send(
                    descriptor,
                    $0.baseAddress?.advanced(by: sent),
                    $0.count - sent,
                    Int32(MSG_NOSIGNAL)
                )
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// What has come; empty at the end.
    func receive() throws -> [UInt8] {
        let kept = rest.withLock { rest in
            defer { rest = [] }
            return rest
        }
        guard kept.isEmpty else { return kept }
        var bytes = [UInt8](repeating: 0, count: 64 * 1024)
        var count = 0
        repeat {
            // Safe: no more is written than the array holds.
            count = unsafe bytes.withUnsafeMutableBytes {
                unsafe recv(descriptor, $0.baseAddress, $0.count, 0)
            }
            // A debugger that stops the tests for a moment ends a call.
        } while count < 0 && errno == EINTR
        guard count >= 0 else {
            if errno == ECONNRESET { return [] }
            throw Failure(description: "nothing comes, error \(errno)")
        }
        return Array(bytes.prefix(count))
    }

    /// All that comes until the server closes.
    func receiveToEnd() throws -> String {
        var all: [UInt8] = []
        while true {
            let bytes = try receive()
            guard !bytes.isEmpty else { return String(decoding: all, as: UTF8.self) }
            all += bytes
        }
    }

    /// Reads until `text` has come, and what came with it.
    @discardableResult
    func receive(until text: String) throws -> String {
        var all = ""
        while !all.contains(text) {
            let bytes = try receive()
            guard !bytes.isEmpty else { throw Failure(description: "closed after: \(all)") }
            all += String(decoding: bytes, as: UTF8.self)
        }
        return all
    }

    /// Sends a request with what belongs to it.
    func request(
        _ method: String,
        _ path: String,
        headers: [String] = [],
        body: [UInt8]? = nil
    ) {
        var lines = ["\(method) \(path) HTTP/1.1", "Host: localhost"] + headers
        if let body { lines.append("Content-Length: \(body.count)") }
        send(lines.joined(separator: "\r\n") + "\r\n\r\n")
        if let body { send(body) }
    }

    func get(_ path: String, headers: [String] = []) throws -> Answer {
        request("GET", path, headers: headers)
        return try answer()
    }

    func post(_ path: String, _ body: [UInt8], headers: [String] = []) throws -> Answer {
        request("POST", path, headers: headers, body: body)
        return try answer()
    }

    /// The next answer, whole.
    func answer(toHead: Bool = false) throws -> Answer {
        var bytes: [UInt8] = []
        var answer: Answer?
        var end = 0
        while true {
            let more = try receive()
            guard !more.isEmpty else { throw Failure(description: "closed before an answer") }
            bytes += more
            if answer == nil, let found = Self.head(bytes) { (answer, end) = found }
            guard var whole = answer else { continue }
            if whole.headers["transfer-encoding"] == "chunked", !toHead {
                guard let (body, rest) = Self.chunks(bytes[end...]) else { continue }
                whole.body = body
                self.rest.withLock { $0 = Array(rest) }
                return whole
            }
            let isEmpty = toHead || [204, 304].contains(whole.status)
            let count = isEmpty ? 0 : Int(whole.headers["content-length"] ?? "0") ?? 0
            guard bytes.count >= end + count else { continue }
            whole.body = Array(bytes[end..<end + count])
            rest.withLock { $0 = Array(bytes[(end + count)...]) }
            return whole
        }
    }

    private static func head(_ bytes: [UInt8]) -> (Answer, Int)? {
        let mark: [UInt8] = [13, 10, 13, 10]
        guard
            let end = bytes.indices.dropLast(3).first(where: {
                bytes[$0..<$0 + 4].elementsEqual(mark)
            })
        else { return nil }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
        }
        let words = lines.first?.split(separator: " ") ?? []
        let status = words.count > 1 ? Int(words[1]) ?? 0 : 0
        return (Answer(status: status, headers: headers, body: []), end + 4)
    }

    private static func chunks(_ bytes: ArraySlice<UInt8>) -> ([UInt8], ArraySlice<UInt8>)? {
        var body: [UInt8] = []
        var rest = bytes
        while true {
            guard let line = rest.firstIndex(of: 10) else { return nil }
            let digits = String(decoding: rest[..<line].dropLast(), as: UTF8.self)
            guard let count = Int(digits, radix: 16) else { return nil }
            rest = rest[(line + 1)...]
            guard rest.count >= count + 2 else { return nil }
            body += rest.prefix(count)
            rest = rest.dropFirst(count + 2)
            if count == 0 { return (body, rest) }
        }
    }
}
