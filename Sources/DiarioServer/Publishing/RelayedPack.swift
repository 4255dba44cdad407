import DiarioCore
import DiarioCrypto
import DiarioEngine
import DiarioFormat
import DiarioLog
import DiarioSchema
import DiarioSync

// A pack that comes with events that were lost with its adoption: schema/format/sync.md, section 6.

extension SpaceAuthority {
    /// Lets the space use a pack again, with its reference data, unless it does.
    func take(_ named: NamedPack, from caller: Caller) throws {
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
        try whileAlone { _, _ in
            let (adoptions, types) = (try store[space].adoptions(), try sharedTypes())
            guard !adoptions.contains(where: { $0.fingerprint == named.fingerprint }) else {
                return
            }
            let own = try TypeCatalog([pack])
            if let changed = own.changedSchemas(against: types.catalog).first {
                throw Refusal(
                    .forbidden,
                    "\(changed.name) version \(changed.version) has another schema in this space "
                        + "than in the pack \(pack.name) that the events need."
                )
            }
            guard
                let type = store.broughtTypes.last(where: {
                    $0.name == EngineReader.adoptionName
                })
            else { preconditionFailure("the engine's pack says how packs are adopted") }
            let batches: [DraftBatch]
            do {
                batches = try PackEvents(pack).batches(type)
            } catch {
                throw Refusal(.malformed, "The pack \(pack.name) has rows that do not fit.")
            }
            try store.keep(files, fingerprint: named.fingerprint)
            _ = try store[space].append(batches.map { .new([$0], .authority) })
        }
    }
}
