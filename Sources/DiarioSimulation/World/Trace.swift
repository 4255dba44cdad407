/// The trace of a world, line by line.
final class Trace {
    /// The last lines, or all if requested.
    private(set) var lines: [String] = []
    private(set) var count = 0
    /// Of all lines: two runs that did the same have the same.
    private(set) var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    /// The milliseconds since the world began, with which a line begins; nil if it has no time.
    var now: Int64?
    var counts = WorldCounts()
    private let lineCountMax: Int

    init(lineCountMax: Int) { self.lineCountMax = lineCountMax }

    func add(_ text: String) {
        let line = now.map { "\($0) \(text)" } ?? text
        // FNV-1a, since the standard library's hashes differ from process to process.
        for byte in line.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        count += 1
        lines.append("\(count) \(line)")
        if lines.count > lineCountMax { lines.removeFirst() }
    }
}
