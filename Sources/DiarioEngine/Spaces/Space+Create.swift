import DiarioCore
package import DiarioCrypto
package import DiarioFormat
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
        try logging { () throws(LogError) in try LogStore.create(in: directory) }
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
        let id = try logging { () throws(LogError) in
            try store.makeWholeSpace(store.drawSpaceID()).space
        }
        do throws(DiarioError) {
            var space = try Space(store: store, id: id)
            _ = try space.adopt(packs) { _, _ in }
            return space
        } catch {
            try? store.remove(id)
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
        let total = packs.reduce(0) { $0 + $1.references.reduce(0) { $0 + $1.rows.count } }
        var done = 0
        var adopted: [AdoptedPack] = []
        for pack in packs {
            let fingerprint = Fingerprint.pack(pack.files)
            try logging { () throws(LogError) in
                try store.keep(pack.fingerprintFiles, fingerprint: fingerprint)
            }
            // Another process may have adopted it meanwhile, and recorded its rows.
            try takeUpAdoptions()
            let status = try logging { () throws(LogError) in try store.status(of: id) }
            let isNew = try !isCurrent(pack, fingerprint, status)
            let rows = try newRows(of: pack)
            var batches = try Self.batches(of: rows)
            if isNew { batches.insert(try adoption(of: pack, fingerprint), at: 0) }
            done += pack.references.reduce(0) { $0 + $1.rows.count } - rows.count
            progress(done, total)
            for (index, batch) in batches.enumerated() {
                try logging { () throws(LogError) in
                    _ = try store.append(
                        Append(space: id, content: .new([batch], .authority))
                    )
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

    /// True if the pack is what the space uses now under that name.
    private func isCurrent(
        _ pack: Pack,
        _ fingerprint: Hash32,
        _ status: SpaceStatus
    ) throws(DiarioError) -> Bool {
        for adoption in status.adoptions.reversed() {
            if adoption.fingerprint == fingerprint { return true }
            if try Self.adoptedPack(adoption.fingerprint, in: store).name == pack.name {
                return false
            }
        }
        return false
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

    /// The batches that record the adoption of a pack in a space that has none of it, with its
    /// reference data; `type` is that of the event that says so.
    package static func batches(
        adopting pack: Pack,
        _ fingerprint: Hash32,
        _ type: EventType
    ) throws(DiarioError) -> [DraftBatch] {
        let rows = pack.references.flatMap { table in
            table.rows.map { (table.type, $0.payload) }
        }
        return [try adoption(of: pack, fingerprint, type)] + (try batches(of: rows))
    }

    /// Rows of reference data in as few batches as the limits allow.
    private static func batches(
        of rows: [(EventType, Payload)]
    ) throws(DiarioError) -> [DraftBatch] {
        var batches: [DraftBatch] = []
        var batch = DraftBatch()
        do throws(FormatError) {
            for (type, payload) in rows {
                do throws(FormatError) { try batch.append(payload, type: type) } catch {
                    guard !batch.isEmpty else { throw error }
                    batches.append(batch)
                    batch.removeAll()
                    try batch.append(payload, type: type)
                }
            }
        } catch {
            throw DiarioError(error)
        }
        return batch.isEmpty ? batches : batches + [batch]
    }

    /// The event that says that the space uses a pack from now on.
    package func adoption(
        of pack: Pack,
        _ fingerprint: Hash32
    ) throws(DiarioError) -> DraftBatch {
        guard let type = catalog.type(EngineReader.adoptionName, version: 1) else {
            preconditionFailure("the engine's types are in every catalog")
        }
        return try Self.adoption(of: pack, fingerprint, type)
    }

    private static func adoption(
        of pack: Pack,
        _ fingerprint: Hash32,
        _ type: EventType
    ) throws(DiarioError) -> DraftBatch {
        var payload = Payload()
        payload.reset(fieldCount: type.fields.count)
        for (index, field) in type.fields.enumerated() {
            switch field.name {
            case "fingerprint": payload.setBytes(Array(fingerprint.text.utf8).span, at: index)
            case "pack": payload.setBytes(Array(pack.name.utf8).span, at: index)
            case "version": payload.slots[index] = .integer(Int64(pack.version))
            default: preconditionFailure("the engine's pack has no other field here")
            }
        }
        var batch = DraftBatch()
        do throws(FormatError) { try batch.append(payload, type: type) } catch {
            throw DiarioError(error)
        }
        return batch
    }

    /// The rows of reference data that the space does not have as they are, in file order.
    private func newRows(of pack: Pack) throws(DiarioError) -> [(EventType, Payload)] {
        let names = Set(pack.references.map { $0.type.name })
        guard !names.isEmpty else { return [] }
        var known: [ReferenceKey: [UInt8]] = [:]
        var reader = try EventReader(self, EventFilter(types: Array(names), authorityOnly: true))
        while let line = try reader.next() {
            let key = ReferenceKey(line.type, line.payload)
            known[key] = Self.canonical(line.payload, line.type)
        }
        var rows: [(EventType, Payload)] = []
        for table in pack.references {
            for row in table.rows {
                let content = Self.canonical(row.payload, table.type)
                let key = ReferenceKey(table.type, row.payload)
                guard known.updateValue(content, forKey: key) != content else { continue }
                rows.append((table.type, row.payload))
            }
        }
        return rows
    }

    private static func canonical(_ payload: Payload, _ type: EventType) -> [UInt8] {
        var bytes: [UInt8] = []
        PayloadWriter.append(payload, of: type, to: &bytes)
        return bytes
    }

    /// The key of a row of reference data: its subject, or the whole row if its type has none.
    private struct ReferenceKey: Hashable {
        let type: String
        let subject: [UInt8]

        init(_ type: EventType, _ payload: Payload) {
            self.type = type.name
            if let index = type.subjectFieldIndex, let bytes = payload.bytes(at: index) {
                subject = Array(bytes)
            } else {
                subject = Space.canonical(payload, type)
            }
        }
    }
}
