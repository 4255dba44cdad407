/// Writes small JSON objects for programs, with keys in the order of the calls.
package struct JSONObjectWriter {
    package private(set) var bytes: [UInt8] = []
    private var isFirst = true

    package static func object(_ body: (inout JSONObjectWriter) -> Void) -> [UInt8] {
        var text = JSONObjectWriter()
        text.bytes.append(0x7b)
        body(&text)
        text.bytes.append(0x7d)
        return text.bytes
    }

    package mutating func add(_ key: String, _ value: String) {
        begin(key)
        JSONWriter.appendString(value, to: &bytes)
    }

    package mutating func add(_ key: String, _ value: Bool) { add(key, .boolean(value)) }
    package mutating func add(_ key: String, _ value: Int) { add(key, Int64(value)) }

    package mutating func add(_ key: String, _ value: Int64) {
        begin(key)
        JSONWriter.appendInteger(value, to: &bytes)
    }

    package mutating func add(_ key: String, _ value: Double) { add(key, .number(value)) }
    /// Counts of events, positions and bytes never need the 64th bit.
    package mutating func add(_ key: String, _ value: UInt64) {
        add(key, Int64(clamping: value))
    }

    /// A list of values that are JSON already.
    package mutating func add(_ key: String, list: [[UInt8]]) {
        begin(key)
        bytes.append(0x5b)
        for (index, item) in list.enumerated() {
            if index > 0 { bytes.append(0x2c) }
            bytes += item
        }
        bytes.append(0x5d)
    }

    /// A value that is JSON already.
    package mutating func add(_ key: String, json: [UInt8]) {
        begin(key)
        bytes += json
    }

    package mutating func addNull(_ key: String) { add(key, .null) }

    package mutating func add(_ key: String, _ value: JSON) {
        begin(key)
        value.appendCanonical(to: &bytes)
    }

    private mutating func begin(_ key: String) {
        if !isFirst { bytes.append(0x2c) }
        isFirst = false
        JSONWriter.appendString(key, to: &bytes)
        bytes.append(0x3a)
    }
}
