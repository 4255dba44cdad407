import Diario
import DiarioCore
import DiarioLog
import DiarioServer
import DiarioStorage

extension Command {
    static let backup = Command(
        "backup",
        "copy all that was recorded, while programs write",
        on: .folder,
        takes: [.one("TARGET", .folder)],
        details: """
            Copies the folder of a server, or of a space, into the folder TARGET, as it is at one
            moment: events, packs, names and tokens. A server goes on meanwhile. Read models are
            left out, because they are rebuilt.

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
    /// A space of the backup.
    private struct Entry {
        let id: SpaceID
        let head: UInt64
        let pending: Int
    }

    static func run(_ call: Invocation) throws {
        let name = call.operands[0]
        try SpaceLocation.refuse(name)
        let folder = try ServedFolder(call)
        // Only to be locked; what may not be written to can be copied as well.
        let source = try folder.directory(.readWrite)
        let target = try open(name)
        let bar = call.progressBar("Copying", unit: "bytes")
        defer { bar.finish() }
        var backup = try begin(source, target)
        try backup.copyAhead { bar.update(done: UInt64($0), total: UInt64($1)) }
        let now = SystemClock().now
        let older = try backup.older(ControlFile.name)
        var others: [String] = []
        let entries: [Entry]
        do {
            // Together with the log, so that it knows each replica that has events there.
            try backup.copyRest(wrapping: { $0 as any Error }) { path throws(any Error) in
                let made = try POSIXDirectory(path: path, access: .readWrite)
                let isThere = try ControlFile.copy(of: source, to: made, older: older)
                if isThere { others.append(ControlFile.name) }
            }
            entries = try check(backup, with: others)
        } catch let error as ControlError {
            guard let fault = error.fault else {
                throw Failure.failed(error.message(in: CellText.oneLine(folder.name)))
            }
            throw refusal(fault, backup, call, of: folder)
        } catch {
            guard case .damaged(let fault, _) = Failure(error) else { throw error }
            throw refusal(fault, backup, call, of: folder)
        }
        try backup.publish(with: others, at: now)
        bar.finish()
        try tell(backup, entries, at: now, call)
    }

    /// The folder that holds the backup, made if it is missing.
    private static func open(_ name: String) throws -> POSIXDirectory {
        let target = try POSIXDirectory(path: name, access: .create)
        guard !target.isReadOnly else {
            throw Failure.failed(
                "\(CellText.oneLine(name)) may not be written. Check its permissions and the file "
                    + "system, or name another folder"
            )
        }
        let place = try DirectoryBackup.place(target)
        guard place != .other else {
            throw Failure.failed(
                "\(CellText.oneLine(name)) holds a space, or a backup that was written to since. "
                    + "Name another folder"
            )
        }
        return target
    }

    private static func begin(
        _ source: POSIXDirectory,
        _ target: POSIXDirectory
    ) throws -> DirectoryBackup {
        do { return try DirectoryBackup(of: source, to: target) } catch {
            guard case .storage(.locked(_, let owner)) = error else { throw error }
            let program = owner.map { "the process \($0)" } ?? "another program"
            throw Failure.failed("\(program) makes a backup there already. Wait until it is done")
        }
    }

    /// Opens the copy before it takes the place of an older one: that must not go for a bad one.
    private static func check(_ backup: DirectoryBackup, with others: [String]) throws -> [Entry] {
        let made = try backup.checked(with: others)
        let store = try Space.openStore(made, access: .readOnly)
        let entries = try store.checkCopied(backup.isFresh).map { id in
            let standing = store.standing(of: id)
            let pending = standing.pending.reduce(0) { $0 + $1.sequences.count }
            return Entry(id: id, head: standing.head, pending: pending)
        }
        try store.close()
        return entries
    }

    /// The failure of a copy that may not replace the backup before.
    private static func refusal(
        _ fault: Fault,
        _ backup: DirectoryBackup,
        _ call: Invocation,
        of source: ServedFolder
    ) -> Failure {
        let (name, target) = (CellText.oneLine(source.name), call.operands[0])
        let names = (try? source.names()) ?? []
        let owner = names.first { fault.file.hasPrefix(LogPaths.space($0.id) + "/") }
        let what = owner.map { "the space \($0.name.text)" } ?? "what is copied"
        let place = Fault(
            file: "\(name)/\(LogPaths.directoryName)/\(fault.file)",
            offset: fault.offset,
            what: fault.what
        )
        var kept = "Nothing was backed up"
        if backup.hasPrevious {
            kept = "The backup in \(CellText.oneLine(target)) is kept as it was"
            // Its bytes never change under its name, so one of the two is another's work.
            if fault.file.hasSuffix(".dseg"), let older = try? backup.older(fault.file) {
                kept += ", and its copy of that file may be whole: \(CellText.oneLine(older))"
            }
        }
        return .failed(
            "\(what) is damaged: \(place.message). \(kept). All that is wrong: diario -C "
                + "\(name) verify. To keep all that verifies: diario salvage \(name) NEW"
        )
    }

    private static func tell(
        _ backup: DirectoryBackup,
        _ entries: [Entry],
        at now: Timestamp,
        _ call: Invocation
    ) throws {
        let name = call.operands[0]
        let (copied, kept) = (backup.copiedSize, backup.keptSize)
        let count = entries.reduce(0) { $0 + $1.head + UInt64($1.pending) }
        try call.answer(
            "\(CellText.oneLine(name)) has \(Show.count(UInt64(entries.count), "space")) with "
                + "\(Show.count(count, "event")); \(copied) bytes were copied, and \(kept) were "
                + "there",
            [
                "target": name, "at": Show.time(now), "copiedBytes": UInt64(copied),
                "keptBytes": UInt64(kept),
                "spaces": entries.map { entry -> Fields in
                    ["id": entry.id.text, "head": entry.head, "pending": entry.pending]
                },
            ]
        )
    }
}
