// The commands about own events that were refused. Help and parser both read this.

extension Command {
    static let inboxList = Command(
        name: "inbox list",
        operands: "",
        operandCount: 0...0,
        summary: "list own events that the authority refused",
        details: [
            "A batch is refused as a whole. It has no position and no effect on what others see; "
                + "its events are kept here until they are recorded again or dropped. Each is "
                + "listed with its first origin, how many events it has, and the rule that one of "
                + "them broke. If no refusal is known, another copy of this replica recorded other "
                + "events under the same origins, or what the log said was lost."
        ],
        options: [.json, .help],
        examples: [Example(text: "diario inbox list", meaning: "empty if all is well")]
    )

    static let inboxShow = Command(
        name: "inbox show",
        operands: "ORIGIN",
        operandCount: 1...1,
        summary: "show a refused batch, and what others recorded meanwhile",
        details: [
            "ORIGIN is that of any event of the batch. Shows why it was refused and where the log "
                + "says so, its events with their payloads, and the last 100 events of others "
                + "about the same subjects that its author did not know."
        ],
        options: [.json, .help],
        examples: [
            Example(
                text: "diario inbox show 7zk3m9q2c1f4a-17",
                meaning: "one of those that `inbox list` names"
            )
        ]
    )

    static let inboxRetry = Command(
        name: "inbox retry",
        operands: "ORIGIN...",
        operandCount: 1...64,
        summary: "record refused events again, as new ones",
        details: [
            "Records the events of a batch once more, with the same types, payloads, times, actors "
                + "and subjects, and takes the batch out of the inbox. Their origins are new, and "
                + "so are ids that they make; what refers to those refers to the new ones. Prints "
                + "the old origin and the new one of the first event. The next sync sends them.",
            "Events that were to be refused if another replica wrote to their subject still are, "
                + "unless --force is given. A batch of which no refusal is known needs it too, "
                + "since a sync may record such events again by itself. A payload that its schema "
                + "does not allow any more stays in the inbox.",
        ],
        options: [
            .flag("force", "even if others wrote to the subjects meanwhile"),
            .json, .help,
        ],
        examples: [
            Example(
                text: "diario inbox retry 7zk3m9q2c1f4a-17 --force",
                meaning: "what others wrote has been looked at"
            )
        ]
    )

    static let inboxDrop = Command(
        name: "inbox drop",
        operands: "ORIGIN...",
        operandCount: 1...64,
        summary: "remove refused events for good",
        details: [
            "Nothing of the events is kept anywhere. Without --yes it only says what would be "
                + "removed, and ends with 1."
        ],
        options: [.flag("yes", "do it"), .json, .help],
        examples: [
            Example(
                text: "diario inbox drop 7zk3m9q2c1f4a-17 --yes",
                meaning: "one of those that `inbox list` names"
            )
        ]
    )
}
