import Diario
import DiarioCrypto
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
            where, and the old backup stays: see diario help salvage. A damaged blob keeps nothing
            else from being copied: the command names it and ends with 1, and where the old backup
            has a good copy of it, the new one has that.

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
        for blob in backup.damagedBlobs { try tell(blob, in: name, call) }
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
                "damagedBlobs": backup.damagedBlobs.map { blob -> Fields in
                    ["sha256": blob.id.text, "kept": blob.isKept]
                },
            ]
        )
        guard backup.damagedBlobs.isEmpty else { throw Failure.found }
    }

    /// A path as a shell reads it.
    private static func word(_ path: String) -> String {
        let isPlain = path.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d...0x2f, 0x5f: true
            default: false
            }
        }
        return isPlain ? path : "'" + path.replacing("'", with: "'\\''") + "'"
    }

    private static func tell(
        _ blob: DataFolder.DamagedBlob,
        in target: String,
        _ call: Invocation
    ) throws {
        let file = "\(SpaceLocation.marker)/\(blob.file)"
        let (from, to) = try ("\(target)/\(file)", "\(call.dataFolder())/\(file)")
        let copy =
            blob.isKept
            ? "The backup has a good copy: cp \(word(from)) \(word(to))"
            : "The backup has no good copy"
        call.remark(
            "the blob \(blob.id.text) is damaged. The next sync of a device that has it brings it "
                + "again. \(copy)"
        )
    }
}
