import Diario
import DiarioCore
import DiarioLog
import DiarioSQLite
import DiarioServer
import DiarioStorage

/// The folder of a server's data, for commands that work beside the server.
struct ServedFolder {
    /// With `.diario` at its end.
    private let path: String
    /// As it was named.
    let name: String

    /// The folder that a command is about: that of `--data`, else the one that holds `.diario`.
    init(_ call: Invocation) throws(Failure) {
        if let named = call.arguments.value("data") {
            name = named
            try call.location.checkOwner(of: named)
        } else {
            name = try Self.find(call.location)
        }
        path = name + "/" + SpaceLocation.marker
    }

    /// The folder that holds `.diario`; whoever named none is told how to.
    private static func find(_ location: SpaceLocation) throws(Failure) -> String {
        do throws(Failure) { return try location.find() } catch {
            let isNamed = location.chosen != nil || !(location.environment ?? "").isEmpty
            guard !isNamed, let current = location.current else { throw error }
            throw .failed(
                "there is no data of a server in \(CellText.oneLine(current)) or above it. Name "
                    + "its folder with --data DIR"
            )
        }
    }

    /// What the control file is opened for.
    enum Use {
        case reading
        case writing
        /// It and the folder are made if they are missing.
        case making
    }

    func control(for use: Use = .reading) throws(Failure) -> ControlFile {
        if use == .making {
            try reportingStorage { () throws(StorageError) in
                _ = try POSIXDirectory(path: path, access: .create)
            }
            let directory = try directory(.readWrite)
            try reportingLog { () throws(LogError) in try LogStore.create(in: directory) }
        }
        let directory = try directory(use == .reading ? .read : .readWrite)
        // What is written into a backup makes a diary of it, which no newer backup replaces.
        if use != .reading {
            try reportingLog { () throws(LogError) in try BackupFile.remove(from: directory) }
        }
        return try reporting { () throws(ControlError) in
            switch use {
            case .reading: try ControlFile(reading: path)
            case .writing: try ControlFile(folder: path, .readWrite)
            case .making: try ControlFile(folder: path, .create)
            }
        }
    }

    /// The names that spaces have; none if nobody gave any.
    func names() throws(Failure) -> [NamedSpace] {
        let directory = try directory(.read)
        let isThere = try reportingLog { () throws(LogError) in
            do throws(StorageError) { return try directory.exists(ControlFile.name) } catch {
                throw .storage(error)
            }
        }
        guard isThere else { return [] }
        let control = try control()
        return try reporting { () throws(ControlError) in try control.spaces() }
    }

    /// Says how many spaces have no name, so that nobody can reach them, if there are some.
    ///
    /// It is so where the names were lost.
    func remarkUnnamed(_ remark: (String) -> Void) {
        // What cannot be read is told by whoever needs it.
        guard let directory = try? directory(.read), let names = try? names(),
            let found = try? LogStore.spaces(in: directory, besides: Set(names.map(\.id))),
            !found.isEmpty
        else { return }
        let (shown, spaces) = (CellText.oneLine(name), Show.count(UInt64(found.count), "space"))
        remark(
            "\(shown) holds \(spaces) without a name, so no token leads there: diario space list "
                + "--data \(shown). To give one a name: diario space name ID NAME --data \(shown)"
        )
    }

    /// A space that cannot be used, for its own files are damaged.
    struct BrokenSpace {
        let id: SpaceID
        let name: SpaceName?
        let fault: Fault
        /// How to look at it.
        let remedy: String

        var shown: String {
            name.map { "the space \($0.text) (\(id.text))" } ?? "the space \(id.text)"
        }
    }

    /// The spaces that cannot be used.
    func brokenSpaces(of store: LogStore) throws(Failure) -> [BrokenSpace] {
        let found = try reportingLog { () throws(LogError) in try store.brokenSpaces() }
        guard !found.isEmpty else { return [] }
        let names = try names()
        return found.map { id, fault in
            let name = names.first { $0.id == id }?.name
            return broken(id, name, fault)
        }
    }

    func broken(_ id: SpaceID, _ name: SpaceName?, _ fault: Fault) -> BrokenSpace {
        BrokenSpace(
            id: id,
            name: name,
            fault: fault,
            remedy: "\(fault.message). What can be mended, and what would be lost: diario -C "
                + "\(CellText.oneLine(self.name)) repair"
        )
    }

    /// Runs calls of the control file and turns their errors into ours.
    func reporting<Value>(_ body: () throws(ControlError) -> Value) throws(Failure) -> Value {
        do throws(ControlError) { return try body() } catch {
            throw .failed(error.message(in: CellText.oneLine(name)))
        }
    }

    /// Whether the folder is there, whatever is in it.
    var isThere: Bool { SystemCall.isDirectory(name) }

    /// Takes what only one server may have: two would not know of each other's news.
    func lockForServing(
        _ directory: POSIXDirectory
    ) throws(Failure) -> any DirectoryLock {
        do throws(StorageError) {
            let lock = try directory.lock(LogPaths.servingLock)
            try lock.acquire(waitSeconds: 0)
            return lock
        } catch {
            guard case .locked(_, let owner) = error else { throw .failed(error.message) }
            let program = owner.map { "the process \($0)" } ?? "another program"
            throw .failed(
                "\(CellText.oneLine(name)) is served by \(program) already. End that one, or serve "
                    + "another folder"
            )
        }
    }

    func directory(_ access: POSIXDirectory.Access) throws(Failure) -> POSIXDirectory {
        do throws(StorageError) { return try POSIXDirectory(path: path, access: access) } catch {
            guard case .notFound = error else { throw .failed(LogError.storage(error).message) }
            throw .failed(
                "there is no data of a server in \(CellText.oneLine(name)). Check the path, or "
                    + "make some: diario space create NAME --data \(CellText.oneLine(name))"
            )
        }
    }

    private func reportingStorage(_ body: () throws(StorageError) -> Void) throws(Failure) {
        do throws(StorageError) { try body() } catch {
            throw .failed(LogError.storage(error).message)
        }
    }
}

extension Invocation {
    /// Opens the log of a server's folder, to write to it; one that is damaged is not opened.
    func openLog(
        of folder: ServedFolder,
        _ directory: POSIXDirectory
    ) throws(Failure) -> LogStore {
        let store = try reporting { () throws(DiarioError) in
            try Space.openStore(directory, access: .readWrite)
        }
        remarkCut(store)
        try reportingLog { () throws(LogError) in
            for manifest in try store.readableManifests().manifests where !manifest.isStaging {
                try store.checkTail(of: manifest.space)
            }
        }
        var problem = damage(of: store)
        if problem == nil, store.access == .readOnly { problem = Self.refusal(folder.name) }
        guard let problem else { return store }
        try? store.close()
        throw .failed(problem)
    }

    /// A name of a space that was typed.
    func spaceName(_ text: String) throws(Failure) -> SpaceName {
        guard let name = SpaceName(text) else {
            throw .usage("\(CellText.oneLine(text)) is no name of a space: \(SpaceName.rules)")
        }
        return name
    }
}
