import DiarioCore
package import DiarioCrypto
import DiarioFormat
package import DiarioLog
package import DiarioSchema
package import DiarioStorage

/// A pack that a space uses from now on.
package struct AdoptedPack: Sendable {
    package let name: String
    package let version: Int
    package let fingerprint: Hash32
    /// False if the space used exactly this pack already.
    package let isNew: Bool
    /// Rows of reference data that were recorded because they are new or changed.
    package let rowCount: Int
}

extension Space {
    /// Makes a space with these packs in an empty data directory that is about to get its name.
    package static func fill(
        _ directory: any LogDirectory,
        _ packs: [Pack],
        _ surroundings: Surroundings
    ) throws(DiarioError) {
        do { try LogStore.create(in: directory) } catch { throw DiarioError(error) }
        let store = try openStore(directory, access: .readWrite, surroundings, isDraft: true)
        try make(in: store, packs: packs).close()
    }

    /// Makes a space with these packs in a log that is open.
    ///
    /// A crash may leave a space with some of them, which no one knows yet.
    package static func make(
        in store: LogStore,
        packs: [Pack]
    ) throws(DiarioError) -> Space {
        let id: SpaceID
        do { id = try store.makeWholeSpace(store.drawSpaceID()).space } catch {
            throw DiarioError(error)
        }
        do throws(DiarioError) {
            var space = try Space(store: store, id: id)
            _ = try space.adopt(packs) { _, _ in }
            return space
        } catch {
            try? store[id].remove()
            throw error
        }
    }

    /// Lets the space use these packs from now on: records that they are adopted, and those rows of
    /// their reference data that are new or changed.
    ///
    /// Does nothing for what it uses already. `progress` is told how many rows of reference data
    /// are settled, of how many in all.
    package mutating func adopt(
        _ packs: [Pack],
        progress: (Int, Int) -> Void
    ) throws(DiarioError) -> [AdoptedPack] {
        try refuseChangedSchemas(packs)
        let wanted = packs.map { PackEvents($0) }
        let total = wanted.reduce(0) { $0 + $1.rowCount }
        var done = 0
        var adopted: [AdoptedPack] = []
        for events in wanted {
            let (pack, fingerprint) = (events.pack, events.fingerprint)
            do { try store.keep(pack.fingerprintFiles, fingerprint: fingerprint) } catch {
                throw DiarioError(error)
            }
            // Another process may have adopted it meanwhile, and recorded its rows.
            try takeUpAdoptions()
            let isNew = !usedPacks.contains { $0.fingerprint == fingerprint }
            let rows = try events.rows(newTo: self)
            var batches = try PackEvents.batches(of: rows)
            if isNew { batches.insert(try events.adoption(adoptionType), at: 0) }
            done += events.rowCount - rows.count
            progress(done, total)
            for (index, batch) in batches.enumerated() {
                do {
                    _ = try store.append(Append(space: id, content: .new([batch], .authority)))
                } catch {
                    throw DiarioError(error)
                }
                let isAdoption = isNew && index == 0
                done += isAdoption ? 0 : batch.events.count
                progress(done, total)
            }
            adopted.append(
                AdoptedPack(
                    name: pack.name,
                    version: pack.version,
                    fingerprint: fingerprint,
                    isNew: isNew,
                    rowCount: rows.count
                )
            )
        }
        try reloadTypes()
        return adopted
    }

    /// Refuses packs that cannot be adopted, because they change a schema and not its version.
    func refuseChangedSchemas(_ packs: [Pack]) throws(DiarioError) {
        let new: TypeCatalog
        do throws(PackError) { new = try TypeCatalog(packs) } catch { throw DiarioError(error) }
        guard let type = new.changedSchemas(against: catalog).first else { return }
        throw DiarioError(
            .incompatible,
            "events/\(type.name.dropFirst(type.pack.utf8.count + 1)).\(type.version).json: the "
                + "schema of \(type.name) version \(type.version) differs from the one that this "
                + "space uses. Leave that file as it was and add the change as version "
                + "\(type.version + 1).",
            rule: "changed-schema"
        )
    }

    /// The type of the events that say that a space uses a pack from now on.
    package var adoptionType: EventType {
        guard let type = catalog.type(EngineReader.adoptionName, version: 1) else {
            preconditionFailure("the engine's types are in every catalog")
        }
        return type
    }
}
