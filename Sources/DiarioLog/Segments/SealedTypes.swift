import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioSchema
import DiarioStorage
import Synchronization

/// Finds the schemas that segments carry: those a program knows by itself, those of adopted packs,
/// those that earlier segments carry, and those of all packs that are here.
struct SealedTypes {
    private let store: LogShared
    private let space: SpaceID
    /// The types found before, for any space: reading a pack costs as much as sealing a short run.
    private(set) var known: [TypeEntry: EventType]
    private var hasOwn = false
    /// Adopted packs that were not read yet, the newest last.
    private var packs: [Adoption]?

    init(_ store: LogShared, _ space: SpaceID) {
        self.store = store
        self.space = space
        known = store.segments.types
    }

    private mutating func note(_ types: [EventType]) {
        var new: [TypeEntry: EventType] = [:]
        for type in types {
            let entry = TypeEntry(
                name: type.nameBytes,
                version: type.version,
                fingerprint: Fingerprint.schema(type)
            )
            if known[entry] == nil { new[entry] = type }
        }
        for (entry, type) in new where known[entry] == nil { known[entry] = type }
        store.segments.keep(new)
    }

    /// The type that a row has.
    ///
    /// - Throws: `.noSchema` if its schema is nowhere here.
    mutating func type(_ entry: TypeEntry) throws(LogError) -> EventType {
        if let type = known[entry] { return type }
        if !hasOwn {
            hasOwn = true
            note(store.types)
            if let type = known[entry] { return type }
        }
        var rest = packs ?? store.index.withLock { $0[space].adoptions }
        while let adoption = rest.popLast() {
            packs = rest
            do throws(LogError) {
                guard case .success(let pack) = try store.packs.read(adoption.fingerprint) else {
                    continue
                }
                note(pack.types)
            } catch .storage(.notFound) {
                continue
            }
            if let type = known[entry] { return type }
        }
        packs = rest
        if let type = carried(entry) { return type }
        try noteAllPacks()
        if let type = known[entry] { return type }
        throw .noSchema(
            name: String(decoding: entry.name, as: UTF8.self),
            version: entry.version
        )
    }

    /// Reads all packs that lie here: what says that they were adopted may be lost.
    private mutating func noteAllPacks() throws(LogError) {
        let directory = store.directory
        let names = try storing { () throws(StorageError) in
            try directory.exists(LogPaths.packs) ? try directory.list(LogPaths.packs) : []
        }
        for fingerprint in names.compactMap({ Hash32(text: $0) }) {
            guard case .success(let pack)? = try? store.packs.read(fingerprint) else { continue }
            note(pack.types)
        }
    }

    /// The type as a segment carries it.
    private mutating func carried(_ entry: TypeEntry) -> EventType? {
        // A list or a segment that is damaged is no help; salvage comes here too.
        guard let lists = try? store.segments.readLists(of: space, in: store.directory) else {
            return nil
        }
        for segment in lists.lanes.reversed() + lists.segments.reversed() {
            guard var open = try? OpenSegment.open(segment, of: space, in: store) else { continue }
            guard let index = open.reader.index.types.firstIndex(where: { $0.entry == entry })
            else { continue }
            guard let type = try? open.reader.eventType(index) else { continue }
            known[entry] = type
            return type
        }
        return nil
    }
}
