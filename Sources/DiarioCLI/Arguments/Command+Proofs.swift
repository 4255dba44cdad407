// The commands about proofs. Help and parser both read this.

extension Command {
    static let prove = Command(
        name: "prove",
        operands: "[POSITION|ORIGIN]",
        operandCount: 0...1,
        summary: "prove that an event is in the log, or that the log only grew",
        details: [
            "Prints a proof that the event at this position, or with this origin, is in the log "
                + "with this root: a few hashes, for somebody who has no copy of the log but "
                + "knows its root. With --from in place of an event, a proof that the log begins "
                + "with what it was when it had M events: nothing was changed since.",
            "`diario check` verifies it, and so does any program that follows "
                + "schema/format/proofs.md.",
        ],
        options: [
            .value("size", "N", "prove it of the log as it was with N events; else of all of it"),
            .flag("event", "put the event's row into the proof, without its personal values"),
            .value("from", "M", "prove that the log begins with its first M events"),
            .value("to", "N", "with --from: the log as it was with N events; else all of it"),
            .flag("json", "print the proof on one line"),
            .help,
        ],
        examples: [
            Example(
                text: "diario prove 1 --event > proof.json",
                meaning: "that the first event is in the log, and what it is"
            ),
            Example(
                text: "diario prove --from 1 --json",
                meaning: "that the log still begins with its first event"
            ),
        ]
    )

    static let check = Command(
        name: "check",
        operands: "FILE|-",
        operandCount: 1...1,
        summary: "check a proof that `prove` made",
        details: [
            "Checks the proof in FILE, or in the input. Needs no space. Ends with 0 if the proof "
                + "holds and 1 if not, with the reason. If it carries the event's row, that is "
                + "checked too.",
            "That a proof holds means that its event, or the smaller log, belongs to the root it "
                + "names. Whether that is the root of the log you mean, only you can know: give "
                + "what you know with --root and --size.",
        ],
        options: [
            .value("root", "HASH", "refuse a proof about another root"),
            .value("size", "N", "refuse a proof about a log of another size"),
            .value("from-root", "HASH", "refuse a proof that begins with another root"),
            .flag("event", "show the event, and refuse a proof that does not carry it"),
            .json,
            .help,
        ],
        examples: [
            Example(text: "diario check proof.json --event", meaning: "a proof and its event"),
            Example(
                text: "diario check - --size 1 < proof.json",
                meaning: "a proof about the log when it had one event"
            ),
        ]
    )
}
