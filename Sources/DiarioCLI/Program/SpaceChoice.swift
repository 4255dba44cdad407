import Diario
import DiarioCore
import DiarioHost
import DiarioServer

/// The space of a folder that a command is about: the one of `--space`, else the only one.
struct SpaceChoice {
    /// The value of `--space`: a name that a server knows, or an id.
    let text: String?
    /// The command that was typed.
    let command: String
    /// The value of `-C`.
    let directory: String?

    /// Spaces that a message names one by one.
    private static let shownMax = 3

    /// Opens the space in this folder.
    func open(in folder: String) throws -> Space {
        try choose(in: folder) { try Space.open(at: folder, space: $0) }
    }

    /// The same to read it.
    func openToRead(in folder: String) throws -> Space {
        try choose(in: folder) { try Space.openToRead(at: folder, space: $0) }
    }

    private func choose(in folder: String, _ open: (SpaceID?) throws -> Space) throws -> Space {
        let id = try id(in: folder)
        do { return try open(id) } catch let error as DiarioError {
            switch error.kind {
            case .ambiguous: throw several(error.spaces, in: folder)
            case .notFound where text != nil: throw notThere(folder)
            default: throw error
            }
        }
    }

    /// The id that was said; nil if none was.
    private func id(in folder: String) throws -> SpaceID? {
        guard let text else { return nil }
        let named = Self.names(in: folder).first { $0.name.text == text }
        // A name comes first, since it may look like an id.
        guard let id = named?.id ?? SpaceID(text: text) else { throw notThere(folder) }
        return id
    }

    /// The names of the spaces of the folder; empty if no server has it.
    static func names(in folder: String) -> [NamedSpace] {
        let path = folder + "/" + SpaceLocation.marker
        guard holdsControl(folder) else { return [] }
        // Without the names there are still ids.
        return (try? ControlFile(reading: path).spaces()) ?? []
    }

    /// The fault of the names and tokens of the folder; nil if none is known.
    static func controlFault(in folder: String) -> Fault? {
        guard holdsControl(folder) else { return nil }
        return try? ControlFile.fault(folder: folder + "/" + SpaceLocation.marker)
    }

    /// True if it is the folder of a server.
    static func holdsControl(_ folder: String) -> Bool {
        SystemCall.realPath("\(folder)/\(SpaceLocation.marker)/\(ControlFile.name)") != nil
    }

    private func several(_ spaces: [SpaceID], in folder: String) -> Failure {
        let names = Self.names(in: folder)
        let shown = spaces.prefix(Self.shownMax).map { id in
            names.first { $0.id == id }.map { "\($0.name.text) (\(id.text))" } ?? id.text
        }
        let rest = spaces.count - shown.count
        let list = shown.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
        let place = directory.map { "-C \(CellText.oneLine($0)) " } ?? ""
        let first = shown.first.map { String($0.prefix { $0 != " " }) } ?? ""
        return .usage(
            "\(CellText.oneLine(folder)) has \(spaces.count) spaces: \(list). Say which one is "
                + "meant: diario \(place)--space \(first) \(command). \(listing(folder))"
        )
    }

    private func notThere(_ folder: String) -> Failure {
        let shown = CellText.oneLine(text ?? "")
        if let fault = Self.controlFault(in: folder) {
            return .damaged(fault, "the name \(shown) cannot be looked up. \(fault.message)")
        }
        if Self.names(in: folder).contains(where: { $0.name.text == text }) {
            return .failed(
                "the space \(shown) has a name, and is made when a server is first asked for it"
            )
        }
        return .failed(
            "there is no space \(shown) in \(CellText.oneLine(folder)). \(listing(folder))"
        )
    }

    private func listing(_ folder: String) -> String {
        "All are listed by: diario space list --data \(CellText.oneLine(folder))"
    }
}
