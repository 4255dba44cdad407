import DiarioCore
import DiarioCrypto
import DiarioEngine
import DiarioSchema
import DiarioServer

// Blobs: schema/format/http.md, section 10.

/// A request about the blobs of a space.
struct ServedBlobs {
    let directory: ServedDirectory
    let question: Question

    // MARK: Which are missing

    func want() throws -> Reading<HTTPAnswer> {
        let ids = try Self.ids(question.request.body)
        let (directory, space) = (directory, question.space)
        return directory.reading(for: question) { stop in
            let referred = try directory.withModels(of: space, until: stop) { models in
                try models.referredBlobs(among: ids)
            }
            try directory.blobs.removeStaying(
                referred.values.filter(\.stays).map(\.id),
                of: space
            )
            let wanted = try directory.served.blobs.want(
                ids.filter { referred[$0]?.isGivenOut != false },
                referred: referred.mapValues(\.storedSize),
                in: space.id,
                ControlLedger(directory.served.control, space, nil, at: directory.now)
            )
            return .object { json in
                json.add("missing", list: Self.list(wanted.missing, "offset", in: ids))
                json.add("here", list: Self.list(wanted.here, "size", in: ids))
            }
        }
    }

    /// In the order in which they were asked for.
    private static func list(
        _ blobs: [Hash32: Int64],
        _ key: String,
        in ids: [Hash32]
    ) -> [[UInt8]] {
        ids.compactMap { id in
            guard let number = blobs[id] else { return nil }
            return JSONObjectWriter.object { json in
                json.add("id", id.text)
                json.add(key, UInt64(number))
            }
        }
    }

    private static func ids(_ body: [UInt8]) throws -> [Hash32] {
        guard case .object(let members) = try JSON.parse(body).value, members.count == 1,
            members[0].key == "ids", case .array(let items) = members[0].item.value
        else { throw Problem(.malformed, "The body is not {\"ids\":[...]}.") }
        guard items.count <= Limits.blobWantCountMax else {
            throw Problem(
                .tooLarge,
                "\(items.count) blobs are asked about, and at most "
                    + "\(Limits.blobWantCountMax) may be."
            )
        }
        let ids = try items.map { item in
            guard case .string(let text) = item.value else { throw noID }
            return try id(text)
        }
        var seen: Set<Hash32> = []
        return ids.filter { seen.insert($0).inserted }
    }

    private static func id(_ text: String) throws -> Hash32 {
        guard let id = Hash32(text: text) else { throw noID }
        return id
    }

    private static var noID: Problem {
        Problem(
            .malformed,
            "The id of a blob is its SHA-256 in 64 hexadecimal digits.",
            remedy: "Events have the same 32 bytes in base64."
        )
    }

    // MARK: One blob

    func answer(_ text: String) throws -> HTTPReply {
        let id = try Self.id(text)
        guard question.request.method == "PUT" else { return .reading(get(id)) }
        return .answer(try put(id))
    }

    private func get(_ id: Hash32) -> Reading<HTTPAnswer> {
        let (directory, question) = (directory, question)
        return directory.reading(for: question) { stop in
            let isReferred = try directory.withModels(of: question.space, until: stop) { models in
                try models.referredBlobs(among: [id])[id]?.isGivenOut == true
            }
            let blobs = directory.served.blobs
            guard isReferred, let size = try blobs.wholeSize(id) else {
                if isReferred, try blobs.isDamaged(id) { throw Self.damaged }
                throw Problem(
                    .notFound,
                    "This space has no such blob, or its bytes have not come yet.",
                    remedy: "Try again later: a device may still have to send them."
                )
            }
            return try FileAnswer(
                path: directory.files.path(of: id),
                size: Int(size),
                tag: "\"\(id.text)\"",
                isCached: true
            ).answer(to: question.request)
        }
    }

    private static var damaged: Problem {
        Problem(.damaged, "The bytes of this blob are damaged on the server.")
    }

    private func put(_ id: Hash32) throws -> HTTPAnswer {
        let sizeMax = ServedSpaces.blobSizeMax
        let size = try number("upload-length", "Upload-Length")
        let offset = try number("upload-offset", "Upload-Offset")
        guard size <= sizeMax else {
            throw Problem(.tooLarge, "A blob has at most \(sizeMax) stored bytes.")
        }
        guard Int64(question.request.body.count) <= size - min(offset, size) else {
            throw Problem(.malformed, "The part goes beyond the \(size) bytes of Upload-Length.")
        }
        let taken = try directory.served.blobs.take(
            question.request.body,
            at: offset,
            of: id,
            size: size,
            in: question.space.id,
            ControlLedger(
                directory.served.control,
                question.space,
                question.token,
                at: directory.now
            )
        )
        // Whether they may be here is looked at behind it.
        directory.openSpace(question.space)?.noteBlobsSeen(at: nil)
        switch taken {
        case .more(let next): return Self.taken(204, next)
        case .whole: return Self.taken(201, size)
        case .known: return Self.taken(200, size)
        case .elsewhere(let next):
            var problem = Problem(.offset, "The next part of this blob begins at \(next).")
            problem.expected = UInt64(next)
            throw problem
        case .wrong:
            throw Problem(.digest, "The SHA-256 of the \(size) bytes is not the id of the blob.")
        case .busy:
            throw Problem(
                .unavailable,
                "Another request writes the same blob.",
                retryAfter: 1
            )
        }
    }

    private static func taken(_ status: Int, _ offset: Int64) -> HTTPAnswer {
        .fresh(status, nil, headers: [(name: "Upload-Offset", value: "\(offset)")])
    }

    private func number(_ key: String, _ name: String) throws -> Int64 {
        guard let text = question.request.headers[key], text.utf8.count <= 18,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text)
        else {
            throw Problem(.malformed, "The header \(name) is missing, or is no whole number.")
        }
        return number
    }
}
