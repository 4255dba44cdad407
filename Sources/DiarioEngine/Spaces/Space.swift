package import DiarioCore
package import DiarioCrypto
package import DiarioFormat
package import DiarioLog
package import DiarioSchema

/// An open space: its log, and the event types that it uses.
///
/// A value, which knows the types as they were when it last looked. Several threads each use a copy
/// of their own.
package struct Space: Sendable {
    package let store: LogStore
    /// The id; another one after a space took the place of this one.
    package private(set) var id: SpaceID
    /// The types of all packs that were ever adopted, and the engine's own.
    package private(set) var types: SpaceTypes
    private let shelf: (any TypeShelf)?
    /// Asked before anything is recorded; nil if whoever has the folder may record everything.
    package var gate: (any RecordingGate)?

    /// Spaces that are given the same `shelf` have their types in common.
    package init(
        store: LogStore,
        id: SpaceID,
        shelf: (any TypeShelf)? = nil
    ) throws(DiarioError) {
        self.store = store
        self.id = id
        self.shelf = shelf
        types = try Self.types(of: id, in: store, shelf)
    }

    package var catalog: TypeCatalog { types.catalog }

    /// The packs in use, by name: of each the one that was adopted last.
    package var packs: [Pack] { usedPacks.map { $0.pack } }

    /// The same, with their fingerprints.
    package var usedPacks: [UsedPack] { types.packs }

    /// Goes on with the space that took the place of this one.
    package mutating func move(to id: SpaceID) throws(DiarioError) {
        self.id = id
        try reloadTypes()
    }

    /// Makes sure that the space has the types of a batch, which was made with `source`.
    package mutating func check(
        _ batch: DraftBatch,
        madeWith source: SpaceTypes
    ) throws(DiarioError) {
        if source !== types { try check(batch.types) }
    }

    /// Makes sure that the space has these types.
    ///
    /// A batch that was made for another space may have others under the same names: what it
    /// records could never be read.
    mutating func check(_ wanted: [EventType]) throws(DiarioError) {
        if lacks(wanted) != nil {
            do { _ = try store.refresh() } catch { throw DiarioError(error) }
            try takeUpAdoptions()
        }
        if let type = lacks(wanted) { throw lacking(type) }
    }

    /// The first of these types that the space does not have as it is here.
    private func lacks(_ wanted: [EventType]) -> EventType? {
        wanted.first { type in
            guard let own = catalog.type(type.name, version: type.version) else { return true }
            return own !== type && own.canonicalSchema != type.canonicalSchema
        }
    }

    private func lacking(_ type: EventType) -> DiarioError {
        let isKnown = catalog.type(type.name, version: type.version) != nil
        return DiarioError(
            .incompatible,
            "This space has "
                + (isKnown ? "another schema of" : "no pack with")
                + " the event type \(type.name), version \(type.version)"
                + (isKnown ? ", than the batch was made with" : "") + ". Nothing of the batch was "
                + "recorded. Make it with `makeBatch` of the diary that it is appended to.",
            rule: "other-types"
        )
    }

    /// Ends the use of the space: what was recorded is on disk, and a mark of that is left.
    package func close() throws(DiarioError) {
        store.sealBeforeClose()
        do { try store.close() } catch { throw DiarioError(error) }
    }

    /// Reads the types again, after packs were adopted here or elsewhere.
    package mutating func reloadTypes() throws(DiarioError) {
        types = try Self.types(of: id, in: store, shelf)
    }

    /// Reads the types again if packs were adopted since they were read; true if some were.
    @discardableResult
    package mutating func takeUpAdoptions() throws(DiarioError) -> Bool {
        guard types.adoptionCount != store[id].adoptionCount() else { return false }
        try reloadTypes()
        return true
    }

    private static func types(
        of id: SpaceID,
        in store: LogStore,
        _ shelf: (any TypeShelf)?
    ) throws(DiarioError) -> SpaceTypes {
        let adoptions: [Hash32]
        do { adoptions = try store[id].adoptions().map { $0.fingerprint } } catch {
            throw DiarioError(error)
        }
        if let kept = shelf?.types(of: adoptions) { return kept }
        let made = try SpaceTypes(adoptions, in: store)
        shelf?.keep(made, of: adoptions)
        return made
    }

    static func adoptedPack(
        _ fingerprint: Hash32,
        in store: LogStore
    ) throws(DiarioError) -> Pack {
        do { return try store.packs.pack(fingerprint) } catch { throw DiarioError(error) }
    }
}

/// A pack that a space uses now.
package struct UsedPack: Sendable {
    package let pack: Pack
    package let fingerprint: Hash32
}

/// The event types of a space, as of the packs that it adopted, and a draft that knows them.
///
/// Never changes; spaces that adopted the same packs in the same order may share it.
package final class SpaceTypes: Sendable {
    package let catalog: TypeCatalog
    /// The packs that were adopted last, by name.
    package let packs: [UsedPack]
    /// An empty batch, which need not get to know the types again.
    package let draft: DraftBatch
    /// What the packs in use say of who may record events.
    let recordingPlan: RecordingPlan
    /// The types of whose events it matters who records them.
    let asked: [ObjectIdentifier: RecordingPlan.Entry]
    /// The number of adoptions of packs.
    let adoptionCount: Int

    init(_ adoptions: [Hash32], in store: LogStore) throws(DiarioError) {
        var newest: [String: UsedPack] = [:]
        var types = store.broughtTypes
        // The first schema of a type and version in a space wins.
        var known = Set(types.map { TypeKey($0) })
        for adoption in adoptions {
            let pack = try Space.adoptedPack(adoption, in: store)
            newest[pack.name] = UsedPack(pack: pack, fingerprint: adoption)
            for type in pack.types where known.insert(TypeKey(type)).inserted {
                types.append(type)
            }
        }
        packs = newest.values.sorted { $0.pack.name < $1.pack.name }
        do throws(PackError) {
            catalog = try TypeCatalog(types, used: packs.flatMap { $0.pack.types })
        } catch {
            throw DiarioError(error)
        }
        var draft = DraftBatch()
        draft.learn(catalog.types)
        self.draft = draft
        adoptionCount = adoptions.count
        recordingPlan = RecordingPlan(of: packs.map { $0.pack }, types: catalog.types)
        var asked: [ObjectIdentifier: RecordingPlan.Entry] = [:]
        for type in catalog.types { asked[ObjectIdentifier(type)] = recordingPlan.entry(of: type) }
        self.asked = asked
    }

    private struct TypeKey: Hashable {
        let name: String
        let version: Int

        init(_ type: EventType) {
            name = type.name
            version = type.version
        }
    }
}

/// Keeps types of spaces for others that adopted the same packs in the same order.
package protocol TypeShelf: AnyObject, Sendable {
    func types(of adoptions: [Hash32]) -> SpaceTypes?
    func keep(_ types: SpaceTypes, of adoptions: [Hash32])
}
