// The commands that only read. Help and parser both read this.

extension Command {
    static let log = Command(
        name: "log",
        operands: "",
        operandCount: 0...0,
        summary: "show the events of the space",
        details: [
            "Shows events in order of position, and then the pending ones. On a terminal they are "
                + "a table. In a pipe each is a line with tabs between position, origin, "
                + "acceptedAt, at, type, version, subject, actor and payload; - stands for what "
                + "is not there.",
            "What the authority wrote itself is left out, unless --type names it or with --all: "
                + "events of the engine, as that a pack was adopted, and reference data.",
            "A TIME is RFC 3339 as 2026-05-04T07:30:00Z, a date, or milliseconds since 1970.",
        ],
        options: CommandOption.filters + [
            .value(
                "limit",
                "N",
                "at most N events: the last ones, or the first behind --from, --since, unless "
                    + "with --reverse"
            ),
            .flag("reverse", "the newest first"),
            .flag("follow", "go on with events as they get positions, until Ctrl-C"),
            .flag("json", "print the events as `export` does"),
            .help,
        ],
        examples: [
            Example(text: "diario log --limit 10", meaning: "the last ten events"),
            Example(
                text: "diario log --type fish. --since 2026-05-01 --json",
                meaning: "what the pack fish recorded since May, as JSON"
            ),
        ]
    )

    static let show = Command(
        name: "show",
        operands: "ORIGIN|POSITION",
        operandCount: 1...1,
        summary: "show all of one event",
        details: [
            "Shows everything about the event with this origin, as 7zk3m9q2c1f4a-17, or at this "
                + "position, with its hash."
        ],
        options: [.json, .help],
        examples: [
            Example(
                text: "diario show 1",
                meaning: "the first event, by which mostly a pack was adopted"
            )
        ]
    )

    static let stats = Command(
        name: "stats",
        operands: "",
        operandCount: 0...0,
        summary: "show what the space holds and what it costs",
        details: [
            "Events are counted without what the authority wrote itself, unless with --all; head "
                + "is the last position of all. "
                + "Bytes are those that the space keeps alive, walBytes the files of the "
                + "write-ahead log on disk.",
            "With --types it reads all sealed events and shows what they take: by type and field, "
                + "and by column what all events have in common. All of it adds up to the files "
                + "of segments. With --warn-above it ends with 1 if the space takes more: "
                + "a bound for a job that watches spaces grow. SIZE is in bytes, or ends with K, M "
                + "or G for 1,000, a million or a thousand million of them.",
        ],
        options: [
            .all,
            .flag("types", "also show sizes by type and column"),
            .value("warn-above", "SIZE", "end with 1 if the space takes more bytes"),
            .json, .help,
        ],
        examples: [
            Example(text: "diario stats --json", meaning: "the numbers for a program"),
            Example(text: "diario stats --types", meaning: "what takes the room"),
            Example(text: "diario stats --warn-above 500M", meaning: "for a job that watches"),
        ]
    )

    static let verify = Command(
        name: "verify",
        operands: "",
        operandCount: 0...0,
        summary: "check all that the space holds",
        details: [
            "Reads all events and checks every checksum, rule, payload and hash. Names each fault "
                + "with file and offset, and ends with 1 if there is one. Changes nothing. Cut "
                + "are frames that a crash tore: they were never acknowledged. Lost are "
                + "positions whose events were gone when `diario repair` mended the space; they "
                + "are no fault.",
            "In a folder with several spaces, as a server's, it checks all of them, unless --space "
                + "in front of the command names one.",
            "Read models are not among it, since they follow from the events: `diario rebuild "
                + "--check` compares them with new ones.",
        ],
        options: [.json, .noProgress, .help],
        examples: [
            Example(text: "diario verify", meaning: "ends with 0 if all is well"),
            Example(text: "diario -C served verify", meaning: "all spaces of a server"),
        ]
    )

    static let seal = Command(
        name: "seal",
        operands: "",
        operandCount: 0...0,
        summary: "put events into compressed segments now",
        details: [
            "Events that have a position are sealed by themselves in the background, 4,096 at a "
                + "time. This seals what is left, too, in a short segment that a later one "
                + "replaces: before a backup, or when a space rests for long. Others may read and "
                + "record meanwhile."
        ],
        options: [
            .flag("complete", "seal only runs that are complete"),
            .json, .help,
        ],
        examples: [Example(text: "diario seal", meaning: "as small as the space can be")]
    )

    static let schemaCheck = Command(
        name: "schema check",
        operands: "DIR",
        operandCount: 1...1,
        operandKinds: [.folder],
        summary: "check a pack, or a folder of packs",
        details: [
            "Names all that is wrong with the pack in DIR, or with each pack in a folder of it, "
                + "its examples included: file, line, rule and what to do. Ends with 1 if there is "
                + "anything. Needs no space."
        ],
        options: [.json, .help],
        examples: [
            Example(text: "diario schema check ./plants", meaning: "a pack of your own")
        ]
    )

    static let schemaList = Command(
        name: "schema list",
        operands: "",
        operandCount: 0...0,
        summary: "list the packs and event types of the space",
        details: ["Lists the packs that the space uses, and the types that can be recorded."],
        options: [.flag("names", "print only the names of the types, each once"), .json, .help],
        examples: [
            Example(text: "diario schema list", meaning: "all types with their newest version"),
            Example(text: "diario schema list --names", meaning: "what a script needs"),
        ]
    )

    static let inspect = Command(
        name: "inspect",
        operands: "FILE",
        operandCount: 1...1,
        operandKinds: [.file],
        summary: "show what a file of a space says, byte by byte",
        details: [
            "Shows each field of a file below .diario (a log file, row file, segment, sidecar, "
                + "tile, manifest, replica file, mark, lock, format, cut, reserve, a batch of the "
                + "inbox, a note of an import) with offset, size, value and the section that "
                + "defines it, and whether it verifies: of schema/format/log.md, or with S in "
                + "front of segments.md, with P of proofs.md, with Y of sync.md. Read models are "
                + "files of SQLite, and those of packs are texts: `diario sql` and an editor show "
                + "them. Goes on after damage where it can, and ends with 1 if something does not "
                + "verify."
        ],
        options: [
            .flag("rows", "show the rows of blocks too, personal values included"),
            .json,
            .help,
        ],
        examples: [
            Example(
                text: "diario inspect .diario/wal/0000000000000001.dwal --rows",
                meaning: "a file of the write-ahead log"
            )
        ]
    )

    static let harness = Command(
        name: "harness",
        operands: "",
        operandCount: 0...0,
        summary: "answer requests of another implementation's tests",
        details: [
            "Reads requests, one JSON object in each line, and answers each with one line. "
                + "{\"judge\":{...}} checks an event against the packs that come with the program; "
                + "{\"row\":{...}} gives its canonical row and its hashes; "
                + "{\"segment\":{...}} makes a segment of rows. Needs no space."
        ],
        options: [.help],
        examples: [
            Example(
                text: "diario harness < requests.jsonl",
                meaning: "answers in the order of the requests"
            )
        ]
    )

    static let help = Command(
        name: "help",
        operands: "[COMMAND]",
        operandCount: 0...2,
        operandKinds: [.command, .secondWord],
        summary: "explain a command",
        details: ["Lists the commands, or explains one of them."],
        options: [.help],
        examples: [Example(text: "diario help record", meaning: "all about recording")]
    )
}
