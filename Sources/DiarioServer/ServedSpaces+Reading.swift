package import DiarioCore
package import DiarioCrypto
package import DiarioEngine
import DiarioLog
package import DiarioSchema

// What a server reads of its spaces for others than replicas.

extension ServedSpaces {
    /// The most stored bytes of a blob.
    package static var blobSizeMax: Int64 { BlobStore.storedSizeMax }

    package var now: Timestamp { store.now }

    /// Reads what other processes recorded.
    package func refresh() throws { _ = try store.refresh() }

    /// The same, if that is likely to be something.
    package func refreshAfterOthers() throws { try store.refreshAfterOthers() }

    /// Whether the log can be read and written.
    package enum Health: Sendable {
        /// Both, and some space answers, or there is none.
        case good(SpaceCounts)
        /// Both, and no space answers.
        case silent(SpaceCounts)
        case unreadable(any Error)
        case readOnly
        /// The disk has written nothing for so long.
        case stuck(Duration)
    }

    /// The number of spaces that have names, and of those that do not answer.
    package struct SpaceCounts: Hashable, Sendable {
        package var all = 0
        /// For their operator.
        package var waiting = 0
        package var damaged = 0
    }

    package func spaceCounts() throws -> SpaceCounts {
        let ids = Set(try control.spaces().map(\.id))
        let (manifests, damaged) = try store.readableManifests()
        let broken = damaged.map(\.space) + (try store.missingManifests().map(\.space))
        return SpaceCounts(
            all: ids.count,
            waiting: manifests.count { $0.isWaiting && ids.contains($0.space) },
            damaged: ids.intersection(broken).count
        )
    }

    package func health() -> Health {
        let counts: SpaceCounts
        do { counts = try spaceCounts() } catch { return .unreadable(error) }
        guard store.access == .readWrite else { return .readOnly }
        let standstill = store.standstill(at: .now)
        guard standstill < .seconds(Limits.standstillSecondsMax) else { return .stuck(standstill) }
        let isSilent = counts.all > 0 && counts.waiting + counts.damaged == counts.all
        return isSilent ? .silent(counts) : .good(counts)
    }

    /// Opens a space, and lets it use those of these packs of which it uses an older version.
    package func open(_ named: NamedSpace, newerPacks: [Pack]) throws -> Space {
        try authority(of: named).prepare()
        var space = try Space(store: store, id: named.id, shelf: shelf)
        let newer = newerPacks.filter { pack in
            space.packs.contains { $0.name == pack.name && $0.version < pack.version }
        }
        if !newer.isEmpty { _ = try space.adopt(newer) { _, _ in } }
        return space
    }

    /// What a space is, and the root of its first events.
    package struct Facts: Sendable {
        package let lineage: Lineage
        package let epoch: UInt64
        package let head: UInt64
        /// Nil if there are fewer.
        package let root: Hash32?
    }

    /// The facts of a space, with the root of as many events; of all if `size` is nil.
    package func facts(of space: SpaceID, size: UInt64? = nil) throws -> Facts {
        let outline = try store[space].outline()
        return Facts(
            lineage: outline.manifest.lineage,
            epoch: outline.manifest.epoch,
            head: outline.head,
            root: try store[space].proofs.root(size: size ?? outline.head)
        )
    }

    /// The fingerprints of the packs that a space adopted, in order.
    package func adoptedPacks(of space: SpaceID) throws -> [Hash32] {
        try store[space].adoptions().map(\.fingerprint)
    }

    package func files(ofPack fingerprint: Hash32) throws -> [PackFile] {
        try store.packs.files(fingerprint)
    }
}
