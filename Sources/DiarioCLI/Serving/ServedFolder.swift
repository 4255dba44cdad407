import Diario
import DiarioHost
import DiarioServer

extension Invocation {
    /// The folder that a command is about: that of `--data`, else the one that holds `.diario`.
    func dataFolder() throws -> String {
        if let named = value("data") {
            try location.checkOwner(of: named)
            return named
        }
        do { return try location.find() } catch {
            let isNamed = location.chosen != nil || !(location.environment ?? "").isEmpty
            guard !isNamed, let current = location.current else { throw error }
            throw Failure.failed(
                "there is no data of a server in \(CellText.oneLine(current)) or above it. Name "
                    + "its folder with --data DIR"
            )
        }
    }

    /// Runs `body` with the data of a server, also beside the server.
    func withData<Value>(_ body: (DataFolder) throws -> Value) throws -> Value {
        try withData(at: dataFolder(), remark: { remark($0) }, body)
    }

    func withData<Value>(
        at path: String,
        remark: @escaping (String) -> Void,
        _ body: (DataFolder) throws -> Value
    ) throws -> Value {
        let shown = CellText.oneLine(path)
        do { return try body(DataFolder(path, shown: shown, .system, remark: remark)) } catch let
            error as ControlError
        {
            throw Failure.failed(error.message(in: shown))
        }
    }

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

    /// The patterns of the option `--queries`; none for one empty text.
    func queryPatterns() throws -> [QueryPattern] {
        let words = arguments.all("queries")
        return try words == [""]
            ? []
            : words.map { text in
                guard let pattern = QueryPattern(text) else {
                    throw Failure.usage(
                        "--queries \(CellText.oneLine(text)) is not right; give PACK.QUERY, or "
                            + "the beginning of a name and *, such as plants.public-*"
                    )
                }
                return pattern
            }
    }

    /// The named queries of the packs in use of a space, by their whole names.
    func queries(of space: SpaceName) throws -> [String] {
        try withData { try $0.packs(of: space) }.flatMap { pack in
            pack.sql.readModels.isEmpty ? [] : pack.sql.queries.map { "\(pack.name).\($0.name)" }
        }.sorted()
    }

    /// Says which patterns match no query of a space, and which queries there are.
    func remarkUnmatched(_ patterns: [QueryPattern], in space: SpaceName) {
        // Whoever cannot read the space is told so by other commands.
        guard !patterns.isEmpty, let names = try? queries(of: space) else { return }
        let unmatched = patterns.filter { pattern in !names.contains { pattern.matches($0) } }
        guard !unmatched.isEmpty else { return }
        let list = names.isEmpty ? "none" : names.joined(separator: ", ")
        remark(
            "no query of \(space.text) matches "
                + unmatched.map(\.text).joined(separator: ", ") + "; there are: \(list)"
        )
    }

    /// Says which events nobody can record with a token, because it names nobody.
    func remarkUnnamed(_ token: Token) {
        guard token.actor == nil, token.rights.contains(.append),
            !token.rights.contains(.relay), !token.rights.contains(.admin),
            let packs = try? withData({ try $0.packs(of: token.space) })
        else { return }
        let types = packs.flatMap(\.who.keys).sorted()
        guard let first = types.first else { return }
        let others = types.count == 1 ? "" : " and \(types.count - 1) other types"
        remark(
            "it names nobody, so \(first)\(others) cannot be recorded with it; give --actor"
        )
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
