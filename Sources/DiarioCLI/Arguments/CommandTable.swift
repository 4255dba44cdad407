import Diario
import DiarioSchema

// The table of the commands. A new command is a `Command` beside its code, and its name here.

extension Command {
    /// Commands that belong together in the help.
    package typealias Group = (title: String, commands: [Command])

    package static let groups: [Group] = [
        ("Record and read", [initialize, record, log, show, stats, export, importEvents]),
        ("Pictures and other bytes", [blobPut, blobGet, blobList, blobDrop]),
        ("Ask", [query, sql, rebuild, quarantineList, quarantineShow, quarantineRetry]),
        (
            "Commands of packs",
            [commands, actorSet, actorShow, actorRemove] + App.all.flatMap(\.commands)
        ),
        ("Packs", [schemaCheck, schemaList, schemaAdopt, schemaTypes]),
        (
            "Sync",
            [
                sync, status, clone, publish, remoteSet, remoteShow, remoteRemove, remoteRestore,
                inboxList, inboxShow, inboxRetry, inboxDrop,
            ]
        ),
        (
            "Serve",
            [
                serve, spaceList, spaceCreate, spaceName, spaceRename, spaceRemove, spaceQuota,
                spacePublic, tokenCreate, tokenList, tokenRevoke, replicas,
                authorityStatus, authorityResume, authorityHold,
            ]
        ),
        ("Check and keep", [verify, salvage, seal, backup, prove, check]),
        ("The program", [completion, man, help]),
    ]

    package static let all: [Command] = groups.flatMap(\.commands)

    package static func named(_ name: String) -> Command? { all.first { $0.name == name } }

    /// Finds the command that `words` begin with, and gives the words after it.
    package static func find(_ words: [String]) throws -> (command: Command, rest: [String]) {
        try find(words) { [] }
    }

    /// The same where `packsInUse` gives the packs that the space uses.
    static func find(
        _ words: [String],
        packsInUse: () -> [Pack]
    ) throws -> (command: Command, rest: [String]) {
        guard let first = words.first else { throw Failure.usage("no command. Try: diario help") }
        if let command = named(first) {
            let rest = Array(words.dropFirst())
            guard first == query.name, let named = namedQuery(rest, packsInUse) else {
                return (command, rest)
            }
            return (named, Array(rest.dropFirst()))
        }
        let family = all.filter { $0.name.hasPrefix(first + " ") }
        let isOwn = PackSource.builtInNames.contains(first)
        if isOwn || family.isEmpty, let found = try ofPack(words, packsInUse) { return found }
        guard !family.isEmpty else {
            throw unknown(first, in: all.map { String($0.name.prefix { $0 != " " }) })
        }
        guard words.count > 1, !words[1].hasPrefix("-") else {
            let list = family.map(\.name).joined(separator: ", ")
            throw Failure.usage("\(first) is one of: \(list). Try: diario help \(first)")
        }
        let name = "\(first) \(words[1])"
        guard let command = named(name) else { throw unknown(name, in: family.map(\.name)) }
        return (command, Array(words.dropFirst(2)))
    }

    private static func unknown(_ word: String, in words: [String]) -> Failure {
        let hint = NearestWord.find(word, in: words).map { "; did you mean \($0)?" } ?? "."
        return .usage("there is no command \(CellText.oneLine(word))\(hint) Try: diario help")
    }
}
