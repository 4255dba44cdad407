import Diario
import DiarioLog
import DiarioStorage

/// A command as it was called: its words, where its space is, and where its results go.
struct Invocation {
    let arguments: Arguments
    let location: SpaceLocation
    let choice: SpaceChoice
    /// Whether no progress bar is wanted, whatever stderr is.
    let hidesProgress: Bool
    let output: Output
    let errors: Output

    /// Opens the space, runs `body` and closes it again.
    func withSpace(
        _ access: LogStore.Access,
        _ body: (Space) throws(Failure) -> Void
    ) throws(Failure) {
        let (space, folder) = try open(access)
        do throws(Failure) {
            try check(space, folder, access)
            try body(space)
        } catch {
            // The first failure is the one to report, and damage may be why.
            if access == .readOnly, let damage = damage(of: space.store) { remark(damage) }
            try? space.close()
            throw error
        }
        try reporting { () throws(DiarioError) in try space.close() }
        try tellDamage(of: space)
    }

    /// The same for what waits for others, with a diary on the space.
    func withDiary(
        _ body: (Diary, Space) async throws(Failure) -> Void
    ) async throws(Failure) {
        let (space, folder) = try open(.readWrite)
        let diary = Diary(space: space)
        do throws(Failure) {
            try check(space, folder, .readWrite)
            try await body(diary, space)
        } catch {
            try? await diary.close()
            throw error
        }
        do { try await diary.close() } catch { throw Failure(error) }
        try tellDamage(of: space)
    }

    private func open(
        _ access: LogStore.Access
    ) throws(Failure) -> (space: Space, folder: String) {
        let folder = try location.find()
        let space = try choice.open(in: folder, access: access)
        remarkCut(space.store)
        return (space, folder)
    }

    /// Nothing can be recorded in what is damaged, and with a part of its history some types may be
    /// missing.
    private func check(
        _ space: Space,
        _ folder: String,
        _ access: LogStore.Access
    ) throws(Failure) {
        guard access == .readWrite else { return }
        if let damage = damage(of: space.store) { throw .failed(damage) }
        if space.store.access == .readOnly { throw .failed(Self.refusal(folder)) }
    }

    /// What keeps events from being recorded, and may be why a command fails.
    func damage(of store: LogStore) -> String? {
        store.report.fault.map { LogError.corrupt($0).message }
    }

    /// At the end: what was printed may not be all that was recorded.
    private func tellDamage(of space: Space) throws(Failure) {
        if let failure = space.store.sealFailure {
            remark("events stay in the write-ahead log, since sealing fails: \(failure.message)")
        }
        if let damage = damage(of: space.store) { throw .failed(damage) }
    }

    /// Says what a crash left behind, if it did.
    func remarkCut(_ store: LogStore) {
        guard let cut = store.report.cut, let keptIn = cut.keptIn else { return }
        remark(
            "a crash tore the last frame of \(cut.file) at \(cut.offset), which was never "
                + "acknowledged. Its bytes are kept in \(keptIn)"
        )
    }

    /// Why nothing can be recorded in a space that can be read.
    static func refusal(_ folder: String) -> String {
        let shown = CellText.oneLine(folder) + "/" + SpaceLocation.marker
        let line = try? POSIXDirectory(path: folder + "/" + SpaceLocation.marker, access: .read)
            .contents(of: "format", sizeMax: 4096)
        let words = String(decoding: line ?? [], as: UTF8.self).split(separator: " ")
        if words.count > 2, let version = Int(words[2]), version > Program.formatVersion {
            return "\(shown) was written by a newer program, in format \(version). It can be read, "
                + "but nothing can be recorded. Use a newer diario"
        }
        return "nothing can be recorded, because \(shown) may not be written. "
            + "Check its permissions and the file system"
    }

    /// A progress bar on stderr, unless the user wants none.
    func progressBar(_ label: String, unit: String) -> ProgressBar {
        let name = CommandOption.noProgress.name
        let isRefused = arguments.command.option(name) != nil && arguments.has(name)
        return ProgressBar(label, unit: unit, on: errors, isWanted: !hidesProgress && !isRefused)
    }

    /// Prints something that is no result.
    func remark(_ text: String) {
        // Who cannot be told does not stop the command.
        try? errors.line("diario: \(text)")
        try? errors.flush()
    }
}

/// Runs calls of the library and turns their errors into ours.
func reporting<Value: ~Copyable>(
    _ body: () throws(DiarioError) -> Value
) throws(Failure) -> Value {
    do { return try body() } catch {
        if let fault = error.fault { throw .damaged(fault, error.message) }
        throw .failed(error.message)
    }
}

/// Runs calls of the log and turns their errors into ours.
func reportingLog<Value: ~Copyable>(
    _ body: () throws(LogError) -> Value
) throws(Failure) -> Value {
    do { return try body() } catch { throw .failed(error.message) }
}
