/// Takes the header fields of an answer apart.
package enum HTTPFields {
    /// By name in lower case; several of one name are one, with commas between.
    ///
    /// Lines that are no fields are passed over.
    package static func parse(_ bytes: [UInt8]) -> [String: String] {
        var fields: [String: String] = [:]
        for line in bytes.split(separator: 0x0a) {
            guard let colon = line.firstIndex(of: 0x3a), colon > line.startIndex else { continue }
            let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
            let value = String(decoding: trimmed(line[(colon + 1)...]), as: UTF8.self)
            fields[name] = fields[name].map { "\($0), \(value)" } ?? value
        }
        return fields
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = bytes
        while let first = rest.first, [0x09, 0x0d, 0x20].contains(first) { rest.removeFirst() }
        while let last = rest.last, [0x09, 0x0d, 0x20].contains(last) { rest.removeLast() }
        return rest
    }
}
