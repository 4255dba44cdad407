package import DiarioCore
package import DiarioCrypto
import DiarioStorage

// What a replica knows of blobs that travel. Specified in schema/format/directory.md, section 10.

/// The content of a space's file `blob-notes`.
package struct BlobNotes: Equatable, Sendable {
    static let sizeMax = 16 * 1024 * 1024
    private static let heading = "diario-blob-notes 1"
    private static let reasonSizeMax = 200

    /// What is known of one blob.
    package enum Note: Hashable, Sendable {
        /// The server has all bytes.
        case sent
        /// The same, and those that are here came from it.
        case fetched
        /// The server has all bytes, and they are not here yet.
        case coming
        /// The server does not take the bytes, for this reason.
        case refused(String)

        /// True if bytes that are here came from the server, also if a crash came before the note.
        package var isOfServer: Bool { self == .fetched || self == .coming }
    }

    /// The address of the server that they are about.
    package let server: String
    /// Of the space, when it was asked.
    package let epoch: UInt64
    /// When it was asked about all of them.
    package let asked: Timestamp
    /// The text that the server sent then for what it lost; it changes when that loses something.
    package let losses: String?
    package var notes: [Hash32: Note] = [:]

    package init(server: String, epoch: UInt64, asked: Timestamp, losses: String?) {
        self.server = server
        self.epoch = epoch
        self.asked = asked
        self.losses = losses
    }

    /// Notes of what a person sees come first, if there are too many.
    package func encoded() -> [UInt8] {
        var lines: [(name: String, value: String)] = [
            ("server", server), ("epoch", "\(epoch)"), ("asked", "\(asked.milliseconds)"),
        ]
        let urgent = notes.filter { $0.value != .sent }
        let known = notes.filter { $0.value == .sent }
        if let losses { lines.append(("losses", Self.line(losses))) }
        for (id, note) in (Array(urgent) + Array(known)).prefix(Limits.blobNoteCountMax) {
            switch note {
            case .sent: lines.append((id.text, "sent"))
            case .fetched: lines.append((id.text, "fetched"))
            case .coming: lines.append((id.text, "coming"))
            case .refused(let reason):
                lines.append((id.text, "refused " + Self.line(reason)))
            }
        }
        return NamedLines.encode(Self.heading, lines)
    }

    /// Nil unless `bytes` are such a file that verifies.
    package init?(_ bytes: [UInt8]) {
        guard let lines = NamedLines.decode(bytes, Self.heading), let server = lines["server"],
            let epoch = lines["epoch"].flatMap({ UInt64($0) }),
            let asked = lines["asked"].flatMap({ Int64($0) })
        else { return nil }
        self.init(
            server: server,
            epoch: epoch,
            asked: Timestamp(milliseconds: asked),
            losses: lines["losses"]
        )
        for (name, value) in lines {
            guard let id = Hash32(text: name) else { continue }
            switch value {
            case "sent": notes[id] = .sent
            case "fetched": notes[id] = .fetched
            case "coming": notes[id] = .coming
            default:
                guard value.hasPrefix("refused ") else { continue }
                notes[id] = .refused(String(value.dropFirst("refused ".utf8.count)))
            }
        }
    }

    private static func line(_ text: String) -> String {
        var line = ""
        for scalar in text.unicodeScalars.prefix(reasonSizeMax) {
            line.unicodeScalars.append(scalar.value < 0x20 ? " " : scalar)
        }
        return line
    }
}

/// The states of the blobs of a space, but for those that are erased.
///
/// Used by one thread at a time; what it gives is as things are when it is asked.
package final class BlobFinder {
    private let blobs: BlobStore
    private let space: SpaceID
    private var notes: BlobNotes?
    /// Of the file that they were read from.
    private var identity: FileIdentity?

    package init(_ blobs: BlobStore, of space: SpaceID) {
        self.blobs = blobs
        self.space = space
    }

    /// The state of a blob of which an event has the key, or that is public.
    package func state(of id: Hash32) throws(LogError) -> BlobState {
        try readNotes()
        let note = notes?.notes[id]
        guard try !blobs.contains(id) else {
            if case .refused = note { return .refused }
            return .here
        }
        if note == .coming || note == .sent || note == .fetched { return .coming }
        return try blobs.arrivedSize(of: id, in: space) > 0 ? .coming : .missing
    }

    /// True if the bytes came from the server.
    package func isFetched(_ id: Hash32) throws(LogError) -> Bool {
        try readNotes()
        return notes?.notes[id]?.isOfServer == true
    }

    /// Why the server does not take a blob; nil unless it refused it.
    package func refusal(of id: Hash32) throws(LogError) -> String? {
        try readNotes()
        guard case .refused(let reason) = notes?.notes[id] else { return nil }
        return reason
    }

    /// A file that was replaced is another one, so nothing is read twice.
    private func readNotes() throws(LogError) {
        let path = LogPaths.blobNotes(space)
        do throws(StorageError) {
            let file = try blobs.directory.open(path, .read)
            let found = try file.identity
            guard found == nil || found != identity else { return }
            identity = found
            notes = BlobNotes(try Files.contents(of: file, at: path, sizeMax: BlobNotes.sizeMax))
        } catch {
            switch error {
            case .notFound, .tooLarge: (notes, identity) = (nil, nil)
            default: throw .storage(error)
            }
        }
    }
}
