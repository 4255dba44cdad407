import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioStorage
import Synchronization

/// Mends what is known of an attempt to publish a space: schema/format/log.md, section 14.
///
/// Comes last, since by then the log has its events and its root. The authority is not taken back:
/// only the other side can say that it did not take over.
struct PublishingRepair {
    let space: SpaceID
    let store: LogStore
    /// True if the space has a new lineage, so that the other side knows nothing of it.
    let isNewLineage: Bool

    private var path: String { LogPaths.publishing(space) }

    func run(_ setAside: inout SetAside, _ report: inout RepairReport) throws(LogError) {
        let directory = store.directory
        let isThere = try storing { () throws(StorageError) in try directory.exists(path) }
        guard isThere, let fault = try fault() else { return }
        let manifest = try SpaceHome.readManifest(space, in: directory)
        let new = manifest.authority == nil && !manifest.hasLost ? try begunAnew() : nil
        let remedy: String
        if new != nil {
            remedy = "the attempt is begun anew, with the events as they are"
        } else if manifest.authority != nil {
            remedy = "removed: the space is its own authority"
        } else {
            remedy = "removed: a space that lost positions cannot be given away"
            report.remarks.append(
                "the authority of space \(space.text): nobody gives positions to what is pending. "
                    + "Export it, and import that into a new space"
            )
        }
        report.found(fault, remedy)
        try setAside.keep(path, because: fault.what)
        try replace(by: new)
    }

    private func fault() throws(LogError) -> Fault? {
        let root: Hash32?
        do throws(LogError) { root = try store.root(of: space) } catch {
            // What cannot be mended is told elsewhere.
            guard case .corrupt = error else { throw error }
            root = nil
        }
        if let fault = try store.publishingFault(of: space, root: root) { return fault }
        guard isNewLineage else { return nil }
        return Fault(file: path, offset: 8, what: "the attempt is one of another lineage")
    }

    private func begunAnew() throws(LogError) -> PublishingFile {
        let (head, acceptedAt) = store.shared.index.withLock { index in
            let brief = index.brief(of: space)
            return (brief.head, brief.acceptedAt)
        }
        return PublishingFile(
            attempt: AttemptID(drawnFrom: store.shared.entropy),
            size: head,
            root: try store.root(of: space),
            acceptedAt: Timestamp(milliseconds: head == 0 ? 0 : acceptedAt)
        )
    }

    /// Writes another file, or removes the one that is there.
    private func replace(by new: PublishingFile?) throws(LogError) {
        let (directory, path, bytes) = (store.directory, path, new?.encoded())
        try store.withWriter { (writer) throws(LogError) in
            try writer.begin()
            defer { writer.end() }
            try storing { () throws(StorageError) in
                if let bytes {
                    try directory.replace(path, with: bytes)
                } else {
                    try directory.remove(path)
                    try directory.syncDirectory(LogPaths.space(space))
                }
            }
        }
    }
}
