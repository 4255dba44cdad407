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
    init(_ call: Invocation) throws {
        if let named = call.value("data") {
            name = named
            try call.location.checkOwner(of: named)
        } else {
            name = try Self.find(call.location)
        }
        path = name + "/" + SpaceLocation.marker
    }

    /// The folder that holds `.diario`; if none was named, the error says how to.
    private static func find(_ location: SpaceLocation) throws -> String {
        do { return try location.find() } catch {
            let isNamed = location.chosen != nil || !(location.environment ?? "").isEmpty
            guard !isNamed, let current = location.current else { throw error }
            throw Failure.failed(
                "there is no data of a server in \(CellText.oneLine(current)) or above it. Name "
                    + "its folder with --data DIR"
            )
        }
    }

    /// The purpose for which the control file is opened.
    enum Use {
        case reading
        case writing
        /// It and the folder are made if they are missing.
        case making
    }

    func control(for use: Use = .reading) throws -> ControlFile {
        if use == .making {
            _ = try POSIXDirectory(path: path, access: .create)
            try LogStore.create(in: directory(.readWrite))
        }
        // A backup that is written to becomes a diary, which no newer backup replaces.
        if use != .reading { try BackupFile.remove(from: directory(.readWrite)) }
        return try reporting {
            switch use {
            case .reading: try ControlFile(reading: path)
            case .writing: try ControlFile(folder: path, .readWrite)
            case .making: try ControlFile(folder: path, .create)
            }
        }
    }

    /// The names that spaces have; none if nobody gave any.
    func names() throws -> [NamedSpace] {
        guard try directory(.read).exists(ControlFile.name) else { return [] }
        let control = try control()
        return try reporting { try control.spaces() }
    }

    /// Says how many spaces have no name, so that no token leads there, as where names were lost.
    func remarkUnnamed(_ remark: (String) -> Void) {
        // Names that cannot be read are told of where they are needed.
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
        /// The command that looks at it.
        let remedy: String

        var shown: String {
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
            remedy: "\(fault.message). To keep all that verifies: diario salvage "
                + "\(CellText.oneLine(self.name)) NEW"
        )
    }

    /// Runs calls of the control file, whose errors get the name of the folder.
    func reporting<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as ControlError {
            throw Failure.failed(error.message(in: CellText.oneLine(name)))
        }
    }

    /// Takes the lock that only one server may have: two would not know of each other's news.
    func lockForServing(_ directory: POSIXDirectory) throws -> any DirectoryLock {
        do {
            let lock = try directory.lock(LogPaths.servingLock)
            try lock.acquire(waitSeconds: 0)
            return lock
        } catch {
            guard case .locked(_, let owner) = error else { throw error }
            let program = owner.map { "the process \($0)" } ?? "another program"
            throw Failure.failed(
                "\(CellText.oneLine(name)) is served by \(program) already. End that one, or serve "
                    + "another folder"
            )
        }
    }

    func directory(_ access: POSIXDirectory.Access) throws -> POSIXDirectory {
        do { return try POSIXDirectory(path: path, access: access) } catch {
            guard case .notFound = error else { throw error }
            throw Failure.failed(
                "there is no data of a server in \(CellText.oneLine(name)). Check the path, or "
                    + "make some: diario space create NAME --data \(CellText.oneLine(name))"
            )
        }
    }

    /// Opens the log to write to it; one that is damaged is not opened.
    func openLog(_ call: Invocation) throws -> LogStore {
        let store = try Space.openStore(directory(.readWrite), access: .readWrite)
        call.remarkCut(store)
        for manifest in try store.readableManifests().manifests where !manifest.isStaging {
            try store.checkTail(of: manifest.space)
        }
        var problem = call.damage(of: store)
        if problem == nil, store.access == .readOnly { problem = Invocation.refusal(name) }
        guard let problem else { return store }
        try? store.close()
        throw Failure.failed(problem)
    }

    /// Opens the log to write to it, and closes it after `body`.
    func withLog<Value>(_ call: Invocation, _ body: (LogStore) throws -> Value) throws -> Value {
        try Self.closing(openLog(call), body)
    }

    /// Opens the log as it is, damaged or not, and closes it after `body`.
    func withStore<Value>(
        _ access: LogStore.Access,
        _ body: (LogStore) throws -> Value
    ) throws -> Value {
        let directory = try directory(access == .readOnly ? .read : .readWrite)
        return try Self.closing(Space.openStore(directory, access: access), body)
    }

    private static func closing<Value>(
        _ store: LogStore,
        _ body: (LogStore) throws -> Value
    ) throws -> Value {
        let value: Value
        do { value = try body(store) } catch {
            try? store.close()
            throw error
        }
        try store.close()
        return value
    }
}

extension Invocation {
    /// A name of a space that was typed.
    func spaceName(_ text: String) throws -> SpaceName {
        guard let name = SpaceName(text) else {
            throw Failure.usage(
                "\(CellText.oneLine(text)) is no name of a space: \(SpaceName.rules)"
            )
        }
        return name
    }

    /// The space of the option `--space` of a command, by its name.
    func wantedSpace() throws -> SpaceName? {
        try arguments.value("space").map { try spaceName($0) }
    }

    /// An id that was typed, of a space or a token.
    func id<ID>(_ text: String, of noun: String, _ read: (String) -> ID?) throws -> ID {
        guard let id = read(text) else {
            throw Failure.usage(
                "\(CellText.oneLine(text)) is no id of a \(noun), as 7zk3m9q2c1f4a. They are "
                    + "listed by: diario \(noun) list"
            )
        }
        return id
    }
}

extension CommandOption {
    static let data = CommandOption.value(
        "data DIR",
        "the folder of the server's data; else the one of -C",
        .folder
    )
}
