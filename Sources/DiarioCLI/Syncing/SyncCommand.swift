import Diario

extension Command {
    static let sync = Command(
        "sync",
        "exchange events and blobs with the server",
        takes: [.optional("URL")],
        details: """
            Fetches what others recorded and sends what was recorded here. Without URL, the server
            is the one that `remote set`, `clone` or `publish` remembered. Ends with 1 if that
            cannot be done now, or if the server refused events; nothing is lost by it, and the same
            command may be given again. `status` shows the last error.

            Events that the server refuses are in the inbox afterwards; their first origins are
            named. With --watch it goes on until it is interrupted, prints a line for each change,
            and sends what other programs record here. --rejoin first goes back to what the server
            has as well, after the two have diverged: own later events are sent again, and those of
            others are kept.

            Blobs follow, small ones first: pictures and other bytes that events refer to and that
            are only here or only there. What is transferred is kept if it ends early, and the next
            sync continues there. --no-blobs leaves them out, as on a line that costs much. What
            other users recorded comes only with --blobs, or one by one with `diario blob get`; what
            stays on the device that recorded it does not come at all.

            A server that was restored from an older backup and waits gets back what it lacks, where
            the token has the right admin. One that goes on without it lost events: own ones are
            sent again, and those of others are kept here. Then it ends with 1, until `diario remote
            restore` has sent them or, with --drop, given them up.
            """,
        options: [
            .flag("watch", "go on until it is interrupted"),
            .flag("rejoin", "go back to what the server has as well"),
            .flag("blobs", "also the blobs of other users"),
            .flag("no-blobs", "events alone"),
        ] + CommandOption.access + [.json, .noProgress],
        examples: [
            "diario sync": "once, with the server that is remembered",
            "diario sync --watch": "until Ctrl-C",
        ],
        run: { try await SyncCommand.run($0) }
    )
}

/// The command `diario sync`.
enum SyncCommand {
    static func run(_ call: Invocation) async throws {
        let isWatching = call.has("watch")
        guard !isWatching || !call.has("rejoin") else {
            throw Failure.usage("--rejoin is done once: give it without --watch")
        }
        guard !call.has("blobs") || !call.has("no-blobs") else {
            throw Failure.usage("--blobs and --no-blobs are both there; give one of them")
        }
        try await call.withServer { space in
            if try space.isPublishing() {
                throw Failure.failed(
                    "the space is being published. Go on with that: diario publish; or give it up: "
                        + "diario publish --abandon"
                )
            }
            if try space.state().hasAuthority {
                throw Failure.failed(
                    "this space gives its positions itself, so there is nothing to sync with. To "
                        + "share it: diario publish URL; to copy one from a server: diario clone "
                        + "URL DIR"
                )
            }
        } body: { server in
            // Without --watch they have a bar of their own.
            if call.has("no-blobs") || !isWatching { server.diary.blobs.pause() }
            if call.has("blobs") { server.diary.blobs.fetchAll() }
            if isWatching {
                try await noting(server) { try await watch(server) }
            } else {
                try await once(server)
            }
        }
    }

    /// Remembers why a sync failed, for `diario status`.
    private static func noting<Value>(
        _ server: ServerConnection,
        _ body: () async throws -> Value
    ) async throws -> Value {
        do { return try await body() } catch {
            noteFailure(Failure(error).message, server.space)
            throw error
        }
    }

    private static func noteFailure(_ message: String?, _ space: Space) {
        // The failure itself, or the next sync, tells why the note cannot be written.
        try? space.noteFailedSync(message ?? "")
    }

    // MARK: Once

    private static func once(_ server: ServerConnection) async throws {
        let call = server.call
        let known = Set(try SpaceInbox(server.space).read().0.map(\.origin))
        var report = try await noting(server) { try await exchange(server) }
        let space = server.space
        try space.noteSync(head: report.head)
        if !call.has("no-blobs") { report.blobs = try await blobs(server) }
        let refused = try SpaceInbox(space).read().0.filter { !known.contains($0.origin) }
        try call.answer(
            text(report),
            [
                "pushed": report.pushed, "pulled": report.pulled, "pending": report.pending,
                "head": report.head, "rejected": report.rejected,
                "recordedAgain": report.recordedAgain, "pendingAgain": report.pendingAgain,
                "kept": report.kept, "restored": report.hasRestored, "requests": report.requests,
                "bytesSent": report.bytesSent, "bytesReceived": report.bytesReceived,
                "refused": refused.map(\.origin.text),
            ] + fields(report.blobs)
        )
        if !call.isJSON {
            for batch in refused {
                let rule = batch.refusal.map { ": \(CellText.oneLine($0.rule))" } ?? ""
                let events = Show.count(UInt64(batch.events.count), "event")
                try call.output.line("refused  \(batch.origin.text)  \(events)\(rule)")
            }
        }
        var problems: [String] = []
        if !refused.isEmpty {
            problems.append("the server refused events, which are in the inbox: diario inbox list")
        }
        if report.kept > 0 { problems.append(text(kept: report.kept, of: report.keptReplicas)) }
        problems += Self.problems(report.blobs)
        guard problems.isEmpty else { throw Failure.failed(problems.joined(separator: "; ")) }
    }

    // MARK: Blobs

    /// Exchanges the blobs, with a bar of their own.
    static func blobs(_ server: ServerConnection) async throws -> BlobReport {
        try await blobs(server.diary, server.transport, server.call)
    }

    static func blobs(
        _ diary: Diary,
        _ transport: HTTPTransport,
        _ call: Invocation
    ) async throws -> BlobReport {
        diary.blobs.resume()
        return try await call.progressBar("transferring blobs", unit: "bytes").follow { progress in
            try await diary.blobs.sync(with: transport) { progress($0, $1) }
        }
    }

    static func fields(_ blobs: BlobReport) -> Fields {
        [
            "blobsSent": blobs.sent, "blobsFetched": blobs.fetched,
            "blobsRefused": blobs.refused, "blobsMissing": blobs.missing,
            "blobsFailure": ifKnown(blobs.failure),
        ]
    }

    /// What a person has to know of an exchange of blobs; that some are missing may be as it is.
    static func problems(_ blobs: BlobReport) -> [String] {
        var problems: [String] = []
        if let failure = blobs.failure {
            problems.append(
                "the events are exchanged, but not all blobs: \(CellText.oneLine(failure)) The "
                    + "same command continues"
            )
        }
        if blobs.refused > 0 {
            problems.append(
                "the server does not take \(Show.count(UInt64(blobs.refused), "blob")); `diario "
                    + "status` says why"
            )
        }
        return problems
    }

    static func text(_ blobs: BlobReport) -> String? {
        var texts: [String] = []
        if blobs.sent > 0 { texts.append("sent \(Show.count(UInt64(blobs.sent), "blob"))") }
        if blobs.fetched > 0 {
            texts.append("fetched \(Show.count(UInt64(blobs.fetched), "blob"))")
        }
        if blobs.missing > 0 {
            texts.append("\(Show.count(UInt64(blobs.missing), "blob")) not on the server yet")
        }
        return texts.isEmpty ? nil : texts.joined(separator: ", ")
    }

    private static func exchange(_ server: ServerConnection) async throws -> SyncReport {
        let (diary, transport) = (server.diary, server.transport)
        let rejoins = server.call.has("rejoin")
        return try await server.call.progressBar("syncing", unit: "events").follow { progress in
            try await withThrowingTaskGroup(of: SyncReport?.self) { group in
                group.addTask {
                    for await status in diary.syncStatus {
                        progress(status.head, status.head + status.lag + UInt64(status.pending))
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

    private static func text(_ report: SyncReport) -> String {
        let parts: [(count: UInt64, text: String)] = [
            (report.rejected, "refused"), (report.recordedAgain, "recorded again"),
            (report.pendingAgain, "own pending again"), (UInt64(report.kept), "of others kept"),
            (UInt64(report.pending), "pending"),
        ]
        var texts = [
            "sent \(ProgressLine.grouped(report.pushed))",
            "fetched \(Show.count(report.pulled, "event"))",
        ]
        texts += parts.filter { $0.count > 0 }.map {
            "\(ProgressLine.grouped($0.count)) \($0.text)"
        }
        if report.hasRestored { texts.append("gave the server back what it lacked") }
        if let blobs = text(report.blobs) { texts.append(blobs) }
        return texts.joined(separator: ", ") + "; head \(ProgressLine.grouped(report.head))"
    }

    /// Says that events of others are kept, because the server lost them.
    static func text(kept count: Int, of replicas: Int) -> String {
        "kept here, since the server lost them: \(Show.count(UInt64(count), "event")) of "
            + "\(Show.count(UInt64(replicas), "other replica")). To send them: diario remote "
            + "restore; to give them up: diario remote restore --drop"
    }

    // MARK: Watching

    private static func watch(_ server: ServerConnection) async throws {
        let call = server.call
        let (diary, transport) = (server.diary, server.transport)
        Interrupt.catchSignals()
        let isJSON = call.isJSON
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
                    noteFailure(status.lastError, server.space)
                    continue
                }
                try server.space.noteSync(head: status.head)
            }
            guard !Interrupt.isRaised else { return }
            while try await group.next() != nil {}
        }
    }

    /// The line for a change; nil for a phase that lasts a moment only.
    private static func line(_ status: SyncStatus, _ isJSON: Bool) -> String? {
        let phase: String
        switch status.phase {
        case .upToDate: phase = "upToDate"
        case .backingOff: phase = "waiting"
        case .paused: phase = "paused"
        default: return nil
        }
        if isJSON {
            let fields: Fields = [
                "phase": phase, "head": status.head, "pending": status.pending,
                "error": ifKnown(status.lastError),
            ]
            return String(decoding: fields.json, as: UTF8.self)
        }
        let pending = status.pending == 0 ? "" : ", \(status.pending) pending"
        let head = "head \(ProgressLine.grouped(status.head))\(pending)"
        guard status.phase != .upToDate else { return "up to date, \(head)" }
        return "waiting, \(head): \(CellText.oneLine(status.lastError ?? ""))"
    }
}
