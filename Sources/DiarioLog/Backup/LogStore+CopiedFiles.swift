package import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioStorage
import Synchronization

// Checks of a copy before it replaces an older backup: schema/format/directory.md, section 9.

extension LogStore {
    /// Checks the files of all spaces, each for itself, without reading events one by one; gives
    /// the spaces.
    ///
    /// Of segments only those are read of which `isFresh` says that they are new.
    /// - Throws: `.corrupt` with the first fault.
    package func checkCopied(_ isFresh: (_ path: String) -> Bool) throws(LogError) -> [SpaceID] {
        if let fault = self.fault { throw .corrupt(fault) }
        let spaces = try manifests().filter { !$0.isStaging }.map { $0.space }
        if let fault = try missingManifests().first?.fault { throw .corrupt(fault) }
        var packs: Set<Hash32> = []
        for space in spaces {
            try self[space].checkTail()
            if let fault = self.fault { throw .corrupt(fault) }
            let adopted = try self[space].status().adoptions.map { $0.fingerprint }
            for pack in adopted where packs.insert(pack).inserted { try check(pack) }
            if let fault = try segmentFault(of: space, isFresh) { throw .corrupt(fault) }
            if let fault = try smallFault(of: space) { throw .corrupt(fault) }
        }
        return spaces
    }

    private func check(_ pack: Hash32) throws(LogError) {
        do throws(LogError) { _ = try packs.files(pack) } catch {
            guard case .storage(.notFound) = error else { throw error }
            let what = "the files of a pack are missing"
            throw .corrupt(Fault(file: LogPaths.pack(pack), offset: 0, what: what))
        }
    }

    private func segmentFault(
        of space: SpaceID,
        _ isFresh: (String) -> Bool
    ) throws(LogError) -> Fault? {
        let lists = try shared.segments.readLists(of: space, in: shared.directory)
        for entry in lists.segments + lists.lanes {
            let files = [
                LogPaths.segment(entry.name, of: space), LogPaths.sidecar(entry.name, of: space),
            ]
            guard files.contains(where: isFresh) else { continue }
            do throws(LogError) {
                var segment = try OpenSegment.whole(entry, of: space, in: shared)
                if let fault = try segment.damagedBlocks().first { return fault }
            } catch {
                guard let fault = error.fault else { throw error }
                return fault
            }
        }
        return nil
    }

    private func smallFault(of space: SpaceID) throws(LogError) -> Fault? {
        if let fault = try TileStore.markFault(shared.directory, space: space) { return fault }
        if let fault = try self[space].publishing.fault(root: nil) { return fault }
        let faults =
            try self[space].inbox.faults() + self[space].kept.faults()
            + self[space].imports.faults()
        return try (faults + self[space].remoteFaults()).first
    }
}
