import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog

/// A kind of file below `.diario`: how it is recognized, and the table of its fields.
struct FileKind: Sendable {
    /// For people.
    let title: String
    /// The section that defines it, as lines name it.
    let section: String
    /// The first bytes of such a file; nil if any may come first.
    let magic: String?
    /// Its names; one that begins with a dot is the end of a name.
    let names: [String]
    let content: Content

    init(
        _ title: String,
        _ section: String,
        _ magic: String?,
        _ names: [String],
        _ content: Content
    ) {
        self.title = title
        self.section = section
        self.magic = magic
        self.names = names
        self.content = content
    }

    enum Content: Sendable {
        /// One structure.
        case fields([Field])
        /// One structure that the program's own decoder checks too.
        case checked([Field], @Sendable ([UInt8]) throws -> Verdict)
        /// A file of blocks, which the program's own decoder checks too.
        case blocks(@Sendable ([UInt8]) throws -> Verdict)
        /// Lines, each a name and a value, the last a CRC32C.
        case lines
        /// The line of the file `format`.
        case formatLine
        /// Stored bytes, whose hash is the name.
        case blob
        case log
        case frames
        case block
        case segment(SegmentFile)
    }

    /// The name that a file should have, if it must have one, and its content in short.
    typealias Verdict = (name: String?, value: String)

    /// The kind of a file by its first bytes, else by its name; nil if it is none of ours.
    static func find(_ bytes: [UInt8], named name: String) -> FileKind? {
        if name.hasPrefix("cut-") { return cut }
        if let kind = all.first(where: { $0.magic.map { bytes.starts(with: $0.utf8) } ?? false }) {
            return kind
        }
        if let level = Int(name), 1...Tile.levelMax ~= level { return tileHashes }
        if Hash32(text: name) != nil { return blob }
        return all.first { kind in
            kind.names.contains { $0.hasPrefix(".") ? name.hasSuffix($0) : name == $0 }
        }
    }

    /// Bytes of the log that recovery cut, in a file `cut-<number>-<offset>`.
    private static let cut = FileKind("bytes that recovery cut", "F3", nil, [], .frames)

    /// The values that they must have are not in this file.
    private static let tileHashes = FileKind(
        "hashes of tiles",
        "P7",
        nil,
        [],
        .fields([.rest("hashes", partSize: 32)])
    )

    /// A public one has any first bytes.
    private static let blob = FileKind("blob", "O3", "dblb", [], .blob)

    private static let all = [
        blob,
        FileKind("file of the write-ahead log", "F2", "dwal", [".dwal"], .log),
        FileKind("frames", "F3", "dfrm", [], .frames),
        FileKind("block", "B2", "dblk", [], .block),
        FileKind("segment", "S3", "dseg", [".dseg"], .segment(.segment)),
        FileKind("sidecar of a segment", "S4", "dper", [".dper"], .segment(.sidecar)),
        FileKind("manifest of a space", "D4", "dman", ["manifest", "removed"], .fields(manifest)),
        FileKind("replica file", "D5", "drep", ["replica"], .fields(replica)),
        FileKind("attempt to publish", "D6", "dpub", ["publishing"], .fields(publishing)),
        FileKind("synced mark", "F6", "dsyn", ["synced"], .fields(syncedMark)),
        FileKind("mark of the tiles", "P7", "dtil", ["size"], .fields(tileMark)),
        FileKind("address of a server", "D6", "diario-remote 1\n", ["remote"], .lines),
        FileKind("note of the last sync", "D6", "diario-last-sync 1\n", ["last-sync"], .lines),
        FileKind("actor of a replica", "D6", "diario-actor 1\n", ["actor"], .lines),
        FileKind("notes of blobs", "D10", "diario-blob-notes 1\n", ["blob-notes"], .lines),
        FileKind("mark of a backup", "D9", "diario-backup 1\n", ["backup"], .lines),
        FileKind("format of the directory", "D3", nil, ["format"], .formatLine),
        FileKind(
            "lock",
            "D3",
            nil,
            ["lock", "sealing", "serving", "staging", "blob-lock"],
            .fields(lock)
        ),
        FileKind(
            "mark of an authority that takes nothing back",
            "Y11",
            nil,
            ["no-restore"],
            .fields([.zeros(nil)])
        ),
        FileKind("reserve", "F6", nil, ["reserve"], .fields([.zeros(nil)])),
        FileKind("refused batch", "Y8", "dbox", [".dbox"], .blocks { try refusal($0) }),
        FileKind("kept events", "Y9", "dkep", [".dkep"], .blocks { try keeping($0) }),
        FileKind(
            "note of a batch that is recorded again",
            "Y8",
            "dnew",
            [".dnew"],
            .checked(recordedAgain) { try recording($0) }
        ),
        FileKind(
            "note of an import",
            "Y12",
            "dimp",
            [".dimp"],
            .checked(imports) { try importing($0) }
        ),
    ]

    // MARK: Verdicts

    private static func refusal(_ bytes: [UInt8]) throws -> Verdict {
        let entry = try InboxEntry(bytes.span)
        return events(entry.origin, UInt64(entry.sequences.count), ".dbox")
    }

    private static func keeping(_ bytes: [UInt8]) throws -> Verdict {
        let kept = try KeptEvents(bytes.span)
        let replicas = Show.count(UInt64(kept.replicas.count), "replica")
        return (nil, "\(Show.count(UInt64(kept.eventCount), "event")) of \(replicas)")
    }

    private static func recording(_ bytes: [UInt8]) throws -> Verdict {
        let note = try InboxNote(bytes.span)
        return events(note.old, note.count, ".dnew")
    }

    private static func importing(_ bytes: [UInt8]) throws -> Verdict {
        let note = try ImportNote(bytes.span)
        if let group = note.group { return events(group.first, UInt64(group.count), ".dimp") }
        let count = note.runs.reduce(0) { $0 + $1.count }
        return ("known.dimp", "\(Show.count(count, "event")) of other spaces")
    }

    private static func events(_ first: Origin, _ count: UInt64, _ suffix: String) -> Verdict {
        (
            "\(first.replica.text)-\(Show.long(first.sequence))\(suffix)",
            "\(Show.count(count, "event")) from \(first.text)"
        )
    }
}
