import Diario
import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioSchema
import DiarioServer
import DiarioStorage
import Synchronization

// The files of sealed events, and packs: schema/format/http.md, section 5.

extension ServedDirectory {
    /// The files that hold sealed events, and the log of which they are a part.
    func segments(_ question: Question) throws -> HTTPAnswer {
        try question.allow([])
        try question.require(.read, "read")
        let id = try space(question.space).space.id
        let (status, entries) = (try store.status(of: id), try store.segments(of: id))
        let sealed = entries.last?.last ?? 0
        let root = try store[id].proofs.root(size: sealed)
        var list: [[UInt8]] = []
        for entry in entries {
            let files = try files(of: entry, in: id)
            list.append(
                JSONObjectWriter.object { json in
                    json.add("first", entry.first)
                    json.add("last", entry.last)
                    json.add("files", list: files)
                }
            )
        }
        return .object { json in
            json.add("lineage", status.manifest.lineage.text)
            json.add("epoch", status.manifest.epoch)
            json.add("head", status.head)
            json.add("sealed", sealed)
            if let root { json.add("root", root.text) }
            json.add("segments", list: list)
            json.add(
                "packs",
                list: status.adoptions.map { JSONObjectWriter.string($0.fingerprint.text) }
            )
        }
    }

    private func files(
        of entry: SegmentEntry,
        in space: SpaceID
    ) throws -> [[UInt8]] {
        var files = [(LogPaths.segment(entry.name, of: space), "segment", entry.segmentSize)]
        if entry.sidecarSize > 0 {
            files.append((LogPaths.sidecar(entry.name, of: space), "sidecar", entry.sidecarSize))
        }
        var list: [[UInt8]] = []
        for (path, kind, size) in files {
            let digest = try digest(of: path)
            list.append(
                JSONObjectWriter.object { json in
                    json.add("name", Self.fileName(path))
                    json.add("kind", kind)
                    json.add("size", size)
                    json.add("sha256", digest.text)
                }
            )
        }
        return list
    }

    /// The bytes of one of the files, or a part of them.
    func segment(_ name: String, _ question: Question) throws -> HTTPAnswer {
        try question.allow([])
        try question.require(.read, "read")
        let id = try space(question.space).space.id
        let entries = try store.segments(of: id)
        // Only what is listed: a name leads to no other file.
        let found = entries.lazy.flatMap { entry in
            [
                (LogPaths.segment(entry.name, of: id), entry.segmentSize),
                (LogPaths.sidecar(entry.name, of: id), entry.sidecarSize),
            ]
        }.first { path, size in
            size > 0 && Self.fileName(path) == name
        }
        guard let (path, size) = found else {
            throw Problem(
                .notFound,
                "There is no such file now.",
                remedy: "Segments are merged now and then: ask for the list again."
            )
        }
        let tag = "\"\(try digest(of: path).text)\""
        let isPersonal = entries.contains { LogPaths.sidecar($0.name, of: id) == path }
        var headers = [
            (name: "ETag", value: tag),
            (name: "Accept-Ranges", value: "bytes"),
            (
                name: "Cache-Control",
                value: isPersonal ? "no-store" : "private, max-age=31536000, immutable"
            ),
        ]
        if question.request.headers["if-none-match"]?.contains(tag) ?? false {
            return HTTPAnswer(304, headers: headers)
        }
        headers.append((name: "Content-Type", value: MediaType.file.rawValue))
        let full = directory.rootPath + "/" + path
        let range: Range<Int>?
        let condition = question.request.headers["if-range"]
        if let text = question.request.headers["range"], condition == nil || condition == tag {
            range = try ByteRange.range(text, of: size)
        } else {
            range = nil
        }
        guard let range else {
            return HTTPAnswer(
                200,
                headers: headers,
                .file(SentFile(path: full, offset: 0, count: size))
            )
        }
        headers.append(
            (
                name: "Content-Range",
                value: "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
            )
        )
        return HTTPAnswer(
            206,
            headers: headers,
            .file(SentFile(path: full, offset: range.lowerBound, count: range.count))
        )
    }

    private static func fileName(_ path: String) -> String {
        String(path.dropFirst(LogPaths.parent(of: path).utf8.count + 1))
    }

    private func digest(of path: String) throws -> Hash32 {
        guard
            let digest = try digests.digest(of: path, in: directory, unless: { isClosed })
        else { throw Problem(.unavailable, "The server stops.", retryAfter: 5) }
        return digest
    }

    // MARK: Packs

    func packs(_ question: Question) throws -> HTTPAnswer {
        try question.allow([])
        try question.require(.read, "read")
        let space = try space(question.space).refreshed()
        return .object { json in
            json.add(
                "packs",
                list: space.packs.map { pack in
                    JSONObjectWriter.object { json in
                        json.add("name", pack.name)
                        json.add("version", pack.version)
                        json.add("fingerprint", Fingerprint.pack(pack.files).text)
                    }
                }
            )
        }
    }

    /// The files of a pack that the space adopted at any time.
    func pack(_ text: String, _ question: Question) throws -> HTTPAnswer {
        try question.allow([])
        try question.require(.read, "read")
        let id = try space(question.space).space.id
        let adoptions = try store.adoptions(of: id)
        guard let fingerprint = Hash32(text: text),
            adoptions.contains(where: { $0.fingerprint == fingerprint })
        else {
            throw Problem(
                .notFound,
                "This space adopted no pack with this fingerprint.",
                remedy: "The list of packs has those there are."
            )
        }
        let files = try store.packFiles(fingerprint)
        var answer = HTTPAnswer.object { json in
            json.add("fingerprint", fingerprint.text)
            json.add(
                "files",
                list: files.map { file in
                    JSONObjectWriter.object { json in
                        json.add("path", file.path)
                        json.add("text", String(decoding: file.bytes, as: UTF8.self))
                    }
                }
            )
        }
        answer.headers = [
            (name: "Content-Type", value: MediaType.json.rawValue),
            (name: "Cache-Control", value: "private, max-age=31536000, immutable"),
            (name: "ETag", value: "\"\(fingerprint.text)\""),
        ]
        return answer
    }
}

/// The digests of files that never change.
final class FileDigests: Sendable {
    private let known = Mutex<[String: Hash32]>([:])

    private static let keptCountMax = 10_000
    private static let pieceSize = 1024 * 1024

    /// Nil if it is not known and `isOver` before it is.
    func digest(
        of path: String,
        in directory: POSIXDirectory,
        unless isOver: () -> Bool
    ) throws -> Hash32? {
        if let known = known.withLock({ $0[path] }) { return known }
        let file = try directory.open(path, .read)
        let hasher = SHA256Stream()
        var bytes: [UInt8] = []
        var offset = 0
        repeat {
            bytes.removeAll(keepingCapacity: true)
            try file.read(at: Int64(offset), count: Self.pieceSize, into: &bytes)
            hasher.update(bytes.span)
            offset += bytes.count
            if isOver() { return nil }
        } while !bytes.isEmpty
        let digest = hasher.finalize()
        known.withLock { known in
            if known.count >= Self.keptCountMax { known.removeAll() }
            known[path] = digest
        }
        return digest
    }
}

/// The header Range.
enum ByteRange {
    /// The part that is asked for; nil if it is of a kind that is passed over, as the standard lets
    /// a server do with several ranges.
    static func range(_ text: String, of size: Int) throws -> Range<Int>? {
        guard text.hasPrefix("bytes="), !text.contains(",") else { return nil }
        let parts = text.dropFirst("bytes=".count).split(
            separator: "-",
            omittingEmptySubsequences: false
        )
        guard parts.count == 2 else { return nil }
        let first = parts[0].isEmpty ? nil : Int(parts[0])
        let last = parts[1].isEmpty ? nil : Int(parts[1])
        let range: Range<Int>
        switch (first, last) {
        case (let first?, nil) where parts[1].isEmpty: range = min(first, size)..<size
        case (let first?, let last?) where first <= last:
            range = min(first, size)..<min(last, size - 1) + 1
        case (nil, let count?) where parts[0].isEmpty: range = max(size - count, 0)..<size
        default: return nil
        }
        guard !range.isEmpty else {
            throw Problem(.range, "The file has \(size) bytes.", remedy: "Ask for a part of it.")
        }
        return range
    }
}
