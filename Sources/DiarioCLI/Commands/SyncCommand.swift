import Diario
import DiarioCore
import DiarioLog
import DiarioSchema

/// The command `diario sync`.
enum SyncCommand {
    static func run(_ call: Invocation) async throws(Failure) {
        let isWatching = call.arguments.has("watch")
        guard !isWatching || !call.arguments.has("rejoin") else {
            throw .usage("--rejoin is done once: give it without --watch")
        }
        try await call.withDiary { (diary, space) async throws(Failure) in
            try refuseAuthority(space)
            let remembered = try reportingLog { () throws(LogError) in
                try space.store.remote(of: space.id)
            }
            let access = try ServerAccess(
                call,
                address: call.arguments.operands.first,
                remembered: remembered
            )
            let transport = try await access.transport(for: diary)
            if isWatching {
                try await watch(call, diary, space, transport)
            } else {
                try await once(call, diary, space, transport)
            }
        }
    }

    private static func refuseAuthority(_ space: Space) throws(Failure) {
        let (status, publishing) = try reportingLog { () throws(LogError) in
            (try space.store.status(of: space.id), try space.store.publishing(of: space.id))
        }
        if publishing != nil {
            throw .failed(
                "the space is being published. Go on with that: diario publish; or give it up: "
                    + "diario publish --abandon"
            )
        }
        guard status.manifest.authority != nil else { return }
        throw .failed(
            "this space gives its positions itself, so there is nothing to sync with. To share it: "
                + "diario publish URL; to copy one from a server: diario clone URL DIR"
        )
    }

    // MARK: Once

    private static func once(
        _ call: Invocation,
        _ diary: Diary,
        _ space: Space,
        _ transport: HTTPTransport
    ) async throws(Failure) {
        let known = Set(try refusedBatches(space).map(\.origin))
        let report: SyncReport
        do throws(Failure) { report = try await exchange(call, diary, transport) } catch {
            noteFailure(error.message, space)
            throw error
        }
        try reportingLog { () throws(LogError) in
            try space.store.noteSync(of: space.id, head: report.head)
        }
        let refused = try refusedBatches(space).filter { !known.contains($0.origin) }
        if call.arguments.has("json") {
            try call.output.json { fill(&$0, report, refused) }
        } else {
            try call.output.line(text(report))
            for batch in refused {
                let rule = batch.refusal.map { ": \(CellText.oneLine($0.rule))" } ?? ""
                try call.output.line(
                    "refused  \(batch.origin.text)  "
                        + Show.count(UInt64(batch.events.count), "event") + rule
                )
            }
        }
        var problems: [String] = []
        if !refused.isEmpty {
            problems.append("the server refused events, which are in the inbox: diario inbox list")
        }
        if report.kept > 0 {
            problems.append(KeptText.text(report.kept, of: report.keptReplicas))
        }
        guard problems.isEmpty else { throw .failed(problems.joined(separator: "; ")) }
    }

    private static func exchange(
        _ call: Invocation,
        _ diary: Diary,
        _ transport: HTTPTransport
    ) async throws(Failure) -> SyncReport {
        let rejoins = call.arguments.has("rejoin")
        let bar = call.progressBar("syncing", unit: "events")
        return try await bar.follow { progress in
            try await withThrowingTaskGroup(of: SyncReport?.self) { group in
                group.addTask {
                    for await status in diary.syncStatus {
                        let total = status.head + status.lag + UInt64(status.pending)
                        progress(status.head, total)
                    }
                    return nil
                }
                group.addTask { try await diary.sync(with: transport, rejoining: rejoins) }
                defer { group.cancelAll() }
                while let report = try await group.next() { if let report { return report } }
                throw CancellationError()
            }
        }
    }

    /// Remembers why a sync failed, for `diario status`.
    private static func noteFailure(_ message: String?, _ space: Space) {
        // What keeps that from being written is told with the failure itself, or by the next sync.
        try? space.store.noteFailedSync(of: space.id, message ?? "")
    }

    private static func refusedBatches(_ space: Space) throws(Failure) -> [InboxBatch] {
        try reporting { () throws(DiarioError) in try space.readInbox().0 }
    }

    private static func text(_ report: SyncReport) -> String {
        var parts = [
            "sent \(ProgressLine.grouped(report.pushed))",
            "fetched \(Show.count(report.pulled, "event"))",
        ]
        if report.rejected > 0 { parts.append("\(ProgressLine.grouped(report.rejected)) refused") }
        if report.recordedAgain > 0 {
            parts.append("\(ProgressLine.grouped(report.recordedAgain)) recorded again")
        }
        if report.hasRestored { parts.append("gave the server back what it lacked") }
        if report.pendingAgain > 0 {
            parts.append("\(ProgressLine.grouped(report.pendingAgain)) own pending again")
        }
        if report.kept > 0 {
            parts.append("\(ProgressLine.grouped(UInt64(report.kept))) of others kept")
        }
        if report.pending > 0 {
            parts.append("\(ProgressLine.grouped(UInt64(report.pending))) pending")
        }
        return parts.joined(separator: ", ") + "; head \(ProgressLine.grouped(report.head))"
    }

    private static func fill(
        _ json: inout JSONObjectWriter,
        _ report: SyncReport,
        _ refused: [InboxBatch]
    ) {
        json.add("pushed", report.pushed)
        json.add("pulled", report.pulled)
        json.add("pending", report.pending)
        json.add("head", report.head)
        json.add("rejected", report.rejected)
        json.add("recordedAgain", report.recordedAgain)
        json.add("pendingAgain", report.pendingAgain)
        json.add("kept", UInt64(report.kept))
        json.add("restored", report.hasRestored)
        json.add("requests", report.requests)
        json.add("bytesSent", report.bytesSent)
        json.add("bytesReceived", report.bytesReceived)
        json.add("refused", list: refused.map { JSONObjectWriter.string($0.origin.text) })
    }

    // MARK: Watching

    private static func watch(
        _ call: Invocation,
        _ diary: Diary,
        _ space: Space,
        _ transport: HTTPTransport
    ) async throws(Failure) {
        Interrupt.catchSignals()
        let isJSON = call.arguments.has("json")
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                let (steps, continuation) = AsyncStream.makeStream(of: SyncStatus.self)
                group.addTask {
                    for await status in diary.syncStatus { continuation.yield(status) }
                }
                group.addTask {
                    defer { continuation.finish() }
                    try await diary.keepSynced(with: transport)
                }
                group.addTask {
                    while !Interrupt.isRaised { try await Task.sleep(for: .milliseconds(100)) }
                    continuation.finish()
                }
                var last: String?
                for await status in steps {
                    guard let line = line(status, isJSON), line != last else { continue }
                    last = line
                    try call.output.line(line)
                    try call.output.flush()
                    guard status.phase == .upToDate else {
                        noteFailure(status.lastError, space)
                        continue
                    }
                    try reportingLog { () throws(LogError) in
                        try space.store.noteSync(of: space.id, head: status.head)
                    }
                }
                guard !Interrupt.isRaised else { return }
                while try await group.next() != nil {}
            }
        } catch {
            let failure = Failure(error)
            noteFailure(failure.message, space)
            throw failure
        }
    }

    /// What a change is told as; nil for what lasts a moment only.
    private static func line(_ status: SyncStatus, _ isJSON: Bool) -> String? {
        let phase: String
        switch status.phase {
        case .upToDate: phase = "upToDate"
        case .backingOff: phase = "waiting"
        case .paused: phase = "paused"
        default: return nil
        }
        if isJSON {
            let object = JSONObjectWriter.object { json in
                json.add("phase", phase)
                json.add("head", status.head)
                json.add("pending", status.pending)
                if let error = status.lastError { json.add("error", error) }
            }
            return String(decoding: object, as: UTF8.self)
        }
        let head = "head \(ProgressLine.grouped(status.head))"
        let pending = status.pending == 0 ? "" : ", \(status.pending) pending"
        switch status.phase {
        case .upToDate: return "up to date, \(head)\(pending)"
        default: return "waiting, \(head)\(pending): \(CellText.oneLine(status.lastError ?? ""))"
        }
    }
}

/// What is said of the events of others that are kept, because the server lost them.
enum KeptText {
    static func text(_ count: Int, of replicas: Int) -> String {
        "kept here, since the server lost them: \(Show.count(UInt64(count), "event")) of "
            + "\(Show.count(UInt64(replicas), "other replica")). To send them: diario remote "
            + "restore; to give them up: diario remote restore --drop"
    }
}
