/// The trace of a world, line by line.
package struct Trace: Sendable {
    /// The last lines, or all if requested.
    package private(set) var lines: [String] = []
    package private(set) var count = 0
    /// Of all lines: two runs that did the same have the same.
    package private(set) var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    private let lineCountMax: Int

    package init(lineCountMax: Int) { self.lineCountMax = lineCountMax }

    package mutating func add(_ line: String) {
        // FNV-1a, since the standard library's hashes differ from process to process.
        for byte in line.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        count += 1
        lines.append("\(count) \(line)")
        if lines.count > lineCountMax { lines.removeFirst() }
    }
}

/// A promise of the log that did not hold.
package struct Violation: Error, Sendable {
    package let what: String
    package init(_ what: String) { self.what = what }
}
