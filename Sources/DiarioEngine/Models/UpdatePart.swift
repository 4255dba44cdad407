import DiarioCore
import DiarioLog
import DiarioProjection
import DiarioSchema

/// What is being done for one pack, some milliseconds at a time: a page has messages to answer
/// between two steps.
enum UpdatePart {
    /// Whether read models can be built of a pack that has none here.
    case checking(PackCheck)
    case following(ModelUpdate)
    case building(ModelBuild)

    /// Events of one look at the clock.
    private static let stepCount = 250
    /// Pending events of one transaction.
    private static let pendingCount = 1000

    /// What is to be done first; nil if all is up to date.
    static func next(of models: ReadModels) throws(DiarioError) -> UpdatePart? {
        try models.takeUpAdoptions()
        for used in models.used(nil) {
            let plan = models.plan(used)
            if models.rebuildNext.remove(used.pack.name) != nil {
                return .building(try build(plan, .asked, in: models))
            }
            let file = try models.locked([used.pack.name]) { () throws(DiarioError) in
                try models.liveFile(plan)
            }
            if let file {
                let update = models.modelUpdate(of: file)
                let standing = models.space.store[models.spaceID].standing()
                if update.needsWork(standing) { return .following(update) }
            } else if let check = models.checks[used.fingerprint], check.isDone {
                guard let problem = check.problems.first else {
                    return .building(try build(plan, .missing, in: models))
                }
                try models.keep(used, problem)
            } else {
                // What another call ended is gone on with.
                let check =
                    models.checks[used.fingerprint] ?? PackCheck(used.pack, inUse: true)
                models.checks[used.fingerprint] = check
                return .checking(check)
            }
        }
        return nil
    }

    private static func build(
        _ plan: PackPlan,
        _ reason: ModelBuild.Reason,
        in models: ReadModels
    ) throws(DiarioError) -> ModelBuild {
        let builder = models.builder
        return try builder.alone { () throws(DiarioError) in
            try ModelBuild(builder, plan, reason)
        }
    }

    /// Goes on a little; nil once it is done.
    func step(in models: ReadModels) throws(DiarioError) -> UpdatePart? {
        switch self {
        case .checking(let check): return check.step() ? self : nil
        case .following(let update): return try Self.follow(update, models) ? self : nil
        case .building(var build):
            do throws(DiarioError) {
                return try models.builder.alone { () throws(DiarioError) in
                    try build.step(countMax: Self.stepCount)
                } ? .building(build) : nil
            } catch {
                build.pause()
                throw error
            }
        }
    }

    private static func follow(
        _ update: ModelUpdate,
        _ models: ReadModels
    ) throws(DiarioError) -> Bool {
        let head = models.space.store[models.spaceID].standing().head
        return try models.locked([update.file.plan.pack.name]) { () throws(DiarioError) in
            if update.file.sections.isEmpty,
                try update.catchUpStep(through: head, countMax: stepCount)
            {
                return true
            }
            if try update.finishStep() { return true }
            update.pendingCountMax = pendingCount
            try update.run { _, _ in }
            return false
        }
    }

    /// Commits what a step left open.
    func end() throws(DiarioError) {
        switch self {
        case .checking: break
        case .following(let update): try update.pause()
        case .building(let build): build.pause()
        }
    }
}
