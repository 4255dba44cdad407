import Diario
import DiarioHost
import DiarioSchema

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
        (location, choice) = Self.place(global, command: arguments.command.name)
        hidesProgress =
            global.has("no-progress") || EnvironmentVariable.noProgress.isSet
            || EnvironmentVariable.terminal.value == "dumb"
    }

    /// Where the space is, and which one it is, by the options before a command.
    private static func place(
        _ global: GlobalArguments,
        command: String
    ) -> (SpaceLocation, SpaceChoice) {
        let owners =
            global.has("trust-owner")
            ? nil
            : SpaceLocation.owners(
                user: SystemCall.user(),
                caller: EnvironmentVariable.caller.value
            )
        let location = SpaceLocation(
            chosen: global.value("C"),
            environment: EnvironmentVariable.directory.value,
            current: SystemCall.currentDirectory(),
            owners: owners
        )
        let choice = SpaceChoice(
            text: global.value("space"),
            command: command,
            directory: global.value("C")
        )
        return (location, choice)
    }

    /// The packs that the space uses, for the command that `global` stands in front of; none where
    /// there is no space.
    static func packsInUse(after global: GlobalArguments) -> [Pack] {
        let (location, choice) = place(global, command: global.rest.first ?? "")
        guard let folder = try? location.find(),
            let space = try? choice.openToRead(in: folder)
        else { return [] }
        defer { try? space.close() }
        return space.packs
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
        let space = try choice.openToRead(in: location.find())
        remarkCut(space)
        do { try body(space) } catch {
            // The first failure is the one to report, and damage may be why.
            if let damage = space.damage { remark(damage.message) }
            try? space.close()
            throw error
        }
        try space.close()
        try tellDamage(of: space)
    }

    /// Opens the space to write to it, runs `body` and closes it again.
    func writing(_ body: (Space) throws -> Void) throws {
        let space = try openToWrite()
        do {
            try check(space)
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
        let space = try openToWrite()
        let diary = Diary(space: space)
        do {
            try check(space)
            try await body(diary, space)
        } catch {
            try? await diary.close()
            throw error
        }
        try await diary.close()
        try tellDamage(of: space)
    }

    private func openToWrite() throws -> Space {
        let space = try choice.open(in: location.find())
        remarkCut(space)
        return space
    }

    /// Nothing can be recorded in a damaged log: with a part of its history some types may be
    /// missing.
    private func check(_ space: Space) throws {
        if let damage = space.damage { throw Failure.failed(damage.message) }
        if space.isReadOnly {
            throw DiarioError.notWritable(CellText.oneLine(try location.find()))
        }
    }

    /// Says at the end that the result may lack events.
    private func tellDamage(of space: Space) throws {
        if let problem = space.sealProblem {
            remark("events stay in the write-ahead log, since sealing fails: \(problem)")
        }
        if let damage = space.damage { throw Failure.failed(damage.message) }
    }

    private func remarkCut(_ space: Space) {
        if let cut = space.cutText { remark(cut) }
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

    /// All of a file, or of the input for `-`.
    func contents(of file: String, _ name: String, sizeMax: Int) throws -> [UInt8] {
        file == "-"
            ? try wholeInput(name, sizeMax: sizeMax)
            : try InputFile.contents(of: file, sizeMax: sizeMax)
    }

    /// Prints something that is no result.
    func remark(_ text: String) {
        // Who cannot be told does not stop the command.
        try? errors.line("diario: \(text)")
        try? errors.flush()
    }
}
