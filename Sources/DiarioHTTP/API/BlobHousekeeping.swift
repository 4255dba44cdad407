import DiarioCore
import DiarioCrypto
import DiarioEngine
import DiarioSchema
import DiarioServer

/// Looks after the blobs of the spaces of a server: removes those that nobody needs, and those that
/// may not be there.
package struct BlobHousekeeping {
    private let directory: ServedDirectory
    private var served: ServedSpaces { directory.served }

    init(_ directory: ServedDirectory) { self.directory = directory }

    /// Removes blobs that came long ago and that no event refers to.
    package func removeUnreferred() throws {
        let days = Limits.blobKeptDaysMax * 86_400_000
        let before = Timestamp(milliseconds: directory.now.milliseconds - days)
        for blob in try served.control.unreferredBlobs(before: before) {
            guard !directory.isClosed else { return }
            guard let space = try served.control.space(blob.space) else { continue }
            guard try !refers(space, to: blob.id) else {
                try served.control.noteReferred(blob)
                continue
            }
            try remove(blob.id, of: space)
        }
    }

    /// Removes what came of blobs that stay on the devices that recorded them, in spaces with news.
    package func removeStaying() throws {
        let changed = directory.openSpaces.filter { space in
            space.hasNewsForBlobs && space.space.packs.contains { !$0.stays.isEmpty }
        }
        guard !changed.isEmpty else { return }
        let names = try served.control.spaces()
        for space in changed where !directory.isClosed {
            guard let named = names.first(where: { $0.id == space.space.id }) else { continue }
            let head = space.head
            let ids = try directory.withModels(of: named, until: BuildStop()) { models in
                try models.referredBlobs().filter(\.stays).map(\.id)
            }
            try removeStaying(ids, of: named)
            space.noteBlobsSeen(at: head)
        }
    }

    /// Removes what came of these blobs for a space.
    func removeStaying(_ ids: [Hash32], of space: NamedSpace) throws {
        guard !ids.isEmpty else { return }
        for id in try served.control.sentBlobs(among: ids, to: space.name).keys {
            try remove(id, of: space)
        }
    }

    private func remove(_ id: Hash32, of space: NamedSpace) throws {
        let ledger = ControlLedger(served.control, space, nil, at: directory.now)
        try served.blobs.remove(id, in: space.id, ledger) {
            try served.control.spaces().contains { other in
                try other.id != space.id && refers(other, to: id)
            }
        }
    }

    private func refers(_ space: NamedSpace, to id: Hash32) throws -> Bool {
        try directory.withModels(of: space, until: BuildStop()) { models in
            try models.referredBlobs(among: [id])[id]?.isGivenOut == true
        }
    }
}
