/// The variables of the environment that the program reads; the manual page lists them.
package enum EnvironmentVariable: String, CaseIterable, Sendable {
    case directory = "DIARIO_DIR"
    case token = "DIARIO_TOKEN"
    case noProgress = "DIARIO_NO_PROGRESS"
    case noColor = "NO_COLOR"
    case columns = "COLUMNS"
    case terminal = "TERM"
    case temporary = "TMPDIR"
    case caller = "SUDO_UID"
    case language = "LANG"

    package var meaning: String {
        switch self {
        case .directory: "the folder of the space, where -C names none"
        case .token: "the token for a server, where no option gives one"
        case .noProgress: "if it is not empty, no progress bar is shown"
        case .noColor: "if it is not empty, the heads of tables are not bold"
        case .columns: "the columns of a line, where the output is no terminal that says so"
        case .terminal: "if it is dumb, tables have no bold heads and no progress bar is shown"
        case .temporary: "where files are that last no longer than the command; else /tmp"
        case .caller: "set by sudo: the user whose folders root may use as well"
        case .language: "the language of what packs say, where neither --language nor the user does"
        }
    }

    /// Its value; nil if it is not there.
    var value: String? { SystemCall.environment(rawValue) }

    /// The folder for what lasts no longer than the command.
    static var temporaryFolder: String {
        temporary.value.flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    }

    /// True if the terminal can only show plain lines.
    static var isDumb: Bool { terminal.value == "dumb" }

    /// True if it is there and not empty.
    var isSet: Bool { value.map { !$0.isEmpty } ?? false }
}
