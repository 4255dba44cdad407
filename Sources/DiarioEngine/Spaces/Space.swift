package import DiarioCore
package import DiarioCrypto
package import DiarioFormat
package import DiarioLog
package import DiarioSchema
package import DiarioStorage
import Synchronization

/// An open space: its log, and the event types that it uses.
///
/// Safe to use from any thread.
package final class Space: Sendable {
    package let store: LogStore
    /// The id, which is another one after the space was made anew.
    private let current: Mutex<SpaceID>
    /// Where its files are, if it is a directory of the operating system.
    let directory: POSIXDirectory?
    /// The types of all packs that were ever adopted, and the engine's own.
    private let types: Mutex<Types>
    /// Where types are kept that other spaces have as well.
    private let shelf: TypeShelf?
    /// Tells this opening of a space from all others of the process.
    private let number: UInt64

    private static let spaceNumbers = Atomic<UInt64>(0)
    private static let batchNumbers = Atomic<UInt64>(0)

    /// The types, and an empty draft that knows them already.
    fileprivate struct Types: Sendable {
        /// The space that has them.
        var space: SpaceID
        let catalog: TypeCatalog
        /// The packs that were adopted last, by name.
        let packs: [UsedPack]
        let draft: DraftBatch
        /// How many packs were adopted, one after another.
        let adoptionCount: Int

        init(
            of space: SpaceID,
            _ catalog: TypeCatalog,
            _ packs: [UsedPack],
            adoptionCount: Int
        ) {
            self.space = space
            self.catalog = catalog
            self.packs = packs
            self.adoptionCount = adoptionCount
            var draft = DraftBatch()
            draft.learn(catalog.types)
            self.draft = draft
        }
    }

    package var id: SpaceID { current.withLock { $0 } }

    /// Goes on with the space that took the place of this one.
    package func move(to id: SpaceID) throws(DiarioError) {
        current.withLock { $0 = id }
        try reloadTypes()
    }

    package var catalog: TypeCatalog { types.withLock { $0.catalog } }

    /// The packs in use, by name: of each the one that was adopted last.
    package var packs: [Pack] { usedPacks.map(\.pack) }

    /// The same, with their fingerprints.
    package var usedPacks: [UsedPack] { types.withLock { $0.packs } }

    /// A pack that the space uses now.
    package struct UsedPack: Sendable {
        package let pack: Pack
        package let fingerprint: Hash32
    }

    /// What a batch of this space starts from: its types, and a draft that knows them already.
    package var batchStart: BatchStart {
        let (_, number) = Self.batchNumbers.add(1, ordering: .relaxed)
        return types.withLock { types in
            BatchStart(
                catalog: types.catalog,
                source: BatchSource(space: types.space, opening: self.number),
                draft: types.draft,
                number: number
            )
        }
    }

    /// Makes sure that the space `id`, which this one is now, has the types of a batch that was
    /// made for `source`.
    package func check(
        _ batch: DraftBatch,
        madeFor source: BatchSource,
        in id: SpaceID
    ) throws(DiarioError) {
        guard source != BatchSource(space: id, opening: number) else { return }
        try check(batch.types, in: id)
    }

    /// The same for events of these types.
    ///
    /// A batch that was made for another space may have others under the same names: what it
    /// records could never be read.
    package func check(_ wanted: [EventType], in id: SpaceID) throws(DiarioError) {
        if lacks(wanted, in: id) != nil {
            _ = try logging { () throws(LogError) in try store.refresh() }
            try takeUpAdoptions()
        }
        if let type = lacks(wanted, in: id) { throw lacking(type) }
    }

    /// The first of these types that the space does not have as it is here.
    private func lacks(_ wanted: [EventType], in id: SpaceID) -> EventType? {
        let (space, catalog) = types.withLock { ($0.space, $0.catalog) }
        return wanted.first { type in
            guard space == id, let own = catalog.type(type.name, version: type.version) else {
                return true
            }
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

    /// Spaces that are given the same `shelf` have their types in common.
    package init(
        store: LogStore,
        id: SpaceID,
        directory: POSIXDirectory? = nil,
        shelf: TypeShelf? = nil
    ) throws(DiarioError) {
        self.store = store
        current = Mutex(id)
        self.directory = directory
        self.shelf = shelf
        number = Self.spaceNumbers.add(1, ordering: .relaxed).newValue
        types = Mutex(try Self.types(of: id, in: store, shelf))
    }

    /// Ends the use of the space: what was recorded is on disk, and a mark of that is left.
    package func close() throws(DiarioError) {
        store.sealBeforeClose()
        try logging { () throws(LogError) in try store.close() }
    }

    /// Reads the types again, after packs were adopted here or elsewhere.
    package func reloadTypes() throws(DiarioError) {
        while true {
            let id = id
            let new = try Self.types(of: id, in: store, shelf)
            types.withLock { $0 = new }
            // Meanwhile another thread may have gone on with the space that took its place.
            if self.id == id { return }
        }
    }

    /// Reads the types again if packs were adopted since they were read; true if some were.
    @discardableResult
    package func takeUpAdoptions() throws(DiarioError) -> Bool {
        let id = id
        let count = try logging { () throws(LogError) in try store.adoptions(of: id).count }
        let isKnown = types.withLock { $0.space == id && $0.adoptionCount == count }
        guard !isKnown else { return false }
        try reloadTypes()
        return true
    }

    private static func types(
        of id: SpaceID,
        in store: LogStore,
        _ shelf: TypeShelf?
    ) throws(DiarioError) -> Types {
        let adoptions = try logging { () throws(LogError) in
            try store.adoptions(of: id).map(\.fingerprint)
        }
        if var kept = shelf?.types(of: adoptions) {
            kept.space = id
            return kept
        }
        let made = try types(of: id, adoptions, in: store)
        shelf?.keep(made, of: adoptions)
        return made
    }

    private static func types(
        of id: SpaceID,
        _ adoptions: [Hash32],
        in store: LogStore
    ) throws(DiarioError) -> Types {
        var newest: [String: UsedPack] = [:]
        var types = store.broughtTypes
        // The first schema of a type and version in a space wins.
        var known = Set(types.map { TypeKey($0) })
        for adoption in adoptions {
            let pack = try adoptedPack(adoption, in: store)
            newest[pack.name] = UsedPack(pack: pack, fingerprint: adoption)
            for type in pack.types where known.insert(TypeKey(type)).inserted {
                types.append(type)
            }
        }
        do throws(PackError) {
            let packs = newest.values.sorted { $0.pack.name < $1.pack.name }
            return Types(
                of: id,
                try TypeCatalog(types, used: packs.flatMap(\.pack.types)),
                packs,
                adoptionCount: adoptions.count
            )
        } catch {
            throw DiarioError(error)
        }
    }

    static func adoptedPack(
        _ fingerprint: Hash32,
        in store: LogStore
    ) throws(DiarioError) -> Pack {
        try logging { () throws(LogError) in try store.pack(fingerprint) }
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

/// Types of spaces, made once for all spaces that adopted the same packs in the same order.
///
/// Safe to use from any thread. Whoever has many spaces open gives it to all of them.
package final class TypeShelf: Sendable {
    private let known = Mutex<[[Hash32]: Space.Types]>([:])
    private static let countMax = 64

    package init() {}

    fileprivate func types(of adoptions: [Hash32]) -> Space.Types? {
        known.withLock { $0[adoptions] }
    }

    fileprivate func keep(_ types: Space.Types, of adoptions: [Hash32]) {
        known.withLock { known in
            if known.count >= Self.countMax { known.removeAll() }
            known[adoptions] = types
        }
    }
}

/// The space whose types a batch was made with.
package struct BatchSource: Hashable, Sendable {
    let space: SpaceID
    /// Copies of a space may have other types, so it matters which one was open.
    let opening: UInt64
}

/// What a new batch begins with.
package struct BatchStart: Sendable {
    package let catalog: TypeCatalog
    package let source: BatchSource
    package let draft: DraftBatch
    /// Tells ids of this batch from those of others.
    package let number: UInt64
}
