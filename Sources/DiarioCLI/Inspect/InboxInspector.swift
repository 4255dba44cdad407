import DiarioCore
import DiarioFormat
import DiarioLog

/// Tells what the files of an inbox say: schema/format/sync.md, section 8.
struct InboxInspector {
    let bytes: [UInt8]
    /// The file's own name, which is made of the origin of the batch.
    let name: String
    let showsRows: Bool

    private static let headerSize = 24

    /// A refused batch: a header, and a block as in a push.
    func batch() -> [InspectLine] {
        inspect("refused batch", ".dbox") { (reader) throws(InspectStop) in
            try reader.magic("DBOX")
            try SmallFiles.version(&reader)
            try reader.zeros(3)
            try reader.number("written at", size: 8, show: Show.time)
            let rest = bytes.count - Self.headerSize
            try reader.number(
                "size of the block",
                size: 4,
                problem: { $0 == UInt64(max(0, rest)) ? nil : "\(rest) bytes are there" }
            )
            try reader.checksum(of: 0..<20, min(Self.headerSize, bytes.count)..<bytes.count)
            BlockInspector(showsRows: showsRows).inspect(&reader)
        } check: { () throws(FormatError) in
            let entry = try InboxEntry(bytes.span)
            return (entry.origin, UInt64(entry.sequences.count))
        }
    }

    /// Where a batch is recorded again.
    func note() -> [InspectLine] {
        inspect("note", ".dnew") { (reader) throws(InspectStop) in
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
            return (note.old, note.count)
        }
    }

    /// What `fields` notes, below a line that says whether all of it is in order.
    private func inspect(
        _ what: String,
        _ suffix: String,
        fields: (inout FieldReader) throws(InspectStop) -> Void,
        check: () throws(FormatError) -> (first: Origin, count: UInt64)
    ) -> [InspectLine] {
        var reader = FieldReader(bytes, range: 0..<bytes.count, section: "Y8")
        do throws(FormatError) {
            let (first, count) = try check()
            let sequence = Show.long(first.sequence)
            let isNamed = name == "\(first.replica.text)-\(sequence)\(suffix)"
            reader.note(
                what,
                "\(Show.count(count, "event")) from \(first.text)",
                at: 0,
                size: bytes.count,
                check: isNamed ? .good : .bad("the file is called otherwise")
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
