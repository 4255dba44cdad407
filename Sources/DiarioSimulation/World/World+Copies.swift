import DiarioCore
import DiarioFormat
import DiarioFrames
import DiarioLog
import DiarioStorage

// Copies of the directory: they are cloned, or damaged.

extension World {
    /// Copies the disk and runs a world on the copy, as if a backup were used as well.
    func clone() throws {
        guard !hasFaults else { return }
        let copy = disk.copy()
        let world = World(copyOf: self, on: copy)
        try world.beginInCopy()
        trace.add("clone \(world.trace.hash)")
        guard random.oneIn(3) else { return }
        // The original is not heard of any more; the copy is the directory from now on.
        for process in stores.keys.sorted() { disk.kill(process) }
        stores = [:]
        disk = copy
        plannedCut = nil
        known = world.known
        tail = []
        trace.add("the clone goes on")
    }

    /// Opens a copy for the first time: it takes its own id, and its lane keeps its origins.
    private func beginInCopy() throws {
        try open(0)
        let store = try store(0)
        var ids: Set<ReplicaID> = []
        try attempt("status") {
            for id in known.state.ids {
                let status = try store[id].status()
                ids.insert(status.replica)
                if let authority = status.manifest.authority { ids.insert(authority) }
            }
        }
        let lastNumber = known.lastNumber
        for _ in 0..<3 { try append(0) }
        try check(0)
        for event in known.state.spaces.values.flatMap(\.events)
        where event.event.number > lastNumber {
            guard let replica = event.origin?.replica, !ids.contains(replica) else {
                throw Broken(.log, "a copy of the directory goes on under the ids of the original")
            }
        }
    }

    /// Spoils one bit of a copy after a clean stop: that is noticed, or it does not matter.
    func flip() throws {
        guard !hasFaults, plannedCut == nil else { return }
        try settle()
        for process in stores.keys.sorted() { try close(process) }
        // A frame torn by a dead process is cut here, so that it is not taken for the damage below.
        try open(0)
        try close(0)
        let copy = disk.copy()
        let (path, offset) = try drawByte(copy)
        let bit = random.below(8)
        trace.add("flip \(path) \(offset) \(bit)")
        try attempt("flip") { try copy.flipBit(bit, at: offset, of: path) }
        try readDamaged(copy, path)
        try open(0)
    }

    /// Spoils one bit of the log as a power cut left it, in a copy.
    ///
    /// A frame followed by whole ones was never torn, so it is noticed as damage. For the last one
    /// nothing can tell the two apart.
    func flipAfterCrash(_ copy: CrashDisk) throws {
        let (path, offset) = try drawByte(copy, inLog: true)
        // There may be nothing in the log yet.
        guard path != LogPaths.format else { return }
        trace.add("flip after the power cut \(path) \(offset)")
        try attempt("flip") { try copy.flipBit(random.below(8), at: offset, of: path) }
        let broken = try attempt("a plain read") {
            try RawLog(copy, looksBehind: true).brokenFile
        }
        let store: LogStore
        do throws(LogError) {
            store = try open(copy.process(0))
        } catch {
            guard case .corrupt = error else {
                throw Broken(.log, "a flipped bit of \(path) gives \(error)")
            }
            return
        }
        defer { copy.kill(0) }
        if let broken, store.fault == nil {
            throw Broken(.log, "whole frames behind a damaged one in file \(broken) are dropped")
        }
        try readRest(store)
    }

    private func drawByte(_ copy: CrashDisk, inLog: Bool = false) throws -> (String, Int) {
        var paths = inLog ? [] : [LogPaths.format, FramePaths.syncedMark]
        for id in inLog ? [] : known.state.ids {
            paths += [LogPaths.manifest(id), LogPaths.replica(id)]
            let folder = LogPaths.segments(id)
            guard try copy.exists(folder) else { continue }
            paths += try copy.list(folder).map { folder + "/" + $0 }
        }
        let files = try copy.list(FramePaths.folder).compactMap { FramePaths.number($0) }
        if let last = files.last { paths += Array(repeating: FramePaths.file(last), count: 10) }
        paths += files.map { FramePaths.file($0) }
        guard !paths.isEmpty else { return (LogPaths.format, 3) }
        let path = random.pick(paths)
        guard try copy.exists(path) else { return (LogPaths.format, 3) }
        let size = Int(try copy.open(path, .read).size())
        guard size > 0 else { return (LogPaths.format, 5) }
        // The used part is at the front.
        let end = random.oneIn(4) ? size : min(size, 12_000)
        return (path, random.below(end))
    }

    private func readDamaged(_ copy: CrashDisk, _ path: String) throws {
        let store: LogStore
        do throws(LogError) {
            store = try open(copy.process(0))
        } catch {
            switch error {
            case .corrupt: return
            case .newerFormat, .notALog:
                guard path == LogPaths.format else { throw Broken(.log, "\(path): \(error)") }
                return
            default: throw Broken(.log, "a flipped bit of \(path) gives \(error)")
            }
        }
        defer { copy.kill(0) }
        if let cut = store.cut {
            throw Broken(.log, "damage after a clean stop was cut at \(cut.file) \(cut.offset)")
        }
        guard store.fault != nil else { return try readUndamaged(store, path) }
        try readRest(store)
    }

    /// Everything that is still readable is unchanged.
    private func readRest(_ store: LogStore) throws {
        for id in known.state.ids {
            let view: SpaceView
            do throws(LogError) { view = try kinds.view(of: id, in: store) } catch {
                switch error {
                // The plain reader of this simulator does not find the seeds of such a log.
                case .corrupt, .format: continue
                // On a copy of only the durable bytes it may be missing.
                case .unknownSpace where known.frailSpaces.contains(id): continue
                default: throw Broken(.log, "damage gives \(error)")
                }
            }
            for seen in view.events where !known.isKnown(seen, in: id) {
                throw Broken(.log, "damage shows \(seen.origin.text) as another event")
            }
        }
    }

    /// No fault was found, so everything must be as it was.
    private func readUndamaged(_ store: LogStore, _ path: String) throws {
        do throws(LogError) {
            for manifest in try store.manifests() {
                let view = try kinds.view(of: manifest.space, in: store)
                guard let what = known.state.spaces[manifest.space]?.difference(view) else {
                    continue
                }
                trace.add("\(path): \(what)")
                throw .outOfOrder(what: what)
            }
            for id in known.state.ids {
                guard let root = known.state.spaces[id]?.root() else { continue }
                guard try store[id].root() == root else { throw .outOfOrder(what: "the root") }
            }
        } catch {
            guard case .corrupt = error, path.hasPrefix("spaces/") else {
                throw Broken(.log, "a flipped bit of \(path) goes unnoticed: \(error)")
            }
        }
    }
}
