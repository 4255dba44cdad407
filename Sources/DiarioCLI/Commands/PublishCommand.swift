import DiarioSchema
import Diario
import DiarioLog

/// The command `diario publish`.
enum PublishCommand {
    static func run(_ call: Invocation) async throws(Failure) {
        try await call.withDiary { (diary, space) async throws(Failure) in
            let isHere = try space.hasAuthority
            let publishing = try space.publishing
            guard isHere || publishing != nil else {
                throw .failed(
                    "the space has its authority elsewhere already. To exchange events with it: "
                        + "diario sync"
                )
            }
            let access = try ServerAccess(call, of: space)
            let transport = try await access.transport(for: diary)
            if call.arguments.has("abandon") {
                guard publishing != nil else {
                    throw .failed("no attempt to publish goes on, so there is none to give up")
                }
                try await abandon(call, diary, space, transport)
            } else {
                try await publish(call, diary, space, transport, access)
            }
        }
    }

    private static func publish(
        _ call: Invocation,
        _ diary: Diary,
        _ space: Space,
        _ transport: HTTPTransport,
        _ access: ServerAccess
    ) async throws(Failure) {
        // First, so that the same command without an address goes on with it.
        try remember(access.remote, space)
        do {
            try await call.withProgress(of: diary, "publishing") {
                try await diary.publish(with: transport)
            }
        } catch {
            let goesOn = try space.publishing != nil
            // The server will never take it: there is nothing to go on with.
            if !goesOn { try remember(nil, space) }
            throw error
        }
        let head = space.store.standing(of: space.id).head
        try reportingLog { () throws(LogError) in
            try space.store.noteSync(of: space.id, head: head)
        }
        guard call.arguments.has("json") else {
            return try call.output.line(
                "published \(Show.count(head, "event")) at \(access.remote.address)"
            )
        }
        try call.output.json { json in
            json.add("published", true)
            json.add("head", head)
            json.add("address", access.remote.address)
            fill(&json, transport)
        }
    }

    private static func abandon(
        _ call: Invocation,
        _ diary: Diary,
        _ space: Space,
        _ transport: HTTPTransport
    ) async throws(Failure) {
        let isKept: Bool
        do { isKept = try await diary.abandonPublishing(with: transport) } catch {
            throw Failure(error)
        }
        if isKept { try remember(nil, space) }
        guard call.arguments.has("json") else {
            return try call.output.line(
                isKept
                    ? "the space is its own authority again"
                    : "the server has the space already: it is published"
            )
        }
        try call.output.json { json in
            json.add("published", !isKept)
            fill(&json, transport)
        }
    }

    static func fill(_ json: inout JSONObjectWriter, _ transport: HTTPTransport) {
        let traffic = transport.traffic
        json.add("requests", traffic?.requests ?? 0)
        json.add("bytesSent", traffic?.bytesSent ?? 0)
        json.add("bytesReceived", traffic?.bytesReceived ?? 0)
    }

    private static func remember(_ remote: RemoteFile?, _ space: Space) throws(Failure) {
        try reportingLog { () throws(LogError) in
            try space.store.setRemote(remote, of: space.id)
        }
    }
}

extension Space {
    /// Whether the positions are given here.
    var hasAuthority: Bool {
        get throws(Failure) {
            try reportingLog { () throws(LogError) in
                try store.status(of: id).manifest.authority != nil
            }
        }
    }

    /// The attempt to publish that goes on.
    var publishing: PublishingFile? {
        get throws(Failure) {
            try reportingLog { () throws(LogError) in try store.publishing(of: id) }
        }
    }
}

extension ServerAccess {
    /// The server that the call names as its first operand, or else the one of the space.
    init(_ call: Invocation, of space: Space) throws(Failure) {
        let remembered = try reportingLog { () throws(LogError) in
            try space.store.remote(of: space.id)
        }
        try self.init(call, address: call.arguments.operands.first, remembered: remembered)
    }
}

extension Invocation {
    /// Shows how far a diary has come with sending all that it has.
    func withProgress<Value: Sendable>(
        of diary: Diary,
        _ label: String,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws(Failure) -> Value {
        try await progressBar(label, unit: "events").follow { progress in
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
