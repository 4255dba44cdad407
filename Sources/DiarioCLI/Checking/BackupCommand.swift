import Diario
import DiarioServer

extension Command {
    static let backup = Command(
        "backup",
        "copy all that was recorded, while programs write",
        on: .folder,
        takes: [.one("TARGET", .folder)],
        details: """
            Copies the folder of a server, or of a space, into the folder TARGET, as it is at one
            moment: events, packs, blobs, names and tokens. A server goes on meanwhile. Read models
            are left out, because they are rebuilt.

            The same TARGET can be used again and again: files that it has already are compared and
            kept, and only the rest is copied. The new backup takes the place of the old one when it
            is whole and on the disk; until then the old one stays. One that was interrupted is
            continued.

            The copied files are checked. If one of them is damaged, the command fails and says
            where, and the old backup stays: see diario help salvage.

            To restore it, copy TARGET to where it shall be used: cp -a TARGET DIR. Move the files
            of an older DIR away first, or they mix with those of the backup. A server that was
            restored gives no positions before diario authority resume. Read what that says. TARGET
            holds tokens of replicas and personal fields: keep it as safe as the original.
            """,
        options: [
            .value("data DIR", "the folder that is copied; else the one of -C", .folder),
            .noProgress, .json,
        ],
        examples: [
            "diario backup --data ./served /backup/served": "each night, beside the server",
            "diario -C notebook backup /backup/notebook": "a space",
        ],
        run: { try BackupCommand.run($0) }
    )
}

/// The command `diario backup`.
enum BackupCommand {
    static func run(_ call: Invocation) throws {
        let name = call.operands[0]
        try SpaceLocation.refuse(name)
        let shown = CellText.oneLine(name)
        let backup = try call.withBar("Copying", unit: "bytes") { bar in
            try call.withData { folder in
                try folder.back(upTo: name, shown: shown) { bar.update(done: $0, total: $1) }
            }
        }
        let count = backup.spaces.reduce(0) { $0 + $1.head + UInt64($1.pending) }
        try call.answer(
            "\(shown) has \(Show.count(UInt64(backup.spaces.count), "space")) with "
                + "\(Show.count(count, "event")); \(backup.copiedSize) bytes were copied, and "
                + "\(backup.keptSize) were there",
            [
                "target": name, "at": Show.time(backup.at),
                "copiedBytes": UInt64(backup.copiedSize), "keptBytes": UInt64(backup.keptSize),
                "spaces": backup.spaces.map { space -> Fields in
                    ["id": space.id.text, "head": space.head, "pending": space.pending]
                },
            ]
        )
    }
}
