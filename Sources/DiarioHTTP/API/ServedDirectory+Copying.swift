import DiarioCore
import DiarioCrypto
import DiarioEngine
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
        return try FileAnswer(
            path: file.path,
            size: file.size,
            tag: "\"\(try digest(of: file).text)\"",
            isCached: !file.isSidecar
        ).answer(to: question.request)
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
