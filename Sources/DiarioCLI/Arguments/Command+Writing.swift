// The commands that make, record and take over. Help and parser both read this.

extension Command {
    static let initialize = Command(
        name: "init",
        operands: "DIR",
        operandCount: 1...1,
        operandKinds: [.folder],
        summary: "make a space in a folder",
        details: [
            "Makes a space in the folder DIR, which is made if it is not there, with the packs of "
                + "--pack and --schema, whose event types can then be recorded. Without them its "
                + "only types are the engine's own; `diario schema adopt` adds a pack later.",
            "A space is made whole or not at all.",
        ],
        options: [.pack, .schemaFolder, .json, .help],
        examples: [
            Example(
                text: "diario init notebook --pack meals",
                meaning: "a space with a pack that comes with the program"
            ),
            Example(
                text: "diario init garden --schema ./plants",
                meaning: "a space with a pack of your own"
            ),
        ],
        takesSpaceFolder: false
    )

    static let record = Command(
        name: "record",
        operands: "TYPE [JSON|-]",
        operandCount: 1...2,
        operandKinds: [.typeName],
        summary: "record events",
        details: [
            "Records one event of the type TYPE with the payload JSON, and prints its origin when "
                + "it is on the disk. With - in place of JSON, or without it, the payload is read "
                + "from the input.",
            "`diario record -` reads many events, one JSON object in each line: type, payload, "
                + "and if wanted version, subject, actor, at, ifUnchanged, batch. Each line is a "
                + "batch of its own, but consecutive lines with the same batch are recorded all or "
                + "none. The origin of each event is printed as soon as it is on the disk; what "
                + "waits in the pipe shares a sync. At the first bad line it ends with 1: what "
                + "came before is recorded; of that line's batch, and behind it, nothing is.",
        ],
        options: [
            .value("subject", "TEXT", "what the event is about, where its type has no such field"),
            .value("actor", "ID", "who did it: an opaque id, never a name"),
            .value("at", "TIME", "when it happened: RFC 3339, a date, or milliseconds; else now"),
            .value("version", "N", "the version of the type; else the newest"),
            .flag("if-unchanged", "refuse if another replica wrote about the subject meanwhile"),
            .choice(
                "durability",
                ["synced", "written"],
                "synced (the default): survives a power cut; written: the end of the process"
            ),
            .flag("quiet", "with `record -`: print no origins, and a summary at the end"),
            .noProgress,
            .help,
        ],
        examples: [
            Example(
                text: "diario record meals.weight.recorded "
                    + "'{\"day\":\"2026-03-02\",\"weightG\":78400,\"source\":\"manual\"}'",
                meaning: "one event"
            ),
            Example(text: "diario record - --quiet < events.jsonl", meaning: "a file of events"),
        ]
    )

    static let schemaAdopt = Command(
        name: "schema adopt",
        operands: "[DIR]",
        operandCount: 0...1,
        operandKinds: [.folder],
        summary: "let the space use packs from now on",
        details: [
            "Adopts the pack, or each of the packs, in the folder DIR, or those of --pack: records "
                + "that the space uses it, and those rows of its reference data that are new or "
                + "changed. A type and version that the space knows already must have the same "
                + "schema. Works beside a running server, with --space in front of the command."
        ],
        options: [.pack, .json, .noProgress, .help],
        examples: [
            Example(text: "diario schema adopt ./plants", meaning: "a pack of your own"),
            Example(
                text: "diario schema adopt --pack meals",
                meaning: "a pack that comes with the program"
            ),
        ]
    )
}
