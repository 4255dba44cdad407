public import DiarioCore
import DiarioEngine
import DiarioFormat
import DiarioHost
import DiarioLog
import DiarioSQLite
import DiarioSchema
import DiarioStorage
import Synchronization

/// A diary on this device: record events offline, now and for ever.
///
/// ```swift
/// let diary = try Diary.open(at: "garden", packs: [Plants.pack])
/// try await diary.append(Plants.PlantWatered(plantId: "basil", amountMl: 150))
/// ```
///
/// `Plants` is what the build plugin `DiarioEvents` makes of a pack in the folder of a target; a
/// diary with other packs is made with ``create(at:schemas:)``, or with `diario init`. Several
/// processes may have the same diary open.
public actor Diary {
    nonisolated let shared: SharedSpace
    /// What many tasks append at once is committed as one.
    private nonisolated let commits: GroupCommit
    /// Told when something was recorded here.
    nonisolated let changes = ChangeSignal()
    /// Asked when it is about to be closed: queries end then.
    nonisolated let closing = BuildStop()
    /// The state of its sync.
    nonisolated let syncing = SyncWatch()
    /// Whether blobs are exchanged too.
    nonisolated let blobSwitch = BlobSwitch()
    /// The sync in the background, if it is connected.
    var connection: Task<Void, Never>?
    /// Made when something is asked for the first time.
    var readModels: ReadModels?
    /// Those that are under way.
    var rebuilds: [Rebuild] = []

    /// A rebuild on a thread of its own.
    final class Rebuild: Sendable {
        let stop = BuildStop()
        /// Raised when nothing of it goes on any more.
        let hasEnded = Signal()
    }

    /// Grows with each change of tables that was noted.
    var changeNumber: UInt64 = 0
    /// When tables changed last, by pack and table.
    var changeNumbers: [String: UInt64] = [:]
    private nonisolated let executor = DiaryExecutor()

    /// The thread of its own that its read models are used on.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        // Safe: the executor lives as long as the actor, which holds it.
        unsafe executor.asUnownedSerialExecutor()
    }

    /// Opens the diary in the folder at `path`.
    ///
    /// The folder of a server may have several, of which `space` says one.
    ///
    /// Blocks while the disk works.
    ///
    /// - Throws: ``DiarioError`` if there is none, if there are several and `space` is nil, if it
    ///   is damaged, or if the disk refuses.
    public init(path: String, space id: SpaceID? = nil) throws {
        let space: Space
        do { space = try Space.open(at: path, space: id) } catch { throw DiarioError(error) }
        self.init(space: space)
    }

    package init(space: Space) {
        shared = SharedSpace(space)
        commits = GroupCommit(space.store)
    }

    /// The space as it was known last: a sync may have put another one in its place.
    package nonisolated var space: Space { shared.current }

    /// Makes a diary in the folder at `path`, with the packs of these folders.
    ///
    /// Without folders it knows no event types yet. The diary is there whole when this returns, and
    /// not at all when it throws.
    ///
    /// - Throws: ``DiarioError`` if there is a diary already, or if a pack has a fault.
    public static func create(at path: String, schemas folders: [String] = []) throws -> Diary {
        do {
            return Diary(
                space: try Space.create(at: path, packs: PackSource.load(folders: folders))
            )
        } catch {
            throw DiarioError(error)
        }
    }

    /// Opens the diary in the folder at `path`, or makes one there, and lets it use these packs.
    ///
    /// Packs that the diary uses already are left alone, so this is how a program begins each time.
    /// A pack that it has in an older form is replaced; event types may be new then, and those that
    /// were there have to be as they were.
    ///
    /// The folder of a server may have several diaries, of which `space` says one. None is made
    /// then.
    ///
    /// Blocks while the disk works.
    ///
    /// - Throws: ``DiarioError`` if a pack has a fault or changes a type, if there are several
    ///   diaries and `space` is nil, if the diary is damaged, or if the disk refuses.
    public static func open(
        at path: String,
        packs: [EmbeddedPack],
        space id: SpaceID? = nil
    ) throws -> Diary {
        let packs = try PackSource.load(embedded: packs)
        var space: Space
        do { space = try Space.open(at: path, space: id) } catch {
            let error = DiarioError(error)
            guard error.kind == .notFound, id == nil else { throw error }
            let tried = try PackSource.tried(packs)
            do { return Diary(space: try Space.create(at: path, packs: tried)) } catch {
                let error = DiarioError(error)
                guard error.kind == .exists else { throw error }
            }
            // Somebody else has just made it, or it says better what is wrong with it.
            do { space = try Space.open(at: path) } catch { throw DiarioError(error) }
        }
        let known = space.usedPacks.map(\.fingerprint)
        let new = packs.filter { !known.contains(Fingerprint.pack($0.files)) }
        if !new.isEmpty { _ = try space.adopt(try PackSource.tried(new)) { _, _ in } }
        return Diary(space: space)
    }

    /// An empty batch for events of the types that this diary knows.
    public nonisolated func makeBatch() -> EventBatch { EventBatch(space.types) }

    /// Records the events of a batch, all or none, and gives their origins in the same order.
    ///
    /// When this returns, the events survive a power cut. When it throws, none of them is recorded.
    /// Appends of many tasks share syncs; one that is alone is written at once, on the caller's
    /// thread.
    ///
    /// A batch of another diary is taken if this one has the same types.
    ///
    /// - Throws: ``DiarioError`` if the batch is empty, if an event says that it happened before
    ///   1970 or more than a year from now, if the batch was made for another diary and has types
    ///   that this one does not have, if the disk is full, or if the disk fails.
    @discardableResult
    public nonisolated func append(
        _ batch: EventBatch
    ) async throws -> [Origin] {
        try batch.check(now: space.now)
        while true {
            let space = try checked(batch)
            let append = Append(space: space.id, content: .new([batch.draft]))
            switch await commits.append(append) {
            case .success(let appended):
                changes.raise()
                return appended.origins
            case .failure(.unknownSpace)
            where try shared.update({ try $0.followRenewal(of: space.id) }): continue
            case .failure(let error): throw DiarioError(error)
            }
        }
    }

    /// The space, which has the types of the batch.
    private nonisolated func checked(_ batch: EventBatch) throws -> Space {
        let space = space
        if batch.source === space.types { return space }
        return try shared.update { space in
            try space.check(batch.draft, madeWith: batch.source)
            return space
        }
    }

    /// Records one event, and gives its origin.
    ///
    /// When this returns, the event survives a power cut; when it throws, it is not recorded.
    ///
    /// - Parameters:
    ///   - event: A value of a type that the plugin `DiarioEvents` made.
    ///   - at: When it happened; the time of recording if nil.
    ///   - actor: Who did it: an opaque id, never a name.
    ///   - subject: What it is about, where the type itself does not say it.
    ///   - ifUnchanged: Whether to refuse the event if another replica wrote to its subject.
    /// - Returns: The origin of the event.
    /// - Throws: ``DiarioError`` if a field does not fit the schema, the disk is full, or the disk
    ///   fails.
    @discardableResult
    public nonisolated func append(
        _ event: some TypedEvent,
        at: Timestamp? = nil,
        actor: String? = nil,
        subject: String? = nil,
        ifUnchanged: Bool = false
    ) async throws -> Origin {
        var batch = makeBatch()
        try batch.add(
            event,
            at: at,
            actor: actor,
            subject: subject,
            ifUnchanged: ifUnchanged
        )
        return try await append(batch)[0]
    }

    /// Ends the use of the diary: waits for what is being recorded, and leaves a mark of a clean
    /// stop.
    ///
    /// Also waits for the part of the log that is just being sealed, a fraction of a second, and
    /// ends queries and a ``rebuild(progress:)`` that are under way: after this nothing is written
    /// to the folder, which may be removed.
    ///
    /// - Throws: ``DiarioError`` if the disk refuses. What was acknowledged is kept all the same.
    public nonisolated func close() async throws {
        // First, and from outside: a query holds up whoever waits for the diary's thread.
        closing.ask()
        try await end()
    }

    private func end() throws {
        connection?.cancel()
        connection = nil
        for rebuild in rebuilds { rebuild.stop.ask() }
        for rebuild in rebuilds { rebuild.hasEnded.wait() }
        rebuilds = []
        readModels = nil
        executor.end()
        commits.end()
        try space.close()
    }

    /// Lets each thread count the memory that queries take on it; to be called first of all.
    package static func countMemoryByThread() { Connection.countMemoryByThread() }

    deinit { executor.end() }
}
