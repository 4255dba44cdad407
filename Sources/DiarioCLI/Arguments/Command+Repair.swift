// The command that mends a damaged space.

extension Command {
    static let repair = Command(
        name: "repair",
        operands: "",
        operandCount: 0...0,
        summary: "mend a damaged space",
        details: [
            "Keeps what verifies, sets the rest aside, and says what is lost. Without --yes it "
                + "only looks: it names each fault with its file and offset, what would be done "
                + "about it, and which events would be lost, and changes nothing. What it says "
                + "was tried in memory and verified.",
            "Nothing is deleted: what is damaged is copied to .diario/set-aside/NUMBER, with a "
                + "file why.txt that says where each came from, before anything takes its place. "
                + "Events keep their origin, position and times. Positions whose events are lost "
                + "stay empty for ever; verify lists them. Stop other programs and make a copy of "
                + "the folder first.",
            "An adopted pack whose files are damaged is taken from the program, or from the packs "
                + "in DIR, as it was when it was adopted.",
            "Ends with 0 if nothing is wrong or all was mended, and with 1 if there is something "
                + "to mend still.",
        ],
        options: [
            .flag("dry-run", "only look, as without --yes"),
            .flag("yes", "do it"),
            .values("schema", "DIR", "packs to take the place of damaged ones", .folder),
            .json, .help,
        ],
        examples: [
            Example(text: "diario repair", meaning: "what is wrong, and what would be lost"),
            Example(text: "diario repair --yes", meaning: "mend it"),
        ]
    )
}
