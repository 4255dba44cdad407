import DiarioFormat

/// Inspects files of lines, each a name and a value: schema/format/log.md, sections 7 and 15.
struct NamedLinesInspector {
    /// What kind of file it is, for people.
    let kind: String
    private let bytes: [UInt8]
    private let section: String

    /// Longer files are none of these.
    private static let sizeMax = 16 * 1024

    /// Nil if the file is none of these by its first line, nor by its name.
    init?(_ bytes: [UInt8], name: String) {
        let first = String(decoding: bytes.prefix { $0 != 0x0a }.prefix(40), as: UTF8.self)
        switch (first, name) {
        case ("diario-remote 1", _), (_, "remote"):
            (kind, section) = ("address of a server", "7")
        case ("diario-last-sync 1", _), (_, "last-sync"):
            (kind, section) = ("note of the last sync", "7")
        case ("diario-backup 1", _), (_, "backup"):
            (kind, section) = ("mark of a backup", "15")
        default: return nil
        }
        self.bytes = bytes
    }

    func inspect() -> [InspectLine] {
        guard bytes.count <= Self.sizeMax else {
            let problem = "longer than \(Self.sizeMax) bytes"
            return [line("lines", at: 0, size: bytes.count, check: .bad(problem))]
        }
        var lines: [InspectLine] = []
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: 0x0a).map { $0 + 1 } ?? bytes.count
            let text = String(decoding: bytes[start..<end].filter { $0 != 0x0a }, as: UTF8.self)
            let words = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            let (name, value) = (String(words[0]), words.count == 2 ? String(words[1]) : "")
            lines.append(
                line(
                    name,
                    shown(value, of: name),
                    at: start,
                    size: end - start,
                    check: name == "crc32c" ? check(value, at: start) : .none
                )
            )
            start = end
        }
        if lines.last?.name != "crc32c" {
            let problem = "the checksum is missing"
            lines.append(line("crc32c", at: bytes.count, size: 0, check: .bad(problem)))
        }
        return lines
    }

    private func shown(_ value: String, of name: String) -> String {
        switch name {
        // It opens the space to whoever sees it.
        case "token": "not shown"
        case "at", "failed": UInt64(value).map(Show.time) ?? CellText.oneLine(value)
        default: CellText.oneLine(value)
        }
    }

    private func check(_ value: String, at start: Int) -> InspectLine.Check {
        let found = Checksum.crc32c(bytes.span.raw.extracting(0..<start))
        return value == "\(found)" ? .good : .bad("should be \(found)")
    }

    private func line(
        _ name: String,
        _ value: String = "",
        at offset: Int,
        size: Int,
        check: InspectLine.Check = .none
    ) -> InspectLine {
        InspectLine(
            offset: offset,
            size: size,
            depth: 0,
            name: CellText.oneLine(name),
            value: value,
            section: section,
            check: check
        )
    }
}
