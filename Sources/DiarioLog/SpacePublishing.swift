import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioStorage
import Synchronization

extension SpaceLog {
    /// How the space gets its authority elsewhere.
    package var publishing: SpacePublishing { SpacePublishing(spaceLog: self) }
}

/// A space gets its authority elsewhere: schema/format/sync.md, section 10.
package struct SpacePublishing: Sendable {
    let spaceLog: SpaceLog

    private var shared: LogShared { spaceLog.shared }
    private var space: SpaceID { spaceLog.space }

    /// The attempt to publish a space that goes on; nil if there is none.
    package func attempt() throws(LogError) -> PublishingFile? {
        guard let file = try file(),
            // Beside an authority it was left by a crash.
            try SpaceHome.readManifest(space, in: shared.directory).authority == nil
        else { return nil }
        return file
    }

    private func file() throws(LogError) -> PublishingFile? {
        guard let bytes = try spaceLog.contents(LogPaths.publishing(space), sizeMax: 4096) else {
            return nil
        }
        guard let file = PublishingFile(bytes.span) else {
            throw .corrupt(fault("the file is damaged"))
        }
        return file
    }

    /// The fault of a stored attempt to publish a space; nil if there is none.
    ///
    /// `root` is that of all events, if it is known.
    func fault(root: Hash32?) throws(LogError) -> Fault? {
        let file: PublishingFile?
        do throws(LogError) {
            file = try attempt()
        } catch {
            switch error {
            case .corrupt(let fault) where fault.file == LogPaths.publishing(space): return fault
            case .storage(.tooLarge): return fault("the file is damaged")
            default: throw error
            }
        }
        // Pending events get their positions before the file is removed.
        guard let file, !file.isTakenBack else { return nil }
        let head = spaceLog.head()
        guard file.size == head else {
            return fault("it speaks of \(file.size) events of \(head)")
        }
        guard root == nil || root == file.root else {
            return fault("it speaks of events with another root")
        }
        return nil
    }

    private func fault(_ what: String) -> Fault {
        Fault(file: LogPaths.publishing(space), offset: 0, what: what)
    }

    /// Gives the authority away: from now on new events are pending.
    ///
    /// Durable when it returns. If that was done before, it says so again.
    package func begin() throws(LogError) -> PublishingFile {
        try spaceLog.log.withWriter { (writer) throws(LogError) in
            let manifest = try writer.writableHome(space).manifest
            guard manifest.authority != nil else {
                guard let known = try file() else { throw .notAuthority(space) }
                return known
            }
            guard !manifest.isServed else {
                throw .outOfOrder(what: "others sync with this space here, and would lose it")
            }
            let root = try spaceLog.root()
            let index = shared.index.withLock { $0[space] }
            let file = PublishingFile(
                attempt: AttemptID(drawnFrom: shared.entropy),
                size: index.head,
                root: root,
                acceptedAt: Timestamp(milliseconds: index.acceptedAt)
            )
            // It means nothing beside a manifest that has an authority.
            try spaceLog.write(file.encoded(), to: LogPaths.publishing(space))
            try writer.writeState(of: space)
            try writer.changeManifest(of: space) { $0.authority = nil }
            return file
        }
    }

    /// The space has its authority elsewhere now; durable when it returns.
    package func end() throws(LogError) { try spaceLog.removeFile(LogPaths.publishing(space)) }

    /// Gives positions to all that is pending, and is the authority again; durable when it returns.
    ///
    /// Goes on with what was begun before it was cut off.
    package func takeBack() throws(LogError) {
        try spaceLog.log.withWriter { (writer) throws(LogError) in
            guard try writer.writableHome(space).manifest.authority == nil,
                var file = try file()
            else { return }
            if !file.isTakenBack {
                // First, because from the first position on nobody else may give any.
                file.isTakenBack = true
                try spaceLog.write(file.encoded(), to: LogPaths.publishing(space))
            }
            let runs = promotions()
            if runs.isEmpty {
                try writer.writeState(of: space)
            } else {
                var arrivals = Arrivals(shared.index.withLock { $0[space] })
                try arrivals.take(runs)
                try writer.writeFrame { frame in
                    frame.append(.promotion, of: space) { PromotedRun.append(runs, to: &$0) }
                }
                _ = try shared.hashes.range(of: space, in: shared)
            }
            let authority = ReplicaID(drawnFrom: shared.entropy)
            try writer.changeManifest(of: space) { $0.authority = authority }
            try spaceLog.removeFile(LogPaths.publishing(space))
        }
    }

    /// All that is pending, with the positions that come next.
    private func promotions() -> [PromotedRun] {
        let standing = spaceLog.standing()
        let last = shared.index.withLock { $0.brief(of: space).acceptedAt }
        let now = Timestamp(milliseconds: max(spaceLog.log.now.milliseconds, last))
        var position = standing.head + 1
        return standing.pending.map { pending in
            defer { position += UInt64(pending.sequences.count) }
            return PromotedRun(
                replica: pending.replica,
                firstSequence: pending.sequences.lowerBound,
                count: UInt64(pending.sequences.count),
                firstPosition: position,
                acceptedAt: now
            )
        }
    }
}
