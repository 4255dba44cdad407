import DiarioCore

// The commands about read models. Help and parser both read this.

extension Command {
    private static let answers: [CommandOption] = [
        .values("param", "NAME=VALUE", "the value of a parameter of the query"),
        .value("limit", "N", "only the first N rows, at most"),
        .value("timeout", "SECONDS", "end with an error after so long"),
        .json,
        .flag("csv", "print comma-separated values"),
        .noProgress,
        .help,
    ]

    static let query = Command(
        name: "query",
        operands: "[NAME]",
        operandCount: 0...1,
        operandKinds: [.queryName],
        summary: "answer a named query of a pack",
        details: [
            "Brings the read models of the pack up to date with the log first, and builds them if "
                + "they are missing or changed; --timeout counts from then on. Where they take "
                + "very long for each event, it ends with an error that says how far they are, "
                + "and the next query goes on.",
            "Without NAME it lists the queries. If several packs have a query of that name, say "
                + "PACK.NAME.",
            "A note on stderr says if events are in quarantine, so that the answer lacks them, and "
                + "if there are more rows than --limit. Without --limit, more than "
                + "\(Limits.queryRowCountMax) rows are an error.",
            "On a terminal the answer is a table; in a pipe each row is a line with tabs between "
                + "the columns, and - for NULL. With --json it is a list of objects; bytes are "
                + "base64.",
        ],
        options: answers + [.flag("names", "without NAME: only the names, one a line")],
        examples: [
            Example(text: "diario query", meaning: "the queries there are"),
            Example(
                text: "diario query thirsty --param day=2026-05-04 --json",
                meaning: "one of them, for a program"
            ),
        ]
    )

    static let sql = Command(
        name: "sql",
        operands: "QUERY|-",
        operandCount: 1...1,
        summary: "ask the read models anything, in SQL",
        details: [
            "Sees the tables of all packs (of at most 10 in one query), each under its own name, "
                + "and with that of its pack in front where two have the same: fish.report. It may "
                + "only read: SQLite with its functions, but for json_patch, snippet and "
                + "extensions.",
            "With - the query is read from the input, as in `diario sql - < query.sql`.",
            "A parameter, such as :least in the query, gets its value by --param least=3: a number "
                + "where it is written as one, such as 3 or -1.5; NULL; bytes as in x'00ff'; else "
                + "a text. What would be one of these goes in quotes: --param \"phone='112'\".",
            "The answer and notes are printed as `query` prints them.",
        ],
        options: answers,
        examples: [
            Example(
                text: "diario sql 'SELECT * FROM diario_tables'",
                meaning: "all tables, with their packs and read models"
            ),
            Example(
                text: "diario sql 'SELECT count(*) AS plants FROM plants.plant' --json",
                meaning: "a number for a program"
            ),
        ]
    )

    static let rebuild = Command(
        name: "rebuild",
        operands: "[PACK...]",
        operandCount: 0...64,
        summary: "build read models anew from the log",
        details: [
            "Builds the read models of all packs, or of these, beside the live ones, which "
                + "programs go on reading meanwhile; then makes the new ones live. What was live "
                + "before is kept for --undo. A build that is cut off is gone on with by the next "
                + "one. Read models that a changed pack brings are built by themselves when "
                + "something is asked.",
            "With --dry-run nothing is changed: it shows how many rows would be added, removed "
                + "or changed, with the packs in use or those of --schema DIR. With --check it "
                + "builds all anew aside and compares: ends with 1 if a table differs.",
        ],
        options: [
            .flag("dry-run", "only show which rows would differ"),
            .value("schema", "DIR", "with --dry-run: the packs in DIR", .folder),
            .flag("check", "compare the live read models with new ones"),
            .flag("undo", "go back to what was live before"),
            .json, .noProgress, .help,
        ],
        examples: [
            Example(text: "diario rebuild --check", meaning: "are they what the log says?"),
            Example(
                text: "diario rebuild --dry-run --schema ./plants",
                meaning: "what a changed pack would change"
            ),
        ]
    )

    static let quarantineList = Command(
        name: "quarantine list",
        operands: "",
        operandCount: 0...0,
        summary: "list the events that a read model could not take",
        details: [
            "Such an event is kept like any other, and all other read models have it. It is listed "
                + "with the read model that left it out and why."
        ],
        options: [.json, .noProgress, .help],
        examples: [Example(text: "diario quarantine list", meaning: "empty if all is well")]
    )

    static let quarantineShow = Command(
        name: "quarantine show",
        operands: "ORIGIN",
        operandCount: 1...1,
        summary: "show why read models could not take an event",
        details: ["Shows the event, and each read model that left it out with the reason."],
        options: [.json, .noProgress, .help],
        examples: [
            Example(
                text: "diario quarantine show 7zk3m9q2c1f4a-17",
                meaning: "one of those that `quarantine list` names"
            )
        ]
    )

    static let quarantineRetry = Command(
        name: "quarantine retry",
        operands: "[PACK...]",
        operandCount: 0...64,
        summary: "let read models try events in quarantine again",
        details: [
            "Builds the read models of the packs that have events in quarantine anew, as `rebuild` "
                + "does: an event is taken in its own place, not behind later ones."
        ],
        options: [.json, .noProgress, .help],
        examples: [Example(text: "diario quarantine retry", meaning: "after a pack was mended")]
    )
}
