package import DiarioCore
package import DiarioCrypto
package import DiarioFormat
package import DiarioLog
package import DiarioSchema
import Synchronization

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
    package let recordingPlan: RecordingPlan
    /// The names of the types that make things whose authors matter.
    package let makingTypes: Set<[UInt8]>
    /// The number of adoptions of packs.
    package let adoptionCount: Int
    private let types: [ObjectIdentifier: SpaceType]

    fileprivate init(_ adoptions: [Hash32], in store: LogStore) throws(LogError) {
        var newest: [String: UsedPack] = [:]
        var types = store.broughtTypes
        // The first schema of a type and version in a space wins.
        var known = Set(types.map { TypeKey($0) })
        for adoption in adoptions {
            let pack = try store.packs.pack(adoption)
            newest[pack.name] = UsedPack(pack: pack, fingerprint: adoption)
            for type in pack.types where known.insert(TypeKey(type)).inserted {
                types.append(type)
            }
        }
        packs = newest.values.sorted { $0.pack.name < $1.pack.name }
        do throws(PackError) {
            catalog = try TypeCatalog(types, used: packs.flatMap { $0.pack.types })
        } catch {
            preconditionFailure("each version of a type is there once")
        }
        let plan = RecordingPlan(of: packs.map { $0.pack }, types: catalog.types)
        let drafted = catalog.types.map { KnownType($0) }
        var draft = DraftBatch()
        draft.learn(drafted)
        self.draft = draft
        let all = drafted.map { SpaceType($0, plan.entry(of: $0.plan.type)) }
        self.types = Dictionary(uniqueKeysWithValues: all.map { (ObjectIdentifier($0.type), $0) })
        let making = all.filter { $0.asked?.new != nil || $0.asked?.first != nil }
        makingTypes = Set(making.map { $0.type.nameBytes })
        recordingPlan = plan
        adoptionCount = adoptions.count
    }

    private struct TypeKey: Hashable {
        let name: String
        let version: Int

        init(_ type: EventType) {
            name = type.name
            version = type.version
        }
    }

    /// What the space knows under the name and version of a type.
    package subscript(entry: TypeEntry) -> SpaceType? {
        catalog.type(entry.name.span, version: entry.version).flatMap { self[$0] }
    }

    /// The same, of a type of the catalog; nil for every other object.
    package subscript(type: EventType) -> SpaceType? { types[ObjectIdentifier(type)] }

    /// By what payloads of a type are read; nil if the space has none with this schema.
    ///
    /// A schema other than the one that was used would read other values.
    func plan(of entry: TypeEntry) -> PayloadPlan? {
        self[entry].flatMap { $0.fingerprint == entry.fingerprint ? $0.plan : nil }
    }
}

/// A type of a space, and what is needed to look at its events.
///
/// A class, since it is passed on for each event.
package final class SpaceType: Sendable {
    package let type: EventType
    package let plan: PayloadPlan
    package let fingerprint: Hash32
    /// Nil if nobody asks who records its events.
    package let asked: RecordingPlan.Entry?

    fileprivate init(_ known: KnownType, _ asked: RecordingPlan.Entry?) {
        type = known.plan.type
        plan = known.plan
        fingerprint = known.entry.fingerprint
        self.asked = asked
    }
}

/// Types of spaces, made once for all spaces that adopted the same packs in the same order, on
/// which alone they depend.
///
/// A server has many spaces and few packs, and types take more memory than all else of a quiet
/// space.
package final class TypeShelf: Sendable {
    private let known = Mutex<[[Hash32]: SpaceTypes]>([:])
    private static let countMax = 64

    package init() {}

    /// The types of a space by now.
    package func types(of space: SpaceID, in store: LogStore) throws(LogError) -> SpaceTypes {
        let adoptions = try store[space].adoptions().map { $0.fingerprint }
        if let found = known.withLock({ $0[adoptions] }) { return found }
        let made = try SpaceTypes(adoptions, in: store)
        known.withLock { known in
            if known.count >= Self.countMax { known.removeAll() }
            known[adoptions] = made
        }
        return made
    }
}
