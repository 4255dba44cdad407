// The commands that bring events out of a space and into one. Help and parser both read this.

extension Command {
    static let export = Command(
        name: "export",
        operands: "",
        operandCount: 0...0,
        summary: "write events as JSON, CloudEvents or CSV",
        details: [
            "Prints every event with all that is known of it, one JSON object in each line, in "
                + "order of position and then the pending ones. `diario import` reads it again.",
            "What the authority wrote itself is left out, unless --type or --csv names it or with "
                + "--all: events of the engine, as that a pack was adopted, and reference data. "
                + "Of an export with --all and without other filters, an import into an empty "
                + "space makes the same space; the events of others are recorded as new ones.",
            "With --cloudevents it is one JSON array of CloudEvents 1.0, which `diario import` "
                + "reads as well. With --csv it is a table (RFC 4180) of the events of one type: "
                + "the columns that begin with _ are those of every event, the others the fields "
                + "of its newest version, then what only older versions have. Personal values are "
                + "included. A cell without anything is absent; an empty text has quotes.",
            "Texts that a spreadsheet would take for formulas are written as they are. For a file "
                + "that a person opens there, --spreadsheet puts an apostrophe before them: safer, "
                + "and no longer the same text.",
        ],
        options: [
            .value("output", "FILE", "write to FILE, which appears when it is complete", .file),
            .flag("cloudevents", "write a JSON array of CloudEvents"),
            .value("csv", "TYPE", "write the events of TYPE as a table", .typeName),
            .value("version", "N", "with --csv: only events of this version of the type"),
            .value(
                "csv-dir",
                "DIR",
                "write the file TYPE.csv into DIR for each type that has events",
                .folder
            ),
            .flag("spreadsheet", "with --csv, --csv-dir: put ' before what would be a formula"),
            .value("limit", "N", "at most N events, the first ones of those that are chosen"),
        ] + CommandOption.filters + [.noProgress, .help],
        examples: [
            Example(
                text: "diario export --all --output notebook.jsonl",
                meaning: "a copy of all that happened"
            ),
            Example(
                text: "diario export --csv meals.weight.recorded --since 2026-01-01",
                meaning: "the weights of this year, as a table"
            ),
            Example(
                text: "diario export --cloudevents --output notebook.json",
                meaning: "all events for another program"
            ),
        ]
    )

    static let importEvents = Command(
        name: "import",
        operands: "FILE|-",
        operandCount: 1...1,
        operandKinds: [.file],
        summary: "take over the events of an export",
        details: [
            "Takes over all events of FILE, or of the input, or none: lines as `diario export` "
                + "writes them, or CloudEvents, if the file begins with [ or with an object that "
                + "has a specversion: in an array, or one after the other. A byte order mark at "
                + "the start, as some editors write one, is passed over. From an export with "
                + "--all into a space without events of its packs they come as they are, with "
                + "origins, "
                + "positions and times; the space is then another one, of a new lineage, so not in "
                + "the folder of a server, where others know it. Else "
                + "they come as new events of this replica, each once, however often "
                + "it is repeated; they get new ids, and what names them follows. Where positions "
                + "come from a server, this replica remembers what it took over, and other "
                + "replicas do not know: import there from one of them. An import that was killed "
                + "goes on where it was when it is repeated.",
            "CloudEvents of other programs are always recorded as new events, each once by its "
                + "source and id: the type must be one of the space, data a JSON object that fits "
                + "it, and time says when it happened. What else they tell is not recorded, and "
                + "named on stderr. schema/format/cloudevents.md says it all.",
        ],
        options: [
            .flag("cloudevents", "take nothing but CloudEvents"),
            .flag("gaps", "positions may be missing, as where events were lost; others move up"),
            .json,
            .noProgress,
            .help,
        ],
        examples: [
            Example(
                text: "diario -C copy import notebook.jsonl",
                meaning: "the events of a file into a space made with `diario init copy --pack all`"
            ),
            Example(
                text: "diario import --cloudevents readings.json",
                meaning: "events that another program recorded"
            ),
        ]
    )
}
