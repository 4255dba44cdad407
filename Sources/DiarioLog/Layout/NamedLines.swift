import DiarioFormat

/// Lines of a name, a space and a value, between a heading and a checksum.
enum NamedLines {
    static func encode(_ heading: String, _ lines: [(name: String, value: String)]) -> [UInt8] {
        let text = lines.reduce(heading + "\n") { $0 + "\($1.name) \($1.value)\n" }
        let bytes = Array(text.utf8)
        return bytes + Array("crc32c \(Checksum.crc32c(bytes.span.raw))\n".utf8)
    }

    /// Nil if the heading is another one, or the checksum does not hold.
    static func decode(_ bytes: [UInt8], _ heading: String) -> [String: String]? {
        guard bytes.last == 0x0a else { return nil }
        let start = (bytes.dropLast().lastIndex(of: 0x0a) ?? -1) + 1
        let body = Array(bytes[..<start])
        let last = String(decoding: bytes[start...].dropLast(), as: UTF8.self)
        guard last == "crc32c \(Checksum.crc32c(body.span.raw))" else { return nil }
        let lines = String(decoding: body, as: UTF8.self).split(separator: "\n")
        guard lines.first.map(String.init) == heading else { return nil }
        var values: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let space = line.firstIndex(of: " ") else { return nil }
            values[String(line[..<space])] = String(line[line.index(after: space)...])
        }
        return values
    }
}
