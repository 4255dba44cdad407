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
        case .storage(.cut) where plannedCut != nil:
            guard case .process(let victim) = plannedCut else { return try crash() }
            plannedCut = nil
            guard victim == process else { throw Broken(.log, "\(what): the wrong process died") }
            stores[process] = nil
            try settle()
        case .storage(.failed(.sync, _, _)) where mayOweFailures:
            // A handle that was not used since is told of an old failure only now.
            break
        case .outOfOrder(let what) where what.hasSuffix("do not fit in one frame"):
            // The frames of a simulated log are small.
            break
        case .storage(.full), .storage(.failed):
            guard hasFaults else { throw Broken(.log, "\(what) fails without a fault: \(error)") }
        case .stopped:
            guard hasFaults else { throw Broken(.log, "\(what) stops without a fault: \(error)") }
            disk.kill(process)
            stores[process] = nil
            try settle()
        default:
            throw Broken(.log, "\(what) fails: \(error)")
        }
    }

    /// Finds out how much of the tail is there.
    func settle() throws {
        guard !tail.isEmpty || mayHaveLostSpaces else { return }
        clearFaults()
        guard let process = drawProcess() else { return try open(Int32(random.below(3))) }
        let done: Void? = try tried(process, "sync") { try $0.catchUp() }
        guard done != nil else { return try settle() }
        try resolve(process)
    }

    /// Compares the view of a process with each state that the log may have.
    ///
    /// The process must have read all of the log.
    func resolve(_ process: Int32) throws {
        let store = try store(process)
        guard try adoptSpaces(of: process) else { return }
        let views = try views(in: store)
        var what = ""
        for count in (0...tail.count).reversed() {
            var state = state(withTail: count)
            guard let found = state.difference(views) else {
                if count < tail.count { trace.add("lost \(tail.count - count) of the tail") }
                known.forget(tail[count...])
                for (id, view) in views { state.spaces[id]?.learn(view) }
                known.state = state
                tail = []
                return try known.register(views)
            }
            if what.isEmpty { what = found }
        }
        throw Broken(.log, what)
    }

    /// Adopts spaces that were made although the answer got lost.
    ///
    /// False if the power was cut: clearing up, which is not reported, can be the last thing
    /// before it.
    private func adoptSpaces(of process: Int32) throws -> Bool {
        let manifests = try tried(process, "manifests") { try $0.manifests() }
        guard let manifests else { return false }
        let state = current
        for manifest in manifests where state.spaces[manifest.space] == nil {
            guard known.state.spaces[manifest.space] == nil else { continue }
            if let ghost = known.ghosts[manifest.space] {
                known.state.spaces[manifest.space] = ghost
                continue
            }
            guard mayHaveLostSpaces else {
                throw Broken(.log, "nobody made \(manifest.space.text)")
            }
            known.state.apply(.make(manifest.space, isAuthority: manifest.authority != nil))
            known.frailSpaces.insert(manifest.space)
        }
        for id in known.frailSpaces.sorted() {
            guard state.spaces[id]?.events.contains(where: { $0.origin != nil }) != true else {
                known.frailSpaces.remove(id)
                continue
            }
            if !manifests.contains(where: { $0.space == id }) { known.state.spaces[id] = nil }
        }
        mayHaveLostSpaces = false
        return true
    }

    func views(in store: LogStore) throws -> [(SpaceID, SpaceView)] {
        try attempt("a read") {
            try store.manifests().map { ($0.space, try kinds.view(of: $0.space, in: store)) }
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
        let done: Void? = try tried(process, what) { try $0.catchUp() }
        guard done != nil else { return false }
        try checkIndex(process)
        return true
    }

    /// The invariants of a process's memory.
    func checkIndex(_ process: Int32) throws {
        guard let store = stores[process] else { return }
        if let problem = store.validate().first { throw Broken(.log, "index: \(problem)") }
        let count = current.spaces.values.reduce(0) { sum, space in
            sum + 2 * space.events.count - Int(space.released) + 8
        }
        guard store.indexEntryCount <= 2 * count + 4 * known.replicaCount + 64 else {
            throw Broken(.log, "the index has \(store.indexEntryCount) entries for \(count) events")
        }
    }

    /// Compares the roots with those that the plainest code computes.
    func checkRoots(process: Int32) throws {
        guard try catchUp(process, "root") else { return }
        try resolve(process)
        let store = try store(process)
        for id in known.state.ids {
            guard let expected = known.state.spaces[id]?.root() else { continue }
            let root = try attempt("root") { try store[id].root() }
            guard root == expected else { throw Broken(.log, "the root of \(id.text) is wrong") }
        }
        trace.add("p\(process) roots")
    }

    /// Reads the packs that were kept.
    func checkPacks(process: Int32) throws {
        let store = try store(process)
        for pack in keptPacks.sorted().map(SimulatedPack.init) {
            let files = try attempt("pack \(pack.number)") {
                try store.packs.files(pack.fingerprint)
            }
            guard files == pack.files else { throw Broken(.log, "pack \(pack.number) changed") }
        }
    }

    /// Replays frames of other processes, without the lock.
    func refresh(_ process: Int32) throws {
        // A sync that fails without the lock can only be reported.
        guard !hasFaults else { return }
        let isNew = try tried(process, "refresh") { try $0.refresh() }
        guard let isNew else { return }
        trace.add("p\(process) refresh \(isNew)")
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
                guard known.isKnown(seen, in: id) else {
                    throw Broken(.log, "\(seen.origin.text) is shown and was never appended")
                }
                if let position = seen.position, positions[id]?[seen.origin] != position {
                    throw Broken(.log, "\(seen.origin.text) is shown at position \(position)")
                }
            }
        }
        trace.add("p\(process) read")
    }

    /// Opens the log for reading alone, beside those that write.
    func readOnly() throws {
        guard !hasFaults, plannedCut == nil else { return }
        let reader = try attempt("a reader") { try open(disk.process(7), .readOnly) }
        if let what = current.difference(try views(in: reader)) {
            throw Broken(.log, "a reader sees something else: \(what)")
        }
        trace.add("reader")
    }
}
