import Diario
import DiarioLog
import DiarioSchema

/// The command `diario remote restore`.
enum RestoreCommand {
    static func run(_ call: Invocation) async throws(Failure) {
        try await call.withDiary { (diary, space) async throws(Failure) in
            guard try !space.hasAuthority, try space.publishing == nil else {
                throw .failed(
                    "the space has its authority here, or is being published, so no server can "
                        + "have lost it. To give it to one: diario publish"
                )
            }
            if call.arguments.has("drop") { return try await drop(call, diary) }
            let access = try ServerAccess(call, of: space)
            let transport = try await access.transport(for: diary)
            let kept = try reportingLog { () throws(LogError) in
                try space.store.keptCount(of: space.id).events
            }
            guard kept == 0 else {
                // What has positions here comes first, where the server lacks it. If that cannot
                // be done, the sync says what is wrong.
                let isDone = try? await diary.restoreServer(with: transport)
                return try await send(call, diary, transport, access, isDone ?? false)
            }
            let isDone = try await call.withProgress(of: diary, "restoring") {
                try await diary.restoreServer(with: transport)
            }
            let head = space.store.standing(of: space.id).head
            guard call.arguments.has("json") else {
                let count = Show.count(head, "event")
                // An address that was typed is not remembered.
                let address = call.arguments.operands.first.map { " \(CellText.oneLine($0))" } ?? ""
                return try call.output.line(
                    isDone
                        ? "restored \(count) at \(access.remote.address). To go on: diario sync"
                            + address
                        : "\(access.remote.address) lacks nothing of the \(count) that are here"
                )
            }
            try call.output.json { json in
                json.add("restored", isDone)
                json.add("head", head)
                json.add("address", access.remote.address)
                PublishCommand.fill(&json, transport)
            }
        }
    }
    /// Sends the events of others that are kept here.
    private static func send(
        _ call: Invocation,
        _ diary: Diary,
        _ transport: HTTPTransport,
        _ access: ServerAccess,
        _ isRestored: Bool
    ) async throws(Failure) {
        let report = try await call.withProgress(of: diary, "restoring") {
            try await diary.sendKept(with: transport)
        }
        if call.arguments.has("json") {
            try call.output.json { json in
                json.add("restored", isRestored || report.hasRestored)
                json.add("sent", report.relayed)
                json.add("refused", report.relayRejected)
                json.add("kept", report.kept)
                json.add("head", report.head)
                json.add("address", access.remote.address)
                PublishCommand.fill(&json, transport)
            }
        } else {
            try call.output.line(
                "\(access.remote.address) has \(Show.count(report.relayed, "event")) of others "
                    + "again; head \(ProgressLine.grouped(report.head))"
            )
        }
        if report.relayRejected > 0 {
            call.remark(
                "the server refused \(report.relayRejected) of them, which are in the inbox: "
                    + "diario inbox list"
            )
        }
        guard report.kept > 0 else { return }
        throw .failed(
            "\(Show.count(UInt64(report.kept), "event")) of "
                + "\(Show.count(UInt64(report.keptReplicas), "other replica")) stay here: the "
                + "server lacks earlier ones of these replicas, or has others under their "
                + "origins. When these replicas have synced, try again; to give the events up: "
                + "diario remote restore --drop"
        )
    }

    private static func drop(_ call: Invocation, _ diary: Diary) async throws(Failure) {
        let count: Int
        do { count = try await diary.dropKept() } catch { throw Failure(error) }
        if call.arguments.has("json") {
            return try call.output.json { $0.add("dropped", count) }
        }
        try call.output.line("gave up \(Show.count(UInt64(count), "event")) of others")
    }
}
