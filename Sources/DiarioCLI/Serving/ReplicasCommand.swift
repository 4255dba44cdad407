import DiarioCore
import DiarioServer

extension Command {
    static let replicas = Command(
        "replicas",
        "list the replicas that sync with a server",
        on: .folder,
        details: """
            Lists each replica with its owner, since when it has that, and when the server last
            heard of it; the latest come first. A running server writes this down every ten seconds.
            """,
        options: [.data, .value("space NAME", "only those of one space"), .json],
        examples: [
            "diario replicas --data ./served --space home": "which one has not synced for long?"
        ],
        run: { try ReplicasCommand.run($0) }
    )
}

/// The command `diario replicas`.
enum ReplicasCommand {
    static func run(_ call: Invocation) throws {
        let wanted = try call.wantedSpace()
        let found = try call.withData { folder -> [(space: SpaceName, replica: KnownReplica)] in
            let control = try folder.control()
            let names = try control.spaces().map(\.name)
            if let wanted, !names.contains(wanted) { throw ControlError.unknownSpace(wanted.text) }
            return try names.filter { wanted == nil || $0 == wanted }.flatMap { name in
                try control.replicas(of: name).map { (name, $0) }
            }
        }
        let columns = [
            Table.Column("replica", widthMin: 13), Table.Column("space"),
            Table.Column("belongs to"), Table.Column("since"),
            Table.Column("last heard of", widthMin: 16),
        ]
        try call.answer(found, none: "no replica was heard of yet", columns, fields) { found in
            let replica = found.replica
            let since = replica.bound.map { Show.day($0) } ?? "-"
            let seen = replica.seen.map { String(Show.time($0).prefix(16)) } ?? "-"
            return [replica.id.text, found.space.text, holder(of: replica), since, seen]
        }
    }

    private static func holder(of replica: KnownReplica) -> String {
        switch replica.holder {
        case .actor(let actor): "actor \(CellText.oneLine(actor))"
        case .token(let token): "token \(token.text)"
        case nil: replica.bound == nil ? "nobody: it never pushed" : "the next one that pushes"
        }
    }

    private static func fields(_ space: SpaceName, _ replica: KnownReplica) -> Fields {
        var fields: Fields = ["replica": replica.id.text, "space": space.text]
        switch replica.holder {
        case .actor(let actor): fields = fields + ["actor": actor]
        case .token(let token): fields = fields + ["token": token.text]
        case nil: break
        }
        return fields + [
            "bound": ifKnown(replica.bound.map { Show.time($0) }),
            "seen": ifKnown(replica.seen.map { Show.time($0) }),
        ]
    }
}
