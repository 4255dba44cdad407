package import DiarioCore
package import DiarioCrypto
import DiarioEngine
import DiarioLog
import DiarioStorage

extension DataFolder {
    /// A backup that was made.
    package struct Backup {
        package let at: Timestamp
        package let copiedSize: Int
        /// Bytes that the backup before had already.
        package let keptSize: Int
        package let spaces: [(id: SpaceID, head: UInt64, pending: Int)]
        /// Those of the source.
        package let damagedBlobs: [DamagedBlob]
    }

    /// A blob that is damaged in the folder that was copied.
    package struct DamagedBlob {
        package let id: Hash32
        /// Below `.diario`.
        package let file: String
        /// Whether the backup has a good copy.
        package let isKept: Bool
    }

    /// Copies all of the folder into the one at `target`, as it is at one moment.
    ///
    /// An older backup there stays until the new one is whole, checked and on the disk.
    package func back(
        upTo target: String,
        shown: String,
        progress: (UInt64, UInt64) -> Void
    ) throws -> Backup {
        // Only to be locked; what may not be written to can be copied as well.
        let source = try directory(.readWrite)
        var backup = try begin(source, try Self.open(target, shown))
        try backup.copyAhead { progress(UInt64($0), UInt64($1)) }
        let now = SystemClock().now
        let older = try backup.older(ControlFile.name)
        var others: [String] = []
        let spaces: [(id: SpaceID, head: UInt64, pending: Int)]
        let damagedBlobs: [DamagedBlob]
        do {
            // Together with the log, so that it knows each replica that has events there.
            try backup.copyRest(wrapping: { $0 as any Error }) { path throws(any Error) in
                let made = try POSIXDirectory(path: path, access: .readWrite)
                let isThere = try ControlFile.copy(of: source, to: made, older: older)
                if isThere { others.append(ControlFile.name) }
            }
            damagedBlobs = try backup.mendBlobs(drawing: SystemEntropy()).map {
                DamagedBlob(id: $0.id, file: LogPaths.blob($0.id), isKept: $0.isKept)
            }
            spaces = try check(backup, with: others)
        } catch {
            guard let fault = Self.fault(of: error) else { throw error }
            throw refusal(fault, backup, shown)
        }
        try backup.publish(with: others, at: now)
        return Backup(
            at: now,
            copiedSize: backup.copiedSize,
            keptSize: backup.keptSize,
            spaces: spaces,
            damagedBlobs: damagedBlobs
        )
    }

    private static func fault(of error: any Error) -> Fault? {
        switch error {
        case let error as ControlError: error.fault
        case let error as LogError: DiarioError(error).fault
        case let error as DiarioError: error.fault
        default: nil
        }
    }

    /// The folder that holds the backup, made if it is missing.
    private static func open(_ name: String, _ shown: String) throws -> POSIXDirectory {
        let target = try POSIXDirectory(path: name, access: .create)
        guard !target.isReadOnly else {
            throw DiarioError(
                .readOnly,
                "\(shown) may not be written. Check its permissions and the file system, or name "
                    + "another folder"
            )
        }
        guard try DirectoryBackup.place(target) != .other else {
            throw DiarioError(
                .exists,
                "\(shown) holds a space, or a backup that was written to since. Name another folder"
            )
        }
        return target
    }

    private func begin(
        _ source: POSIXDirectory,
        _ target: POSIXDirectory
    ) throws -> DirectoryBackup {
        do throws(LogError) { return try DirectoryBackup(of: source, to: target) } catch {
            guard case .storage(.locked(_, let owner)) = error else { throw error }
            let program = owner.map { "the process \($0)" } ?? "another program"
            throw DiarioError(
                .busy,
                "\(program) makes a backup there already. Wait until it is done"
            )
        }
    }

    /// Opens the copy before it takes the place of an older one: that must not go for a bad one.
    private func check(
        _ backup: DirectoryBackup,
        with others: [String]
    ) throws -> [(id: SpaceID, head: UInt64, pending: Int)] {
        let store = try openStore(backup.checked(with: others), .readOnly)
        let spaces = try store.checkCopied(backup.isFresh).map { id in
            let standing = store[id].standing()
            let pending = standing.pending.reduce(0) { $0 + $1.sequences.count }
            return (id, standing.head, pending)
        }
        try store.close()
        return spaces
    }

    /// The failure of a copy that may not replace the backup before.
    private func refusal(
        _ fault: Fault,
        _ backup: DirectoryBackup,
        _ target: String
    ) -> DiarioError {
        let owner = ((try? names()) ?? []).first {
            fault.file.hasPrefix(LogPaths.space($0.id) + "/")
        }
        let place = Fault(
            file: "\(shown)/\(LogPaths.directoryName)/\(fault.file)",
            offset: fault.offset,
            what: fault.what
        )
        var kept = "Nothing was backed up"
        if backup.hasPrevious {
            kept = "The backup in \(target) is kept as it was"
            // Its bytes never change under its name, so one of the two is another's work.
            if fault.file.hasSuffix(".dseg"), let older = try? backup.older(fault.file) {
                kept += ", and its copy of that file may be whole: \(older)"
            }
        }
        return DiarioError(
            .corrupt,
            "\(owner.map { "the space \($0.name.text)" } ?? "what is copied") is damaged: "
                + "\(place.message). \(kept). All that is wrong: diario -C \(shown) verify. To "
                + "keep all that verifies: diario salvage \(shown) NEW"
        )
    }
}
