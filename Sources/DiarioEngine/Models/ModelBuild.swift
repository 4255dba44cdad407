import DiarioCore
import DiarioCrypto
import DiarioLog
import DiarioProjection
import DiarioSchema
import DiarioStorage

/// Builds one generation of a pack's read models beside the live one, some milliseconds at a time,
/// and makes it live.
///
/// The live one is read, and follows the log, meanwhile: its lock is held only for the events that
/// came since, and while the new one takes its place.
struct ModelBuild {
    /// Why a generation is built.
    enum Reason {
        /// Somebody asked for it: everything is built, however long it takes.
        case asked
        /// A query needs what is missing: read models that are the same in the live generation are
        /// taken from there, and if the others take too long, the next query goes on with them.
        case missing
    }

    private enum State {
        case catchingUp
        case completing
        case finishing
        case done
    }

    private(set) var file: ModelFile
    private let builder: ModelBuilder
    private let plan: PackPlan
    private let reason: Reason
    private let live: ModelGeneration?
    private var generation: ModelGeneration
    private var update: ModelUpdate
    /// Up to here events are applied before the lock is taken.
    private let head: UInt64
    private var state = State.catchingUp

    /// For a caller that builds alone.
    init(
        _ builder: ModelBuilder,
        _ plan: PackPlan,
        _ reason: Reason
    ) throws(DiarioError) {
        (self.builder, self.plan, self.reason) = (builder, plan, reason)
        live = builder.place.live(plan.pack.name)
        let history = try builder.space.history()
        do {
            generation = try builder.generation(for: plan, after: live, history, reason)
        } catch {
            throw DiarioError(error)
        }
        (file, update) = try builder.open(generation, plan, .deferring, reason)
        head = builder.space.store[builder.space.id].standing().head
    }

    /// All events up to here were applied.
    var applied: UInt64 { update.reached }

    /// The number of things that are left for the end.
    var laterCount: Int { file.later.count }

    /// Does a part of the work, in which a transaction may stay open; false once the generation is
    /// live.
    ///
    /// The part has at most `countMax` events, if that is given.
    mutating func step(countMax: Int? = nil) throws(DiarioError) -> Bool {
        // Each takes some milliseconds.
        let countMax = countMax ?? max(builder.chunkCount / 25, 1)
        do throws(DiarioError) { return try attempt(countMax) } catch {
            guard let doubt = file.later.doubt else { throw error }
            try beginAgain(because: doubt)
            return true
        }
    }

    /// Makes all so far durable, for another build to go on with.
    func pause() {
        do throws(DiarioError) { try update.pause() } catch { return }
        // What cannot be synced is built again.
        try? file.later.sync(file)
    }

    private mutating func attempt(_ countMax: Int) throws(DiarioError) -> Bool {
        switch state {
        case .catchingUp:
            if try !update.catchUpStep(through: head, countMax: countMax) {
                state = .completing
            }
            return true
        case .completing:
            if try !update.finishStep() { state = .finishing }
            return true
        case .finishing:
            try finish()
            state = .done
            return false
        case .done: return false
        }
    }

    /// Builds the generation once more, row by row.
    private mutating func beginAgain(because doubt: String) throws(DiarioError) {
        do {
            // Another name: with the old file, which is still open, SQLite removes its log by name.
            let last = try builder.place.generations(of: generation.pack).last ?? generation
            try builder.place.remove(generation.name)
            generation = ModelGeneration(pack: generation.pack, number: last.number + 1)
        } catch {
            throw DiarioError(error)
        }
        (file, update) = try builder.open(generation, plan, .building, reason)
        do { try file.later.note(doubt, in: file) } catch { throw DiarioError(error) }
        state = .catchingUp
    }

    private func finish() throws(DiarioError) {
        let (name, place) = (generation.pack, builder.place)
        // Waiting for the disk comes before taking the lock for which followers of the log wait.
        do {
            try file.later.sync(file)
            try file.flush()
        } catch {
            throw DiarioError(error)
        }
        let lock: any DirectoryLock
        do {
            try place.sync()
            lock = try place.lock(of: name)
        } catch {
            throw DiarioError(error)
        }
        try builder.stop.check()
        var unfinished: DiarioError?
        try builder.holding(lock) { () throws(DiarioError) in
            do throws(DiarioError) { try update.run { _, _ in } } catch {
                guard file.isSpent else { throw error }
                // The next follower continues with the rest.
                unfinished = error
            }
            do throws(StorageError) { try place.makeLive(generation) } catch {
                throw DiarioError(error)
            }
        }
        do {
            try place.sync()
            for old in try place.generations(of: name) where old != generation && old != live {
                try place.remove(old.name)
            }
        } catch {
            throw DiarioError(error)
        }
        if let unfinished { throw unfinished }
    }
}

extension ModelBuilder {
    fileprivate func open(
        _ generation: ModelGeneration,
        _ plan: PackPlan,
        _ mode: ModelFile.Mode,
        _ reason: ModelBuild.Reason
    ) throws(DiarioError) -> (ModelFile, ModelUpdate) {
        let file: ModelFile
        let history = try space.history()
        do {
            file = try ModelFile(
                path: place.path(of: generation.name),
                plan: plan,
                space: space.id,
                history: history,
                mode
            )
        } catch {
            throw DiarioError(error)
        }
        let update = ModelUpdate(
            space,
            file,
            chunkCount: chunkCount,
            stop: stop,
            allowance: reason == .missing ? allowance : nil
        )
        return (file, update)
    }

    /// The generation to build: one that was begun and not made live, or a new one.
    fileprivate func generation(
        for plan: PackPlan,
        after live: ModelGeneration?,
        _ history: String,
        _ reason: ModelBuild.Reason
    ) throws(StorageError) -> ModelGeneration {
        let name = plan.pack.name
        let known = try place.generations(of: name)
        for generation in known where generation.number > live?.number ?? 0 {
            let summary = try? place.summary(of: generation)
            if summary?.fingerprint == plan.fingerprint.text,
                summary?.space == space.id.text, summary?.history == history,
                summary?.isSynced == true,
                reason == .missing || summary?.isCopy == false
            {
                return generation
            }
            try place.remove(generation.name)
        }
        let generation = ModelGeneration(pack: name, number: (known.last?.number ?? 0) + 1)
        // One that has effects of events which are no more is no beginning.
        let summary = live.flatMap { try? place.summary(of: $0) }
        if reason == .missing, let live, summary?.history == history, summary?.isWhole == true {
            // A live file that cannot be read is no reason to have none.
            do throws(ProjectionError) {
                try ModelFile.copy(place.path(of: live.name), to: place.path(of: generation.name))
            } catch {
                try place.remove(generation.name)
            }
        }
        return generation
    }
}

extension ModelPlace {
    func summary(of generation: ModelGeneration) throws(ProjectionError) -> ModelSummary {
        try ModelSummary(path: path(of: generation.name), isImmutable: isReadOnly)
    }
}
