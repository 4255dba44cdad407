import DiarioCore
import DiarioFormat
import DiarioLog

/// Tells what the files of an inbox say, those of kept events, and notes of imports:
/// schema/format/sync.md, sections 8, 9 and 12.
struct InboxInspector {
    let bytes: [UInt8]
    /// The file's own name, which is made of the origin of the first event.
    let name: String
    let showsRows: Bool

    private static let headerSize = 24

    /// A refused batch: a header, and a block as in a push.
    func batch() -> [InspectLine] {
        inspect("refused batch", "Y8") { (reader) throws(InspectStop) in
            try header("DBOX", "size of the block", &reader)
            BlockInspector(showsRows: showsRows).inspect(&reader)
        } check: { () throws(FormatError) in
            let entry = try InboxEntry(bytes.span)
            return Self.events(entry.origin, UInt64(entry.sequences.count), ".dbox")
        }
    }

    /// Events of others: a header, and blocks with positions.
    func kept() -> [InspectLine] {
        inspect("kept events", "Y9") { (reader) throws(InspectStop) in
            try header("DKEP", "size of the blocks", &reader)
            try reader.raw("blocks", count: reader.remaining)
        } check: { () throws(FormatError) in
            let kept = try KeptEvents(bytes.span)
            return (
                name,
                "\(Show.count(UInt64(kept.eventCount), "event")) of "
                    + Show.count(UInt64(kept.replicas.count), "replica")
            )
        }
    }

    private func header(
        _ magic: String,
        _ size: String,
        _ reader: inout FieldReader
    ) throws(InspectStop) {
        try reader.magic(magic)
        try SmallFiles.version(&reader)
        try reader.zeros(3)
        try reader.number("written at", size: 8, show: Show.time)
        let rest = bytes.count - Self.headerSize
        try reader.number(
            size,
            size: 4,
            problem: { $0 == UInt64(max(0, rest)) ? nil : "\(rest) bytes are there" }
        )
        try reader.checksum(of: 0..<20, min(Self.headerSize, bytes.count)..<bytes.count)
    }

    /// Where a batch is recorded again.
    func note() -> [InspectLine] {
        inspect("note", "Y8") { (reader) throws(InspectStop) in
            try reader.magic("DNEW")
            try SmallFiles.version(&reader)
            try reader.zeros(3)
            try reader.number("replica", size: 8, show: Show.id, problem: SmallFiles.notZero)
            try reader.number("first sequence", size: 8)
            try reader.number("events", size: 8)
            try reader.number(
                "recorded again by replica",
                size: 8,
                show: Show.id,
                problem: SmallFiles.notZero
            )
            try reader.number("first sequence there", size: 8)
            try reader.zeros(4)
            try reader.checksum(of: 0..<52)
        } check: { () throws(FormatError) in
            let note = try InboxNote(bytes.span)
            return Self.events(note.old, note.count, ".dnew")
        }
    }

    /// What was imported from other spaces.
    func imports() -> [InspectLine] {
        inspect("note of an import", "Y12") { (reader) throws(InspectStop) in
            try reader.magic("DIMP")
            try SmallFiles.version(&reader)
            try reader.zeros(3)
            try reader.number("replica", size: 8, show: Show.id)
            try reader.number("first sequence", size: 8)
            try reader.number("events", size: 4)
            let count = try reader.number("runs", size: 4)
            try reader.raw("digest", count: 32)
            for _ in 0..<count {
                try reader.number(
                    "replica there",
                    size: 8,
                    show: Show.id,
                    problem: SmallFiles.notZero
                )
                reader.depth += 1
                defer { reader.depth -= 1 }
                try reader.number("first sequence there", size: 8)
                try reader.number("events", size: 8)
                try reader.number(
                    "recorded by replica",
                    size: 8,
                    show: Show.id,
                    problem: SmallFiles.notZero
                )
                try reader.number("first sequence", size: 8)
            }
            try reader.zeros(4)
            try reader.checksum(of: 0..<reader.offset)
        } check: { () throws(FormatError) in
            let note = try ImportNote(bytes.span)
            guard let group = note.group else {
                let count = note.runs.reduce(0) { $0 + $1.count }
                return ("known.dimp", "\(Show.count(count, "event")) of other spaces")
            }
            return Self.events(group.first, UInt64(group.count), ".dimp")
        }
    }

    /// How the file of these events is called, and what it says in short.
    private static func events(
        _ first: Origin,
        _ count: UInt64,
        _ suffix: String
    ) -> (name: String, value: String) {
        (
            "\(first.replica.text)-\(Show.long(first.sequence))\(suffix)",
            "\(Show.count(count, "event")) from \(first.text)"
        )
    }

    /// What `fields` notes, below a line that says whether all of it is in order.
    private func inspect(
        _ what: String,
        _ section: String,
        fields: (inout FieldReader) throws(InspectStop) -> Void,
        check: () throws(FormatError) -> (name: String, value: String)
    ) -> [InspectLine] {
        var reader = FieldReader(bytes, range: 0..<bytes.count, section: section)
        do throws(FormatError) {
            let (called, value) = try check()
            reader.note(
                what,
                value,
                at: 0,
                size: bytes.count,
                check: name == called ? .good : .bad("the file is called otherwise")
            )
        } catch {
            reader.note(what, at: 0, size: bytes.count, check: .bad(error.message))
        }
        reader.depth = 1
        // A stop has noted already what is missing.
        guard (try? fields(&reader)) != nil, reader.remaining > 0 else { return reader.takeLines() }
        reader.note(
            "rest",
            at: reader.offset,
            size: reader.remaining,
            check: .bad("nothing follows")
        )
        return reader.takeLines()
    }
}
