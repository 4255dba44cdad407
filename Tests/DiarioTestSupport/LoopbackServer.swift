package import DiarioStorage
import Foundation
import Synchronization

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Answers HTTP on this machine as a test wants it: well, badly, or not at all.
///
/// Keep it in a constant for as long as it is needed.
package final class LoopbackServer: Sendable {
    /// A request, whole.
    package struct Request: Sendable {
        package let method: String
        /// With the query.
        package let target: String
        /// By name in lower case.
        package let headers: [String: String]
        package let body: [UInt8]
    }

    /// What is done about a request, one step after the other.
    package enum Step: Sendable {
        case send([UInt8])
        /// Nothing until somebody raises the signal.
        case wait(Signal)
        /// Nothing until the other side ends the connection; says so then.
        case awaitEnd(@Sendable () -> Void)
        /// The end of the connection.
        case close
        /// The end of what is sent, while more is taken.
        case halfClose
    }

    private let connections: Connections
    package let port: Int

    package init(_ answer: @escaping @Sendable (Request) -> [Step]) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        // Safe: the address has the size that is told, and lives as long as the calls.
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { place in
            unsafe place.withMemoryRebound(to: sockaddr.self, capacity: 1) { place in
                unsafe bind(listener, place, size) == 0
                    && getsockname(listener, place, &size) == 0
            }
        }
        guard isBound, listen(listener, 64) == 0 else {
            _ = close(listener)
            throw CocoaError(.fileNoSuchFile)
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        let connections = Connections(listener)
        self.connections = connections
        _ = WorkerThread(name: "test-accept") {
            while let connection = connections.next() {
                _ = WorkerThread(name: "test-answer") {
                    var stream = Connection(connection)
                    while let request = stream.next() {
                        guard answer(request).allSatisfy({ stream.does($0) }) else { break }
                    }
                    connections.close(connection)
                }
            }
        }
    }

    deinit { stop() }

    /// How many connections were made so far.
    package var connectionCount: Int { connections.count }

    package var address: String { "http://127.0.0.1:\(port)" }

    /// Takes no connections any more, and ends those that are there.
    package func stop() { connections.end() }

    // MARK: Answers

    /// A whole answer.
    package static func reply(
        _ status: Int,
        _ type: String?,
        _ body: [UInt8] = [],
        headers: [(String, String)] = []
    ) -> [Step] {
        var head = "HTTP/1.1 \(status) Status\r\nContent-Length: \(body.count)\r\n"
        if let type { head += "Content-Type: \(type)\r\n" }
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        return [.send(Array((head + "\r\n").utf8) + body)]
    }
}

/// The descriptors of a server, each closed once, and used by nobody after that: its number may be
/// that of another file at once.
private final class Connections: Sendable {
    private struct State {
        var open: Set<Int32> = []
        var count = 0
        /// Nobody waits at the listener any more, or will not for long.
        var isEnded = false
    }

    private let listener: Int32
    private let state = Mutex(State())

    init(_ listener: Int32) { self.listener = listener }

    var count: Int { state.withLock { $0.count } }

    /// Waits for the next connection; nil at the end.
    ///
    /// Called by one thread alone.
    func next() -> Int32? {
        let connection = accept(listener, nil, nil)
        return state.withLock { state in
            if connection >= 0, !state.isEnded {
                state.open.insert(connection)
                state.count += 1
                return connection
            }
            if connection >= 0 { _ = Self.close(connection) }
            state.isEnded = true
            _ = Self.close(listener)
            return nil
        }
    }

    func close(_ connection: Int32) {
        state.withLock { state in
            state.open.remove(connection)
            _ = Self.close(connection)
        }
    }

    func end() {
        state.withLock { state in
            guard !state.isEnded else { return }
            state.isEnded = true
            // Wakes who waits for a connection, and those who wait for requests.
            _ = shutdown(listener, Int32(SHUT_RDWR))
            for connection in state.open { _ = shutdown(connection, Int32(SHUT_RDWR)) }
        }
    }

    private static func close(_ descriptor: Int32) -> Int32 {
        #if canImport(Darwin)
        Darwin.close(descriptor)
        #else
        Glibc.close(descriptor)
        #endif
    }
}

/// One connection, as requests.
private struct Connection {
    private let descriptor: Int32
    private var buffer: [UInt8] = []

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// The next request; nil at the end.
    mutating func next() -> LoopbackServer.Request? {
        while true {
            if let end = headEnd() { return request(end) }
            guard fill() else { return nil }
        }
    }

    private func headEnd() -> Int? {
        guard buffer.count >= 4 else { return nil }
        return (0...buffer.count - 4).first { Array(buffer[$0..<$0 + 4]) == [13, 10, 13, 10] }
    }

    private mutating func request(_ end: Int) -> LoopbackServer.Request? {
        let lines = String(decoding: buffer[..<end], as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ").map(String.init)
        guard words.count == 3 else { return nil }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] =
                line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        buffer.removeFirst(end + 4)
        if headers["expect"] != nil {
            guard does(.send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))) else { return nil }
        }
        let size = headers["content-length"].flatMap { Int($0) } ?? 0
        while buffer.count < size { guard fill() else { return nil } }
        let body = Array(buffer.prefix(size))
        buffer.removeFirst(size)
        return LoopbackServer.Request(
            method: words[0],
            target: words[1],
            headers: headers,
            body: body
        )
    }

    /// Reads what there is; false at the end.
    private mutating func fill() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        // Safe: the call fills at most as many bytes as there are.
        let count = unsafe recv(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return false }
        buffer += bytes[..<count]
        return true
    }

    /// False if the connection is at its end.
    mutating func does(_ step: LoopbackServer.Step) -> Bool {
        switch step {
        case .send(let bytes):
            var start = 0
            while start < bytes.count {
                let rest = Array(bytes[start...])
                // Safe: as many bytes are there as are told.
                let count = unsafe send(descriptor, rest, rest.count, Int32(MSG_NOSIGNAL))
                guard count > 0 else { return false }
                start += count
            }
            return true
        case .wait(let signal):
            signal.wait()
            return true
        case .awaitEnd(let notice):
            while fill() {}
            notice()
            return false
        case .close: return false
        case .halfClose:
            _ = shutdown(descriptor, Int32(SHUT_WR))
            while fill() {}
            return false
        }
    }
}
