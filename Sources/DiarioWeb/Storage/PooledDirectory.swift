import DiarioCore
package import DiarioStorage
import Synchronization

/// A data directory in a pool of files that were opened beforehand: schema/format/page.md.
///
/// One worker has it, and that it has the files open keeps others out.
package final class PooledDirectory: LogDirectory {
    /// A file that has, or had, a name.
    // Sendable because what changes is touched under the directory's lock alone.
    fileprivate final class Node: @unchecked Sendable {
        let slot: Int
        let file: any LogFile
        /// The generation of the table that made it: with the slot, what no other file has.
        let birth: UInt64
        /// True while a name leads to it.
        var isNamed = true
        /// The `PooledFile`s that have it open.
        var userCount = 0

        init(slot: Int, file: any LogFile, birth: UInt64) {
            (self.slot, self.file, self.birth) = (slot, file, birth)
        }
    }

    fileprivate struct State {
        var slots: [any LogFile]
        var table = NameTable()
        /// The files of the table, by their paths.
        var nodes: [String: Node] = [:]
        /// Slots that are empty, the next one to be used last.
        var free: [Int] = []
        /// The copy of the last table that was flushed, which is not written.
        var flushedCopy = 1
        var isFlushed = true
        /// False while the other copy is not the table: a change of it failed.
        var isWritten = true
        /// Files without a name, whose bytes stay until that is flushed and nobody has them open.
        var nameless: [Node] = []
    }

    package let isReadOnly = false
    /// A page does not tell one machine from another.
    package let machineID: [UInt8] = []
    package let hasFewFiles = true
    private let state: Mutex<State>
    private let locks = Mutex<[String: PooledLock.Holding]>([:])

    /// The directory in files of which the first two have its names.
    package init(_ slots: [any LogFile]) throws(StorageError) {
        precondition(slots.count >= NameTable.copyCount, "a pool has slots for both copies")
        var state = State(slots: slots)
        try state.read()
        self.state = Mutex(state)
    }

    /// More room: files that are empty.
    package func add(_ slots: [any LogFile]) {
        state.withLock { state in
            state.free.insert(
                contentsOf: (state.slots.count..<state.slots.count + slots.count).reversed(),
                at: 0
            )
            state.slots += slots
        }
    }

    package var slotCount: Int { state.withLock { $0.slots.count } }
    package var freeCount: Int { state.withLock { $0.free.count } }

    // MARK: Names

    package func open(_ path: String, _ access: FileAccess) throws(StorageError) -> any LogFile {
        PooledPath.check(path)
        precondition(!path.isEmpty, "this needs a name inside the directory")
        let node = try state.withLock { (state: inout State) throws(StorageError) in
            try state.open(path, access)
        }
        return PooledFile(node, at: path, in: self)
    }

    /// The same for SQLite, which writes to the slot itself as long as it has the file.
    package func openSlot(
        _ path: String,
        _ access: FileAccess
    ) throws(StorageError) -> (slot: Int, file: any LogFile) {
        let file = try open(path, access)
        let slot = state.withLock { $0.table.slots[path] }
        guard let slot else { throw .notFound(path) }
        return (slot, file)
    }

    /// Which file a name leads to; nil if to none.
    package func identity(of path: String) -> FileIdentity? {
        state.withLock { state in
            state.nodes[path].map { node in
                FileIdentity(
                    inode: UInt64(node.slot),
                    birthNanoseconds: Int64(clamping: node.birth)
                )
            }
        }
    }

    package func exists(_ path: String) throws(StorageError) -> Bool {
        PooledPath.check(path)
        return state.withLock { $0.table.slots[path] != nil } || path.isEmpty
    }

    package func list(_ path: String) throws(StorageError) -> [String] {
        PooledPath.check(path)
        return try state.withLock { (state: inout State) throws(StorageError) in
            guard path.isEmpty || state.table.slots[path] == 0 else {
                throw state.table.slots[path] == nil ? .notFound(path) : .notDirectory(path)
            }
            let names = state.table.slots.keys.compactMap { PooledPath.name($0, in: path) }
            return names.sorted { NameTable.isOrdered($0, $1) }
        }
    }

    package func makeDirectory(_ path: String) throws(StorageError) {
        PooledPath.check(path)
        try state.withLock { (state: inout State) throws(StorageError) in
            var table = state.table
            var folder = path
            while !folder.isEmpty, table.slots[folder] == nil {
                table.slots[folder] = 0
                folder = PooledPath.parent(of: folder)
            }
            guard folder.isEmpty || table.slots[folder] == 0 else { throw .notDirectory(path) }
            if table != state.table { try state.change(to: table, path) }
        }
    }

    package func rename(_ old: String, to new: String) throws(StorageError) {
        PooledPath.check(old)
        PooledPath.check(new)
        precondition(
            PooledPath.parent(of: old).hasBytes(of: PooledPath.parent(of: new)),
            "a rename is inside of one folder"
        )
        try state.withLock { (state: inout State) throws(StorageError) in
            try state.rename(old, to: new)
        }
    }

    package func remove(_ path: String) throws(StorageError) {
        PooledPath.check(path)
        try state.withLock { (state: inout State) throws(StorageError) in
            guard state.table.slots[path] != nil else { throw .notFound(path) }
            guard !state.table.slots.keys.contains(where: { PooledPath.name($0, in: path) != nil })
            else {
                // ENOTEMPTY, as natively.
                throw .failed(.remove, path, code: 39)
            }
            var table = state.table
            table.slots[path] = nil
            try state.change(to: table, path)
            state.forget(state.nodes.removeValue(forKey: path))
        }
    }

    /// All names, of whatever folder.
    package func syncDirectory(_ path: String) throws(StorageError) {
        try state.withLock { (state: inout State) throws(StorageError) in try state.flush() }
    }

    package func prepare(files count: Int) throws(StorageError) {
        guard freeCount >= count else { throw .noSlots("\(count) more files") }
    }

    package func lock(_ path: String) throws(StorageError) -> any DirectoryLock {
        PooledLock(path, in: self)
    }

    fileprivate func isNamed(_ node: Node) -> Bool { state.withLock { _ in node.isNamed } }

    fileprivate func close(_ node: Node) {
        state.withLock { state in
            node.userCount -= 1
            // One that cannot be emptied now is when the directory is opened.
            try? state.release()
        }
    }

    fileprivate func withLocks<Result>(
        _ body: (inout [String: PooledLock.Holding]) -> Result
    ) -> Result {
        locks.withLock { body(&$0) }
    }
}

// MARK: - Changes

extension PooledDirectory.State {
    /// Reads the table, and empties what a crash left.
    fileprivate mutating func read() throws(StorageError) {
        var copies: [NameTable?] = []
        for slot in 0..<NameTable.copyCount {
            let size = try slots[slot].size()
            guard size <= NameTable.sizeMax else {
                throw .tooLarge("the names of this page", size: size)
            }
            var bytes: [UInt8] = []
            try slots[slot].read(at: 0, count: Int(size), into: &bytes)
            copies.append(NameTable(bytes))
        }
        let generations = copies.map { $0?.generation ?? 0 }
        let last = generations[1] > generations[0] ? 1 : 0
        guard let found = copies[last] else {
            var isEmpty = true
            for slot in NameTable.copyCount..<slots.count where try slots[slot].size() > 0 {
                isEmpty = false
            }
            guard isEmpty else {
                throw .damaged("no copy of the names of this page is whole")
            }
            free = (NameTable.copyCount..<slots.count).reversed()
            // From now on a crash leaves a whole copy.
            try change(to: table, "")
            try flush()
            return
        }
        if copies[0] != copies[1], generations[0] == generations[1] {
            throw .damaged("the two copies of the names of this page differ")
        }
        if let fault = found.fault(slotCount: slots.count) { throw .damaged(fault) }
        table = found
        flushedCopy = last
        // It may have been written without being flushed, and the other one is written next.
        try slots[last].sync()
        try slots[1 - last].truncate(to: 0)
        for (path, slot) in found.slots where slot != 0 {
            nodes[path] = PooledDirectory.Node(
                slot: slot,
                file: slots[slot],
                birth: found.generation
            )
        }
        let used = Set(found.slots.values)
        for slot in (NameTable.copyCount..<slots.count).reversed() where !used.contains(slot) {
            if try slots[slot].size() > 0 { try empty(slot) }
            free.append(slot)
        }
    }

    fileprivate mutating func open(
        _ path: String,
        _ access: FileAccess
    ) throws(StorageError) -> PooledDirectory.Node {
        let node: PooledDirectory.Node
        if let known = table.slots[path] {
            guard known != 0, let found = nodes[path] else { throw .notFile(path) }
            guard access != .createNew, access != .createPrivate else { throw .exists(path) }
            node = found
        } else {
            let folder = PooledPath.parent(of: path)
            guard access != .read, access != .readWrite else { throw .notFound(path) }
            guard folder.isEmpty || table.slots[folder] == 0 else {
                throw table.slots[folder] == nil ? .notFound(path) : .notDirectory(path)
            }
            guard let slot = free.last else { throw .noSlots(path) }
            var changed = table
            changed.slots[path] = slot
            try change(to: changed, path)
            free.removeLast()
            node = PooledDirectory.Node(
                slot: slot,
                file: slots[slot],
                birth: table.generation
            )
            nodes[path] = node
        }
        node.userCount += 1
        return node
    }

    fileprivate mutating func rename(_ old: String, to new: String) throws(StorageError) {
        guard let slot = table.slots[old] else { throw .notFound(old) }
        guard !old.hasBytes(of: new) else { return }
        if let replaced = table.slots[new] {
            guard slot != 0, replaced != 0 else { throw .exists(new) }
        }
        var changed = table
        for (path, slot) in table.slots {
            guard let name = PooledPath.renamed(path, old, to: new) else { continue }
            changed.slots[path] = nil
            changed.slots[name] = slot
        }
        try change(to: changed, new)
        let replaced = nodes.removeValue(forKey: new)
        for (path, node) in nodes {
            guard let name = PooledPath.renamed(path, old, to: new) else { continue }
            nodes[path] = nil
            nodes[name] = node
        }
        forget(replaced)
    }

    /// Writes the table over the copy that is not the flushed one.
    fileprivate mutating func change(
        to changed: NameTable,
        _ path: String
    ) throws(StorageError) {
        var changed = changed
        changed.generation = table.generation + 1
        let bytes = changed.bytes
        guard bytes.count <= NameTable.sizeMax else { throw .noSlots(path) }
        let copy = slots[1 - flushedCopy]
        (isFlushed, isWritten) = (false, false)
        try copy.truncate(to: Int64(bytes.count))
        try copy.write(bytes.span, at: 0)
        isWritten = true
        table = changed
    }

    fileprivate mutating func flush() throws(StorageError) {
        guard !isFlushed else { return }
        if !isWritten { try change(to: table, "") }
        try slots[1 - flushedCopy].sync()
        flushedCopy = 1 - flushedCopy
        isFlushed = true
        // It names slots that may be freed now, so nobody is to take it if this one is damaged.
        try slots[1 - flushedCopy].truncate(to: 0)
        try release()
    }

    fileprivate mutating func forget(_ node: PooledDirectory.Node?) {
        guard let node else { return }
        node.isNamed = false
        nameless.append(node)
    }

    /// Frees the slots of files without a name that nobody has open any more.
    fileprivate mutating func release() throws(StorageError) {
        guard isFlushed, nameless.contains(where: { $0.userCount == 0 }) else { return }
        try slots[1 - flushedCopy].sync()
        for node in nameless where node.userCount == 0 {
            try empty(node.slot)
            free.append(node.slot)
            nameless.removeAll { $0 === node }
        }
    }

    private func empty(_ slot: Int) throws(StorageError) {
        try slots[slot].truncate(to: 0)
        try slots[slot].sync()
    }
}

// MARK: - Files and locks

/// A file as one of those who have it open.
private final class PooledFile: LogFile {
    private let node: PooledDirectory.Node
    private let path: String
    private let directory: PooledDirectory

    init(_ node: PooledDirectory.Node, at path: String, in directory: PooledDirectory) {
        (self.node, self.path, self.directory) = (node, path, directory)
    }

    deinit { directory.close(node) }

    func size() throws(StorageError) -> Int64 { try node.file.size() }

    func read(at offset: Int64, count: Int, into bytes: inout [UInt8]) throws(StorageError) {
        try node.file.read(at: offset, count: count, into: &bytes)
    }

    func write(_ bytes: Span<UInt8>, at offset: Int64) throws(StorageError) {
        try node.file.write(bytes, at: offset)
    }

    func truncate(to size: Int64) throws(StorageError) { try node.file.truncate(to: size) }
    func sync() throws(StorageError) { try node.file.sync() }

    /// A slot is the file of many names, one after the other.
    let identity: FileIdentity? = nil
    let modifiedNanoseconds: Int64? = nil

    func checkName() throws(StorageError) {
        guard directory.isNamed(node) else { throw .removed(path) }
    }
}

/// A lock among those who share the directory, which is one worker.
private final class PooledLock: DirectoryLock {
    struct Holding {
        var holder: ObjectIdentifier?
        var last: ObjectIdentifier?
        var wasLast = false
        var note: UInt64 = 0
    }

    private let path: String
    private let directory: PooledDirectory

    init(_ path: String, in directory: PooledDirectory) {
        (self.path, self.directory) = (path, directory)
    }

    deinit {
        directory.withLocks { locks in
            if locks[path]?.holder == ObjectIdentifier(self) { locks[path]?.holder = nil }
            // Another object may come to be at the same place.
            if locks[path]?.last == ObjectIdentifier(self) { locks[path]?.last = nil }
        }
    }

    func acquire(waitSeconds: Int) throws(StorageError) {
        let isHeld = directory.withLocks { locks in
            var holding = locks[path] ?? Holding()
            guard holding.holder == nil else { return true }
            holding.wasLast = holding.last == ObjectIdentifier(self)
            (holding.holder, holding.last) = (ObjectIdentifier(self), ObjectIdentifier(self))
            locks[path] = holding
            return false
        }
        // Nobody would release it while this waits.
        if isHeld { throw .locked(path, owner: nil) }
    }

    func release() {
        directory.withLocks { locks in
            precondition(
                locks[path]?.holder == ObjectIdentifier(self),
                "only a lock that is held is released"
            )
            locks[path]?.holder = nil
        }
    }

    var wasLastHolder: Bool { directory.withLocks { $0[path]?.wasLast ?? false } }
    var isOurs: Bool { directory.withLocks { $0[path]?.last == ObjectIdentifier(self) } }
    var note: UInt64 { directory.withLocks { $0[path]?.note ?? 0 } }
    func setNote(_ value: UInt64) { directory.withLocks { $0[path]?.note = value } }
}
