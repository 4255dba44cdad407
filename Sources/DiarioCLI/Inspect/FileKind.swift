import DiarioCore
import DiarioFormat
import DiarioLog

/// A kind of file below `.diario`: how it is recognized, and the table of its fields.
struct FileKind: Sendable {
    /// For people.
    let title: String
    /// The section that defines it, as lines name it.
    let section: String
    /// The first bytes of such a file.
    var magic: String?
    /// Its names; one that begins with a dot is the end of a name.
    var names: [String] = []
    /// Whether it may be empty, as a lock that nobody held.
    var mayBeEmpty = false
    /// Whether a block follows the fields.
    var endsWithBlock = false
    let content: Content

    enum Content: Sendable {
        /// One structure.
        case fields([Field])
        /// One structure that the program's own decoder checks too: it gives the name that the file
        /// should have, and what it says in short.
        case checked([Field], @Sendable ([UInt8], String) throws -> (name: String, value: String))
        /// Lines, each a name and a value, the last a CRC32C.
        case lines
        /// The line of the file `format`.
        case formatLine
        case log
        case frames
        case block
        case segment(SegmentFile)
    }

    /// The kind of a file by its first bytes, else by its name; nil if it is none of ours.
    static func find(_ bytes: [UInt8], named name: String) -> FileKind? {
        if name.hasPrefix("cut-") { return cut }
        if let kind = all.first(where: { $0.magic.map { bytes.starts(with: $0.utf8) } ?? false }) {
            return kind
        }
        if let level = Int(name), 1...Tile.levelMax ~= level { return tileHashes }
        return all.first { kind in
            kind.names.contains { $0.hasPrefix(".") ? name.hasSuffix($0) : name == $0 }
        }
    }

    /// Bytes of the log that recovery cut, in a file `cut-<number>-<offset>`.
    private static let cut = FileKind(
        title: "bytes that recovery cut",
        section: "8",
        content: .frames
    )

    private static let tileHashes = FileKind(
        title: "hashes of tiles",
        section: "P7",
        // The values that they must have are not in this file.
        content: .fields([.rest("hashes", partSize: 32)])
    )

    private static let all: [FileKind] = [
        FileKind(
            title: "file of the write-ahead log",
            section: "8",
            magic: "DWAL",
            names: [".dwal"],
            content: .log
        ),
        FileKind(title: "frames", section: "8", magic: "DFRM", content: .frames),
        FileKind(title: "block", section: "6", magic: "DBLK", content: .block),
        FileKind(
            title: "segment",
            section: "S3",
            magic: "DSEG",
            names: [".dseg"],
            content: .segment(.segment)
        ),
        FileKind(
            title: "sidecar of a segment",
            section: "S4",
            magic: "DPER",
            names: [".dper"],
            content: .segment(.sidecar)
        ),
        FileKind(
            title: "manifest of a space",
            section: "7",
            magic: "DMAN",
            names: ["manifest", "removed"],
            content: .fields(manifest)
        ),
        FileKind(
            title: "replica file",
            section: "7",
            magic: "DREP",
            names: ["replica"],
            content: .fields(replica)
        ),
        FileKind(
            title: "attempt to publish",
            section: "7",
            magic: "DPUB",
            names: ["publishing"],
            content: .fields(publishing)
        ),
        FileKind(
            title: "synced mark",
            section: "8",
            magic: "DSYN",
            names: ["synced"],
            content: .fields(syncedMark)
        ),
        FileKind(
            title: "list of lost positions",
            section: "7",
            magic: "DLST",
            names: ["lost"],
            content: .fields(lost)
        ),
        FileKind(
            title: "mark of the tiles",
            section: "P7",
            magic: "DTIL",
            names: ["size"],
            content: .fields(tileMark)
        ),
        FileKind(
            title: "refused batch",
            section: "Y8",
            magic: "DBOX",
            names: [".dbox"],
            endsWithBlock: true,
            content: .checked(box("DBOX")) { bytes, _ in
                let entry = try InboxEntry(bytes.span)
                return events(entry.origin, UInt64(entry.sequences.count), ".dbox")
            }
        ),
        FileKind(
            title: "kept events",
            section: "Y9",
            magic: "DKEP",
            names: [".dkep"],
            content: .checked(box("DKEP") + [.rest("blocks")]) { bytes, name in
                let kept = try KeptEvents(bytes.span)
                let replicas = Show.count(UInt64(kept.replicas.count), "replica")
                return (name, "\(Show.count(UInt64(kept.eventCount), "event")) of \(replicas)")
            }
        ),
        FileKind(
            title: "note of a batch that is recorded again",
            section: "Y8",
            magic: "DNEW",
            names: [".dnew"],
            content: .checked(recordedAgain) { bytes, _ in
                let note = try InboxNote(bytes.span)
                return events(note.old, note.count, ".dnew")
            }
        ),
        FileKind(
            title: "note of an import",
            section: "Y12",
            magic: "DIMP",
            names: [".dimp"],
            content: .checked(imports) { bytes, _ in
                let note = try ImportNote(bytes.span)
                guard let group = note.group else {
                    let count = note.runs.reduce(0) { $0 + $1.count }
                    return ("known.dimp", "\(Show.count(count, "event")) of other spaces")
                }
                return events(group.first, UInt64(group.count), ".dimp")
            }
        ),
        FileKind(
            title: "address of a server",
            section: "7",
            magic: "diario-remote 1\n",
            names: ["remote"],
            content: .lines
        ),
        FileKind(
            title: "note of the last sync",
            section: "7",
            magic: "diario-last-sync 1\n",
            names: ["last-sync"],
            content: .lines
        ),
        FileKind(
            title: "mark of a backup",
            section: "15",
            magic: "diario-backup 1\n",
            names: ["backup"],
            content: .lines
        ),
        FileKind(
            title: "format of the directory",
            section: "7",
            names: ["format"],
            content: .formatLine
        ),
        FileKind(
            title: "lock",
            section: "7",
            names: ["lock", "sealing", "serving", "staging"],
            mayBeEmpty: true,
            content: .fields([
                .number("process of the last holder", 4), .number("number drawn at open", 4),
                .number("note: newest log file"),
            ])
        ),
        FileKind(
            title: "mark of an authority that takes nothing back",
            section: "7",
            names: ["no-restore"],
            mayBeEmpty: true,
            content: .fields([])
        ),
        FileKind(
            title: "reserve",
            section: "7",
            names: ["reserve"],
            content: .fields([.zeros(nil)])
        ),
    ]

    /// The name of a file about these events, and what it says in short.
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
}
