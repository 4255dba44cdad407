import DiarioSQLite
package import DiarioCore
package import DiarioEngine
import DiarioLog
import DiarioSchema
import DiarioStorage

/// The folder of a server's data, for those who look after it, also beside the server.
///
/// Calls throw `ControlError` where the names and tokens are what is wrong.
package struct DataFolder {
    /// With `.diario` at its end.
    private let path: String
    /// As people call it.
    package let shown: String
    private let surroundings: Surroundings
    /// Told what is no failure, and that people should know.
    let remark: (String) -> Void

    package init(
        _ path: String,
        shown: String,
        _ surroundings: Surroundings,
        remark: @escaping (String) -> Void
    ) {
        self.path = path + "/" + LogPaths.directoryName
        self.shown = shown
        self.surroundings = surroundings
        self.remark = remark
    }

    /// The purpose for which the control file is opened.
    package enum Use {
        case reading
        case writing
        /// It and the folder are made if they are missing.
        case making
    }

    package func control(for use: Use = .reading) throws -> ControlFile {
        if use == .making {
            _ = try POSIXDirectory(path: path, access: .create)
            try LogStore.create(in: directory(.readWrite))
        }
        // A backup that is written to becomes a diary, which no newer backup replaces.
        if use != .reading { try BackupFile.remove(from: directory(.readWrite)) }
        return switch use {
        case .reading: try ControlFile(reading: path)
        case .writing: try ControlFile(folder: path, .readWrite)
        case .making: try ControlFile(folder: path, .create)
        }
    }

    /// The names that spaces have; none if nobody gave any.
    package func names() throws -> [NamedSpace] {
        guard try directory(.read).exists(ControlFile.name) else { return [] }
        return try control().spaces()
    }

    func directory(_ access: POSIXDirectory.Access) throws -> POSIXDirectory {
        do throws(StorageError) { return try POSIXDirectory(path: path, access: access) } catch {
            guard case .notFound = error else { throw error }
            throw DiarioError(
                .notFound,
                "there is no data of a server in \(shown). Check the path, or make some: diario "
                    + "space create NAME --data \(shown)"
            )
        }
    }

    // MARK: The log

    /// Opens the log to write to it, and closes it after `body`; one that is damaged is not opened.
    func withLog<Value>(_ body: (LogStore) throws -> Value) throws -> Value {
        try withStore(.readWrite) { store in
            if let cut = store.cutText { remark(cut) }
            for manifest in try store.readableManifests().manifests where !manifest.isStaging {
                try store[manifest.space].checkTail()
            }
            if let damage = store.damage { throw DiarioError(damage.kind, damage.message) }
            if store.access == .readOnly { throw DiarioError.notWritable(shown) }
            return try body(store)
        }
    }

    /// Opens the log as it is, damaged or not, and closes it after `body`.
    func withStore<Value>(
        _ access: LogStore.Access,
        _ body: (LogStore) throws -> Value
    ) throws -> Value {
        let store = try openStore(directory(access == .readOnly ? .read : .readWrite), access)
        let value: Value
        do { value = try body(store) } catch {
            try? store.close()
            throw error
        }
        try store.close()
        return value
    }

    func openStore(_ directory: POSIXDirectory, _ access: LogStore.Access) throws -> LogStore {
        try Space.openStore(directory, access: access, surroundings)
    }

    // MARK: Serving

    /// Runs `body`, which serves the folder, until it ends; only one server may.
    package func serve(_ body: (ServedSpaces, SealedFiles) throws -> Void) throws {
        // A folder that is not there is a mistyped one.
        let directory = try directory(.readWrite)
        let control = try control(for: .making)
        try control.check()
        let lock = try lockForServing(directory)
        defer { lock.release() }
        try withLog { store in
            // Requests for these are refused, and the other spaces are served.
            for broken in try brokenSpaces(of: store) {
                remark("\(broken.shown) cannot be served: \(broken.remedy)")
            }
            remarkUnnamed()
            try markServed(in: store)
            try body(ServedSpaces(store, control), SealedFiles(store, directory))
            store.sealBeforeClose()
        }
    }

    /// Notes of every space that has a name that others may know its positions, so that a copy
    /// waits, also of one that nobody ever used; a copy begins to wait at this point.
    private func markServed(in store: LogStore) throws {
        let names = Set(try names().map(\.id))
        for manifest in try store.readableManifests().manifests
        where names.contains(manifest.space) && manifest.authority != nil {
            let space = store[manifest.space]
            // What cannot be noted now is noted before somebody uses the space.
            guard let isWaiting = try? space.isWaiting() else { continue }
            if !manifest.isServed || isWaiting != manifest.isWaiting { try? space.markServed() }
        }
    }

    /// Notes the same of a space that is about to have a name, if servers serve the folder.
    ///
    /// In a folder that was never served nobody can know its positions: it may be made on one
    /// machine and copied to another.
    func markServed(_ id: SpaceID, in store: LogStore) throws {
        guard try directory(.read).exists(LogPaths.servingLock) else { return }
        try store[id].markServed()
    }

    /// Takes the lock that only one server may have: two would not know of each other's news.
    private func lockForServing(_ directory: POSIXDirectory) throws -> any DirectoryLock {
        do throws(StorageError) {
            let lock = try directory.lock(LogPaths.servingLock)
            try lock.acquire(waitSeconds: 0)
            return lock
        } catch {
            guard case .locked(_, let owner) = error else { throw error }
            let program = owner.map { "the process \($0)" } ?? "another program"
            throw DiarioError(
                .busy,
                "\(shown) is served by \(program) already. End that one, or serve another folder"
            )
        }
    }

    // MARK: Damage

    /// A space that cannot be used, for its own files are damaged.
    package struct BrokenSpace {
        package let id: SpaceID
        package let name: SpaceName?
        package let fault: Fault
        /// The command that looks at it.
        package let remedy: String

        package var shown: String {
            name.map { "the space \($0.text) (\(id.text))" } ?? "the space \(id.text)"
        }
    }

    /// The spaces that cannot be used.
    func brokenSpaces(of store: LogStore) throws -> [BrokenSpace] {
        let found = try store.brokenSpaces()
        guard !found.isEmpty else { return [] }
        let names = try names()
        return found.map { id, fault in
            broken(id, names.first { $0.id == id }?.name, fault)
        }
    }

    func broken(_ id: SpaceID, _ name: SpaceName?, _ fault: Fault) -> BrokenSpace {
        BrokenSpace(
            id: id,
            name: name,
            fault: fault,
            remedy: "\(fault.message). To keep all that verifies: diario salvage \(shown) NEW"
        )
    }

    /// Says how many spaces have no name, so that no token leads there, as where names were lost.
    func remarkUnnamed() {
        // Names that cannot be read are told of where they are needed.
        guard let directory = try? directory(.read), let names = try? names(),
            let found = try? LogStore.spaces(in: directory, besides: Set(names.map(\.id))),
            !found.isEmpty
        else { return }
        remark(
            "\(shown) holds \(found.count == 1 ? "1 space" : "\(found.count) spaces") without a "
                + "name, so no token leads there: diario space list --data \(shown). To give one a "
                + "name: diario space name ID NAME --data \(shown)"
        )
    }
}
