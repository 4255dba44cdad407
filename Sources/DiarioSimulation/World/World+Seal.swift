import DiarioCore
import DiarioLog
import DiarioStorage

// Sealing, which moves events and changes nothing that readers see.

extension World {
    /// Seals a chosen or random space: all of it, or only full runs.
    func seal(_ process: Int32, _ chosen: SpaceID? = nil) throws {
        guard let id = chosen ?? drawSpace(settled) else { return }
        let store = try store(process)
        let all = random.oneIn(3)
        // Also if it fails: it is not known any more which positions are released.
        sealed.insert(id)
        do throws(LogError) {
            let report = try store.seal(id, all: all)
            trace.add(
                "p\(process) seal \(id.text.suffix(3)) \(all ? "all " : "")to \(report.sealedEnd): "
                    + "\(report.segmentCount) for \(report.replacedCount), "
                    + "\(report.sealedPending) pending"
            )
        } catch {
            trace.add("p\(process) seal \(id.text.suffix(3)): \(name(error))")
            try judge(error, of: process, "seal")
            return try settle()
        }
        // Frames of other processes were replayed, and synced.
        settled = current
        tail = []
        try checkIndex(process)
        try checkFiles(of: id, in: store)
    }

    /// Files of segments are those that the manifest names, and no others.
    private func checkFiles(of id: SpaceID, in store: LogStore) throws {
        // A planned cut may come here, and files that cannot be removed stay.
        guard !hasPlannedCut, !hasFaults else { return }
        let manifest = try attempt("status") { () throws(LogError) in
            try store[id].status().manifest
        }
        let folder = LogPaths.segments(id)
        let names: [String]
        do throws(StorageError) {
            names = try disk.exists(folder) ? disk.list(folder).map { folder + "/" + $0 } : []
        } catch {
            throw Violation("the files of segments cannot be listed: \(error)")
        }
        let named = (manifest.segments + manifest.lanes).map(\.name) + manifest.retired.map(\.name)
        let expected = named.flatMap {
            [LogPaths.segment($0, of: id), LogPaths.sidecar($0, of: id)]
        }
        guard Set(names) == Set(expected) else {
            throw Violation("\(names.count) files of segments are there, not \(expected.count)")
        }
    }
}
