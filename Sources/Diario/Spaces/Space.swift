package import DiarioCore
import DiarioCrypto
import DiarioFormat
package import DiarioLog
package import DiarioSchema
import DiarioStorage
import Synchronization

/// An open space: its log, and the event types that it uses.
///
/// Safe to use from any thread.
package final class Space: Sendable {
    package let store: LogStore
    package let id: SpaceID
    /// The types of all packs that were ever adopted, and the engine's own.
    private let types: Mutex<Types>

    /// The types, and an empty draft that knows them already.
    private struct Types: Sendable {
        let catalog: TypeCatalog
        let draft: DraftBatch

        init(_ catalog: TypeCatalog) {
            self.catalog = catalog
            var draft = DraftBatch()
            draft.learn(catalog.types)
            self.draft = draft
        }
    }

    package var catalog: TypeCatalog { types.withLock { $0.catalog } }

    /// An empty draft of a batch, which need not get to know the types again.
    var emptyDraft: DraftBatch { types.withLock { $0.draft } }

    /// `packs` are some of those that are kept, if they were read already.
    init(
        store: LogStore,
        id: SpaceID,
        packs: [Hash32: Pack] = [:]
    ) throws(DiarioError) {
        self.store = store
        self.id = id
        types = Mutex(Types(try Self.catalog(of: id, in: store, packs)))
    }

    /// Opens the space in the folder at `path`.
    package static func open(
        at path: String,
        access: LogStore.Access
    ) throws(DiarioError) -> Space {
        let directory: POSIXDirectory
        do throws(StorageError) {
            directory = try POSIXDirectory(
                path: path + "/" + LogPaths.directoryName,
                access: access == .readWrite ? .readWrite : .read
            )
        } catch {
            if case .notFound = error { throw Self.noSpace(at: path) }
            throw DiarioError(error)
        }
        return try open(directory, access: access, path: path)
    }

    static func open(
        _ directory: any LogDirectory,
        access: LogStore.Access,
        path: String
    ) throws(DiarioError) -> Space {
        let packs = PacksAhead(directory)
        let store = try openStore(directory, access: access)
        let manifests = try logging { () throws(LogError) in try store.manifests() }
        guard let manifest = manifests.first(where: { !$0.isStaging }) else {
            throw Self.noSpace(at: path)
        }
        return try Space(store: store, id: manifest.space, packs: packs.wait())
    }

    static func openStore(
        _ directory: any LogDirectory,
        access: LogStore.Access
    ) throws(DiarioError) -> LogStore {
        let engine = try PackSource.engine()
        guard let type = engine.types.first(where: { $0.name == AdoptionReader.typeName }),
            let adoption = AdoptionReader(type)
        else { preconditionFailure("the engine's pack says how packs are adopted") }
        return try logging { () throws(LogError) in
            try LogStore(
                directory,
                access: access,
                time: SystemClock(),
                entropy: SystemEntropy(),
                adoption: adoption,
                types: engine.types
            )
        }
    }

    /// Ends the use of the space: what was recorded is on disk, and a mark of that is left.
    package func close() throws(DiarioError) {
        store.sealBeforeClose()
        try logging { () throws(LogError) in try store.close() }
    }

    /// Reads the types again, after packs were adopted here or elsewhere.
    func reloadTypes() throws(DiarioError) {
        let catalog = try Self.catalog(of: id, in: store)
        types.withLock { $0 = Types(catalog) }
    }

    private static func noSpace(at path: String) -> DiarioError {
        DiarioError(
            .notFound,
            "There is no diary in \(path). Make one with `diario init \(path)`, or name its folder."
        )
    }

    private static func catalog(
        of id: SpaceID,
        in store: LogStore,
        _ packs: [Hash32: Pack] = [:]
    ) throws(DiarioError) -> TypeCatalog {
        var types = store.broughtTypes
        // The first schema of a type and version in a space wins.
        var known = Set(types.map { TypeKey($0) })
        for adoption in try logging({ () throws(LogError) in try store.adoptions(of: id) }) {
            let pack: Pack
            if let known = packs[adoption.fingerprint] {
                pack = known
            } else {
                pack = try adoptedPack(adoption.fingerprint, in: store)
            }
            for type in pack.types where known.insert(TypeKey(type)).inserted {
                types.append(type)
            }
        }
        do throws(PackError) { return try TypeCatalog(types) } catch { throw DiarioError(error) }
    }

    static func adoptedPack(
        _ fingerprint: Hash32,
        in store: LogStore
    ) throws(DiarioError) -> Pack {
        let files = try logging { () throws(LogError) in try store.packFiles(fingerprint) }
        do throws(PackError) { return try Pack(files: files) } catch { throw DiarioError(error) }
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
