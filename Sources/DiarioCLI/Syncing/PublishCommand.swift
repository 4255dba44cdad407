import Diario

extension Command {
    static let publish = Command(
        "publish",
        "give a space to a server, so that others can sync with it",
        takes: [.optional("URL")],
        details: """
            Sends all events and packs to the server at URL, which gives the positions from then on.
            The token needs the right admin. Events can be recorded meanwhile. If it is interrupted,
            the same command goes on; until the server has said that it has the space, or never
            will, this space gives no positions.

            With --abandon the server is asked to give up the attempt, and the space is its own
            authority again.
            """,
        options: [.flag("abandon", "give up the attempt that goes on")] + CommandOption.access
            + [.json, .noProgress],
        examples: [
            "diario publish https://example.org/v1/spaces/home --token-file admin.key":
                "a notebook is shared from now on"
        ],
        run: { try await PublishCommand.publish($0) }
    )

    static let remoteRestore = Command(
        "remote restore",
        "give a server back what it lost of the space",
        takes: [.optional("URL")],
        details: """
            For a server that was restored from an older backup and waits, or that lost the space
            with its disk. It gets all events that this replica has from it, at the positions that
            they had, and gives positions again. The token needs the right admin. If it is
            interrupted, the same command goes on.

            Use the replica that has most. Replicas that have more go back to what the server has
            then, send their own later events again, and keep those of others. A server that has
            events which are not here refuses. So does one that goes on giving positions, which
            `diario authority hold` stops.

            Where events of others are kept, since the server went on without them, it syncs and
            sends them: under their old origins, with new positions, and with the right relay alone.
            Those that the server refuses are in the inbox then. With --drop they are given up, and
            no server is asked.

            A server that lost its tokens too needs new ones: diario token create makes the name of
            the space as well. Where another space has the name by now, and others use it, this one
            can be given back under a new name.
            """,
        options: [.flag("drop", "give up the events of others that are kept here")]
            + CommandOption.access + [.json, .noProgress],
        examples: [
            "diario remote restore --token-file admin.key": "after an older backup was restored"
        ],
        run: { try await PublishCommand.restore($0) }
    )
}

/// The commands that send a server all of a space: `diario publish` and `diario remote restore`.
enum PublishCommand {
    static func publish(_ call: Invocation) async throws {
        try await call.withServer { space in
            guard try space.isPublishing() || space.state().hasAuthority else {
                throw Failure.failed(
                    "the space has its authority elsewhere already. To exchange events with it: "
                        + "diario sync"
                )
            }
        } body: { server in
            if call.has("abandon") { return try await abandon(server) }
            let (space, diary, transport) = (server.space, server.diary, server.transport)
            // First, so that the same command without an address goes on with it.
            try space.setRemote(server.remote)
            do {
                try await server.sending("publishing") { try await diary.publish(with: transport) }
            } catch {
                // If the server will never take it, there is nothing to go on with.
                if try !space.isPublishing() { try space.setRemote(nil) }
                throw error
            }
            let head = server.space.head
            try server.space.noteSync(head: head)
            try call.answer(
                "published \(Show.count(head, "event")) at \(server.remote.address)",
                ["published": true, "head": head, "address": server.remote.address]
                    + Fields(transport)
            )
        }
    }

    private static func abandon(_ server: ServerConnection) async throws {
        let space = server.space
        guard try space.isPublishing() else {
            throw Failure.failed("no attempt to publish goes on, so none can be given up")
        }
        let isKept = try await server.diary.abandonPublishing(with: server.transport)
        if isKept { try space.setRemote(nil) }
        try server.call.answer(
            isKept
                ? "the space is its own authority again"
                : "the server has the space already: it is published",
            ["published": !isKept] + Fields(server.transport)
        )
    }

    // MARK: Restoring

    static func restore(_ call: Invocation) async throws {
        if call.has("drop") {
            return try await call.withDiary { diary, space in
                try checkServed(space)
                let count = try await diary.dropKept()
                try call.answer(
                    "gave up \(Show.count(UInt64(count), "event")) of others",
                    ["dropped": count]
                )
            }
        }
        try await call.withServer(check: checkServed) { server in
            let (diary, transport) = (server.diary, server.transport)
            let address = server.remote.address
            guard try server.space.keptCount().events == 0 else {
                // First the events with positions here, where the server lacks them. If that cannot
                // be done, the sync says what is wrong.
                let isDone = try? await diary.restoreServer(with: transport)
                return try await sendKept(server, isRestored: isDone ?? false)
            }
            let isDone = try await server.sending("restoring") {
                try await diary.restoreServer(with: transport)
            }
            let head = server.space.head
            let count = Show.count(head, "event")
            // An address that was typed is not remembered.
            let typed = call.operands.first.map { " \(CellText.oneLine($0))" } ?? ""
            try call.answer(
                isDone
                    ? "restored \(count) at \(address). To go on: diario sync\(typed)"
                    : "\(address) lacks nothing of the \(count) that are here",
                ["restored": isDone, "head": head, "address": address] + Fields(transport)
            )
        }
    }

    private static func checkServed(_ space: Space) throws {
        guard try space.isPublishing() || space.state().hasAuthority else { return }
        throw Failure.failed(
            "the space has its authority here, or is being published, so no server can have lost "
                + "it. To give it to one: diario publish"
        )
    }

    /// Sends the events of others that are kept here.
    private static func sendKept(_ server: ServerConnection, isRestored: Bool) async throws {
        let (call, diary, transport) = (server.call, server.diary, server.transport)
        let address = server.remote.address
        let report = try await server.sending("restoring") {
            try await diary.sendKept(with: transport)
        }
        try call.answer(
            "\(address) has \(Show.count(report.relayed, "event")) of others again; head "
                + ProgressLine.grouped(report.head),
            [
                "restored": isRestored || report.hasRestored, "sent": report.relayed,
                "refused": report.relayRejected, "kept": report.kept, "head": report.head,
                "address": address,
            ] + Fields(transport)
        )
        if report.relayRejected > 0 {
            call.remark(
                "the server refused \(report.relayRejected) of them, which are in the inbox: "
                    + "diario inbox list"
            )
        }
        guard report.kept > 0 else { return }
        throw Failure.failed(
            "\(Show.count(UInt64(report.kept), "event")) of "
                + "\(Show.count(UInt64(report.keptReplicas), "other replica")) stay here: the "
                + "server lacks earlier ones of these replicas, or has others under their "
                + "origins. When these replicas have synced, try again; to give the events up: "
                + "diario remote restore --drop"
        )
    }
}

extension ServerConnection {
    /// Shows the progress of a diary that sends all that it has.
    fileprivate func sending<Value: Sendable>(
        _ label: String,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let diary = diary
        return try await call.progressBar(label, unit: "events").follow { progress in
            // Ends with the scope.
            async let _: Void = Self.show(diary, progress)
            return try await body()
        }
    }

    private static func show(_ diary: Diary, _ progress: @escaping ReportProgress) async {
        for await status in diary.syncStatus {
            progress(status.head - min(status.head, status.lag), status.head)
        }
    }
}
