package import DiarioCore
package import DiarioCrypto
import DiarioFrames

/// Where things lie in a data directory, but for the write-ahead log: schema/format/directory.md.
package enum LogPaths {
    package static let directoryName = ".diario"
    package static let format = "format"
    package static let lock = "lock"
    /// What a server knows of its spaces; there is none in other folders.
    package static let control = "control.sqlite"
    /// Held by the one process that serves the directory.
    package static let servingLock = "serving"
    package static let packs = "packs"
    package static let spaces = "spaces"
    /// The blobs of all spaces.
    package static let blobs = "blobs"
    /// The stored bytes of a blob.
    package static func blob(_ id: Hash32) -> String { "\(blobs)/\(id.text)" }
    /// Bytes that had the name of a blob, and were found to be others.
    static func damagedBlob(_ id: Hash32) -> String { blob(id) + damagedBlobSuffix }
    /// The blob of which a file in `blobs` has damaged bytes; nil if it is another file.
    static func damagedBlob(_ name: String) -> Hash32? {
        guard name.hasSuffix(damagedBlobSuffix) else { return nil }
        return Hash32(text: String(name.dropLast(damagedBlobSuffix.utf8.count)))
    }
    private static let damagedBlobSuffix = ".damaged"
    /// A text that changes whenever damaged bytes lose the name of a blob.
    static let lostBlobs = "\(blobs)/lost"
    /// A lock; the file of this name with ".new" is a blob that its holder writes.
    static func blobPut(_ number: Int) -> String { "\(blobs)/put-\(number)" }
    /// The beginning of a blob that comes for a space; it is continued until it is whole.
    static func blobPart(_ id: Hash32, of space: SpaceID) -> String {
        "\(blobs)/\(id.text)-\(space.text)\(blobPartSuffix)"
    }

    /// What the name of a file in `blobs` says of a blob that is coming; nil if it is another file.
    static func blobPart(_ name: String) -> (id: Hash32, space: SpaceID)? {
        guard name.hasSuffix(blobPartSuffix) else { return nil }
        let words = name.dropLast(blobPartSuffix.utf8.count).split(
            separator: "-",
            omittingEmptySubsequences: false
        )
        guard words.count == 2, let id = Hash32(text: String(words[0])),
            let space = SpaceID(text: String(words[1]))
        else { return nil }
        return (id, space)
    }

    private static let blobPartSuffix = ".part"
    /// What is known of the blobs that travel between the space and its server.
    package static func blobNotes(_ space: SpaceID) -> String { "spaces/\(space.text)/blob-notes" }
    /// Held by the one process that exchanges the blobs of a space.
    static func blobLock(_ space: SpaceID) -> String { "spaces/\(space.text)/blob-lock" }
    /// Says that the directory is a backup that nobody has written to.
    package static let backup = "backup"
    package static func space(_ space: SpaceID) -> String { "spaces/\(space.text)" }
    package static func manifest(_ space: SpaceID) -> String { "spaces/\(space.text)/manifest" }
    /// What the manifest is called once the space is not there any more.
    package static func removed(_ space: SpaceID) -> String { "spaces/\(space.text)/removed" }
    /// Names the space that is about to take the place of this one, or has taken it.
    package static func successor(_ space: SpaceID) -> String { "spaces/\(space.text)/successor" }
    package static func replica(_ space: SpaceID) -> String { "spaces/\(space.text)/replica" }
    /// What is known of an attempt to publish the space.
    package static func publishing(_ space: SpaceID) -> String {
        "spaces/\(space.text)/publishing"
    }
    /// Where the authority is, and the token for it.
    package static func remote(_ space: SpaceID) -> String { "spaces/\(space.text)/remote" }
    /// When the space was last in sync.
    package static func lastSync(_ space: SpaceID) -> String { "spaces/\(space.text)/last-sync" }
    /// Who acts here where nobody is named.
    package static func actor(_ space: SpaceID) -> String { "spaces/\(space.text)/actor" }
    /// What the server lets this replica do.
    package static func permission(_ space: SpaceID) -> String { "spaces/\(space.text)/permission" }
    package static func stagingLock(_ space: SpaceID) -> String { "spaces/\(space.text)/staging" }

    /// Held by the one process that seals a space.
    package static func sealingLock(_ space: SpaceID) -> String { "spaces/\(space.text)/sealing" }
    /// Where the files of read models are: schema/format/models.md.
    package static func models(_ space: SpaceID) -> String { "spaces/\(space.text)/models" }
    /// Own events that the authority refused: schema/format/sync.md, section 8.
    package static func inbox(_ space: SpaceID) -> String { "spaces/\(space.text)/inbox" }

    package static func inboxEntry(
        _ replica: ReplicaID,
        _ first: UInt64,
        of space: SpaceID
    ) -> String {
        "\(inbox(space))/\(replica.text)-\(FramePaths.hexadecimal(first))\(inboxSuffix)"
    }

    package static func isInboxEntry(_ name: String) -> Bool { name.hasSuffix(inboxSuffix) }

    /// Says under which sequences a batch of the inbox was recorded again.
    package static func inboxNote(
        _ replica: ReplicaID,
        _ first: UInt64,
        of space: SpaceID
    ) -> String {
        "\(inbox(space))/\(replica.text)-\(FramePaths.hexadecimal(first))\(inboxNoteSuffix)"
    }

    package static func isInboxNote(_ name: String) -> Bool { name.hasSuffix(inboxNoteSuffix) }

    /// Held by the one process that takes something out of an inbox.
    package static func inboxLock(_ space: SpaceID) -> String { "\(inbox(space))/lock" }

    private static let inboxSuffix = ".dbox"
    private static let inboxNoteSuffix = ".dnew"

    /// Events of others that the authority lost: schema/format/sync.md, section 9.
    package static func kept(_ space: SpaceID) -> String { "spaces/\(space.text)/kept" }

    package static func keptFile(_ number: UInt64, of space: SpaceID) -> String {
        "\(kept(space))/\(FramePaths.hexadecimal(number))\(keptSuffix)"
    }

    /// The number of a file of kept events; nil if that is not its name.
    static func keptNumber(_ name: String) -> UInt64? {
        guard name.hasSuffix(keptSuffix) else { return nil }
        let digits = name.dropLast(keptSuffix.utf8.count)
        guard let number = UInt64(digits, radix: 16), FramePaths.hexadecimal(number) == digits
        else {
            return nil
        }
        return number
    }

    private static let keptSuffix = ".dkep"

    /// Who made what events are about, as an authority asks: schema/format/directory.md.
    static func authors(_ space: SpaceID) -> String { "spaces/\(space.text)/authors" }

    /// The file in `folder` about a stretch of positions.
    static func authors(_ positions: ClosedRange<UInt64>, in folder: String) -> String {
        let first = FramePaths.hexadecimal(positions.lowerBound)
        return "\(folder)/\(first)-\(FramePaths.hexadecimal(positions.upperBound))\(authorsSuffix)"
    }

    static func isAuthors(_ name: String) -> Bool { name.hasSuffix(authorsSuffix) }

    private static let authorsSuffix = ".daut"

    /// There while an authority that waits takes nothing back from a replica.
    static func noRestore(_ space: SpaceID) -> String { "spaces/\(space.text)/no-restore" }

    /// Which events of other spaces were recorded here: schema/format/sync.md, section 12.
    package static func imports(_ space: SpaceID) -> String { "spaces/\(space.text)/imports" }

    /// Says under which sequences a group of events of another space is recorded.
    package static func importNote(_ first: Origin, of space: SpaceID) -> String {
        let name = "\(first.replica.text)-\(FramePaths.hexadecimal(first.sequence))"
        return "\(imports(space))/\(name)\(importSuffix)"
    }

    package static func knownImports(_ space: SpaceID) -> String {
        "\(imports(space))/known\(importSuffix)"
    }

    package static func isImportNote(_ name: String) -> Bool { name.hasSuffix(importSuffix) }

    /// Held by the one process that imports into a space.
    package static func importsLock(_ space: SpaceID) -> String { "\(imports(space))/lock" }

    private static let importSuffix = ".dimp"

    package static func segments(_ space: SpaceID) -> String { "spaces/\(space.text)/segments" }

    package static func segment(_ name: SegmentName, of space: SpaceID) -> String {
        "\(segments(space))/\(text(name)).dseg"
    }

    package static func sidecar(_ name: SegmentName, of space: SpaceID) -> String {
        "\(segments(space))/\(text(name)).dper"
    }

    /// The name of the sidecar within `segments`.
    package static func sidecarName(_ name: SegmentName) -> String { text(name) + ".dper" }

    /// What a file's name within `segments` names; nil if it is not that of a segment.
    package static func segmentName(_ file: String) -> SegmentName? {
        guard file.hasSuffix(".dseg") else { return nil }
        let parts = file.dropLast(5).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let first = UInt64(parts[0], radix: 16), first > 0,
            let number = UInt64(parts[1], radix: 16)
        else { return nil }
        let name = SegmentName(first: first, number: number)
        return text(name) + ".dseg" == file ? name : nil
    }

    private static func text(_ name: SegmentName) -> String {
        "\(FramePaths.hexadecimal(name.first))-\(FramePaths.hexadecimal(name.number))"
    }

    package static func pack(_ fingerprint: Hash32) -> String { "packs/\(fingerprint.text)" }

    package static func parent(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    }
}

/// A file that readers may have open.
enum FileName: Hashable, Sendable {
    case log(UInt64)
    case segment(SegmentName, SpaceID)
    case sidecar(SegmentName, SpaceID)

    var path: String {
        switch self {
        case .log(let number): FramePaths.file(number)
        case .segment(let name, let space): LogPaths.segment(name, of: space)
        case .sidecar(let name, let space): LogPaths.sidecar(name, of: space)
        }
    }
}
