import Diario
import DiarioCore
import DiarioLog
import DiarioSchema
import DiarioServer
import DiarioStorage

/// The command `diario backup`.
enum BackupCommand {
    /// What a backup holds of a space.
    private struct Entry {
        let id: SpaceID
        let head: UInt64
        let pending: Int
    }

    static func run(_ call: Invocation) throws(Failure) {
        let name = call.arguments.operands[0]
        try SpaceFolder.refuse(name)
        let folder = try ServedFolder(call)
        // Only to be locked; what may not be written to can be copied as well.
        let source = try folder.directory(.readWrite)
        let target = try open(name)
        let bar = call.progressBar("Copying", unit: "bytes")
        defer { bar.finish() }
        var backup = try begin(source, target)
        do throws(LogError) {
            try backup.copyAhead { bar.update(done: UInt64($0), total: UInt64($1)) }
        } catch {
            throw .failed(error.message)
        }
        let now = SystemClock().now
        let older: String?
        do throws(LogError) { older = try backup.older(ControlFile.name) } catch {
            throw .failed(error.message)
        }
        var others: [String] = []
        var controlError: ControlError?
        // Together with the log: whoever has events in it is known there.
        try backup.copyRest(wrapping: { Failure.failed($0.message) }) { (path) throws(Failure) in
            let made = try directory(path, .readWrite)
            do throws(ControlError) {
                let isThere = try ControlFile.copy(of: source, to: made, older: older)
                if isThere { others.append(ControlFile.name) }
            } catch {
                controlError = error
            }
        }
        if let controlError {
            guard let fault = controlError.fault else {
                throw .failed(controlError.message(in: CellText.oneLine(folder.name)))
            }
            throw refusal(DiarioError(.corrupt(fault)), backup, call, of: folder)
        }
        let entries: [Entry]
        do throws(DiarioError) { entries = try check(backup, with: others) } catch {
            throw refusal(error, backup, call, of: folder)
        }
        do throws(LogError) { try backup.publish(with: others, at: now) } catch {
            throw .failed(error.message)
        }
        bar.finish()
        try tell(backup, entries, at: now, call)
    }

    /// The folder that holds the backup, made if it is missing.
    private static func open(_ name: String) throws(Failure) -> POSIXDirectory {
        let target = try directory(name, .create)
        guard !target.isReadOnly else {
            throw .failed(
                "\(CellText.oneLine(name)) may not be written. Check its permissions and the file "
                    + "system, or name another folder"
            )
        }
        let place = try reportingLog { () throws(LogError) in try DirectoryBackup.place(target) }
        guard place != .other else {
            throw .failed(
                "\(CellText.oneLine(name)) holds a space, or a backup that was written to since. "
                    + "Name another folder"
            )
        }
        return target
    }

    private static func directory(
        _ path: String,
        _ access: POSIXDirectory.Access
    ) throws(Failure) -> POSIXDirectory {
        do throws(StorageError) { return try POSIXDirectory(path: path, access: access) } catch {
            throw .failed(error.message)
        }
    }

    private static func begin(
        _ source: POSIXDirectory,
        _ target: POSIXDirectory
    ) throws(Failure) -> DirectoryBackup {
        do throws(LogError) { return try DirectoryBackup(of: source, to: target) } catch {
            guard case .storage(.locked(_, let owner)) = error else {
                throw .failed(error.message)
            }
            let program = owner.map { "the process \($0)" } ?? "another program"
            throw .failed("\(program) makes a backup there already. Wait until it is done")
        }
    }

    /// Opens the copy before it takes the place of an older one: that must not go for a bad one.
    private static func check(
        _ backup: DirectoryBackup,
        with others: [String]
    ) throws(DiarioError) -> [Entry] {
        let made = try logged { () throws(LogError) in try backup.checked(with: others) }
        let store = try Space.openStore(made, access: .readOnly)
        return try logged { () throws(LogError) in
            let spaces = try store.checkCopied(backup.isFresh)
            let entries = spaces.map { id in
                let standing = store.standing(of: id)
                let pending = standing.pending.reduce(0) { $0 + $1.sequences.count }
                return Entry(id: id, head: standing.head, pending: pending)
            }
            try store.close()
            return entries
        }
    }

    private static func logged<Value>(
        _ body: () throws(LogError) -> Value
    ) throws(DiarioError) -> Value {
        do throws(LogError) { return try body() } catch { throw DiarioError(error) }
    }

    /// What is told of a copy that may not take the place of the backup before.
    private static func refusal(
        _ error: DiarioError,
        _ backup: DirectoryBackup,
        _ call: Invocation,
        of source: ServedFolder
    ) -> Failure {
        guard let fault = error.fault else { return .failed(error.message) }
        let (name, target) = (CellText.oneLine(source.name), call.arguments.operands[0])
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
            "\(what) is damaged: \(place.message). \(kept). All that is wrong, and what can "
                + "be mended: diario -C \(name) verify, and diario -C \(name) repair"
        )
    }

    private static func tell(
        _ backup: DirectoryBackup,
        _ entries: [Entry],
        at now: Timestamp,
        _ call: Invocation
    ) throws(Failure) {
        let name = call.arguments.operands[0]
        let (copied, kept) = (backup.copiedSize, backup.keptSize)
        guard call.arguments.has("json") else {
            let spaces = Show.count(UInt64(entries.count), "space")
            let events = Show.count(
                entries.reduce(0) { $0 + $1.head + UInt64($1.pending) },
                "event"
            )
            return try call.output.line(
                "\(CellText.oneLine(name)) has \(spaces) with \(events); \(copied) bytes were "
                    + "copied, and \(kept) were there"
            )
        }
        try call.output.json { json in
            json.add("target", name)
            json.add("at", Show.time(now.milliseconds))
            json.add("copiedBytes", UInt64(copied))
            json.add("keptBytes", UInt64(kept))
            json.add(
                "spaces",
                list: entries.map { entry in
                    JSONObjectWriter.object { json in
                        json.add("id", entry.id.text)
                        json.add("head", entry.head)
                        json.add("pending", UInt64(entry.pending))
                    }
                }
            )
        }
    }
}
