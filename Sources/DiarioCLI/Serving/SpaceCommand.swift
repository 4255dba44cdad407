import Diario
import DiarioCore
import DiarioServer

extension Command {
    static let spaceList = Command(
        "space list",
        "list the spaces of a server",
        on: .folder,
        details: """
            Lists the spaces that have names, with the number of their events and the most that
            they may hold; then those of the folder that have no name yet. Commands about one space
            are told which by --space in front: diario --space home stats.
            """,
        options: [.data, .json],
        examples: ["diario space list --data ./served": "all of them"],
        run: { try SpaceCommand.list($0) }
    )

    static let spaceCreate = Command(
        "space create",
        "make a space that is served",
        on: .folder,
        takes: [.one("NAME")],
        details: """
            Makes the space NAME in the folder of the server's data, which is made if it is missing,
            with the packs of --pack and --schema. Without them its only types are the engine's own;
            `diario schema adopt` adds a pack later. Works beside a running server. `diario token
            create` says who may use the space.

            NAME has 1 to 64 lower-case letters, digits, '-', '_' or '.', the first a letter or a
            digit.
            """,
        options: [.data, .pack, .schemaFolder, .json],
        examples: [
            "diario space create home --data ./served --pack meals":
                "with a pack that comes with the program",
            "diario space create garden --data ./served --schema ./plants":
                "with a pack of your own",
        ],
        run: { try SpaceCommand.create($0) }
    )

    static let spaceName = Command(
        "space name",
        "give a name to a space, to serve it",
        on: .folder,
        takes: [.one("SPACE"), .one("NAME")],
        details: """
            SPACE is an id, as `space list` shows it: of a space that `init` made in the folder that
            is to be served. NAME is one as for `space create`.
            """,
        options: [.data, .json],
        examples: [
            "diario space name 7zk3m9q2c1f4a home --data ./notebook":
                "a notebook can be served as home"
        ],
        run: { try SpaceCommand.name($0) }
    )

    static let spaceRename = Command(
        "space rename",
        "give a space that is served another name",
        on: .folder,
        takes: [.one("NAME"), .one("NEW")],
        details: """
            The space NAME is called NEW from the next request on. Its tokens stay valid; its
            address changes, so tell each replica: diario remote set. Works beside a running server.
            """,
        options: [.data, .json],
        examples: ["diario space rename hme home --data ./served": "a typing error"],
        run: { try SpaceCommand.rename($0) }
    )

    static let spaceRemove = Command(
        "space remove",
        "remove a space that is served, for good",
        on: .folder,
        takes: [.one("NAME")],
        details: """
            Says what the space NAME holds, changes nothing and ends with 1. With --yes it removes
            the space with all its events and tokens, which only a backup or a replica has then. The
            id of a space without a name can be given as well. A running server does not serve it
            from the next request on.
            """,
        options: [.data, .flag("yes", "remove it"), .json],
        examples: [
            "diario space remove hme --data ./served": "what would be lost?",
            "diario space remove hme --data ./served --yes": "remove it",
        ],
        run: { try SpaceCommand.remove($0) }
    )

    static let spacePublic = Command(
        "space public",
        "show or set the queries that anybody may ask",
        on: .folder,
        takes: [.one("NAME")],
        details: """
            Shows which named queries of the space NAME are answered without a token, after setting
            what is given: PATTERN is PACK.QUERY, of which QUERY may end with *. They replace those
            of before, and --queries '' ends it. Whoever reaches the server may ask them then, some
            20 times a second from one address; so they should tell nothing of a person. Works
            beside a running server.
            """,
        options: [
            .data,
            .values(
                "queries PATTERN",
                "these queries, as 'plants.public-*'; none for ''; repeatable",
                mayBeEmpty: true
            ),
            .json,
        ],
        examples: [
            "diario space public home --data ./served --queries 'plants.public-*'":
                "sums for a page that everybody sees",
            "diario space public home --data ./served --queries ''": "nothing any more",
        ],
        run: { try SpaceCommand.makePublic($0) }
    )

    static let spaceQuota = Command(
        "space quota",
        "show or set the most that a space may hold",
        on: .folder,
        takes: [.one("NAME")],
        details: """
            Shows the quota of the space NAME, after setting what is given. Pushes beyond it are
            refused, and the replicas try again later; other spaces do not notice. Works beside a
            running server.
            """,
        options: [
            .data,
            .value("events N", "at most so many events"),
            .value("bytes N", "at most so many bytes on disk"),
            .value("blob-bytes N", "at most so many bytes of pictures and other blobs"),
            .flag("default", "go back to the default where no number is given"),
            .json,
        ],
        examples: ["diario space quota home --events 1000000": "a bound of its own"],
        run: { try SpaceCommand.quota($0) }
    )
}

/// The commands `diario space ...`.
enum SpaceCommand {
    static func list(_ call: Invocation) throws {
        let spaces = try call.withData { try $0.spaces() }
        guard !call.isJSON else {
            let fields = spaces.map { space -> Fields in
                let fields: Fields = [
                    "space": space.name?.text, "id": space.id.text,
                    "events": space.fault == nil ? space.head : nil,
                    "fault": ifKnown(space.fault.map { Fields($0) }),
                ]
                guard let quota = space.quota else { return fields }
                return fields + [
                    "eventsMax": quota.events, "bytesMax": quota.bytes,
                    "blobBytesMax": quota.blobBytes,
                ]
            }
            return try call.output.json(fields)
        }
        for space in spaces {
            var text = "\(space.head) events"
            if let quota = space.quota { text += " of at most \(quota.events)" }
            if let fault = space.fault { text = "damaged: \(CellText.oneLine(fault.message))" }
            try call.output.line(
                "\(space.name?.text ?? "(no name)")  \(space.id.text)  \(text)"
            )
        }
    }

    static func create(_ call: Invocation) throws {
        let name = try call.spaceName(call.operands[0])
        let packs = try call.packs()
        let (id, folder) = try call.withData { (try $0.makeSpace(name, packs), $0.shown) }
        try call.answer(
            "made space \(name.text) (\(id.text)) with \(SchemaCommand.list(packs))",
            ["space": name.text, "id": id.text, "packs": packs.map { Fields($0) }]
        )
        if packs.isEmpty, !call.isJSON {
            call.remarkPackless("diario -C \(folder) --space \(name.text)")
        }
    }

    static func name(_ call: Invocation) throws {
        let id = try call.id(call.operands[0], of: "space", SpaceID.init(text:))
        let name = try call.spaceName(call.operands[1])
        try call.withData { try $0.name(id, name) }
        try call.answer(
            "the space \(id.text) is called \(name.text)",
            ["space": name.text, "id": id.text]
        )
    }

    static func rename(_ call: Invocation) throws {
        let old = try call.spaceName(call.operands[0])
        let new = try call.spaceName(call.operands[1])
        try call.withData { try $0.control(for: .writing).rename(old, to: new) }
        try call.answer(
            "\(old.text) is called \(new.text), and its tokens are for that. Replicas find it "
                + "after: diario remote set URL",
            ["space": new.text, "before": old.text]
        )
    }

    static func quota(_ call: Invocation) throws {
        let arguments = call.arguments
        let name = try call.spaceName(arguments.operands[0])
        let events = try arguments.count("events", from: 0)
        let bytes = try arguments.count("bytes", from: 0)
        let blobs = try arguments.count("blob-bytes", from: 0)
        let isChange = [events, bytes, blobs].contains { $0 != nil } || arguments.has("default")
        let quota = try call.withData { folder in
            let control = try folder.control(for: isChange ? .writing : .reading)
            guard var space = try control.space(name) else {
                throw ControlError.unknownSpace(name.text)
            }
            if arguments.has("default") { space.quota = SpaceQuota() }
            if let events { space.quota.eventsMax = Int(clamping: events) }
            if let bytes { space.quota.bytesMax = Int(clamping: bytes) }
            if let blobs { space.quota.blobBytesMax = Int(clamping: blobs) }
            if isChange { try control.setQuota(of: name, space.quota) }
            return space.quota
        }
        try call.answer(
            "\(name.text) may hold \(quota.events) events and \(quota.bytes) bytes, and "
                + "\(quota.blobBytes) bytes of blobs",
            [
                "space": name.text, "eventsMax": quota.events, "bytesMax": quota.bytes,
                "blobBytesMax": quota.blobBytes,
            ]
        )
    }

    static func makePublic(_ call: Invocation) throws {
        let name = try call.spaceName(call.operands[0])
        let wanted = call.has("queries") ? try call.queryPatterns() : nil
        let patterns = try call.withData { folder in
            let control = try folder.control(for: wanted == nil ? .reading : .writing)
            if let wanted { try control.setPublicQueries(of: name, wanted) }
            guard let space = try control.space(name) else {
                throw ControlError.unknownSpace(name.text)
            }
            return space.publicQueries
        }
        // Also of a space whose packs cannot be read the answers can be ended.
        let names = ((try? call.queries(of: name)) ?? []).filter { name in
            patterns.contains { $0.matches(name) }
        }
        let shown = patterns.map(\.text)
        try call.answer(
            patterns.isEmpty
                ? "nobody may ask \(name.text) without a token"
                : "anybody may ask \(name.text) for \(shown.joined(separator: " ")), now "
                    + (names.isEmpty ? "none" : names.joined(separator: ", ")),
            ["space": name.text, "queries": shown, "matches": names]
        )
        call.remarkUnmatched(patterns, in: name)
    }

    // MARK: Removing

    static func remove(_ call: Invocation) throws {
        let (isMeant, text) = (call.has("yes"), call.operands[0])
        let (loss, folder) = try call.withData { folder in
            (
                try folder.lose(text, shown: CellText.oneLine(text), isMeant: isMeant),
                folder.shown
            )
        }
        let shown = loss.name.map { "\($0.text) (\(loss.id.text))" } ?? loss.id.text
        let events = Show.count(UInt64(loss.events), "event")
        let tokens = Show.count(UInt64(loss.tokens), "token")
        try call.answer(
            "\(isMeant ? "removed" : "would remove") \(shown) with \(events) and \(tokens)",
            [
                "space": loss.name?.text, "id": loss.id.text, "events": loss.events,
                "tokens": loss.tokens, "replicas": loss.replicas, "removed": isMeant,
            ]
        )
        if loss.replicas > 0, !call.isJSON {
            try call.output.line(
                "its replicas (\(loss.replicas)) keep their events, and cannot sync any more"
            )
        }
        guard !isMeant else { return }
        if !call.isJSON {
            try call.output.line(
                "nothing was changed; to remove it for good: diario space remove "
                    + "\(loss.name?.text ?? loss.id.text) --data \(folder) "
                    + "--yes"
            )
        }
        throw Failure.found
    }
}
