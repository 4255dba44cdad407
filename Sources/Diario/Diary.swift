public import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSchema
import Synchronization

/// A diary on this device: record events offline, now and for ever.
///
/// ```swift
/// let diary = try Diary(path: "my-diary")
/// var batch = diary.makeBatch()
/// try batch.add("meals.weight.recorded", json: #"{"day":"2026-11-20","source":"manual"}"#)
/// let origins = try await diary.append(batch)
/// ```
///
/// Make the folder with ``create(at:schemas:)``, or with `diario init`. Several processes may have
/// the same diary open.
public actor Diary {
    nonisolated let space: Space
    /// Told when something was recorded here.
    nonisolated let changes = ChangeSignal()
    /// Where its sync stands.
    nonisolated let syncing = SyncWatch()
    /// Made when something is asked for the first time.
    var readModels: ReadModels?
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
    /// Blocks while the disk works.
    ///
    /// - Throws: ``DiarioError`` if there is none, if it is damaged, or if the disk refuses.
    public init(path: String) throws {
        space = try Space.open(at: path, access: .readWrite)
    }

    package init(space: Space) { self.space = space }

    /// Makes a diary in the folder at `path`, with the packs of these folders.
    ///
    /// Without folders, the packs that come with the library are used. The diary is there whole
    /// when this returns, and not at all when it throws.
    ///
    /// - Throws: ``DiarioError`` if there is a diary already, or if a pack has a fault.
    public static func create(at path: String, schemas folders: [String] = []) throws -> Diary {
        let packs =
            folders.isEmpty
            ? try PackSource.builtIn() : try folders.flatMap { try PackSource.load(folder: $0) }
        return Diary(space: try Space.create(at: path, packs: packs))
    }

    /// An empty batch for events of the types that this diary knows.
    public nonisolated func makeBatch() -> EventBatch {
        EventBatch(catalog: space.catalog, draft: space.emptyDraft)
    }

    /// Records the events of a batch, all or none, and gives their origins in the same order.
    ///
    /// When this returns, the events have the durability that was asked for: with `synced` they
    /// survive a power cut. When it throws, none of them is recorded. Appends of many tasks share
    /// syncs; one that is alone is written at once, on the caller's thread.
    ///
    /// - Throws: ``DiarioError`` if the batch is empty, the disk is full, or the disk fails.
    public nonisolated func append(
        _ batch: EventBatch,
        durability: EventDurability = .synced
    ) async throws -> [Origin] {
        guard !batch.isEmpty else {
            throw DiarioError(.invalid, "The batch is empty. Add an event to it first.")
        }
        let append = Append(
            space: space.id,
            content: .batch(batch.draft),
            durability: durability == .synced ? .synced : .written
        )
        do throws(LogError) {
            let appended = try await space.store.enqueue(append).get()
            changes.raise()
            return appended.origins
        } catch {
            throw DiarioError(error)
        }
    }

    /// Ends the use of the diary: waits for what is being recorded, and leaves a mark of a clean
    /// stop.
    ///
    /// - Throws: ``DiarioError`` if the disk refuses. What was acknowledged is kept all the same.
    public func close() throws {
        readModels = nil
        executor.end()
        try space.close()
    }

    deinit { executor.end() }
}

/// What holds when an append returns.
public enum EventDurability: Sendable {
    /// The events survive a power cut.
    case synced
    /// The events survive the end of this process; a power cut may lose them, but nothing that was
    /// recorded before them.
    case written
}
