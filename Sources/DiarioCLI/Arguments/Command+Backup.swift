// The command that copies a whole folder. Help and parser both read this.

extension Command {
    static let backup = Command(
        name: "backup",
        operands: "TARGET",
        operandCount: 1...1,
        operandKinds: [.folder],
        summary: "copy all that was recorded, beside whoever writes",
        details: [
            "Copies the folder of a server, or of a space, into the folder TARGET, as it is at one "
                + "moment: events, packs, names and tokens. A server goes on meanwhile. Read "
                + "models are left out, because they are made anew.",
            "The same TARGET can be used again and again: what it has already is compared and "
                + "kept, and only the rest is copied. The new backup takes the place of the old "
                + "one when it is whole and on the disk; until then the old one stays. One that "
                + "was broken off is gone on with.",
            "What is copied anew is checked. If something of it is damaged, the command fails and "
                + "says where, and the old backup stays: mend the folder first, see diario help "
                + "repair.",
            "To restore it, copy TARGET to where it shall be used: cp -a TARGET DIR. Move what is "
                + "left of an older DIR away first, or its files mix with those of the backup. A "
                + "server that was restored gives no positions before diario authority resume. "
                + "Read what that says. TARGET holds tokens of replicas and personal fields: keep "
                + "it as safe as the original.",
        ],
        options: [
            .value(
                "data",
                "DIR",
                "the folder that is copied; else the one of -C",
                .folder
            ),
            .noProgress, .json, .help,
        ],
        examples: [
            Example(
                text: "diario backup --data ./served /backup/served",
                meaning: "each night, beside the server"
            ),
            Example(text: "diario -C notebook backup /backup/notebook", meaning: "a space"),
        ]
    )
}
