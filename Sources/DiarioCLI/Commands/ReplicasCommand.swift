import DiarioCore
import DiarioSchema
import DiarioServer

/// The command `diario replicas`.
enum ReplicasCommand {
    static func run(_ call: Invocation) throws(Failure) {
        var wanted: SpaceName?
        if let text = call.arguments.value("space") { wanted = try call.spaceName(text) }
        let folder = try ServedFolder(call)
        let control = try folder.control()
        let found = try folder.reporting {
            () throws(ControlError) -> [(space: SpaceName, replica: KnownReplica)] in
            var names = try control.spaces().map(\.name)
            if let wanted {
                guard names.contains(wanted) else { throw .unknownSpace(wanted.text) }
                names = [wanted]
            }
            var found: [(space: SpaceName, replica: KnownReplica)] = []
            for name in names {
                found += try control.replicas(of: name).map { (name, $0) }
            }
            return found
        }
        guard !call.arguments.has("json") else {
            return try call.output.jsonList(found.map { json($0.space, $0.replica) })
        }
        guard !found.isEmpty else { return try call.output.line("no replica was heard of yet") }
        var table = Table(
            [
                Table.Column("replica", widthMin: 13), Table.Column("space"),
                Table.Column("belongs to"), Table.Column("since"),
                Table.Column("last heard of", widthMin: 16),
            ],
            width: call.output.width
        )
        let rows = found.map { space, replica in
            [
                replica.id.text, space.text, holder(of: replica),
                replica.bound.map { String(time($0).prefix(10)) } ?? "-",
                replica.seen.map { String(time($0).prefix(16)) } ?? "-",
            ]
        }
        table.fit(rows)
        try call.output.line(table.heading)
        for row in rows { try call.output.line(table.line(row)) }
    }

    private static func holder(of replica: KnownReplica) -> String {
        switch replica.holder {
        case .actor(let actor): "actor \(CellText.oneLine(actor))"
        case .token(let token): "token \(token.text)"
        case nil:
            replica.bound == nil ? "nobody: it never pushed" : "whoever pushes next"
        }
    }

    private static func json(_ space: SpaceName, _ replica: KnownReplica) -> [UInt8] {
        JSONObjectWriter.object { json in
            json.add("replica", replica.id.text)
            json.add("space", space.text)
            switch replica.holder {
            case .actor(let actor): json.add("actor", actor)
            case .token(let token): json.add("token", token.text)
            case nil: break
            }
            if let bound = replica.bound { json.add("bound", time(bound)) }
            if let seen = replica.seen { json.add("seen", time(seen)) }
        }
    }

    private static func time(_ time: Timestamp) -> String { Show.time(time.milliseconds) }
}
