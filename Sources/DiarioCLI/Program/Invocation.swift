import Diario
import DiarioLog
import DiarioStorage

/// A command as it was called: its words, its space, and the places for its results.
struct Invocation {
    let arguments: Arguments
    let location: SpaceLocation
    let choice: SpaceChoice
    /// True if no progress bar is wanted.
    let hidesProgress: Bool
    let output: Output
    let errors: Output

    init(
        _ arguments: Arguments,
        after global: GlobalArguments,
        _ output: Output,
        _ errors: Output
    ) {
        self.arguments = arguments
        self.output = output
        self.errors = errors
        location = SpaceLocation(
            chosen: global.value("C"),
            environment: EnvironmentVariable.directory.value,
            current: SystemCall.currentDirectory(),
            owners: global.has("trust-owner")
                ? nil
                : SpaceLocation.owners(
                    user: SystemCall.user(),
                    caller: EnvironmentVariable.caller.value
                )
        )
        choice = SpaceChoice(
            text: global.value("space"),
            command: arguments.command.name,
            directory: global.value("C")
        )
        hidesProgress =
            global.has("no-progress") || EnvironmentVariable.noProgress.isSet
            || EnvironmentVariable.terminal.value == "dumb"
    }

    var command: Command { arguments.command }
    var operands: [String] { arguments.operands }
    func has(_ option: String) -> Bool { arguments.has(option) }
    func value(_ option: String) -> String? { arguments.value(option) }

    /// True if results are printed as JSON.
    var isJSON: Bool { has("json") }

    // MARK: The space

    /// Opens the space to read it, runs `body` and closes it again.
    func reading(_ body: (Space) throws -> Void) throws {
        let space = try open(.readOnly).space
        do { try body(space) } catch {
            // The first failure is the one to report, and damage may be why.
            if let damage = damage(of: space.store) { remark(damage) }
            try? space.close()
            throw error
        }
        try space.close()
        try tellDamage(of: space)
    }

    /// Opens the space to write to it, runs `body` and closes it again.
    func writing(_ body: (Space) throws -> Void) throws {
        let (space, folder) = try open(.readWrite)
        do {
            try check(space, folder)
            try body(space)
        } catch {
            try? space.close()
            throw error
        }
        try space.close()
        try tellDamage(of: space)
    }

    /// The same for commands that wait for others, with a diary on the space.
    func withDiary(_ body: (Diary, Space) async throws -> Void) async throws {
        let (space, folder) = try open(.readWrite)
        let diary = Diary(space: space)
        do {
            try check(space, folder)
            try await body(diary, space)
        } catch {
            try? await diary.close()
            throw error
        }
        try await diary.close()
        try tellDamage(of: space)
    }

    private func open(_ access: LogStore.Access) throws -> (space: Space, folder: String) {
        let folder = try location.find()
        let space = try choice.open(in: folder, access: access)
        remarkCut(space.store)
        return (space, folder)
    }

    /// Nothing can be recorded in a damaged log: with a part of its history some types may be
    /// missing.
    private func check(_ space: Space, _ folder: String) throws {
        if let damage = damage(of: space.store) { throw Failure.failed(damage) }
        if space.store.access == .readOnly { throw Failure.failed(Self.refusal(folder)) }
    }

    /// The damage that keeps events from being recorded, and may be why a command fails.
    func damage(of store: LogStore) -> String? {
        store.fault.map { LogError.corrupt($0).message }
    }

    /// Says at the end that the result may lack events.
    private func tellDamage(of space: Space) throws {
        if let failure = space.store.sealFailure {
            remark("events stay in the write-ahead log, since sealing fails: \(failure.message)")
        }
        if let damage = damage(of: space.store) { throw Failure.failed(damage) }
    }

    /// Says that a crash left a torn frame, if it did.
    func remarkCut(_ store: LogStore) {
        guard let cut = store.cut, let keptIn = cut.keptIn else { return }
        remark(
            "a crash tore the last frame of \(cut.file) at \(cut.offset), which was never "
                + "acknowledged. Its bytes are kept in \(keptIn)"
        )
    }

    /// Why nothing can be recorded in a space that can be read.
    static func refusal(_ folder: String) -> String {
        let shown = CellText.oneLine(folder) + "/" + SpaceLocation.marker
        return "nothing can be recorded, because \(shown) may not be written. "
            + "Check its permissions and the file system"
    }

    /// A progress bar on stderr, unless the user wants none.
    func progressBar(_ label: String, unit: String) -> ProgressBar {
        let name = CommandOption.noProgress.name
        let isRefused = arguments.command.option(name) != nil && arguments.has(name)
        return ProgressBar(label, unit: unit, on: errors, isWanted: !hidesProgress && !isRefused)
    }

    /// Does something that takes its time, with a progress bar that is gone when it ends.
    func withBar<Value: ~Copyable>(
        _ label: String,
        unit: String,
        _ body: (ProgressBar) throws -> Value
    ) throws -> Value {
        let bar = progressBar(label, unit: unit)
        defer { bar.finish() }
        return try body(bar)
    }

    /// All of the input, without a byte order mark at its start.
    func wholeInput(_ name: String, sizeMax: Int) throws -> [UInt8] {
        if SystemCall.isTerminal(0) {
            remark("reading \(name) from the terminal; end it with Ctrl-D")
        }
        var bytes = try LineSource.wholeInput(sizeMax: sizeMax)
        bytes.removeFirst(ByteOrderMark.size(atStartOf: bytes))
        return bytes
    }

    /// Prints something that is no result.
    func remark(_ text: String) {
        // Who cannot be told does not stop the command.
        try? errors.line("diario: \(text)")
        try? errors.flush()
    }
}
