import DiarioCore
package import DiarioCrypto
import DiarioLog
package import DiarioProjection
import DiarioSQLite
package import DiarioSchema
import DiarioStorage

/// The read models of a space: kept up with its log, built anew, and read.
///
/// Used by one thread at a time; several processes may use those of one space.
package final class ReadModels {
    private let space: Space
    private let chunkCount: Int
    let folder: ModelFolder
    /// Generations that are open for changes, by pack.
    private var files: [String: ModelFile] = [:]
    /// How packs in use are applied, by fingerprint.
    private var plans: [Hash32: PackPlan] = [:]
    /// Opened when something is to be changed for the first time.
    private var lock: (any DirectoryLock)?
    /// Packs of which another generation is live since somebody asked what changed.
    private var replaced: Set<String> = []

    /// What went otherwise than somebody would expect, in words.
    package private(set) var notes: [String] = []

    /// Told what is being done: the pack, and how many of how many events are behind us.
    package typealias Progress = (String, UInt64, UInt64) -> Void

    /// What was done for a pack.
    package struct Report: Sendable {
        package let pack: String
        package let models: [Model]

        package struct Model: Sendable {
            package let name: String
            package let version: Int
            /// Events that it took this time.
            package let events: UInt64
            package let rows: Int
            package let digest: Hash32
            package let seconds: Double
            package let quarantined: Int
        }
    }

    /// With `chunkCount` events in a transaction at most while much is to be caught up with.
    package init(_ space: Space, chunkCount: Int = 50_000) throws(DiarioError) {
        self.chunkCount = chunkCount
        guard let path = space.directory?.rootPath else {
            throw DiarioError(.system, "Read models need a directory of the operating system.")
        }
        self.space = space
        do throws(StorageError) {
            // Also where the log itself is opened for reading alone.
            let directory = try POSIXDirectory(path: path, access: .readWrite)
            folder = ModelFolder(directory, of: space.id)
        } catch {
            throw DiarioError(error)
        }
    }

    /// The packs with read models, by name; those in use by the space.
    package var packs: [Pack] { space.packs.filter { !$0.sql.readModels.isEmpty } }

    /// Runs `body` while no other process changes read models here.
    private func locked<Value>(
        _ body: () throws(DiarioError) -> Value
    ) throws(DiarioError) -> Value {
        let lock: any DirectoryLock
        if let known = self.lock {
            lock = known
        } else {
            lock = try folder.lock()
            self.lock = lock
        }
        do throws(StorageError) {
            try lock.acquire(waitSeconds: Limits.lockWaitSecondsMax)
        } catch {
            throw DiarioError(error)
        }
        defer { lock.release() }
        return try body()
    }

    private func modelUpdate(
        of file: ModelFile,
        progress: @escaping (UInt64, UInt64) -> Void
    ) -> ModelUpdate {
        ModelUpdate(space, file, chunkCount: chunkCount, progress: progress)
    }

    private func plan(_ used: Space.UsedPack) -> PackPlan {
        if let known = plans[used.fingerprint] { return known }
        let made = PackPlan(used.pack, fingerprint: used.fingerprint)
        plans[used.fingerprint] = made
        return made
    }

    /// Those of the packs in use that have read models, and a wanted name.
    private func used(_ names: [String]?) -> [Space.UsedPack] {
        space.usedPacks.filter { used in
            !used.pack.sql.readModels.isEmpty && names?.contains(used.pack.name) ?? true
        }
    }

    // MARK: Following the log

    /// Brings the read models of these packs up to what the log holds; builds those that are
    /// missing or changed.
    ///
    /// Where nothing may be written, they stay as they are.
    package func update(
        _ names: [String]? = nil,
        progress: @escaping Progress = { _, _, _ in }
    ) throws(DiarioError) {
        guard !folder.isReadOnly else { return }
        for used in used(names) {
            try locked { () throws(DiarioError) in try update(used, progress) }
        }
    }

    private func update(
        _ used: Space.UsedPack,
        _ progress: @escaping Progress
    ) throws(DiarioError) {
        let (pack, plan) = (used.pack, plan(used))
        if let file = try liveFile(plan) { return try update(file, progress) }
        if let problem = PackCheck.problems(of: pack).first {
            // A pack may have come from elsewhere: what it had before goes on.
            guard let file = try liveFile(plan, keepsOwnPack: true) else {
                throw DiarioError(PackError([problem]))
            }
            notes.append(
                "the pack \(pack.name) \(pack.version) cannot be used, so its read models stay "
                    + "those of \(file.plan.pack.version): \(problem.description)"
            )
            return try update(file, progress)
        }
        _ = try build(plan, copying: true, progress)
    }

    private func update(_ file: ModelFile, _ progress: @escaping Progress) throws(DiarioError) {
        let name = file.plan.pack.name
        try modelUpdate(of: file) { progress(name, $0, $1) }.run()
    }

    /// The live generation, if it has the read models of this pack or is held; nil if it has to be
    /// built.
    private func liveFile(
        _ plan: PackPlan,
        keepsOwnPack: Bool = false
    ) throws(DiarioError) -> ModelFile? {
        let name = plan.pack.name
        guard let live = folder.live(name) else { return nil }
        let path = folder.fullPath(live)
        if let file = files[name], file.path == path, file.plan.fingerprint == plan.fingerprint {
            return file
        }
        files[name] = nil
        guard let summary = try summary(path) else { return nil }
        var wanted = plan
        if summary.isHeld || keepsOwnPack, summary.fingerprint != plan.fingerprint.text {
            // It goes on with its own pack until the next rebuild.
            guard let fingerprint = Hash32(text: summary.fingerprint) else { return nil }
            wanted = PackPlan(try Space.adoptedPack(fingerprint, in: space.store))
        }
        guard summary.space == space.id.text, summary.models == wanted.fingerprints else {
            return nil
        }
        let plan = wanted
        let file = try projecting { () throws(ProjectionError) in
            try ModelFile(path: path, plan: plan, space: space.id, .existing)
        }
        // A log that is shorter than what was applied is another one.
        guard file.applied <= space.store.standing(of: space.id).head else { return nil }
        if summary.fingerprint != plan.fingerprint.text {
            try projecting { () throws(ProjectionError) in
                try file.adopt(plan.fingerprint.text)
            }
        }
        files[name] = file
        replaced.insert(name)
        return file
    }

    /// The tables whose rows may have changed since the last call, by pack.
    package func takeChangedTables() -> [String: Set<String>] {
        let tables = files.mapValues { $0.takeChangedTables() }
        let all = replaced
        replaced = []
        // Those of a generation that was made live are all others.
        return tables.merging(all.map { ($0, ["*"]) }) { $0.union($1) }
    }

    /// What the live generation says of itself; nil if it is damaged.
    private func summary(_ path: String) throws(DiarioError) -> ModelSummary? {
        do throws(ProjectionError) {
            return try ModelSummary(path: path)
        } catch .file(_, let error) where error.kind == .damaged || error.kind == .invalid {
            notes.append("\(path) is damaged (\(error.message)) and is built anew")
            return nil
        } catch {
            throw DiarioError(error)
        }
    }

    // MARK: Building

    /// Builds all read models of these packs anew beside the live ones, then makes them live.
    ///
    /// Without `measuresRows` the report says nothing of what the tables hold.
    package func rebuild(
        _ names: [String]? = nil,
        measuresRows: Bool = true,
        progress: @escaping Progress = { _, _, _ in }
    ) throws(DiarioError) -> [Report] {
        guard !folder.isReadOnly else {
            throw DiarioError(.readOnly, "Nothing can be written here, so nothing is rebuilt.")
        }
        var reports: [Report] = []
        for used in used(names) {
            let start = ContinuousClock.now
            let file = try locked { () throws(DiarioError) in
                try build(plan(used), copying: false, progress)
            }
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            reports.append(try report(file, seconds: seconds, measuresRows: measuresRows))
        }
        return reports
    }

    /// Builds a generation and makes it live.
    ///
    /// With `copying`, read models that are the same in the live one are taken from there.
    private func build(
        _ plan: PackPlan,
        copying: Bool,
        _ progress: @escaping Progress
    ) throws(DiarioError) -> ModelFile {
        let name = plan.pack.name
        files[name] = nil
        let live = folder.live(name)
        let generation = try generation(for: plan, behind: live, copying: copying)
        let path = folder.fullPath(generation)
        let file = try projecting { () throws(ProjectionError) in
            try ModelFile(path: path, plan: plan, space: space.id, .building)
        }
        let update = modelUpdate(of: file) { progress(name, $0, $1) }
        try update.catchUp(through: space.store.standing(of: space.id).head)
        try update.run()
        try projecting { () throws(ProjectionError) in try file.finish() }
        try folder.makeLive(generation)
        files[name] = file
        replaced.insert(name)
        for old in try folder.generations(of: name) where old != generation && old != live {
            try folder.remove(old)
        }
        return file
    }

    /// The generation to build: one that was cut off, or a new one.
    private func generation(
        for plan: PackPlan,
        behind live: ModelFolder.Generation?,
        copying: Bool
    ) throws(DiarioError) -> ModelFolder.Generation {
        let name = plan.pack.name
        let known = try folder.generations(of: name)
        for generation in known where generation.number > live?.number ?? 0 {
            let summary = try? ModelSummary(path: folder.fullPath(generation))
            if summary?.fingerprint == plan.fingerprint.text, summary?.space == space.id.text,
                summary?.isPartial == true
            {
                return generation
            }
            try folder.remove(generation)
        }
        let number = (known.last?.number ?? 0) + 1
        let generation = ModelFolder.Generation(pack: name, number: number)
        if copying, let live {
            let paths = (folder.fullPath(live), folder.fullPath(generation))
            // A live file that cannot be read is no reason to have none.
            do throws(ProjectionError) { try ModelFile.copy(paths.0, to: paths.1) } catch {
                try folder.remove(generation)
            }
        }
        return generation
    }

    private func report(
        _ file: ModelFile,
        seconds: Double,
        measuresRows: Bool
    ) throws(DiarioError) -> Report {
        let quarantined = try projecting { () throws(ProjectionError) in try file.quarantined() }
        var models: [Report.Model] = []
        for model in file.models {
            var digest = ModelDigest(digest: .zero, rows: 0)
            if measuresRows {
                digest = try projecting { () throws(ProjectionError) in
                    try file.digest(of: model.name)
                }
            }
            models.append(
                Report.Model(
                    name: model.name,
                    version: model.version,
                    events: model.taken,
                    rows: digest.rows,
                    digest: digest.digest,
                    seconds: seconds,
                    quarantined: quarantined.count { $0.model == model.name }
                )
            )
        }
        return Report(pack: file.plan.pack.name, models: models)
    }

    /// Builds read models aside, and tells how their tables differ from the live ones.
    ///
    /// Nothing is left of it.
    package func compare(
        _ packs: [Pack],
        progress: @escaping Progress = { _, _, _ in }
    ) throws(DiarioError) -> [(pack: String, table: TableDifference)] {
        guard !folder.isReadOnly else {
            throw DiarioError(.readOnly, "Nothing can be written here, so nothing is built aside.")
        }
        var differences: [(String, TableDifference)] = []
        for pack in packs where !pack.sql.readModels.isEmpty {
            let found = try locked { () throws(DiarioError) in try compare(pack, progress) }
            differences += found.map { (pack.name, $0) }
        }
        return differences
    }

    private func compare(
        _ pack: Pack,
        _ progress: @escaping Progress
    ) throws(DiarioError) -> [TableDifference] {
        let scratch = "\(pack.name).aside"
        try folder.remove(scratch)
        do throws(DiarioError) {
            let path = folder.fullPath(scratch: scratch)
            let file = try projecting { () throws(ProjectionError) in
                try ModelFile(path: path, plan: PackPlan(pack), space: space.id, .building)
            }
            try modelUpdate(of: file) { progress(pack.name, $0, $1) }.run()
            let live = folder.live(pack.name).map { folder.fullPath($0) }
            let found = try projecting { () throws(ProjectionError) in
                try file.differences(from: live)
            }
            try folder.remove(scratch)
            return found
        } catch {
            try? folder.remove(scratch)
            throw error
        }
    }

    /// Makes the generation before the live one live again, and keeps it with its pack.
    ///
    /// False if there is none.
    package func undo(_ name: String) throws(DiarioError) -> Bool {
        try locked { () throws(DiarioError) in try undoLocked(name) }
    }

    private func undoLocked(_ name: String) throws(DiarioError) -> Bool {
        guard let live = folder.live(name),
            let previous = try folder.generations(of: name).last(where: { $0.number < live.number })
        else { return false }
        let path = folder.fullPath(previous)
        let summary = try projecting { () throws(ProjectionError) in try ModelSummary(path: path) }
        guard let fingerprint = Hash32(text: summary.fingerprint) else { return false }
        let plan = PackPlan(try Space.adoptedPack(fingerprint, in: space.store))
        files[name] = nil
        let file = try projecting { () throws(ProjectionError) in
            let file = try ModelFile(path: path, plan: plan, space: space.id, .existing)
            try file.hold(true)
            return file
        }
        try modelUpdate(of: file) { _, _ in }.run()
        try projecting { () throws(ProjectionError) in try file.finish() }
        try folder.makeLive(previous)
        try folder.remove(live)
        files[name] = file
        replaced.insert(name)
        return true
    }

    // MARK: Reading

    /// The live generations, as queries read them.
    package func sources() -> [ModelReader.Source] {
        packs.compactMap { source(of: $0.name) }
    }

    package func source(of pack: String) -> ModelReader.Source? {
        folder.live(pack).map {
            ModelReader.Source(
                pack: pack,
                path: folder.fullPath($0),
                isImmutable: folder.isReadOnly
            )
        }
    }

    /// A named query of a pack in use, and its pack.
    package func query(_ name: String) throws(DiarioError) -> (Pack, PackQuery) {
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        var found: [(Pack, PackQuery)] = []
        for pack in packs where parts.count < 2 || pack.name == parts[0] {
            for query in pack.sql.queries where query.name == parts.last {
                found.append((pack, query))
            }
        }
        guard let first = found.first else {
            throw DiarioError(
                .notFound,
                "There is no query \(name). `diario query` lists those there are."
            )
        }
        guard found.count == 1 else {
            let names = found.map { "\($0.0.name).\(name)" }.joined(separator: " and ")
            throw DiarioError(.invalid, "Several packs have a query \(name): say \(names).")
        }
        return first
    }

    /// The events in quarantine, with their packs.
    package func quarantined() throws(DiarioError) -> [(pack: String, event: QuarantinedEvent)] {
        var all: [(String, QuarantinedEvent)] = []
        for pack in packs {
            guard let live = folder.live(pack.name) else { continue }
            let path = folder.fullPath(live)
            let events = try projecting { () throws(ProjectionError) in
                try ModelSummary.quarantined(path: path)
            }
            all += events.map { (pack.name, $0) }
        }
        return all
    }
}
