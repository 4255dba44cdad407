import DiarioCore

/// A user of a `CrashDisk`: one life of one process, from its start to its death.
struct CrashSession: Hashable {
    let process: Int32
    let life: UInt64
}

/// All that is on a `CrashDisk`, and who is using it.
struct CrashState {
    /// A lock file; its notes are never synced, so a power cut may bring an older one back.
    struct Lock {
        static let noteCountMax = 4
        var holder: Holder?
        /// The last two holders.
        var last: Holder?
        var previous: Holder?
        var owner: Int32 = 0
        /// The last few notes, the newest last.
        var notes: [UInt64] = [0]
    }

    /// One lock object: even those of one process exclude each other.
    struct Holder: Hashable {
        let session: CrashSession
        let number: UInt64
    }

    static let root: UInt64 = 0

    var files: [UInt64: CrashFileImage] = [:]
    var folders: [UInt64: CrashFolderImage] = [root: CrashFolderImage()]
    var locks: [UInt64: Lock] = [:]
    /// The number of open handles of a file, which stays while there are any, even without a name.
    var handleCounts: [UInt64: Int] = [:]
    var faults = CrashFaults()
    var isReadOnly = false
    private var isPowerOff = false
    private var lives: [Int32: UInt64] = [:]
    private var lastLife: UInt64 = 0
    private var lastLifeBeforeCrash: UInt64 = 0
    private var lastNode: UInt64
    private var lastHolder: UInt64 = 0

    /// An empty disk whose first file will have a higher number than `lastNode`.
    init(lastNode: UInt64) { self.lastNode = lastNode }

    /// A number for a new file or directory, which is also its creation time.
    mutating func makeNode() -> UInt64 {
        lastNode += 1
        return lastNode
    }

    /// A new lock object of `session`.
    mutating func makeHolder(_ session: CrashSession) -> Holder {
        lastHolder += 1
        return Holder(session: session, number: lastHolder)
    }

    static func identity(of node: UInt64) -> FileIdentity {
        let start: Int64 = 1_700_000_000_000_000_000
        return FileIdentity(inode: node, birthNanoseconds: start + Int64(node) * 1_000_000)
    }
}

// MARK: - Lives and deaths

extension CrashState {
    /// The running life of `process`, which starts now if it is dead.
    mutating func session(of process: Int32) -> CrashSession {
        if let life = lives[process] { return CrashSession(process: process, life: life) }
        lastLife += 1
        lives[process] = lastLife
        return CrashSession(process: process, life: lastLife)
    }

    func check(_ session: CrashSession) throws(StorageError) {
        guard isAlive(session) else { throw .cut }
    }

    func isAlive(_ session: CrashSession) -> Bool {
        !isPowerOff && lives[session.process] == session.life
    }

    /// True if the handles of `session` are counted: they are until the next power cut.
    func isSinceCrash(_ session: CrashSession) -> Bool { session.life > lastLifeBeforeCrash }

    /// Ends the life of `process`: what it wrote stays, its locks are free.
    mutating func kill(_ process: Int32) {
        lives[process] = nil
        for (node, lock) in locks where lock.holder?.session.process == process {
            locks[node]?.holder = nil
        }
    }

    /// Cuts the power, unless it is off already, and switches it on again.
    mutating func losePower(using random: inout SeededRandom) {
        isPowerOff = false
        lives = [:]
        lastLifeBeforeCrash = lastLife
        handleCounts = [:]
        faults.cut = nil
        // In the order of their numbers, so that a seed repeats the crash.
        for node in files.keys.sorted() { files[node]?.losePower(using: &random) }
        for node in folders.keys.sorted() { folders[node]?.losePower(using: &random) }
        for node in locks.keys.sorted() {
            locks[node]?.holder = nil
            guard let notes = locks[node]?.notes else { continue }
            locks[node]?.notes = [random.oneIn(4) ? 0 : notes[random.below(notes.count)]]
            locks[node]?.owner = 0
        }
        removeUnreachable()
    }

    /// Does `action` as one operation, unless it is the one before which the power is cut.
    ///
    /// The action is told whether to do only half of its work, since the power goes in between.
    mutating func perform(
        _ session: CrashSession,
        _ action: (inout CrashState, _ isTorn: Bool) throws(StorageError) -> Void
    ) throws(StorageError) {
        try check(session)
        guard let cut = faults.count(session.process) else { return try action(&self, false) }
        if cut.moment != .before {
            // Its caller never learns if it worked.
            do throws(StorageError) { try action(&self, cut.moment == .torn) } catch {}
        }
        if let process = cut.process { kill(process) } else { isPowerOff = true }
        throw .cut
    }

    /// The state of another disk that has what is durable on this one.
    func copy(keepsNodes: Bool = false) -> CrashState {
        // Some numbers further on, so that no file of the two disks can be mistaken for another.
        var result = CrashState(lastNode: lastNode + (keepsNodes ? 0 : 1_000_000))
        var pending = [(original: Self.root, copy: Self.root)]
        while let (original, copy) = pending.popLast() {
            var nodes: [String: UInt64] = [:]
            let durableNodes = folders[original]?.durableNodes ?? [:]
            for (name, node) in durableNodes.sorted(by: { $0.value < $1.value }) {
                let made = keepsNodes ? node : result.makeNode()
                nodes[name] = made
                if folders[node] != nil { pending.append((node, made)) }
                if let file = files[node] {
                    result.files[made] = CrashFileImage(
                        identity: Self.identity(of: made),
                        copyOf: file
                    )
                }
                if let lock = locks[node] {
                    result.locks[made] = Lock(owner: lock.owner, notes: lock.notes.suffix(1))
                }
            }
            result.folders[copy] = CrashFolderImage(nodes: nodes)
        }
        return result
    }

    /// Forgets what no name leads to, not even after a power cut, and what no handle holds.
    mutating func removeUnreachable() {
        var reachable: Set<UInt64> = [Self.root]
        var pending = [Self.root]
        while let node = pending.popLast() {
            for child in folders[node]?.possibleNodes ?? [] where reachable.insert(child).inserted {
                pending.append(child)
            }
        }
        for node in handleCounts.keys { reachable.insert(node) }
        files = files.filter { reachable.contains($0.key) }
        folders = folders.filter { reachable.contains($0.key) }
        locks = locks.filter { reachable.contains($0.key) }
    }
}

// MARK: - Paths

extension CrashState {
    /// The number of the file or directory at `path`.
    func node(at path: String) throws(StorageError) -> UInt64 {
        var node = Self.root
        for name in StoragePath.names(in: path) {
            guard let folder = folders[node] else { throw .notDirectory(path) }
            guard let child = folder.nodes[String(name)] else { throw .notFound(path) }
            node = child
        }
        return node
    }

    /// The number of the directory at `path`.
    func folder(at path: String) throws(StorageError) -> UInt64 {
        let node = try node(at: path)
        guard folders[node] != nil else { throw .notDirectory(path) }
        return node
    }

    /// The number of the directory that `path` is in, and the last name of `path`.
    func place(of path: String) throws(StorageError) -> (folder: UInt64, name: String) {
        StoragePath.checkName(path)
        let parent = StoragePath.parent(of: path)
        let name = String(path.utf8.dropFirst(parent.isEmpty ? 0 : parent.utf8.count + 1))
        do throws(StorageError) {
            return (try folder(at: parent), name ?? path)
        } catch .notFound {
            throw .notFound(path)
        }
    }
}
