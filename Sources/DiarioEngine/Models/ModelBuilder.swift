import DiarioCore
import DiarioCrypto
import DiarioLog
import DiarioProjection
import DiarioSchema
import DiarioStorage

/// Builds generations of read models beside the live ones, on whatever thread, and makes them live.
///
/// Live ones are read and follow the log meanwhile: `build` says who builds here, and the lock of
/// the pack, which they need as well, is held only for what came in the meantime and for the move
/// of the link.
package struct ModelBuilder: Sendable {
    private let space: Space
    private let folder: ModelFolder
    private let chunkCount: Int
    /// What a build may cost for which somebody waits by the way.
    private let allowance: StepAllowance
    /// By which a build is ended early.
    let stop: BuildStop

    init(
        _ space: Space,
        _ folder: ModelFolder,
        chunkCount: Int,
        allowance: StepAllowance,
        until stop: BuildStop
    ) {
        self.space = space
        self.folder = folder
        self.chunkCount = chunkCount
        self.allowance = allowance
        self.stop = stop
    }

    /// Runs `body` while nobody else builds here.
    func alone<Value>(
        _ body: () throws(DiarioError) -> Value
    ) throws(DiarioError) -> Value {
        try holding(try folder.buildLock(), body)
    }

    private func holding<Value>(
        _ lock: any DirectoryLock,
        _ body: () throws(DiarioError) -> Value
    ) throws(DiarioError) -> Value {
        try stop.acquire(lock)
        defer { lock.release() }
        return try body()
    }

    // MARK: Several packs

    /// Builds the read models of packs anew, some side by side.
    func rebuild(
        _ plans: [PackPlan],
        measuresRows: Bool,
        progress: (UInt64, UInt64) -> Void
    ) throws(DiarioError) -> [ReadModels.Report] {
        guard !folder.isReadOnly else {
            throw DiarioError(
                .readOnly,
                "The space may only be read here, so nothing is rebuilt. Do it where it may be "
                    + "written."
            )
        }
        return try alone { () throws(DiarioError) in
            guard plans.count > 1 else {
                return try plans.map { (plan) throws(DiarioError) in
                    try rebuild(plan, measuresRows: measuresRows, progress)
                }
            }
            return try sideBySide(plans) { (plan, note) throws(DiarioError) in
                try rebuild(plan, measuresRows: measuresRows) { done, _ in note(done) }
            } progress: { done, total in
                progress(done.reduce(0, +), total * UInt64(done.count))
            }
        }
    }

    /// Builds the read models of packs that are missing or changed, some side by side, for who
    /// builds alone; `progress` is told how far each of them is.
    func build(
        _ plans: [PackPlan],
        _ progress: ([UInt64], UInt64) -> Void
    ) throws(DiarioError) {
        _ = try sideBySide(plans) { (plan, note) throws(DiarioError) in
            _ = try build(plan, .missing) { done, _ in note(done) }
        } progress: {
            progress($0, $1)
        }
    }

    /// Does for each pack what is to be done, on as many threads as may build.
    private func sideBySide<Made: Sendable>(
        _ plans: [PackPlan],
        _ make: @escaping @Sendable (PackPlan, (UInt64) -> Void) throws(DiarioError) -> Made,
        progress: ([UInt64], UInt64) -> Void
    ) throws(DiarioError) -> [Made] {
        let head = space.store.standing(of: space.id).head
        let work = PacksTogether<Made>(plans.map { folder.liveSize($0.pack.name) }, through: head)
        return try work.run(
            { (number, note) throws(DiarioError) in try make(plans[number], note) },
            progress: progress
        )
    }

    private func rebuild(
        _ plan: PackPlan,
        measuresRows: Bool,
        _ progress: (UInt64, UInt64) -> Void
    ) throws(DiarioError) -> ReadModels.Report {
        let start = ContinuousClock.now
        let file = try build(plan, .asked, progress)
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        return try Self.report(file, seconds: seconds, measuresRows: measuresRows)
    }

    // MARK: One pack

    /// Why a generation is built.
    enum Reason {
        /// Somebody asked for it: everything is built, however long it takes.
        case asked
        /// A query needs what is missing: read models that are the same in the live generation are
        /// taken from there, and if the others take too long, the next query goes on with them.
        case missing
    }

    /// Builds a generation and makes it live, for who builds alone.
    @discardableResult
    func build(
        _ plan: PackPlan,
        _ reason: Reason,
        _ progress: (UInt64, UInt64) -> Void
    ) throws(DiarioError) -> ModelFile {
        let name = plan.pack.name
        let live = folder.live(name)
        let history = try space.history()
        let generation = try generation(for: plan, behind: live, history, reason)
        let path = folder.fullPath(generation)
        let file = try projecting { () throws(ProjectionError) in
            try ModelFile(path: path, plan: plan, space: space.id, history: history, .building)
        }
        let update = ModelUpdate(
            space,
            file,
            chunkCount: chunkCount,
            stop: stop,
            allowance: reason == .missing ? allowance : nil
        )
        try update.catchUp(through: space.store.standing(of: space.id).head, progress)
        // What waits for the disk comes before the lock that those who follow the log wait for.
        // The events that came since are written as a live generation writes them.
        try projecting { () throws(ProjectionError) in try file.flush() }
        try folder.sync()
        try stop.check()
        var unfinished: DiarioError?
        try holding(try folder.lock(of: name)) { () throws(DiarioError) in
            do throws(DiarioError) { try update.run(progress) } catch {
                guard file.isSpent else { throw error }
                // Who follows it goes on with what is left.
                unfinished = error
            }
            try folder.makeLive(generation)
        }
        try folder.sync()
        for old in try folder.generations(of: name) where old != generation && old != live {
            try folder.remove(old)
        }
        if let unfinished { throw unfinished }
        return file
    }

    /// The generation to build: one that was not made live, or a new one.
    private func generation(
        for plan: PackPlan,
        behind live: ModelFolder.Generation?,
        _ history: String,
        _ reason: Reason
    ) throws(DiarioError) -> ModelFolder.Generation {
        let name = plan.pack.name
        let known = try folder.generations(of: name)
        for generation in known where generation.number > live?.number ?? 0 {
            let summary = try? folder.summary(of: generation)
            if summary?.fingerprint == plan.fingerprint.text, summary?.space == space.id.text,
                summary?.history == history, reason == .missing || summary?.isCopy == false
            {
                return generation
            }
            try folder.remove(generation)
        }
        let number = (known.last?.number ?? 0) + 1
        let generation = ModelFolder.Generation(pack: name, number: number)
        // One that has effects of events which are no more is no beginning.
        if reason == .missing, let live, (try? folder.summary(of: live))?.history == history {
            let paths = (folder.fullPath(live), folder.fullPath(generation))
            // A live file that cannot be read is no reason to have none.
            do throws(ProjectionError) { try ModelFile.copy(paths.0, to: paths.1) } catch {
                try folder.remove(generation)
            }
        }
        return generation
    }

    private static func report(
        _ file: ModelFile,
        seconds: Double,
        measuresRows: Bool
    ) throws(DiarioError) -> ReadModels.Report {
        let quarantined = try projecting { () throws(ProjectionError) in try file.quarantined() }
        var models: [ReadModels.Report.Model] = []
        for model in file.models {
            var digest = ModelDigest(digest: .zero, rows: 0)
            if measuresRows {
                digest = try projecting { () throws(ProjectionError) in
                    try file.digest(of: model.name)
                }
            }
            models.append(
                ReadModels.Report.Model(
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
        return ReadModels.Report(pack: file.plan.pack.name, models: models)
    }
}

extension Space {
    /// Which events there are at positions that were given; see `LogStore.history`.
    func history() throws(DiarioError) -> String {
        try logging { () throws(LogError) in try store.history(of: id) }
    }
}
