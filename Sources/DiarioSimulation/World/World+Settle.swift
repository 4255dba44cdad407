import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioStorage

// Comparing the log with all states that it may have.

extension World {
    /// A name that says the same in each run.
    func name(_ error: LogError) -> String {
        switch error {
        case .storage(let error): "storage \(error)"
        case .stopped: "stopped"
        default: "\(error)"
        }
    }

    /// Throws unless an error is allowed; continues after the end of a process or a power cut.
    func judge(_ error: LogError, of process: Int32, _ what: String) throws {
        switch error {
        case .storage(.cut) where hasPlannedCut:
            hasPlannedCut = false
            guard let victim = cutVictim else { return try crash() }
            guard victim == process else { throw Violation("\(what): the wrong process died") }
            stores[process] = nil
            try settle()
        case .storage(.failed(.sync, _, _)) where mayOweFailures:
            // A handle that was not used since is told of an old failure only now.
            break
        case .outOfOrder(let what) where what.hasSuffix("do not fit in one frame"):
            // The frames of a simulated log are small.
            break
        case .storage(.full), .storage(.failed):
            guard hasFaults else { throw Violation("\(what) fails without a fault: \(error)") }
        case .stopped:
            guard hasFaults else { throw Violation("\(what) stops without a fault: \(error)") }
            disk.kill(process)
            stores[process] = nil
            try settle()
        default:
            throw Violation("\(what) fails: \(error)")
        }
    }

    /// Finds out how much of the tail is there.
    func settle() throws {
        guard !tail.isEmpty || mayHaveLostSpaces else { return }
        clearFaults()
        guard let process = drawProcess() else { return try open(Int32(random.below(3))) }
        do throws(LogError) {
            try store(process, or: .closed).catchUp()
        } catch {
            try judge(error, of: process, "sync")
            return try settle()
        }
        try resolve(process)
    }

    private func store(_ process: Int32, or error: LogError) throws(LogError) -> LogStore {
        guard let store = stores[process] else { throw error }
        return store
    }

    /// Compares the view of a process with each state that the log may have.
    ///
    /// The process must have read all of the log.
    func resolve(_ process: Int32) throws {
        let store = try store(process)
        guard try adoptSpaces(store, of: process) else { return }
        let views = try views(in: store)
        var what = ""
        for count in (0...tail.count).reversed() {
            var state = state(withTail: count)
            guard let found = difference(state, views) else {
                if count < tail.count { forget(tail[count...]) }
                for (id, view) in views { state.spaces[id]?.learn(view) }
                settled = state
                tail = []
                try register(views)
                return
            }
            if what.isEmpty { what = found }
        }
        throw Violation(what)
    }

    /// Forgets events that are not in the log: their origins may be given again.
    private func forget(_ lost: ArraySlice<Effect>) {
        trace.add("lost \(lost.count) of the tail")
        for case .append(let id, let events) in lost {
            for origin in events.compactMap(\.origin) { known[id]?[origin] = nil }
        }
    }

    /// Adopts spaces that were made although the answer got lost.
    ///
    /// False if the power was cut: clearing up, which is not reported, can be the last thing
    /// before it.
    private func adoptSpaces(_ store: LogStore, of process: Int32) throws -> Bool {
        let manifests: [Manifest]
        do throws(LogError) { manifests = try store.manifests() } catch {
            try judge(error, of: process, "manifests")
            return false
        }
        let state = current
        for manifest in manifests where state.spaces[manifest.space] == nil {
            guard settled.spaces[manifest.space] == nil else { continue }
            if let ghost = ghosts[manifest.space] {
                settled.spaces[manifest.space] = ghost
                continue
            }
            guard mayHaveLostSpaces else { throw Violation("nobody made \(manifest.space.text)") }
            settled.apply(.make(manifest.space, isAuthority: manifest.authority != nil))
            frailSpaces.insert(manifest.space)
        }
        for id in frailSpaces.sorted() {
            guard state.spaces[id]?.events.contains(where: { $0.origin != nil }) != true else {
                frailSpaces.remove(id)
                continue
            }
            if !manifests.contains(where: { $0.space == id }) { settled.spaces[id] = nil }
        }
        mayHaveLostSpaces = false
        return true
    }

    func views(in store: LogStore) throws -> [(SpaceID, SpaceView)] {
        try attempt("a read") { () throws(LogError) in
            var views: [(SpaceID, SpaceView)] = []
            for manifest in try store.manifests() {
                views.append((manifest.space, try kinds.view(of: manifest.space, in: store)))
            }
            return views
        }
    }

    private func difference(
        _ state: ModelState,
        _ views: [(SpaceID, SpaceView)]
    ) -> String? {
        guard views.map(\.0) == state.ids else {
            return "\(views.count) spaces are there, not \(state.ids.count)"
        }
        for (id, view) in views {
            let what = ModelSpace.brokenRule(view) ?? state.spaces[id]?.difference(view)
            if let what { return "space \(id.text): \(what)" }
        }
        return nil
    }

    /// Notes the origins that were seen; none may ever be that of another event.
    private func register(_ views: [(SpaceID, SpaceView)]) throws {
        for (id, view) in views {
            for seen in view.events { try register(seen.origin, seen.event.number, in: id) }
        }
    }

    func register(_ origin: Origin, _ number: Int64, in space: SpaceID) throws {
        let old = known[space, default: [:]].updateValue(number, forKey: origin) ?? number
        guard old == number else {
            throw Violation("\(origin.text) stands for event \(number) and for \(old)")
        }
    }

    // MARK: Checks

    /// Catches up and compares all that a process shows with the model.
    func check(_ process: Int32) throws {
        guard try catchUp(process, "check") else { return }
        try resolve(process)
        trace.add("p\(process) check")
    }

    private func catchUp(_ process: Int32, _ what: String) throws -> Bool {
        let store = try store(process)
        do throws(LogError) { try store.catchUp() } catch {
            trace.add("p\(process) \(what): \(name(error))")
            try judge(error, of: process, what)
            return false
        }
        try checkIndex(process)
        return true
    }

    /// The invariants of a process's memory.
    func checkIndex(_ process: Int32) throws {
        guard let store = stores[process] else { return }
        if let problem = store.validate().first { throw Violation("index: \(problem)") }
        let count = current.spaces.values.reduce(0) { sum, space in
            sum + 2 * space.events.count - Int(space.released) + 8
        }
        let replicas = known.values.reduce(0) { $0 + 4 * Set($1.keys.map(\.replica)).count }
        guard store.indexEntryCount <= 2 * count + replicas + 64 else {
            throw Violation("the index has \(store.indexEntryCount) entries for \(count) events")
        }
    }

    /// Compares the roots with those that the plainest code computes.
    func checkRoots(process: Int32) throws {
        guard try catchUp(process, "root") else { return }
        try resolve(process)
        let store = try store(process)
        for id in settled.ids {
            guard let expected = settled.spaces[id]?.root() else { continue }
            let root = try attempt("root") { () throws(LogError) in try store[id].root() }
            guard root == expected else { throw Violation("the root of \(id.text) is wrong") }
        }
        trace.add("p\(process) roots")
    }

    /// Reads the packs that were kept.
    func checkPacks(process: Int32) throws {
        let store = try store(process)
        for pack in keptPacks.sorted().map(SimulatedPack.init) {
            let files = try attempt("pack \(pack.number)") { () throws(LogError) in
                try store.packs.files(pack.fingerprint)
            }
            guard files == pack.files else { throw Violation("pack \(pack.number) changed") }
        }
    }

    /// Replays frames of other processes, without the lock.
    func refresh(_ process: Int32) throws {
        // A sync that fails without the lock can only be reported.
        guard !hasFaults else { return }
        let store = try store(process)
        do throws(LogError) {
            let isNew = try store.refresh()
            trace.add("p\(process) refresh \(isNew)")
        } catch {
            trace.add("p\(process) refresh: \(name(error))")
            return try judge(error, of: process, "refresh")
        }
        try checkIndex(process)
        try resolve(process)
    }

    /// Reads the state that a process knows, which may be old, but never wrong.
    func readStale(_ process: Int32) throws {
        let store = try store(process)
        var positions: [SpaceID: [Origin: UInt64]] = [:]
        for (id, space) in current.spaces {
            for (index, event) in space.canonical.enumerated() {
                guard let origin = event.origin else { continue }
                positions[id, default: [:]][origin] = UInt64(index) + 1
            }
        }
        for id in current.ids {
            let view: SpaceView
            do throws(LogError) { view = try kinds.view(of: id, in: store) } catch {
                switch error {
                case .released, .moved, .unknownSpace: continue
                default: return try judge(error, of: process, "read")
                }
            }
            for seen in view.events {
                guard known[id]?[seen.origin] == seen.event.number else {
                    throw Violation("\(seen.origin.text) is shown and was never appended")
                }
                if let position = seen.position, positions[id]?[seen.origin] != position {
                    throw Violation("\(seen.origin.text) is shown at position \(position)")
                }
            }
        }
        trace.add("p\(process) read")
    }

    /// Opens the log for reading alone, beside those that write.
    func readOnly() throws {
        guard !hasFaults, !hasPlannedCut else { return }
        let reader = try attempt("a reader") { () throws(LogError) in
            try makeStore(disk.process(7), access: .readOnly)
        }
        if let what = difference(current, try views(in: reader)) {
            throw Violation("a reader sees something else: \(what)")
        }
        trace.add("reader")
    }
}
