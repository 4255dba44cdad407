package import DiarioCore
package import DiarioCrypto
import DiarioLog
package import DiarioProjection
import DiarioSQLite
package import DiarioSchema
import DiarioStorage

/// The read models of a space: updated from its log, rebuilt, and read.
///
/// Used by one thread at a time; several processes may use those of one space.
package final class ReadModels {
    /// The space; its owner gives a newer copy when packs were adopted.
    package var space: Space {
        didSet { if oldValue.types !== space.types { recent = RecentEvents(space) } }
    }
    /// The space that they are of; another one may take its place.
    package let spaceID: SpaceID
    private let chunkCount: Int
    private let allowance: StepAllowance
    private let crew: (any ModelCrew)?
    /// Ends following the log and building early.
    package var stop = BuildStop()
    let place: any ModelPlace
    /// Generations that are open for changes, by pack.
    private var files: [String: ModelFile] = [:]
    /// Packs whose open generation is live and as we know it.
    private var checked: Set<String> = []
    private var recent: RecentEvents
    /// The plans of packs in use, by fingerprint.
    private var plans: [Hash32: PackPlan] = [:]
    private var locks = PackLocks()
    /// What was pending when changes were taken last.
    private var knownStanding: SpaceStanding?
    /// What commands and views are decided by, by pack.
    private var callReaders: [String: (path: String, reader: ModelReader)] = [:]
    /// The tables of live generations.
    private var tables: [String: (file: FileIdentity, names: Set<String>)] = [:]
    /// Packs of which another generation became live since changed tables were last asked for.
    private var replaced: Set<String> = []
    /// What the last step left open.
    var part: UpdatePart?
    /// Packs whose read models steps build again, first of all.
    package var rebuildNext: Set<String> = []
    /// The checks of packs whose read models steps are to build, by fingerprint.
    var checks: [Hash32: PackCheck] = [:]

    /// Notes about the unexpected, for people.
    package private(set) var notes: [String] = []

    /// Gets the pack, the number of applied events, and the number of all.
    package typealias Progress = (String, UInt64, UInt64) -> Void

    /// The work done for a pack.
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
            /// Why it was built row by row; nil if what can wait was done at the end.
            package let rowByRow: String?
        }
    }

    /// Read models that lie in `place`.
    ///
    /// With `chunkCount` events in a transaction at most while much is to be caught up with, and
    /// for `update` what it may cost. Without a crew one pack is worked on after the other.
    package init(
        _ space: Space,
        in place: any ModelPlace,
        chunkCount: Int = 50_000,
        allowance: StepAllowance = .query,
        crew: (any ModelCrew)? = nil
    ) {
        self.space = space
        spaceID = space.id
        self.place = place
        self.chunkCount = chunkCount
        self.allowance = allowance
        self.crew = crew
        recent = RecentEvents(space)
    }

    /// The packs with read models, by name; those in use by the space.
    package var packs: [Pack] { space.packs.filter { !$0.sql.readModels.isEmpty } }

    private func note(_ text: String) {
        if !notes.contains(text) { notes.append(text) }
    }

    /// Runs `body` while no other process changes live read models of these packs.
    func locked<Value>(
        _ packs: [String],
        _ body: () throws(DiarioError) -> Value
    ) throws(DiarioError) -> Value {
        // Changes by others under a lock, such as of the link, have to be checked.
        checked.subtract(try locks.acquire(packs, in: place, until: stop))
        defer { locks.release() }
        return try body()
    }

    /// With an allowance for who waits by the way.
    func modelUpdate(
        of file: ModelFile,
        _ allowance: StepAllowance? = nil
    ) -> ModelUpdate {
        ModelUpdate(
            space,
            file,
            chunkCount: chunkCount,
            recent: recent,
            stop: stop,
            allowance: allowance
        )
    }

    func plan(_ used: UsedPack) -> PackPlan {
        if let known = plans[used.fingerprint] { return known }
        let made = PackPlan(used.pack, fingerprint: used.fingerprint)
        plans[used.fingerprint] = made
        return made
    }

    /// Those of the packs in use that have read models, and a wanted name.
    func used(_ names: [String]?) -> [UsedPack] {
        space.usedPacks.filter { used in
            !used.pack.sql.readModels.isEmpty && names?.contains(used.pack.name) ?? true
        }
    }

    // MARK: Following the log

    /// Updates the read models of these packs to the head of the log; builds those that are
    /// missing or changed.
    ///
    /// If nothing may be written, they stay as they are. If the budget is exceeded, the error says
    /// how far they are, and the next call continues there.
    package func update(
        _ names: [String]? = nil,
        progress: Progress = { _, _, _ in }
    ) throws(DiarioError) {
        try endPart()
        try takeUpAdoptions()
        guard !place.isReadOnly else { return }
        let missing = try follow(used(names), progress)
        guard !missing.isEmpty else { return }
        var sound: [UsedPack] = []
        for used in missing {
            if let problem = PackCheck.problems(of: used.pack, inUse: true).first {
                try keep(used, problem, progress)
            } else {
                sound.append(used)
            }
        }
        guard !sound.isEmpty else { return }
        try builder.alone { () throws(DiarioError) in
            // Another process may have built them while this one waited.
            let missing = try follow(sound, progress)
            let head = space.store[spaceID].standing().head
            try builder.build(missing.map { plan($0) }) { done in
                // All are done when the one that lags most is.
                guard let last = done.indices.min(by: { done[$0] < done[$1] }) else { return }
                progress(missing[last].pack.name, done[last], head)
            }
        }
        _ = try follow(sound, progress)
    }

    /// Reads the packs that were adopted meanwhile.
    func takeUpAdoptions() throws(DiarioError) {
        var newer = space
        if try newer.takeUpAdoptions() { space = newer }
    }

    /// Brings live generations up to date; gives the packs whose have to be built first.
    private func follow(
        _ packs: [UsedPack],
        _ progress: Progress
    ) throws(DiarioError) -> [UsedPack] {
        try locked(packs.map { $0.pack.name }) { () throws(DiarioError) in
            var (missing, files): ([UsedPack], [ModelFile]) = ([], [])
            for used in packs {
                if let file = try liveFile(plan(used)) {
                    files.append(file)
                } else {
                    missing.append(used)
                }
            }
            let long = files.filter { modelUpdate(of: $0).isLong }
            if long.count > 1 { try updateTogether(long, progress) }
            for file in files { try update(file, progress) }
            return missing
        }
    }

    /// Goes on with the read models that a pack had before, because it cannot be used: it may have
    /// come from elsewhere.
    func keep(
        _ used: UsedPack,
        _ problem: PackProblem,
        _ progress: Progress = { _, _, _ in }
    ) throws(DiarioError) {
        try locked([used.pack.name]) { () throws(DiarioError) in
            guard let file = try liveFile(plan(used), keepsOwnPack: true) else {
                throw DiarioError(PackError([problem]))
            }
            note(
                "the pack \(used.pack.name) \(used.pack.version) cannot be used, so its read "
                    + "models stay those of \(file.plan.pack.version): \(problem.description)"
            )
            try update(file, progress)
        }
    }

    /// Brings files up to date for which there is much to do, several at a time.
    private func updateTogether(
        _ files: [ModelFile],
        _ progress: Progress
    ) throws(DiarioError) {
        var lent: [String: LentFile] = [:]
        for file in files {
            let name = file.plan.pack.name
            lent[name] = LentFile(file: file, isKnown: checked.contains(name))
        }
        let (space, chunkCount, stop, allowance) = (space, chunkCount, stop, allowance)
        let head = space.store[spaceID].standing().head
        _ = try builder.work(files.map { $0.plan }) { [lent] (plan, note) throws(DiarioError) in
            guard let one = lent[plan.pack.name] else { return nil }
            let update = ModelUpdate(
                space,
                one.file,
                chunkCount: chunkCount,
                stop: stop,
                allowance: allowance
            )
            try update.run(isKnown: one.isKnown) { done, _ in note(done) }
            return nil
        } progress: { done in
            guard let last = done.indices.min(by: { done[$0] < done[$1] }) else { return }
            progress(files[last].plan.pack.name, done[last], head)
        }
        checked.formUnion(lent.keys)
    }

    private func update(_ file: ModelFile, _ progress: Progress) throws(DiarioError) {
        let name = file.plan.pack.name
        let isKnown = checked.contains(name)
        try modelUpdate(of: file, allowance).run(isKnown: isKnown) { progress(name, $0, $1) }
        checked.insert(name)
    }

    /// The live generation, if it has the read models of this pack or is held; nil if it has to be
    /// built.
    func liveFile(
        _ plan: PackPlan,
        keepsOwnPack: Bool = false
    ) throws(DiarioError) -> ModelFile? {
        let name = plan.pack.name
        if checked.contains(name), let file = files[name],
            file.plan.fingerprint == plan.fingerprint
        {
            return file
        }
        checked.remove(name)
        guard let live = place.live(name) else { return nil }
        let path = place.path(of: live.name)
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
        guard summary.space == space.id.text, summary.models == wanted.fingerprints,
            summary.isWhole
        else { return nil }
        guard try summary.history == space.history() else {
            note(
                "The log is not what it was (events were lost, or another epoch began), so the "
                    + "read models of \(name) are rebuilt."
            )
            return nil
        }
        let plan = wanted
        do {
            let file = try ModelFile(path: path, plan: plan, space: space.id, .existing)
            // A log that is shorter than what was applied is another one.
            guard file.applied <= space.store[space.id].standing().head else { return nil }
            if summary.fingerprint != plan.fingerprint.text {
                try file.adopt(plan.fingerprint.text)
            }
            files[name] = file
            replaced.insert(name)
            return file
        } catch {
            throw DiarioError(error)
        }
    }

    /// Whether the read models that follow the log are those of the pack in use.
    func isCurrent(_ pack: String) -> Bool {
        let used = space.usedPacks.first { $0.pack.name == pack }
        return used != nil && files[pack]?.plan.fingerprint == used?.fingerprint
    }

    /// A reader of the live generation, which is kept for the next call.
    func callReader(_ source: ModelReader.Source) throws(DiarioError) -> ModelReader {
        if let kept = callReaders[source.pack], kept.path == source.path { return kept.reader }
        do throws(ProjectionError) {
            let reader = try ModelReader(source)
            try reader.addBlobStates(of: SpaceBlobs(space))
            callReaders[source.pack] = (source.path, reader)
            return reader
        } catch {
            throw DiarioError(error)
        }
    }

    /// The tables whose rows may have changed since the last call, by pack.
    package func takeChangedTables() -> [String: Set<String>] {
        var tables = files.mapValues { $0.takeChangedTables() }
        // Those of a generation that was made live are all others.
        for pack in replaced { tables[pack, default: []].insert("*") }
        replaced = []
        // Where events are changes also where no row does.
        let standing = space.store[space.id].standing()
        if knownStanding != standing {
            for pack in packs { tables[pack.name, default: []].insert(EventPlaces.inboxTable) }
            knownStanding = standing
        }
        return tables
    }

    /// The summary of the live generation; nil if it is damaged.
    private func summary(_ path: String) throws(DiarioError) -> ModelSummary? {
        do throws(ProjectionError) {
            return try ModelSummary(path: path, isImmutable: place.isReadOnly)
        } catch .file(_, let error) where error.kind == .damaged || error.kind == .invalid {
            note("\(path) is damaged (\(error.message)) and is rebuilt")
            return nil
        } catch {
            throw DiarioError(error)
        }
    }

    /// The packs by which live generations follow the log: those in use, or their own ones where
    /// they are held.
    package func livePacks(
        _ names: [String]
    ) throws(DiarioError) -> [(pack: Pack, isHeld: Bool)] {
        var packs: [(pack: Pack, isHeld: Bool)] = []
        for used in used(names) {
            if let live = place.live(used.pack.name),
                let summary = try summary(place.path(of: live.name)), summary.isHeld,
                let own = Hash32(text: summary.fingerprint)
            {
                packs.append((try Space.adoptedPack(own, in: space.store), true))
            } else {
                packs.append((used.pack, false))
            }
        }
        return packs
    }

    /// The tables of the live generation, which has the same ones for ever; nil if there is none,
    /// or it is damaged.
    func liveTables(of pack: String) -> Set<String>? {
        guard let live = place.live(pack), let identity = place.identity(of: live) else {
            return nil
        }
        if let known = tables[pack], known.file == identity { return known.names }
        guard let names = try? place.summary(of: live).tables else { return nil }
        tables[pack] = (identity, names)
        return names
    }

    // MARK: Building

    /// Builds generations, on any thread.
    var builder: ModelBuilder { builder(until: stop) }

    private func builder(until stop: BuildStop) -> ModelBuilder {
        ModelBuilder(
            space: space,
            place: place,
            crew: crew,
            chunkCount: chunkCount,
            allowance: allowance,
            stop: stop
        )
    }

    /// Rebuilds all read models of these packs beside the live ones, then makes them live.
    ///
    /// The live ones are read, and follow the log, meanwhile. Packs are built side by side. Without
    /// `measuresRows` the reports have no counts of rows. `progress` gets the number of applied
    /// events and of all, for all packs together.
    package func rebuild(
        _ names: [String]? = nil,
        measuresRows: Bool = true,
        progress: (UInt64, UInt64) -> Void = { _, _ in }
    ) throws(DiarioError) -> [Report] {
        try endPart()
        try takeUpAdoptions()
        return try builder.rebuild(
            used(names).map { plan($0) },
            measuresRows: measuresRows,
            progress: progress
        )
    }

    /// The work of `rebuild`, for another thread, until `stop` ends it.
    package func rebuilding(
        _ stop: BuildStop,
        progress: @escaping @Sendable (UInt64, UInt64) -> Void
    ) throws(DiarioError) -> @Sendable () -> Result<Void, DiarioError> {
        try takeUpAdoptions()
        return { [builder = builder(until: stop), plans = used(nil).map { plan($0) }] in
            Result { () throws(DiarioError) in
                _ = try builder.rebuild(plans, measuresRows: false, progress: progress)
            }
        }
    }

    /// Makes the generation before the live one live again, and keeps it with its pack.
    ///
    /// False if there is none.
    package func undo(_ name: String) throws(DiarioError) -> Bool {
        try endPart()
        return try builder.alone { () throws(DiarioError) in
            try locked([name]) { () throws(DiarioError) in try undoLocked(name) }
        }
    }

    private func undoLocked(_ name: String) throws(DiarioError) -> Bool {
        guard let live = place.live(name) else { return false }
        let generations: [ModelGeneration]
        do { generations = try place.generations(of: name) } catch { throw DiarioError(error) }
        guard let previous = generations.last(where: { $0.number < live.number }) else {
            return false
        }
        let summary: ModelSummary
        do { summary = try place.summary(of: previous) } catch { throw DiarioError(error) }
        guard let fingerprint = Hash32(text: summary.fingerprint), summary.isWhole,
            try summary.history == space.history()
        else { return false }
        let plan = PackPlan(try Space.adoptedPack(fingerprint, in: space.store))
        files[name] = nil
        let file: ModelFile
        do {
            let path = place.path(of: previous.name)
            file = try ModelFile(path: path, plan: plan, space: space.id, .existing)
            try file.hold(true)
        } catch {
            throw DiarioError(error)
        }
        try modelUpdate(of: file).run { _, _ in }
        do { try file.flush() } catch { throw DiarioError(error) }
        do {
            try place.makeLive(previous)
            try place.sync()
            try place.remove(live.name)
        } catch {
            throw DiarioError(error)
        }
        files[name] = file
        replaced.insert(name)
        return true
    }
}

/// A live generation while another thread brings it up to date.
// Sendable because who lends a file waits until that is done, and one thread alone gets it.
private struct LentFile: @unchecked Sendable {
    let file: ModelFile
    /// True if nobody else can have changed it.
    let isKnown: Bool
}
