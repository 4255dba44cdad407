import DiarioCore
import DiarioFormat
import DiarioStorage
import Synchronization

// Whether this replica gives the positions of a space, changed while others may be writing.
//
// Processes keep in memory who gives positions, until they find a frame that another one wrote. So
// a frame goes first, and the manifest follows under the same lock: whoever comes next reads it
// (schema/format/directory.md, D1).

extension Writer {
    /// Gives the authority away: from now on new events are pending.
    ///
    /// Durable when it returns. What was begun before is found again.
    mutating func beginPublishing(_ id: SpaceID) throws(LogError) -> PublishingFile {
        let home = try writableHome(id)
        guard home.manifest.authority != nil else {
            guard let known = try PublishingFile.read(of: id, in: store.directory) else {
                throw .notAuthority(id)
            }
            return known
        }
        guard !home.manifest.isServed else {
            throw .outOfOrder(what: "others sync with this space here, and would lose it")
        }
        let root = try store.hashes.root(of: id, in: store)
        let index = store.index.withLock { $0[id] }
        let file = PublishingFile(
            attempt: AttemptID(drawnFrom: store.entropy),
            size: index.head,
            root: root,
            acceptedAt: Timestamp(milliseconds: index.acceptedAt)
        )
        // It means nothing beside a manifest that has an authority.
        let directory = store.directory
        try storing { () throws(StorageError) in
            try Files.replace(LogPaths.publishing(id), with: file.encoded(), in: directory)
        }
        try writeState(of: id)
        try setAuthority(of: id, to: nil)
        return file
    }

    /// Gives positions to all that is pending, and is the authority again; durable when it returns.
    mutating func takeBack(_ id: SpaceID) throws(LogError) {
        let directory = store.directory
        guard try writableHome(id).manifest.authority == nil,
            var file = try PublishingFile.read(of: id, in: directory)
        else { return }
        if !file.isTakenBack {
            // First, because from the first position on nobody else may give any.
            file.isTakenBack = true
            let bytes = file.encoded()
            try storing { () throws(StorageError) in
                try Files.replace(LogPaths.publishing(id), with: bytes, in: directory)
            }
        }
        let runs = pendingRuns(of: id)
        if runs.isEmpty {
            try writeState(of: id)
        } else {
            var arrivals = Arrivals(store.index.withLock { $0[id] })
            try arrivals.take(runs)
            beginFrame()
            draft.append(.promotion, of: id) { PromotedRun.append(runs, to: &$0) }
            try finishFrame()
            _ = try store.hashes.range(of: id, in: store)
        }
        try setAuthority(of: id, to: ReplicaID(drawnFrom: store.entropy))
        try storing { () throws(StorageError) in
            try directory.remove(LogPaths.publishing(id))
            try directory.syncDirectory(LogPaths.space(id))
        }
    }

    /// Gives no more positions until somebody says so; durable when it returns.
    mutating func holdAuthority(of id: SpaceID) throws(LogError) {
        let manifest = try writableHome(id).manifest
        guard manifest.authority != nil else { throw .notAuthority(id) }
        guard !manifest.isWaiting else { return }
        try writeState(of: id)
        try change(id) { $0.isWaiting = true }
    }

    /// Takes over the authority of a space that was filled from elsewhere; durable when it returns.
    ///
    /// Does nothing if it has one.
    mutating func takeAuthority(of id: SpaceID) throws(LogError) {
        guard try writableHome(id).manifest.authority == nil else { return }
        try writeState(of: id)
        try setAuthority(of: id, to: ReplicaID(drawnFrom: store.entropy))
    }

    /// All that is pending, with the positions that come next.
    private func pendingRuns(of id: SpaceID) -> [PromotedRun] {
        let index = store.index.withLock { $0[id] }
        let now = Timestamp(milliseconds: max(store.time.now.milliseconds, index.acceptedAt))
        var position = index.head + 1
        var runs: [PromotedRun] = []
        for lane in index.lanes {
            for run in lane.runs.runs {
                var (first, count, place) = (run.first, UInt64(run.count), position)
                if let last = runs.last, last.replica == lane.replica,
                    last.firstSequence + last.count == run.first
                {
                    runs.removeLast()
                    (first, place) = (last.firstSequence, last.firstPosition)
                    count += last.count
                }
                runs.append(
                    PromotedRun(
                        replica: lane.replica,
                        firstSequence: first,
                        count: count,
                        firstPosition: place,
                        acceptedAt: now
                    )
                )
                position += UInt64(run.count)
            }
        }
        return runs
    }

    /// Writes a frame by which other processes notice that they have to read a space's files again.
    mutating func writeState(of id: SpaceID) throws(LogError) {
        let range = try store.hashes.range(of: id, in: store)
        beginFrame()
        appendState(of: id, range, released: nil)
        try finishFrame()
    }

    private mutating func setAuthority(
        of id: SpaceID,
        to authority: ReplicaID?
    ) throws(LogError) {
        try change(id) { $0.authority = authority }
    }

    private mutating func change(
        _ id: SpaceID,
        _ body: (inout Manifest) -> Void
    ) throws(LogError) {
        // Read again, since its list of segments may be another one by now.
        var manifest = try lastingManifest(of: id)
        body(&manifest)
        try replaceManifest(manifest)
        // What was staged before may say who gave positions then.
        staged.removeAll()
    }
}

extension PublishingFile {
    /// The file of a space; nil if there is none.
    static func read(
        of space: SpaceID,
        in directory: any LogDirectory
    ) throws(LogError) -> PublishingFile? {
        let path = LogPaths.publishing(space)
        let bytes = try storing { () throws(StorageError) -> [UInt8]? in
            guard try directory.exists(path) else { return nil }
            return try Files.contents(of: path, in: directory, sizeMax: 4096)
        }
        guard let bytes else { return nil }
        guard let file = PublishingFile(bytes.span) else {
            throw .corrupt(Fault(file: path, offset: 0, what: "the file is damaged"))
        }
        return file
    }
}
