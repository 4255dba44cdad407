import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioStorage

// A space gets its authority elsewhere: schema/format/sync.md, section 10.

extension SpaceLog {
    /// The attempt to publish a space that goes on; nil if there is none.
    package func publishing() throws(LogError) -> PublishingFile? {
        guard let file = try PublishingFile.read(of: space, in: shared.directory),
            // Beside an authority it was left by a crash.
            try SpaceHome.readManifest(space, in: shared.directory).authority == nil
        else { return nil }
        return file
    }

    /// The fault of a stored attempt to publish a space; nil if there is none.
    ///
    /// `root` is that of all events, if it is known.
    func publishingFault(root: Hash32?) throws(LogError) -> Fault? {
        let file: PublishingFile?
        do throws(LogError) {
            file = try publishing()
        } catch {
            switch error {
            case .corrupt(let fault) where fault.file == LogPaths.publishing(space): return fault
            case .storage(.tooLarge): return publishingFault("the file is damaged")
            default: throw error
            }
        }
        // Pending events get their positions before the file is removed.
        guard let file, !file.isTakenBack else { return nil }
        let head = log.head(of: space)
        guard file.size == head else {
            return publishingFault("it speaks of \(file.size) events of \(head)")
        }
        guard root == nil || root == file.root else {
            return publishingFault("it speaks of events with another root")
        }
        return nil
    }

    private func publishingFault(_ what: String) -> Fault {
        Fault(file: LogPaths.publishing(space), offset: 0, what: what)
    }

    /// Gives the authority away: from now on new events are pending.
    ///
    /// Durable when it returns. If that was done before, it says so again.
    package func beginPublishing() throws(LogError) -> PublishingFile {
        try log.withWriter { (writer) throws(LogError) in try writer.beginPublishing(space) }
    }

    /// The space has its authority elsewhere now; durable when it returns.
    package func endPublishing() throws(LogError) {
        try storing { () throws(StorageError) in
            guard try shared.directory.exists(LogPaths.publishing(space)) else { return }
            try shared.directory.remove(LogPaths.publishing(space))
            try shared.directory.syncDirectory(LogPaths.space(space))
        }
    }

    /// Gives positions to all that is pending, and is the authority again; durable when it returns.
    ///
    /// Goes on with what was begun before it was cut off.
    package func takeBack() throws(LogError) {
        try log.withWriter { (writer) throws(LogError) in try writer.takeBack(space) }
    }

    /// Takes over the authority of a space that was filled from elsewhere; durable when it returns.
    package func takeAuthority() throws(LogError) {
        try log.withWriter { (writer) throws(LogError) in try writer.takeAuthority(of: space) }
    }

    /// Shows a space that was staging; durable when it returns.
    package func show() throws(LogError) {
        // Otherwise it could be taken for a leftover.
        let staging = try log.stagingLock(of: space)
        defer { staging.release() }
        try log.withWriter { (writer) throws(LogError) in
            // Under the lock, since sealing writes the manifest too.
            var manifest = try writer.lastingManifest(of: space)
            guard manifest.isStaging else { return }
            manifest.isStaging = false
            try writer.replaceManifest(manifest)
        }
    }
}
