package import DiarioCore
package import DiarioCrypto
import DiarioFormat
package import DiarioSchema
package import DiarioStorage
import Synchronization

/// Keeps what verifies of a damaged data directory, sets the rest aside, and says what is lost:
/// schema/format/log.md, section 14.
///
/// What is done depends on what is there alone, so whoever goes on after a crash ends in the same
/// state.
package struct LogRepair {
    let directory: any LogDirectory
    let time: any TimeSource
    let entropy: any EntropySource
    private let engine: EngineReader
    private let types: [EventType]
    private let sizes: LogSizes
    /// Packs that the program has, by fingerprint.
    let packs: [Hash32: [PackFile]]

    var setAside: SetAside
    var report = RepairReport()
    private var hasLostFrames = false
    private var hasLostEnd = false

    package init(
        _ directory: any LogDirectory,
        time: any TimeSource,
        entropy: any EntropySource,
        engine: EngineReader,
        types: [EventType] = [],
        packs: [Hash32: [PackFile]] = [:],
        sizes: LogSizes = .standard
    ) {
        self.directory = directory
        self.time = time
        self.entropy = entropy
        self.engine = engine
        self.types = types
        self.packs = packs
        self.sizes = sizes
        setAside = SetAside(directory)
    }

    /// Says what `run` would do, and changes nothing.
    ///
    /// It is done, in memory, and then verified: what is said is what would come of it.
    package func rehearse() throws(LogError) -> RepairReport {
        var draft = LogRepair(
            DraftDirectory(over: directory),
            time: time,
            entropy: entropy,
            engine: engine,
            types: types,
            packs: packs,
            sizes: sizes
        )
        return try draft.run()
    }

    /// Mends the directory; what was done is durable when this returns.
    ///
    /// - Throws: when something cannot be mended at all, or the disk refuses. Everything that was
    ///   there is then still there, or set aside.
    package mutating func run() throws(LogError) -> RepairReport {
        // Nobody can hold what is no file.
        try clear(LogPaths.lock)
        let lock = try storing { () throws(StorageError) in try directory.lock(LogPaths.lock) }
        try storing { () throws(StorageError) in
            try lock.acquire(waitSeconds: Limits.lockWaitSecondsMax)
        }
        do throws(LogError) {
            try clearPlaces()
            try mendFormat()
            try mendReplicas()
            try mendLog()
            try mendPacks()
            try mendRemotes()
            // Whoever has the log open reads all of it again.
            try storing { () throws(StorageError) in try lock.setNote(0) }
        } catch {
            lock.release()
            throw error
        }
        lock.release()
        try mendSpaces()
        try beginMissing()
        try setAside.finish()
        report.setAside = setAside.folder
        try verify()
        return report
    }

    func open(
        _ access: LogStore.Access,
        isSalvage: Bool = false
    ) throws(LogError) -> LogStore {
        try LogStore(
            directory,
            access: access,
            time: time,
            entropy: entropy,
            engine: engine,
            types: types,
            sizes: sizes,
            background: .none,
            isSalvage: isSalvage
        )
    }

    // MARK: Small files

    /// Takes away what lies where a file should and is none.
    private mutating func clearPlaces() throws(LogError) {
        let directory = directory
        let places = try storing { () throws(StorageError) in
            try BackupListing(of: directory).files.map(\.path)
        }
        let locks = try spaces().flatMap {
            [
                LogPaths.sealingLock($0), LogPaths.stagingLock($0), LogPaths.inboxLock($0),
                LogPaths.importsLock($0),
            ]
        }
        let others = [LogPaths.reserve, LogPaths.servingLock]
        for path in places + locks + others { try clear(path) }
    }

    private mutating func clear(_ path: String) throws(LogError) {
        let directory = directory
        do throws(StorageError) {
            _ = try directory.open(path, .read)
            return
        } catch {
            switch error {
            case .notFound, .notDirectory: return
            case .notFile: break
            default: throw .storage(error)
            }
        }
        let isLink = (try? directory.list(path)) == nil
        let what = isLink ? "a link or a pipe" : "a folder"
        report.found(path, "\(what) lies where a file should", "it is taken away")
        try setAside.note("\(path) was \(what)\n")
        if !isLink { try setAside.keepTree(path, because: "a file should be there") }
        try storing { () throws(StorageError) in
            try directory.removeTree(path)
            try directory.syncDirectory(LogPaths.parent(of: path))
        }
    }

    private mutating func mendFormat() throws(LogError) {
        let what: String
        do throws(LogError) {
            let format = try DirectoryFormat.read(in: directory)
            guard format.mayBeWritten else { throw LogError.newerFormat(version: format.version) }
            return
        } catch {
            switch error {
            case .corrupt(let fault): what = fault.what
            case .storage(.tooLarge): what = "this is not the format's line"
            case .notALog:
                // Without anything of a log's it is not ours to touch.
                let (hasLog, hasSpaces) = (try exists(LogPaths.log), try exists(LogPaths.spaces))
                guard hasLog || hasSpaces else { throw error }
                what = "the file is missing"
            default: throw error
            }
        }
        report.found(LogPaths.format, what, "it is written anew")
        try setAside.keep(LogPaths.format, because: what)
        // The newest: what it is called too new for is told by its own files.
        try storing { () throws(StorageError) in
            for path in [LogPaths.log, LogPaths.spaces, LogPaths.packs] {
                try directory.makeDirectoryDurably(path)
            }
            try DirectoryFormat.write(DirectoryFormat.current, in: directory)
        }
    }

    func exists(_ path: String) throws(LogError) -> Bool {
        try storing { () throws(StorageError) in try directory.exists(path) }
    }

    func spaces() throws(LogError) -> [SpaceID] {
        guard try exists(LogPaths.spaces) else { return [] }
        return try storing { () throws(StorageError) in
            try directory.list(LogPaths.spaces).compactMap { SpaceID(text: $0) }
        }
    }

    /// Draws new ids where nobody knows any more who writes here.
    private mutating func mendReplicas() throws(LogError) {
        for space in try spaces() {
            let path = LogPaths.replica(space)
            let bytes: [UInt8]?
            do throws(StorageError) {
                bytes = try directory.contents(of: path, sizeMax: 4096)
            } catch {
                switch error {
                case .notFound:
                    guard try holdsFiles(space) else { continue }
                    bytes = nil
                case .tooLarge: bytes = []
                default: throw .storage(error)
                }
            }
            if let bytes, ReplicaFile(bytes.span) != nil { continue }
            let what = bytes == nil ? "the replica file is missing" : "the replica file is damaged"
            report.found(path, what, "this replica takes a new id")
            try setAside.keep(path, because: what)
            try drawReplica(space)
        }
    }

    private func holdsFiles(_ space: SpaceID) throws(LogError) -> Bool {
        if try exists(LogPaths.manifest(space)) { return true }
        return try exists(LogPaths.segments(space))
    }

    func drawReplica(_ space: SpaceID) throws(LogError) {
        try storing { () throws(StorageError) in
            try ReplicaFile.write(
                ReplicaID(drawnFrom: entropy),
                at: LogPaths.replica(space),
                in: directory
            )
        }
    }

    // MARK: The log and its spaces

    private mutating func mendLog() throws(LogError) {
        let line = "Frames of the write-ahead log were lost.\n"
        hasLostFrames = try setAside.isToldBefore(line)
        let isGone = try isLogGone()
        let found = try fault()
        let isDamaged = isGone || found != nil
        if !isDamaged {
            guard try isShort() else { return }
            report.found(LogPaths.log, "the log is older than what was sealed", "it goes on there")
        }
        hasLostFrames = true
        // Whoever goes on after a crash finds the log in order, and has to know.
        try setAside.note(line)
        // First: what was written under these ids may be gone, and no two events get one origin.
        for space in try spaces() {
            try drawReplica(space)
            try change(space) {
                $0.authority = $0.authority.map { _ in ReplicaID(drawnFrom: entropy) }
            }
        }
        try DirectoryFormat.upgrade(to: DirectoryFormat.lossy, in: directory)
        // Another epoch tells that positions behind what is sealed may be given again.
        guard isDamaged else { return try beginEpochs() }
        var mender = LogFileMender(directory, entropy: entropy)
        let before = self
        try mender.mend(&setAside, &report) { () throws(LogError) in
            // Positions at the end may be given again: the epoch tells of that.
            try before.beginEpochs()
        }
        hasLostEnd = mender.hasLostEnd
        if mender.lostFrameCount > 0 {
            let frames = mender.lostFrameCount == 1 ? "frame" : "frames"
            report.remarks.append("\(mender.lostFrameCount) \(frames) of the write-ahead log")
        }
        if hasLostEnd {
            report.remarks.append(
                "the end of the write-ahead log: nobody knows how many events it held"
            )
        }
        if let fault = try fault() { throw .corrupt(fault) }
    }

    private func beginEpochs() throws(LogError) {
        let now = time.now
        for space in try spaces() { try change(space) { $0.beginEpoch(at: now) } }
    }

    /// Whether the log is whole, and older than what was sealed of it.
    private func isShort() throws(LogError) -> Bool {
        let store = try open(.readOnly)
        defer { try? store.close() }
        for space in try spaces() {
            // A manifest that is damaged says nothing.
            guard let manifest = try? SpaceHome.readManifest(space, in: directory),
                !manifest.isStaging
            else { continue }
            if try store.endsBeforeSegments(of: space) { return true }
        }
        return false
    }

    /// Whether there is no log at all, or one of another directory, and were spaces with events.
    private func isLogGone() throws(LogError) -> Bool {
        let directory = directory
        let hasFiles = try storing { () throws(StorageError) in
            guard try directory.exists(LogPaths.log) else { return false }
            return try directory.list(LogPaths.log).contains { LogPaths.logFileNumber($0) != nil }
        }
        if !hasFiles {
            for space in try spaces() where try exists(LogPaths.manifest(space)) {
                guard let manifest = try? SpaceHome.readManifest(space, in: directory) else {
                    return true
                }
                // One that was repaired before and had no event left has begun another epoch.
                let hadEvents = manifest.epoch == 0 || !manifest.segments.isEmpty
                if !manifest.isStaging, hadEvents { return true }
            }
            return false
        }
        let store = try open(.readOnly)
        defer { try? store.close() }
        // A log that is damaged is mended in any case.
        guard store.report.fault == nil else { return false }
        for space in try spaces() {
            guard let manifest = try? SpaceHome.readManifest(space, in: directory),
                !manifest.isStaging
            else { continue }
            if try store.isMissing(space) { return true }
        }
        return false
    }

    /// What opening the log finds wrong with it.
    private func fault() throws(LogError) -> Fault? {
        let store = try open(.readOnly)
        defer { try? store.close() }
        return store.report.fault
    }

    func change(
        _ space: SpaceID,
        _ body: (inout Manifest) -> Void
    ) throws(LogError) {
        guard var manifest = try? SpaceHome.readManifest(space, in: directory) else { return }
        let old = manifest
        body(&manifest)
        guard manifest != old else { return }
        let (path, bytes) = (LogPaths.manifest(space), manifest.encoded())
        try storing { () throws(StorageError) in try directory.replace(path, with: bytes) }
    }

    private mutating func mendSpaces() throws(LogError) {
        try mendFolders()
        let found = try spaces()
        guard !found.isEmpty else { return }
        let store = try open(.readWrite)
        try store.withWriter { (writer) throws(LogError) in
            try writer.begin()
            defer { writer.end() }
            try writer.dropRemoved(Set(found))
        }
        var all: [SpaceID] = []
        for space in found where try !directory.isRemoved(space) { all.append(space) }
        var whole: [SpaceID] = []
        for space in all {
            // Without a manifest it may be one that was removed: then the log knows nothing of it.
            let isKnown = store.shared.index.withLock { $0[space].isUsed }
            let hasManifest = try exists(LogPaths.manifest(space))
            if isKnown || hasManifest { whole.append(space) }
        }
        let salvage = try open(.readOnly, isSalvage: true)
        do throws(LogError) {
            for space in whole.isEmpty && all.count == 1 ? all : whole {
                var repair = SpaceRepair(
                    space,
                    store,
                    salvage,
                    engine,
                    hasLostFrames: hasLostFrames
                )
                try repair.run(&setAside, &report)
                try mendInbox(of: space, in: store)
                try mendImports(of: space, in: store)
                try PublishingRepair(
                    space: space,
                    store: store,
                    isNewLineage: repair.needsNewLineage
                ).run(&setAside, &report)
            }
        } catch {
            try? store.close()
            throw error
        }
        try salvage.close()
        try store.close()
    }

    /// Takes files out of an inbox that cannot be read, and those of kept events.
    private mutating func mendInbox(
        of space: SpaceID,
        in store: LogStore
    ) throws(LogError) {
        for fault in try store.inboxFaults(of: space) {
            report.found(fault, "set aside; what it says is known nowhere else")
            if LogPaths.isInboxEntry(fault.file) {
                report.remarks.append("refused events in \(fault.file)")
            }
            try take(fault, outOf: LogPaths.inbox(space))
        }
        for fault in try store.keptFaults(of: space) {
            report.found(fault, "set aside; what it says may be known nowhere else")
            report.remarks.append("events of others in \(fault.file)")
            try take(fault, outOf: LogPaths.kept(space))
        }
    }

    /// Takes notes of imports away that cannot be read.
    private mutating func mendImports(
        of space: SpaceID,
        in store: LogStore
    ) throws(LogError) {
        for fault in try store.importFaults(of: space) {
            report.found(fault, "set aside; what it names would be imported a second time")
            try take(fault, outOf: LogPaths.imports(space))
        }
    }

    private mutating func take(_ fault: Fault, outOf folder: String) throws(LogError) {
        try setAside.keep(fault.file, because: fault.what)
        try storing { () throws(StorageError) in
            try directory.remove(fault.file)
            try directory.syncDirectory(folder)
        }
    }

    // MARK: Afterwards

    private mutating func verify() throws(LogError) {
        let store = try open(.readOnly)
        defer { try? store.close() }
        if let fault = store.report.fault { report.remaining.append(fault) }
        for manifest in try store.manifests() where !manifest.isStaging {
            do throws(LogError) { try store.checkTail(of: manifest.space) } catch {
                guard case .corrupt(let fault) = error else { throw error }
                report.remaining.append(fault)
                continue
            }
            report.remaining += try store.verify(manifest.space) { _ in nil }.faults
            let status = try store.status(of: manifest.space)
            report.events += status.events
            guard !report.findings.isEmpty, manifest.authority != nil, status.adoptions.isEmpty,
                try !storing({ () throws(StorageError) in try directory.list(LogPaths.packs) })
                    .isEmpty
            else { continue }
            report.remarks.append(
                "which packs space \(manifest.space.text) uses: adopt them again, diario schema "
                    + "adopt DIR"
            )
        }
    }
}
