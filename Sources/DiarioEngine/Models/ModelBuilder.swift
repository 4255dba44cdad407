import DiarioCore
import DiarioCrypto
import DiarioLog
import DiarioProjection
import DiarioSchema
import DiarioStorage

/// Builds generations of read models beside the live ones, on whatever thread, and makes them live.
struct ModelBuilder: Sendable {
    let space: Space
    let place: any ModelPlace
    let crew: (any ModelCrew)?
    let chunkCount: Int
    /// The step budget of a build for which a query waits.
    let allowance: StepAllowance
    /// Ends a build early.
    let stop: BuildStop

    /// Runs `body` while no one else builds here.
    func alone<Value>(
        _ body: () throws(DiarioError) -> Value
    ) throws(DiarioError) -> Value {
        let lock: any DirectoryLock
        do { lock = try place.buildLock() } catch { throw DiarioError(error) }
        return try holding(lock, body)
    }

    func holding<Value>(
        _ lock: any DirectoryLock,
        _ body: () throws(DiarioError) -> Value
    ) throws(DiarioError) -> Value {
        try stop.acquire(lock)
        defer { lock.release() }
        return try body()
    }

    /// Rebuilds the read models of packs; `progress` gets the number of applied events and of all,
    /// for all packs together.
    func rebuild(
        _ plans: [PackPlan],
        measuresRows: Bool,
        progress: (UInt64, UInt64) -> Void
    ) throws(DiarioError) -> [ReadModels.Report] {
        guard !place.isReadOnly else {
            throw DiarioError(
                .readOnly,
                "The space may only be read here, so nothing is rebuilt. Do it where it may be "
                    + "written."
            )
        }
        let total = space.store[space.id].standing().head * UInt64(plans.count)
        return try alone { () throws(DiarioError) in
            try work(plans) { (plan, note) throws(DiarioError) in
                let start = space.store.now
                let file = try build(plan, .asked, note)
                let milliseconds = max(space.store.now.milliseconds - start.milliseconds, 0)
                let seconds = Double(milliseconds) / 1000
                do throws(ProjectionError) {
                    return try Self.report(file, seconds: seconds, measuresRows: measuresRows)
                } catch {
                    throw DiarioError(error)
                }
            } progress: { done in
                progress(done.reduce(0, +), total)
            }
        }.compactMap { $0 }
    }

    /// Builds the read models of packs that are missing or changed, for a caller that builds alone.
    func build(
        _ plans: [PackPlan],
        progress: ([UInt64]) -> Void
    ) throws(DiarioError) {
        _ = try work(plans) { (plan, note) throws(DiarioError) in
            _ = try build(plan, .missing, note)
            return nil
        } progress: {
            progress($0)
        }
    }

    private func build(
        _ plan: PackPlan,
        _ reason: ModelBuild.Reason,
        _ note: (UInt64) -> Void
    ) throws(DiarioError) -> ModelFile {
        var build = try ModelBuild(self, plan, reason)
        do throws(DiarioError) {
            while try build.step() {
                note(build.applied)
                try stop.check()
            }
        } catch {
            build.pause()
            throw error
        }
        return build.file
    }

    /// Works on several packs, on those first that take longest.
    ///
    /// Nobody waits long for the last one then. An error is thrown when all are done.
    func work(
        _ plans: [PackPlan],
        _ piece:
            @escaping @Sendable (
                PackPlan, (UInt64) -> Void
            ) throws(DiarioError) -> ReadModels.Report?,
        progress: ([UInt64]) -> Void
    ) throws(DiarioError) -> [ReadModels.Report?] {
        let sizes = plans.map { plan in
            place.live(plan.pack.name).map { place.size(of: $0) } ?? 0
        }
        let order = sizes.indices.sorted { sizes[$0] > sizes[$1] }
        var done = sizes.map { _ in UInt64(0) }
        var outcomes: [ModelOutcome] = []
        if let crew, plans.count > 1 {
            outcomes = crew.work(plans.count) { number, note in
                Result { () throws(DiarioError) in try piece(plans[order[number]], note) }
            } progress: { told in
                for (number, count) in told.enumerated() { done[order[number]] = count }
                progress(done)
            }
        } else {
            for number in order {
                outcomes.append(
                    Result { () throws(DiarioError) in
                        try piece(plans[number]) { count in
                            done[number] = count
                            progress(done)
                        }
                    }
                )
            }
        }
        var reports: [ReadModels.Report?] = Array(repeating: nil, count: plans.count)
        for (number, outcome) in outcomes.enumerated() {
            reports[order[number]] = try outcome.get()
        }
        return reports
    }

    private static func report(
        _ file: ModelFile,
        seconds: Double,
        measuresRows: Bool
    ) throws(ProjectionError) -> ReadModels.Report {
        let quarantined = try file.quarantined()
        var models: [ReadModels.Report.Model] = []
        for model in file.models {
            var digest = ModelDigest(digest: .zero, rows: 0)
            if measuresRows { digest = try file.digest(of: model.name) }
            models.append(
                ReadModels.Report.Model(
                    name: model.name,
                    version: model.version,
                    events: model.taken,
                    rows: digest.rows,
                    digest: digest.digest,
                    seconds: seconds,
                    quarantined: quarantined.count { $0.model == model.name },
                    rowByRow: try file.later.reason(model.name, in: file)
                )
            )
        }
        return ReadModels.Report(pack: file.plan.pack.name, models: models)
    }
}

extension Space {
    /// Which events there are at positions that were given; see `LogStore.history`.
    func history() throws(DiarioError) -> String {
        do { return try store[id].history() } catch { throw DiarioError(error) }
    }
}
