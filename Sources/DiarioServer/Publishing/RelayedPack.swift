import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioSchema
import DiarioSync

// A pack that comes with events that were lost with its adoption: schema/format/sync.md, section 6.

extension SpaceAuthority {
    /// Lets the space use a pack again, with its reference data, unless it does.
    func take(_ named: NamedPack, from caller: Caller) throws(Refusal) {
        guard caller.rights.contains(.admin) else {
            throw Refusal(
                .forbidden,
                "The events need a pack that the space does not use, and only a token with the "
                    + "right admin may bring it."
            )
        }
        let files = named.pack.files.map { PackFile(path: $0.path, bytes: $0.content) }
        guard Fingerprint.pack(files) == named.fingerprint, let pack = try? Pack(files: files)
        else {
            throw Refusal(
                .malformed,
                "What came as the pack \(named.fingerprint.text) is not that one."
            )
        }
        try whileAlone { (_, _) throws(Refusal) -> Void in
            let (adoptions, types) = try logging { () throws(LogError) in
                (try store.adoptions(of: space), try sharedTypes())
            }
            guard !adoptions.contains(where: { $0.fingerprint == named.fingerprint }) else {
                return
            }
            let changed = pack.types.first { type in
                types[type].map { $0.fingerprint != Fingerprint.schema(type) } ?? false
            }
            if let changed {
                throw Refusal(
                    .forbidden,
                    "\(changed.name) version \(changed.version) has another schema in this space "
                        + "than in the pack \(pack.name) that the events need."
                )
            }
            let drafts = try Self.drafts(of: pack, named.fingerprint, in: store)
            try logging { () throws(LogError) in
                try store.keep(files, fingerprint: named.fingerprint)
                _ = try store.append(drafts.map { .new([$0], .authority) }, to: space)
            }
        }
    }

    /// The events that say that the space uses a pack, and those of its reference data.
    private static func drafts(
        of pack: Pack,
        _ fingerprint: Hash32,
        in store: LogStore
    ) throws(Refusal) -> [DraftBatch] {
        guard let type = store.broughtTypes.last(where: { $0.name == EngineReader.adoptionName })
        else { preconditionFailure("the engine's pack says how packs are adopted") }
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
        var drafts = [DraftBatch()]
        do throws(FormatError) {
            try drafts[0].append(payload, type: type)
            var rows = DraftBatch()
            for table in pack.references {
                for row in table.rows {
                    if rows.events.count == Limits.batchCountMax
                        || rows.size > Limits.batchSizeMax / 2
                    {
                        drafts.append(rows)
                        rows.removeAll()
                    }
                    try rows.append(row.payload, type: table.type)
                }
            }
            if !rows.isEmpty { drafts.append(rows) }
        } catch {
            throw Refusal(.malformed, "The pack \(pack.name) has rows that do not fit.")
        }
        return drafts
    }
}
