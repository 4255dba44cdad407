import Diario
import DiarioCore
import DiarioCrypto
import DiarioSchema
import DiarioServer

// The files of sealed events, and packs: schema/format/http.md, section 5.

extension ServedDirectory {
    /// The files that hold sealed events, and the log of which they are a part.
    func segments(_ question: Question) throws -> HTTPAnswer {
        let id = try space(question.space).space.id
        let segments = try files.segments(of: id)
        let sealed = segments.last?.last ?? 0
        let (facts, packs) = (
            try served.facts(of: id, size: sealed), try served.adoptedPacks(of: id)
        )
        let list = try segments.map { segment in
            let files = try segment.files.map { try describe($0) }
            return JSONObjectWriter.object { json in
                json.add("first", segment.first)
                json.add("last", segment.last)
                json.add("files", list: files)
            }
        }
        return .object { json in
            json.add("lineage", facts.lineage.text)
            json.add("epoch", facts.epoch)
            json.add("head", facts.head)
            json.add("sealed", sealed)
            if let root = facts.root { json.add("root", root.text) }
            json.add("segments", list: list)
            json.add("packs", list: packs.map { JSONText.string($0.text) })
        }
    }

    private func describe(_ file: SealedFiles.File) throws -> [UInt8] {
        let digest = try digest(of: file)
        return JSONObjectWriter.object { json in
            json.add("name", file.name)
            json.add("kind", file.isSidecar ? "sidecar" : "segment")
            json.add("size", file.size)
            json.add("sha256", digest.text)
        }
    }

    /// The bytes of one of the files, or a part of them.
    func segment(_ name: String, _ question: Question) throws -> HTTPAnswer {
        let id = try space(question.space).space.id
        // Only what is listed: a name leads to no other file.
        let files = try files.segments(of: id).flatMap(\.files)
        guard let file = files.first(where: { $0.name == name }) else {
            throw Problem(
                .notFound,
                "There is no such file now.",
                remedy: "Segments are merged now and then: ask for the list again."
            )
        }
        let tag = "\"\(try digest(of: file).text)\""
        var headers = [
            (name: "ETag", value: tag),
            (name: "Accept-Ranges", value: "bytes"),
            (
                name: "Cache-Control",
                value: file.isSidecar ? "no-store" : "private, max-age=31536000, immutable"
            ),
        ]
        if question.request.headers["if-none-match"]?.contains(tag) ?? false {
            return HTTPAnswer(304, headers: headers)
        }
        headers.append((name: "Content-Type", value: MediaType.file.rawValue))
        let range: Range<Int>?
        let condition = question.request.headers["if-range"]
        if let text = question.request.headers["range"], condition == nil || condition == tag {
            range = try ByteRange.range(text, of: file.size)
        } else {
            range = nil
        }
        guard let range else {
            return HTTPAnswer(
                200,
                headers: headers,
                .file(SentFile(path: file.path, offset: 0, count: file.size))
            )
        }
        headers.append(
            (
                name: "Content-Range",
                value: "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.size)"
            )
        )
        return HTTPAnswer(
            206,
            headers: headers,
            .file(SentFile(path: file.path, offset: range.lowerBound, count: range.count))
        )
    }

    private func digest(of file: SealedFiles.File) throws -> Hash32 {
        guard let digest = try files.digest(of: file, unless: { isClosed }) else {
            throw Problem(.unavailable, "The server stops.", retryAfter: 5)
        }
        return digest
    }

    // MARK: Packs

    func packs(_ question: Question) throws -> HTTPAnswer {
        let space = try space(question.space).refreshed()
        return .object { json in
            json.add(
                "packs",
                list: space.usedPacks.map { used in
                    JSONObjectWriter.object { json in
                        json.add("name", used.pack.name)
                        json.add("version", used.pack.version)
                        json.add("fingerprint", used.fingerprint.text)
                    }
                }
            )
        }
    }

    /// The files of a pack that the space adopted at any time.
    func pack(_ text: String, _ question: Question) throws -> HTTPAnswer {
        let id = try space(question.space).space.id
        guard let fingerprint = Hash32(text: text),
            try served.adoptedPacks(of: id).contains(fingerprint)
        else {
            throw Problem(
                .notFound,
                "This space adopted no pack with this fingerprint.",
                remedy: "The list of packs has those there are."
            )
        }
        let files = try served.files(ofPack: fingerprint)
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
