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
    private let shelf: TypeShelf?
    /// Asked before anything is recorded; nil if whoever has the folder may record everything.
    package var gate: (any RecordingGate)?

    /// Spaces that are given the same `shelf` have their types in common.
    package init(
        store: LogStore,
        id: SpaceID,
        shelf: TypeShelf? = nil
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
        _ shelf: TypeShelf?
    ) throws(DiarioError) -> SpaceTypes {
        do { return try (shelf ?? TypeShelf()).types(of: id, in: store) } catch {
            throw DiarioError(error)
        }
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
