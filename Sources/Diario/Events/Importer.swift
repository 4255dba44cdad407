import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSchema
package import DiarioStorage

/// What an import did.
package struct ImportSummary: Sendable {
    /// The space that holds the events now: another one if the import replaced what `init` wrote.
    package let space: Space
    /// Events that were taken up, those of an authority included.
    package let imported: Int
    /// Events that were passed over, because they had been imported before.
    package let known: Int
}

extension Space {
    /// Takes up events from a file of lines as `export` writes them: all of them or none.
    ///
    /// Into a space without events of its packs they come as they are, with origins, positions and
    /// times, in a space of a new lineage that takes the place of this one. Into any other space
    /// they are recorded as new events of this replica, each origin once.
    ///
    /// `progress` is told how many bytes of the file were read, of how many to read in all.
    package func importLines(
        of file: any LogFile,
        progress: (Int, Int) -> Void
    ) throws(DiarioError) -> ImportSummary {
        let status = try logging { () throws(LogError) in try store.status(of: id) }
        guard status.manifest.authority != nil else {
            throw DiarioError(LogError.notAuthority(id))
        }
        if status.events == 0 {
            return try restore(file, progress)
        }
        var recorder = try ImportRecorder(self)
        return try recorder.record(file, progress)
    }

    private func restore(
        _ file: any LogFile,
        _ progress: (Int, Int) -> Void
    ) throws(DiarioError) -> ImportSummary {
        try logging { () throws(LogError) in try store.removeRemains() }
        let manifest = try logging { () throws(LogError) in
            try store.makeSpace(isAuthority: true, isStaging: true)
        }
        let lock = try logging { () throws(LogError) in
            try store.stagingLock(of: manifest.space)
        }
        do throws(DiarioError) {
            let target = try Space(store: store, id: manifest.space)
            var restorer = Restorer(target, catalog, packs: try adoptedPacks())
            let count = try restorer.restore(file, progress)
            lock.release()
            try logging { () throws(LogError) in
                try store.activate(manifest.space, inPlaceOf: id)
            }
            let space = try Space(store: store, id: manifest.space)
            return ImportSummary(space: space, imported: count, known: 0)
        } catch {
            try? store.remove(manifest.space)
            throw error
        }
    }

    /// The packs that the space uses, in the order in which it adopted them.
    private func adoptedPacks() throws(DiarioError) -> [Pack] {
        var packs: [Pack] = []
        for adoption in try logging({ () throws(LogError) in try store.status(of: id) }).adoptions {
            packs.append(try Self.adoptedPack(adoption.fingerprint, in: store))
        }
        return packs
    }
}
