package import DiarioCore
package import DiarioFormat
import DiarioFrames
package import DiarioStorage

/// What can go wrong when a log is opened, read or written.
package enum LogError: Error, Equatable, Sendable {
    case storage(StorageError)
    case format(FormatError)
    case blob(BlobError)
    /// Bytes below the synced length are damaged. Never passed over in silence.
    case corrupt(Fault)
    /// The directory holds no log.
    case notALog
    /// Written by a newer program.
    case newerFormat(version: Int)
    /// Written by a version before the first release, whose formats no later one reads.
    case beforeFirstRelease
    /// Opened for reading, or on a medium that can only be read.
    case readOnly
    /// The log was closed.
    case closed
    /// Two syncs failed in a row, so nothing more is taken until the log is opened again.
    case stopped(StorageError)
    case unknownSpace(SpaceID)
    /// Positions are given by another replica.
    case notAuthority(SpaceID)
    /// This replica is the authority: there is nothing to promote.
    case isAuthority(SpaceID)
    /// This authority was restored from a backup, and waits for its operator.
    case waiting(SpaceID)
    /// The clock of this system shows a time at which no event can be recorded.
    case unusableClock(Timestamp)
    /// A promotion or a canonical block that does not fit what is there.
    case outOfOrder(what: String)
    /// What is read moved away again and again, or is not what was asked for any more.
    case moved(what: String)
    /// Events of more replicas than a space may have.
    case tooManyReplicas(countMax: Int)
    /// More bytes than a frame may have, and nothing that could be cut.
    case tooLarge(byteCount: Int, byteCountMax: Int)
    case unknownType(name: String, version: Int)
    /// The schema of events is not here, so they cannot be sealed.
    case noSchema(name: String, version: Int)
    /// Another process, or the background of this one, is sealing the space.
    case sealing(SpaceID)
    /// Positions up to `released` were given away and are not in this log any more.
    case released(position: UInt64, released: UInt64)

    /// What failed and what to do about it, in one or two sentences.
    package var message: String {
        switch self {
        case .storage(let error): error.message
        case .format(let error): error.message
        case .blob(let error): "The blob cannot be used: \(error.message)."
        case .corrupt(let fault) where !fault.file.hasPrefix(FramePaths.folder + "/"):
            "The data directory is damaged at \(fault.message). Restore a backup, or write all "
                + "that verifies into a new directory: diario salvage DIR NEW"
        case .corrupt(let fault):
            "The log is damaged at \(fault.message). It can be read up to there and takes no "
                + "events. Restore a backup, or write all that verifies into a new directory: "
                + "diario salvage DIR NEW"
        case .notALog:
            "There is no Diario log here. Make one with `diario init DIR`, or check the path."
        case .newerFormat(let version):
            "This directory was written by a newer program, in format \(version), which this one "
                + "does not know. Use a newer diario."
        case .beforeFirstRelease:
            "This directory was made by a version before the first release: export it with that "
                + "one, and import the events into a new one."
        case .readOnly:
            "The log was opened for reading only, so nothing can be recorded."
        case .closed: "The log was closed. Open it again."
        case .stopped(.removed(let path)):
            "The log takes no more events, because \(path) was removed while it was open here: "
                + "its folder was removed, or another one was put in its place. What was being "
                + "recorded is not recorded. See which folder is there, and open it again."
        case .stopped(let error):
            "The log takes no more events, because writing it failed twice (\(error.message)). "
                + "Nothing acknowledged is lost. Check the disk and open the log again."
        case .unknownSpace(let space):
            "There is no space \(space.text) here. If an import made it anew just now, do it again."
        case .notAuthority(let space):
            "Positions of space \(space.text) are given elsewhere, so they cannot be given here."
        case .isAuthority(let space):
            "Space \(space.text) gets its positions here, so there is nothing to promote."
        case .waiting:
            "This directory was restored from a backup or copied, and others may know events that "
                + "it lacks, so it gives no positions. `diario authority resume` lets it go on."
        case .unusableClock(let now):
            "The clock of this system shows \(now.milliseconds) milliseconds from 1970, and events "
                + "are recorded in the years 1 to 4199. Set the clock; nothing was recorded."
        case .outOfOrder(let what): "The events do not fit the log: \(what)."
        case .moved(let what):
            "\(what) moved while it was read, because other programs write all the time. Run the "
                + "same command again."
        case .tooManyReplicas(let countMax):
            "The events come from so many replicas that the space would have more than "
                + "\(countMax) of them. Let devices keep the replica they have, or use another "
                + "space."
        case .tooLarge(let byteCount, let byteCountMax):
            "\(byteCount) bytes would have to be written at once, and a frame of the log holds "
                + "\(byteCountMax)."
        case .unknownType(let name, let version):
            "No adopted pack has the event type \(name), version \(version). "
                + "Adopt one with `diario schema adopt`."
        case .noSchema(let name, let version):
            "The schema of \(name), version \(version), is in none of the packs here, so events "
                + "of that type cannot be sealed. They stay in the write-ahead log."
        case .sealing(let space):
            "Space \(space.text) is being sealed already, perhaps in the background. "
                + "Wait until that is done."
        case .released(let position, let released):
            "Position \(position) is not in the log any more: up to \(released) were released."
        }
    }
}

extension LogError {
    init(_ error: FrameError) {
        self =
            switch error {
            case .storage(let error): .storage(error)
            case .damaged(let fault): .corrupt(fault)
            case .stopped(let error): .stopped(error)
            case .tooLarge(let count, let max): .tooLarge(byteCount: count, byteCountMax: max)
            }
    }
}

/// Runs storage calls and turns their errors into ours.
func storing<Result: ~Copyable>(
    _ body: () throws(StorageError) -> Result
) throws(LogError) -> Result {
    do { return try body() } catch { throw .storage(error) }
}

extension LogError {
    var fault: Fault? {
        guard case .corrupt(let fault) = self else { return nil }
        return fault
    }
}
