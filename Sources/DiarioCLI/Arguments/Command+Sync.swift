// The commands about a server that has the same space. Help and parser both read this.

extension Command {
    private static let access: [CommandOption] = [
        .value("token-file", "FILE", "a file with the token; else DIARIO_TOKEN", .file),
        .value("token", "TEXT", "the token itself; others see it in the list of processes"),
        .value("ca-file", "FILE", "certificates to trust in place of the system's, in PEM", .file),
    ]

    static let sync = Command(
        name: "sync",
        operands: "[URL]",
        operandCount: 0...1,
        operandKinds: [.text],
        summary: "exchange events with the server",
        details: [
            "Fetches what others recorded and sends what was recorded here. Without URL, the "
                + "server is the one that `remote set`, `clone` or `publish` remembered. Ends with "
                + "1 if that cannot be done now, or if the server refused events; nothing is lost "
                + "by it, and the same command may be given again. `status` shows the last error.",
            "Events that the server refuses are in the inbox afterwards; their first origins are "
                + "named. With --watch it goes on until it is interrupted, prints a line for each "
                + "change, and sends what other programs record here. --rejoin first goes back to "
                + "what the server has as well, after the two have diverged: own events behind "
                + "that are sent again, and those of others are kept.",
            "A server that was restored from an older backup and waits gets back what it lacks, "
                + "where the token has the right admin. One that goes on without it lost events: "
                + "own ones are sent again, and those of others are kept here. Then it ends with "
                + "1, until `diario remote restore` has sent them or, with --drop, given them up.",
        ],
        options: [
            .flag("watch", "go on until it is interrupted"),
            .flag("rejoin", "go back to what the server has as well"),
        ] + access + [.json, .noProgress, .help],
        examples: [
            Example(text: "diario sync", meaning: "once, with the server that is remembered"),
            Example(text: "diario sync --watch", meaning: "until Ctrl-C"),
        ]
    )

    static let clone = Command(
        name: "clone",
        operands: "URL DIR",
        operandCount: 2...2,
        operandKinds: [.text, .folder],
        summary: "copy a space from a server into a folder",
        details: [
            "Makes a replica of the space at URL in the folder DIR, which is made if it is not "
                + "there and must not hold a space yet. Files come as they lie on the server; "
                + "their hashes are compared, and the root of all events is computed anew. The "
                + "space is there whole or not at all.",
            "What a copy that was broken off has fetched is kept: the same command goes on with "
                + "it. The space remembers its server, so that `diario sync` needs no more.",
        ],
        options: access + [.json, .noProgress, .help],
        examples: [
            Example(
                text: "diario clone https://example.org/v1/spaces/home notebook --token-file key",
                meaning: "a replica on this device"
            )
        ]
    )

    static let publish = Command(
        name: "publish",
        operands: "[URL]",
        operandCount: 0...1,
        operandKinds: [.text],
        summary: "give a space to a server, so that others can sync with it",
        details: [
            "Sends all events and packs to the server at URL, which gives the positions from then "
                + "on. The token needs the right admin. Events can be recorded meanwhile. If it is "
                + "broken off, the same command goes on; until the server has said that it has "
                + "the space, or never will, this space gives no positions.",
            "With --abandon the server is asked to give up the attempt, and the space is its own "
                + "authority again.",
        ],
        options: [.flag("abandon", "give up the attempt that goes on")] + access
            + [.json, .noProgress, .help],
        examples: [
            Example(
                text: "diario publish https://example.org/v1/spaces/home --token-file admin.key",
                meaning: "what was a notebook is shared from now on"
            )
        ]
    )

    static let remoteSet = Command(
        name: "remote set",
        operands: "URL",
        operandCount: 1...1,
        operandKinds: [.text],
        summary: "remember the server of the space, and the token for it",
        details: [
            "URL is where the server has the space, as https://example.org/v1/spaces/NAME. Both "
                + "are kept in a file that only you can read. Nobody is asked whether they are "
                + "right: `diario sync` will."
        ],
        options: access + [.json, .help],
        examples: [
            Example(
                text: "diario remote set https://example.org/v1/spaces/home --token-file key",
                meaning: "after a token was replaced, for example"
            )
        ]
    )

    static let remoteShow = Command(
        name: "remote show",
        operands: "",
        operandCount: 0...0,
        summary: "show the server of the space",
        details: ["Of the token it shows the id alone, by which it is revoked."],
        options: [.json, .help],
        examples: [Example(text: "diario remote show", meaning: "address and token's id")]
    )

    static let remoteRemove = Command(
        name: "remote remove",
        operands: "",
        operandCount: 0...0,
        summary: "forget the server of the space, and the token",
        details: ["The events stay, and what is pending stays pending. No server is told."],
        options: [.json, .help],
        examples: [Example(text: "diario remote remove", meaning: "before a folder is given away")]
    )

    static let remoteRestore = Command(
        name: "remote restore",
        operands: "[URL]",
        operandCount: 0...1,
        operandKinds: [.text],
        summary: "give a server back what it lost of the space",
        details: [
            "For a server that was restored from an older backup and waits, or that lost the space "
                + "with its disk. It gets all events that this replica has from it, at the "
                + "positions that they had, and gives positions again. The token needs the right "
                + "admin. If it is broken off, the same command goes on.",
            "Use the replica that has most. Replicas that have more go back to what the server has "
                + "then, send their own events behind that again, and keep those of others. A "
                + "server that has events which are not here refuses. So does one that goes on "
                + "giving positions, which `diario authority hold` stops.",
            "Where events of others are kept, since the server went on without them, it syncs and "
                + "sends them: under their old origins, with new positions, and with the right "
                + "relay alone. Those that the server refuses are in the inbox then. With --drop "
                + "they are given up, and no server is asked.",
            "A server that lost its tokens too needs new ones: diario token create makes the name "
                + "of the space as well. Where another space has the name by now, and others use "
                + "it, this one can be given back under a new name.",
        ],
        options: [.flag("drop", "give up the events of others that are kept here")] + access
            + [.json, .noProgress, .help],
        examples: [
            Example(
                text: "diario remote restore --token-file admin.key",
                meaning: "after an older backup was restored"
            )
        ]
    )

    static let status = Command(
        name: "status",
        operands: "",
        operandCount: 0...0,
        summary: "show where the sync of the space stands, and what to do next",
        details: [
            "Shows how many events are here and how many wait to be sent, the server, when the two "
                + "were last in sync, how many events are in the inbox and in quarantine, and how "
                + "many of others are kept because the server lost them. Asks no server."
        ],
        options: [.json, .help],
        examples: [Example(text: "diario status", meaning: "before a journey, for example")]
    )
}
