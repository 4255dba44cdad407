import DiarioCore
import DiarioFormat

/// Tells what a file of a data directory says, from the document's point of view.
///
/// The kind of file is found by its first bytes, else by its name. It goes on after damage where
/// the format says where the next part begins.
package struct FileInspector {
    private let bytes: [UInt8]
    private let name: String
    private let showsRows: Bool

    /// Larger files are not ours.
    package static let sizeMax = 4 * Limits.logFileSizeMax

    /// `name` is the file's own name without its folder.
    package init(_ bytes: [UInt8], name: String, showsRows: Bool) {
        self.bytes = bytes
        self.name = name
        self.showsRows = showsRows
    }

    private var namedLines: NamedLinesInspector? { NamedLinesInspector(bytes, name: name) }

    private var whole: Range<Int> { 0..<bytes.count }

    /// What kind of file it is, for people; nil if it is none of ours.
    package var kind: String? {
        if name.hasPrefix("cut-") { return "bytes that recovery cut" }
        switch String(decoding: bytes.prefix(4), as: UTF8.self) {
        case "DWAL": return "file of the write-ahead log"
        case "DMAN": return "manifest of a space"
        case "DREP": return "replica file"
        case "DPUB": return "attempt to publish"
        case "DSYN": return "synced mark"
        case "DBLK": return "block"
        case "DFRM": return "frames"
        case "DSEG": return "segment"
        case "DPER": return "sidecar of a segment"
        case "DROW": return "row file"
        case "DTIL": return "mark of the tiles"
        case "DLST": return "list of lost positions"
        case "DBOX": return "refused batch"
        case "DKEP": return "kept events"
        case "DNEW": return "note of a batch that is recorded again"
        case "DIMP": return "note of an import"
        default: break
        }
        if name.hasSuffix(".dwal") { return "file of the write-ahead log" }
        if name.hasSuffix(".drow") { return "row file" }
        if name.hasSuffix(".dseg") { return "segment" }
        if name.hasSuffix(".dper") { return "sidecar of a segment" }
        if name.hasSuffix(".dbox") { return "refused batch" }
        if name.hasSuffix(".dkep") { return "kept events" }
        if name.hasSuffix(".dnew") { return "note of a batch that is recorded again" }
        if name.hasSuffix(".dimp") { return "note of an import" }
        if let named = namedLines { return named.kind }
        if let level = Int(name), 1...Tile.levelMax ~= level { return "hashes of tiles" }
        switch name {
        case "format": return "format of the directory"
        case "lock": return "lock"
        case "reserve": return "reserve"
        case "no-restore": return "mark of an authority that takes nothing back"
        case "manifest", "removed": return "manifest of a space"
        case "replica": return "replica file"
        case "publishing": return "attempt to publish"
        case "synced": return "synced mark"
        case "size": return "mark of the tiles"
        case "lost": return "list of lost positions"
        case "moving", "sealing", "serving", "staging": return "lock"
        default: return nil
        }
    }

    /// Hands the lines to `take`, part by part; memory is bounded by the largest frame.
    package func inspect<Failure: Error>(
        _ take: ([InspectLine]) throws(Failure) -> Void
    ) throws(Failure) {
        switch kind {
        case "file of the write-ahead log":
            try LogFileInspector(bytes, base: 0, showsRows: showsRows).inspect(take)
        case "frames":
            try LogFileInspector(bytes, base: 0, showsRows: showsRows).inspectFrames(
                from: 0,
                generation: nil,
                take
            )
        case "bytes that recovery cut":
            try LogFileInspector(bytes, base: cutOffset, showsRows: showsRows).inspectFrames(
                from: 0,
                generation: nil,
                take
            )
        case "row file": try RowFileInspector(bytes, showsRows: showsRows).inspect(take)
        case "manifest of a space": try take(SmallFiles.manifest(bytes))
        case "replica file": try take(SmallFiles.replica(bytes))
        case "attempt to publish": try take(SmallFiles.publishing(bytes))
        case "synced mark": try take(SmallFiles.syncedMark(bytes))
        case "format of the directory": try take(SmallFiles.format(bytes))
        case "segment": try take(SegmentInspector(bytes: bytes, file: .segment).inspect())
        case "sidecar of a segment":
            try take(SegmentInspector(bytes: bytes, file: .sidecar).inspect())
        case "list of lost positions": try take(SmallFiles.lost(bytes))
        case "refused batch":
            try take(InboxInspector(bytes: bytes, name: name, showsRows: showsRows).batch())
        case "kept events":
            try take(InboxInspector(bytes: bytes, name: name, showsRows: showsRows).kept())
        case "note of a batch that is recorded again":
            try take(InboxInspector(bytes: bytes, name: name, showsRows: showsRows).note())
        case "note of an import":
            try take(InboxInspector(bytes: bytes, name: name, showsRows: showsRows).imports())
        case "mark of the tiles": try take(SmallFiles.tileMark(bytes))
        case "hashes of tiles": try take(SmallFiles.tileHashes(bytes))
        case "lock": try take(SmallFiles.lock(bytes))
        case namedLines?.kind: try take(namedLines?.inspect() ?? [])
        case "reserve": try take(SmallFiles.reserve(bytes))
        case "block":
            var reader = FieldReader(bytes, range: whole, section: "6")
            BlockInspector(showsRows: showsRows).inspect(&reader)
            try take(reader.takeLines())
        default: break
        }
    }

    /// Where in its file the frame stood of which this is a copy: `cut-<number>-<offset>`.
    private var cutOffset: Int { name.split(separator: "-").last.flatMap { Int($0) } ?? 0 }
}
