import Diario
import DiarioCore
import DiarioCrypto
import DiarioHost
import DiarioSchema

extension Command {
    static let blobPut = Command(
        "blob put",
        "store a picture or other bytes for an event",
        takes: [.one("FILE|-", .file)],
        details: """
            Stores the bytes of FILE beside the events, encrypted under a new key, and prints what
            the event that refers to them has to say: id, size, type and key. They are on the disk
            when it returns, so record the event after it. The same file, put again, gets another
            key and another id.

            The type is a media type, as image/jpeg; without --type it is known from the end of the
            file's name. With --public the bytes are stored as they are, and there is no key.

            With --photo a JPEG or PNG picture is decoded, turned upright and written anew, so that
            place, time and camera are not kept with it. Other types are kept as they are, with a
            remark.

            In JSON, `sha256` is the id in hexadecimal: the name of the file in .diario/blobs.
            """,
        options: [
            .value("type TYPE", "the media type, as image/jpeg"),
            .flag("photo", "a JPEG or PNG, without what its camera wrote into it"),
            .flag("public", "store the bytes as they are, without a key"),
            .json, .noProgress,
        ],
        examples: [
            "diario blob put basil.jpg --photo --json": "the values of a blob's fields, as JSON",
            "diario blob put tile.bin --public": "bytes that are not about anyone",
        ],
        run: { try BlobCommand.put($0) }
    )

    static let blobGet = Command(
        "blob get",
        "write the bytes of a blob",
        takes: [.one("ID")],
        details: """
            ID is that of an event, in base64, or the SHA-256 in hexadecimal. The key comes from the
            event that refers to the blob, or from --key. Every chunk is checked before it is
            written. Bytes that are not here are fetched from the server of the space first, unless
            they stay on the device that recorded them.
            """,
        options: [
            .value(
                "output FILE",
                "write to FILE, which appears when it is complete",
                .file,
                spellings: ["--output", "-o"]
            ),
            .value("key KEY", "the key, in base64, of a blob that no event refers to"),
            .flag("public", "the blob has no key, and no event refers to it"),
        ] + CommandOption.access + [.noProgress],
        examples: ["diario blob get ID -o basil.jpg": "the picture as it was put"],
        run: { try await BlobCommand.get($0) }
    )

    static let blobList = Command(
        "blob list",
        "list the blobs, and whether their bytes are here",
        details: """
            Lists the blobs to which events of the space refer, then those that are here and no
            event of it refers to. The state is `here`; `coming` if the server has the bytes;
            `missing` if neither has; `refused` if they are here and the server does not take them;
            or `erased` if no event has the key any more.

            `of` names the users whose events refer to it, and `why` says why the bytes are here:
            `recorded` if an event was recorded here, `stays` if they also do not leave this device,
            `fetched` if they came from the server, `unreferred` if no event refers to the blob, or
            `kept` if nothing is known. Bytes that are not here are `wanted` if the next sync looks
            for them, `others` if they are other users' and come when they are asked for, or
            `elsewhere` if they stay on the device that recorded them.
            """,
        options: [.json, .noProgress],
        examples: ["diario blob list": "id, state, size, how many events refer to it, and why"],
        run: { try BlobCommand.list($0) }
    )

    static let blobDrop = Command(
        "blob drop",
        "remove the bytes of a blob from this folder",
        takes: [.optional("ID")],
        details: """
            Events that refer to the blob stay, and show it as missing. Nobody else is told: other
            devices keep their copies. While an event refers to it and has its key, --force is
            needed, since this may be the only copy.

            --unreferenced removes all blobs that no event of any space of this folder refers to, or
            of which no event has the key any more, as after a space was removed. A blob that was
            put for an event that is not recorded yet is one of these; that of an event in the inbox
            is not.
            """,
        options: [
            .flag("force", "also if an event refers to it"),
            .flag("unreferenced", "all that no event refers to, in place of ID"),
            .json, .noProgress,
        ],
        examples: [
            "diario blob drop ID": "after an event was not recorded, for example",
            "diario blob drop --unreferenced": "after a space was removed, for example",
        ],
        run: { try BlobCommand.drop($0) }
    )
}

/// The commands `diario blob put`, `get`, `list` and `drop`.
enum BlobCommand {
    private static let pieceSize: Int64 = 1024 * 1024

    static func put(_ call: Invocation) throws {
        let path = call.operands[0]
        let given = try type(call)
        let isPublic = call.has("public")
        let photo = call.has("photo") ? try KeptFile(photo: path, call) : nil
        let type =
            photo?.type ?? given ?? KeptFile.type(of: path) ?? "application/octet-stream"
        try call.writing { space in
            let blob =
                try photo.map { try space.putBlob($0.bytes, isPublic: isPublic) }
                ?? put(path, isPublic: isPublic, in: space, call)
            guard !call.isJSON else {
                return try call.output.json([
                    "id": base64(blob.id.bytes), "size": Int(blob.size), "type": type,
                    "key": ifKnown(blob.key.map { base64($0) }), "sha256": blob.id.text,
                ])
            }
            var pairs = [
                ("id", base64(blob.id.bytes)), ("size", "\(blob.size)"), ("type", type),
            ]
            if let key = blob.key { pairs.append(("key", base64(key))) }
            try call.output.pairs(pairs)
        }
    }

    private static func put(
        _ path: String,
        isPublic: Bool,
        in space: Space,
        _ call: Invocation
    ) throws -> PutBlob {
        let file = path == "-" ? try InputFile.spooled() : try InputFile.open(path)
        return try call.withBar("Storing", unit: "bytes") { bar in
            try space.putBlob(file, isPublic: isPublic) { done, total in
                bar.update(done: UInt64(done), total: UInt64(total))
            }
        }
    }

    private static func type(_ call: Invocation) throws -> String? {
        guard let type = call.value("type") else { return nil }
        guard BlobField.isMediaType(type) else {
            throw Failure.usage(
                "--type \(CellText.oneLine(type)) is no media type; give one in lower case, as "
                    + "image/jpeg",
                in: call.command
            )
        }
        return type
    }

    static func get(_ call: Invocation) async throws {
        let id = try id(call)
        let key = try key(call)
        let output = call.value("output")
        guard output != nil || !SystemCall.isTerminal(1) else {
            throw Failure.usage(
                "the bytes are not for a terminal; give --output FILE, or a pipe",
                in: call.command
            )
        }
        if key == nil, !call.has("public") { try await fetch(id, call) }
        try call.reading { space in
            let bytes = try bytes(id, key, of: space, call)
            guard let output else {
                try write(bytes, to: call.output, call)
                return try call.output.flush()
            }
            let file = try NewFile(output)
            Interrupt.catchSignals()
            do {
                try write(bytes, to: file.output, call)
                try file.finish()
            } catch {
                file.remove()
                throw error
            }
        }
    }

    /// Fetches the bytes if they are not here and the space has a server.
    private static func fetch(_ id: Hash32, _ call: Invocation) async throws {
        var isHere = true
        try call.reading { space in
            isHere = try space.storedBlobSize(id) != nil || space.remote() == nil
        }
        guard !isHere else { return }
        try await call.withDiary { diary, space in
            let remote = try ServerAccess(call, address: nil, remembered: space.remote()).remote
            let transport = try await diary.transport(
                to: remote.address,
                token: remote.token,
                certificates: remote.certificates
            )
            let report = try await call.progressBar("fetching", unit: "bytes").follow { progress in
                try await diary.blobs.fetch(id.bytes, with: transport) { progress($0, $1) }
            }
            if let failure = report.failure { throw Failure.failed(failure) }
        }
    }

    private static func bytes(
        _ id: Hash32,
        _ key: [UInt8]?,
        of space: Space,
        _ call: Invocation
    ) throws -> BlobBytes {
        let isPublic = call.has("public")
        let bytes: BlobBytes?
        if isPublic || key != nil {
            bytes = try space.blob(id, isPublic: isPublic, key: key)
        } else {
            let found = try call.withBar("Following the log", unit: "events") { bar in
                try ReadModels(space).reference(to: id) { bar.update(done: $1, total: $2) }
            }
            guard let found else {
                throw Failure.failed(
                    "no event refers to \(base64(id.bytes)). Check the id, or give --key KEY, or "
                        + "--public for a blob without a key"
                )
            }
            bytes = try space.blob(
                id,
                isPublic: found.isPublic,
                key: found.key,
                size: found.size
            )
        }
        guard let bytes else {
            throw Failure.failed(
                "the bytes of \(base64(id.bytes)) are not here. They may be on another device"
            )
        }
        return bytes
    }

    private static func write(_ bytes: BlobBytes, to output: Output, _ call: Invocation) throws {
        try call.withBar("Writing", unit: "bytes") { bar in
            var piece: [UInt8] = []
            var offset: Int64 = 0
            while offset < bytes.size {
                piece.removeAll(keepingCapacity: true)
                let end = min(bytes.size, offset + pieceSize)
                try bytes.read(offset..<end, into: &piece)
                try output.append { $0 += piece }
                offset = end
                bar.update(done: UInt64(offset), total: UInt64(bytes.size))
            }
        }
    }

    private struct Row {
        let id: Hash32
        let state: String
        let size: Int64?
        let count: Int
        let actors: [String]
        let why: String
    }

    /// Why the bytes are here, or not; the help of `blob list` explains the words.
    private static func why(
        _ blob: ReferredBlob,
        isHere: Bool,
        _ actor: String?,
        _ finder: BlobLookup
    ) throws -> String {
        if blob.isErased { return "erased" }
        if blob.isRecordedHere { return blob.stays ? "stays" : "recorded" }
        if isHere { return try finder.isFetched(blob.id) ? "fetched" : "kept" }
        if blob.stays { return "elsewhere" }
        return blob.isOwn(of: actor) ? "wanted" : "others"
    }

    static func list(_ call: Invocation) throws {
        try call.reading { space in
            let referred = try call.withBar("Following the log", unit: "events") { bar in
                try ReadModels(space).referredBlobs { bar.update(done: $1, total: $2) }
            }
            let rows = try rows(referred, of: space)
            try call.answer(
                rows,
                none: "no blobs",
                [
                    Table.Column("id", widthMin: 44), Table.Column("state"),
                    Table.Column("stored", isRight: true),
                    Table.Column("events", isRight: true), Table.Column("why"), Table.Column("of"),
                ],
                { row in
                    [
                        "id": base64(row.id.bytes), "state": row.state,
                        "stored": row.size.map { Int($0) }, "events": row.count,
                        "sha256": row.id.text, "why": row.why, "of": row.actors,
                    ]
                },
                row: { row in
                    [
                        base64(row.id.bytes), row.state,
                        row.size.map { Show.grouped(Int($0)) } ?? "-", Show.grouped(row.count),
                        row.why, row.actors.isEmpty ? "-" : row.actors.joined(separator: " "),
                    ]
                }
            )
        }
    }

    private static func rows(_ referred: [ReferredBlob], of space: Space) throws -> [Row] {
        let (finder, actor) = (space.blobLookup, try space.defaultActor())
        let rows = try referred.map { blob in
            let size = try space.storedBlobSize(blob.id)
            let state = blob.isErased ? .erased : try finder.state(of: blob.id)
            return Row(
                id: blob.id,
                state: state.rawValue,
                size: size,
                count: blob.count,
                actors: blob.actors.sorted(),
                why: try why(blob, isHere: size != nil, actor, finder)
            )
        }
        let known = Set(referred.map { $0.id })
        return try rows
            + space.storedBlobs().filter { !known.contains($0) }.map { id in
                Row(
                    id: id,
                    state: "here",
                    size: try space.storedBlobSize(id),
                    count: 0,
                    actors: [],
                    why: "unreferred"
                )
            }
    }

    static func drop(_ call: Invocation) throws {
        guard !call.has("unreferenced") else { return try dropUnreferenced(call) }
        let id = try id(call)
        try call.writing { space in
            // Who sees it dropped would take the last good copy for one that nobody needs.
            if try space.setAside(id) != nil {
                return try call.answer(
                    "the bytes of \(base64(id.bytes)) are damaged: they lost their name, and the "
                        + "next sync brings it again",
                    ["removed": false]
                )
            }
            if !call.has("force") {
                let referred = try call.withBar("Following the log", unit: "events") { bar in
                    try ReadModels(space).reference(to: id) { bar.update(done: $1, total: $2) }
                }
                if let referred, referred.isPublic || referred.key != nil {
                    throw Failure.failed(
                        "an event refers to \(base64(id.bytes)), and this may be the only copy of "
                            + "its bytes. To remove them all the same, give --force"
                    )
                }
                if try SpaceInbox(space).read().0.contains(where: { $0.blobs.contains(id) }) {
                    throw Failure.failed(
                        "an event in the inbox refers to \(base64(id.bytes)). To remove its bytes "
                            + "all the same, give --force"
                    )
                }
            }
            let isDropped = try space.dropBlob(id)
            try call.answer(
                isDropped ? "removed \(base64(id.bytes))" : "the bytes were not here",
                ["removed": isDropped]
            )
        }
    }

    private static func dropUnreferenced(_ call: Invocation) throws {
        guard call.operands.isEmpty, !call.has("force") else {
            throw Failure.usage("--unreferenced is given without an ID, and without --force")
        }
        try call.writing { space in
            var wanted: Set<Hash32> = []
            for space in try space.allInFolder() {
                let referred = try call.withBar("Following the log", unit: "events") { bar in
                    try ReadModels(space).referredBlobs { bar.update(done: $1, total: $2) }
                }
                wanted.formUnion(referred.filter { !$0.isErased }.map(\.id))
                wanted.formUnion(try SpaceInbox(space).read().0.flatMap(\.blobs))
            }
            var count = 0
            let stored = try space.storedBlobs() + space.damagedBlobs()
            for id in stored where !wanted.contains(id) {
                if try space.dropBlob(id) { count += 1 }
            }
            try call.answer(
                "removed \(Show.count(UInt64(count), "blob"))",
                ["removed": count]
            )
        }
    }

    // MARK: Words

    private static func id(_ call: Invocation) throws -> Hash32 {
        guard let text = call.operands.first else {
            throw Failure.usage("give the ID of a blob", in: call.command)
        }
        if let id = Hash32(text: text) { return id }
        if let bytes = TextEncodings.base64Decoded(text), let id = Hash32(bytes.span) { return id }
        throw Failure.usage(
            "\(CellText.oneLine(text)) is no id of a blob; give 44 characters of base64, as in "
                + "the event, or 64 hexadecimal digits",
            in: call.command
        )
    }

    private static func key(_ call: Invocation) throws -> [UInt8]? {
        guard let text = call.value("key") else { return nil }
        guard !call.has("public") else {
            throw Failure.usage(
                "a public blob has no key; give --key or --public",
                in: call.command
            )
        }
        guard let bytes = TextEncodings.base64Decoded(text), bytes.count == 32 else {
            throw Failure.usage("--key is 44 characters of base64", in: call.command)
        }
        return bytes
    }

    private static func base64(_ bytes: [UInt8]) -> String { TextEncodings.base64(bytes) }
}
