// The files of a directory that have a fixed size: schema/format/log.md, sections 7 and 8.

/// Inspects files that are one structure.
enum SmallFiles {
    static func manifest(_ bytes: [UInt8]) -> [InspectLine] {
        let isFirst = bytes.count < 5 || bytes[4] == 1
        return read(bytes, size: isFirst ? 64 : nil, section: "7") {
            (reader) throws(InspectStop) in
            try reader.magic("DMAN")
            try reader.number("version", size: 1, problem: { $0 <= 3 ? nil : "unknown version" })
            try reader.number(
                "flags",
                size: 1,
                show: { Show.flags($0, ["authority", "staging", "lost", "served", "waiting"]) },
                problem: { $0 > 31 ? "unknown flags" : nil }
            )
            try reader.zeros(2)
            try reader.number("space", size: 8, show: Show.id, problem: notZero)
            let lineage = try lineage(&reader)
            reader.note("lineage", lineage, at: 16, size: 16)
            try reader.number("epoch", size: 8)
            try reader.number("authority's replica", size: 8, show: Show.id)
            try reader.number("replaces space", size: 8, show: Show.id)
            if !isFirst { try segments(&reader, hasPrivate: bytes[4] == 3) }
            try reader.zeros(4)
            try reader.checksum(of: 0..<reader.offset)
        }
    }

    /// What a manifest of version 2 or 3 lists.
    private static func segments(
        _ reader: inout FieldReader,
        hasPrivate: Bool
    ) throws(InspectStop) {
        let count = try reader.number("segments", size: 4)
        let retired = try reader.number("retired segments", size: 4)
        var privateCount: UInt64 = 0
        if hasPrivate {
            privateCount = try reader.number("private segments", size: 4)
            try reader.zeros(4)
        }
        for index in 0..<count + privateCount {
            try reader.number(
                index < count ? "first position" : "private: first sequence",
                size: 8,
                problem: { $0 == 0 ? "not from 1" : nil }
            )
            reader.depth += 1
            defer { reader.depth -= 1 }
            try reader.number("number in its name", size: 8, show: Show.long)
            try reader.number("events", size: 4)
            try reader.number("CRC32C of its sidecar", size: 4, show: { Show.word(UInt32($0)) })
            try reader.number("length of the segment", size: 8)
            try reader.number("length of the sidecar", size: 8)
            try reader.number("bytes of its rows", size: 8)
            try reader.raw("identity", count: 16)
            if index < count {
                try reader.zeros(8)
            } else {
                try reader.number("replica", size: 8, show: Show.id, problem: notZero)
            }
        }
        for _ in 0..<retired {
            try reader.number("retired: first position or sequence", size: 8)
            try reader.number("number in its name", size: 8, show: Show.long)
            try reader.number("since", size: 8, show: Show.time)
        }
    }

    /// The list of lost positions.
    static func lost(_ bytes: [UInt8]) -> [InspectLine] {
        read(bytes, size: nil, section: "7") { (reader) throws(InspectStop) in
            try reader.magic("DLST")
            try reader.number(
                "version",
                size: 4,
                problem: { 1...2 ~= $0 ? nil : "unknown version" }
            )
            let count = try reader.number("ranges", size: 4)
            try reader.zeros(4)
            for _ in 0..<count {
                try reader.number("first position", size: 8)
                reader.depth += 1
                defer { reader.depth -= 1 }
                try reader.number("last position", size: 8)
                try reader.number("since", size: 8, show: Show.time)
                let hashes = try reader.number("hashes", size: 4)
                let runs = try reader.number("kept runs", size: 4)
                for _ in 0..<hashes { try reader.raw("hash of a subtree", count: 32) }
                for _ in 0..<runs {
                    try reader.number("first kept position", size: 8)
                    try reader.number("last kept position", size: 8)
                }
            }
            try reader.zeros(4)
            try reader.checksum(of: 0..<reader.offset)
        }
    }

    static func tileMark(_ bytes: [UInt8]) -> [InspectLine] {
        read(bytes, size: nil, section: "P7") { (reader) throws(InspectStop) in
            try reader.magic("DTIL")
            try reader.number("version", size: 4, problem: { $0 == 1 ? nil : "unknown version" })
            let size = try reader.number("leaves", size: 8)
            for _ in 0..<size.nonzeroBitCount {
                try reader.raw("node of the compact range", count: 32)
            }
            try reader.zeros(4)
            try reader.checksum(of: 0..<reader.offset)
        }
    }

    /// Hashes of one level, 256 of which are a tile; what they must be is not in this file.
    static func tileHashes(_ bytes: [UInt8]) -> [InspectLine] {
        let (count, rest) = bytes.count.quotientAndRemainder(dividingBy: 32)
        let value = "\(ProgressLine.grouped(UInt64(count))) of 32 bytes"
        return [
            line(
                0,
                bytes.count,
                "hashes",
                value,
                "P7",
                rest == 0 ? .good : .bad("the last one is cut off")
            )
        ]
    }

    static func replica(_ bytes: [UInt8]) -> [InspectLine] {
        read(bytes, size: nil, section: "7") { (reader) throws(InspectStop) in
            try reader.magic("DREP")
            let version = try reader.number(
                "version",
                size: 1,
                problem: { 1...3 ~= $0 ? nil : "unknown version" }
            )
            try reader.zeros(3)
            try reader.number("replica", size: 8, show: Show.id, problem: notZero)
            try reader.number("inode of this file", size: 8)
            try reader.number("made at", size: 8, show: Show.nanoseconds)
            try reader.raw("machine, hashed", count: 32)
            if version > 1 {
                let count = try reader.number("former ids", size: 4)
                try reader.zeros(4)
                for _ in 0..<count {
                    try reader.number("former id", size: 8, show: Show.id, problem: notZero)
                    if version > 2 { try reader.number("its last sequence", size: 8) }
                }
            }
            try reader.zeros(4)
            try reader.checksum(of: 0..<reader.offset)
        }
    }

    static func publishing(_ bytes: [UInt8]) -> [InspectLine] {
        read(bytes, size: 80, section: "7") { (reader) throws(InspectStop) in
            try reader.magic("DPUB")
            try version(&reader)
            try reader.number(
                "what is done",
                size: 1,
                show: { $0 == 2 ? "the authority is taken back" : "the other side is asked" },
                problem: { 1...2 ~= $0 ? nil : "unknown" }
            )
            try reader.zeros(2)
            try reader.raw("attempt", count: 16)
            try reader.number("size", size: 8)
            try reader.raw("root", count: 32)
            try reader.number("last event accepted at", size: 8, show: Show.time)
            try reader.zeros(4)
            try reader.checksum(of: 0..<76)
        }
    }

    static func syncedMark(_ bytes: [UInt8]) -> [InspectLine] {
        let isFirst = bytes.count < 5 || bytes[4] == 1
        return read(bytes, size: isFirst ? 32 : 40, section: "8") {
            (reader) throws(InspectStop) in
            try reader.magic("DSYN")
            try reader.number("version", size: 4, problem: { $0 <= 2 ? nil : "unknown version" })
            try reader.number("generation", size: 8, show: Show.long)
            try reader.number("synced length", size: 8)
            if !isFirst { try reader.number("number of the file", size: 8) }
            try reader.checksum(of: 0..<reader.offset)
            try reader.zeros(4)
        }
    }

    static func lock(_ bytes: [UInt8]) -> [InspectLine] {
        guard !bytes.isEmpty else {
            return [line(0, 0, "lock", "never held", "7", .good)]
        }
        return read(bytes, size: 16, section: "7") { (reader) throws(InspectStop) in
            try reader.number("process of the last holder", size: 4)
            try reader.number("number drawn at open", size: 4)
            try reader.number("note: newest log file", size: 8)
        }
    }

    static func format(_ bytes: [UInt8]) -> [InspectLine] {
        let text = String(decoding: bytes.prefix(200), as: UTF8.self)
        let words = text.split(separator: " ")
        let isRight =
            words.count == 6 && text.hasSuffix("\n") && words[0] == "diario"
            && words[1] == "format" && words[3] == "readable" && words[4] == "by"
            && Int(words[2]) != nil && Int(words[5].dropLast()) != nil
        return [
            line(
                0,
                bytes.count,
                "line",
                CellText.oneLine(String(text.prefix { $0 != "\n" })),
                "7",
                isRight ? .good : .bad("is not: diario format N readable by N")
            )
        ]
    }

    static func reserve(_ bytes: [UInt8]) -> [InspectLine] {
        let isRight = bytes.allSatisfy { $0 == 0 }
        return [line(0, bytes.count, "zeros", "", "7", isRight ? .good : .bad("not zero"))]
    }

    static func version(_ reader: inout FieldReader) throws(InspectStop) {
        try reader.number("version", size: 1, problem: { $0 == 1 ? nil : "unknown version" })
    }

    static func notZero(_ value: UInt64) -> String? { value == 0 ? "an id is not zero" : nil }

    /// 32 digits, as exports and messages have it; the field's own line is noted by the caller.
    private static func lineage(_ reader: inout FieldReader) throws(InspectStop) -> String {
        guard reader.remaining >= 16 else {
            try reader.raw("lineage", count: 16)
            return ""
        }
        let start = reader.offset
        reader.offset += 16
        return Show.long(FieldReader.littleEndian(reader.bytes, at: start, size: 8))
            + Show.long(FieldReader.littleEndian(reader.bytes, at: start + 8, size: 8))
    }

    private static func read(
        _ bytes: [UInt8],
        size: Int?,
        section: String,
        _ body: (inout FieldReader) throws(InspectStop) -> Void
    ) -> [InspectLine] {
        var reader = FieldReader(bytes, range: 0..<bytes.count, section: section)
        // A stop has noted already what is missing.
        guard (try? body(&reader)) != nil else { return reader.takeLines() }
        let size = size ?? reader.offset
        if bytes.count != size {
            reader.note(
                "rest",
                at: size,
                size: bytes.count - size,
                check: .bad("the file has \(bytes.count) bytes instead of \(size)")
            )
        }
        return reader.takeLines()
    }

    private static func line(
        _ offset: Int,
        _ size: Int,
        _ name: String,
        _ value: String,
        _ section: String,
        _ check: InspectLine.Check
    ) -> InspectLine {
        InspectLine(
            offset: offset,
            size: size,
            depth: 0,
            name: name,
            value: value,
            section: section,
            check: check
        )
    }
}
