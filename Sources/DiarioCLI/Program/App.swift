import DiarioHTTP
import DiarioSchema

/// What the program knows of an app beside its pack.
package struct App {
    /// The rules of its commands and views.
    let domain: Domain
    /// Those that need files, as imports and exports.
    var commands: [Command] = []
    /// What it answers beside the spaces.
    var connector: ConnectorSwitch?

    /// The apps of this program: a new one is a line here, and one in Package.swift.
    package static let all: [App] = [.fish]

    static let domains = all.map(\.domain)
    static let connectors = all.compactMap(\.connector)
}

/// How `diario serve` is told to answer a connector.
struct ConnectorSwitch {
    let options: [CommandOption]
    /// For the help of `serve`.
    let details: String
    let example: (line: String, text: String)
    /// The connector that a call asks for; nil if it does not.
    let make: @Sendable (Invocation) throws -> (any Connector)?
    /// What to tell of it once the server listens at an address; nil if there is nothing to tell.
    let remark: @Sendable (Invocation, String) -> String?
}
