/// The commands of the program.
package enum CommandName: String, CaseIterable, Sendable {
    case initialize = "init"
    case record
    case log
    case show
    case stats
    case verify
    case repair
    case seal
    case prove
    case check
    case query
    case sql
    case rebuild
    case quarantineList = "quarantine list"
    case quarantineShow = "quarantine show"
    case quarantineRetry = "quarantine retry"
    case inboxList = "inbox list"
    case inboxShow = "inbox show"
    case inboxRetry = "inbox retry"
    case inboxDrop = "inbox drop"
    case sync
    case clone
    case publish
    case remoteSet = "remote set"
    case remoteShow = "remote show"
    case remoteRemove = "remote remove"
    case remoteRestore = "remote restore"
    case status
    case export
    case importEvents = "import"
    case schemaCheck = "schema check"
    case schemaList = "schema list"
    case schemaAdopt = "schema adopt"
    case serve
    case tokenCreate = "token create"
    case tokenList = "token list"
    case tokenRevoke = "token revoke"
    case spaceList = "space list"
    case spaceCreate = "space create"
    case spaceName = "space name"
    case spaceRename = "space rename"
    case spaceRemove = "space remove"
    case spaceQuota = "space quota"
    case replicas
    case authorityStatus = "authority status"
    case authorityResume = "authority resume"
    case authorityHold = "authority hold"
    case backup
    case inspect
    case harness
    case completion
    case man
    case help

    /// How the command is called and what is said about it.
    package var command: Command {
        switch self {
        case .initialize: .initialize
        case .record: .record
        case .log: .log
        case .show: .show
        case .stats: .stats
        case .verify: .verify
        case .repair: .repair
        case .seal: .seal
        case .prove: .prove
        case .check: .check
        case .query: .query
        case .sql: .sql
        case .rebuild: .rebuild
        case .quarantineList: .quarantineList
        case .quarantineShow: .quarantineShow
        case .quarantineRetry: .quarantineRetry
        case .inboxList: .inboxList
        case .inboxShow: .inboxShow
        case .inboxRetry: .inboxRetry
        case .inboxDrop: .inboxDrop
        case .sync: .sync
        case .clone: .clone
        case .publish: .publish
        case .remoteSet: .remoteSet
        case .remoteShow: .remoteShow
        case .remoteRemove: .remoteRemove
        case .remoteRestore: .remoteRestore
        case .status: .status
        case .export: .export
        case .importEvents: .importEvents
        case .schemaCheck: .schemaCheck
        case .schemaList: .schemaList
        case .schemaAdopt: .schemaAdopt
        case .serve: .serve
        case .tokenCreate: .tokenCreate
        case .tokenList: .tokenList
        case .tokenRevoke: .tokenRevoke
        case .spaceList: .spaceList
        case .spaceCreate: .spaceCreate
        case .spaceName: .spaceName
        case .spaceRename: .spaceRename
        case .spaceRemove: .spaceRemove
        case .spaceQuota: .spaceQuota
        case .replicas: .replicas
        case .authorityStatus: .authorityStatus
        case .authorityResume: .authorityResume
        case .authorityHold: .authorityHold
        case .backup: .backup
        case .inspect: .inspect
        case .harness: .harness
        case .completion: .completion
        case .man: .man
        case .help: .help
        }
    }

    /// Whether it works on one space of a folder, so that `--space` can say which.
    package var isAboutOneSpace: Bool {
        switch self {
        case .record, .log, .show, .stats, .verify, .seal, .prove, .query, .sql, .rebuild,
            .quarantineList, .quarantineShow, .quarantineRetry, .inboxList, .inboxShow,
            .inboxRetry, .inboxDrop, .sync, .publish, .remoteSet, .remoteShow, .remoteRemove,
            .remoteRestore, .status, .export, .importEvents, .schemaList, .schemaAdopt:
            true
        case .initialize, .repair, .check, .clone, .schemaCheck, .serve, .tokenCreate,
            .tokenList, .tokenRevoke, .spaceList, .spaceCreate, .spaceName, .spaceRename,
            .spaceRemove, .spaceQuota, .replicas, .authorityStatus, .authorityResume,
            .authorityHold, .backup, .inspect, .harness,
            .completion, .man, .help:
            false
        }
    }

    /// Finds the command that `words` begin with, and gives the words behind it.
    package static func find(
        _ words: [String]
    ) throws(UsageError) -> (name: CommandName, rest: [String]) {
        guard let first = words.first else { throw UsageError("no command. Try: diario help") }
        if let name = CommandName(rawValue: first) { return (name, Array(words.dropFirst())) }
        let group = allCases.filter { $0.rawValue.hasPrefix(first + " ") }
        guard !group.isEmpty else {
            let firsts = allCases.map { String($0.rawValue.prefix { $0 != " " }) }
            throw unknown(first, in: firsts)
        }
        guard words.count > 1, !words[1].hasPrefix("-") else {
            let list = group.map(\.rawValue).joined(separator: ", ")
            throw UsageError("\(first) is one of: \(list). Try: diario help \(first)")
        }
        if let name = CommandName(rawValue: "\(first) \(words[1])") {
            return (name, Array(words.dropFirst(2)))
        }
        throw unknown("\(first) \(words[1])", in: group.map(\.rawValue))
    }

    private static func unknown(_ word: String, in words: [String]) -> UsageError {
        let hint = NearestWord.find(word, in: words).map { "; did you mean \($0)?" } ?? "."
        return UsageError("there is no command \(CellText.oneLine(word))\(hint) Try: diario help")
    }
}
