import Diario
import DiarioHost

extension Command {
    static let status = Command(
        "status",
        "show the state of the sync, and what to do next",
        details: """
            Shows how many events are here and how many wait to be sent, the server, when the two
            were last in sync, how many events are in the inbox and in quarantine, how many of
            others are kept because the server lost them, what the token lets this replica do, and
            how many of the blobs that events refer to are here, are coming, are nowhere, or are
            refused by the server and why, as far as the read models know. Asks no server.
            """,
        options: [.json],
        examples: ["diario status": "before a journey, for example"],
        run: { call in
            try call.reading { space in try StatusCommand(space).tell(call) }
        }
    )
}

/// The command `diario status`: all that is known without asking a server.
private struct StatusCommand {
    private let state: SpaceState
    private let isPublishing: Bool
    private let remote: RemoteServer?
    private let notes: SyncNotes
    private let permission: Permission?
    private let inboxCount: Int
    private let quarantineCount: Int
    private let kept: (events: Int, replicas: Int)
    private let blobs: BlobCounts

    init(_ space: Space) throws {
        state = try space.state()
        isPublishing = try space.isPublishing()
        remote = try space.remote()
        permission = try space.permission()
        kept = try space.keptCount()
        notes = try space.syncNotes()
        inboxCount = try space.inboxCount()
        let models = try ReadModels(space)
        quarantineCount = try models.quarantined().count
        blobs = try BlobCounts(models, space)
    }

    /// In whose name the token is, and what it gives.
    private var tokenText: String {
        guard let permission else { return "unknown until the next sync" }
        let words = permission.rights + permission.roles
        return CellText.oneLine(permission.actor ?? "nobody") + ": "
            + CellText.oneLine(words.joined(separator: ", "))
    }

    private var authority: String {
        if isPublishing { return "publishing" }
        return state.hasAuthority ? "here" : "elsewhere"
    }

    /// The next things to do, the most pressing first.
    private var hints: [String] {
        var hints: [String] = []
        if isPublishing {
            hints.append(
                "the space is being published: diario publish goes on, diario publish --abandon "
                    + "gives up"
            )
        }
        if inboxCount > 0 { hints.append("the server refused events: diario inbox list") }
        if kept.events > 0 { hints.append(SyncCommand.text(kept: kept.events, of: kept.replicas)) }
        if let refusal = blobs.refusal {
            hints.append("the server does not take blobs: \(CellText.oneLine(refusal))")
        }
        if quarantineCount > 0 {
            hints.append("read models could not take events: diario quarantine list")
        }
        if notes.isDamaged {
            hints.append("the time of the last sync is damaged; the next sync sets it")
        }
        guard !isPublishing else { return hints }
        if state.hasAuthority {
            hints.append("to share the space: diario publish URL")
        } else if remote == nil {
            hints.append("to exchange events: diario remote set URL --token-file FILE")
        } else if state.pending > 0 {
            hints.append("to send what is pending: diario sync")
        } else if blobs.coming > 0 {
            hints.append("to fetch the blobs that are coming: diario sync")
        } else if notes.syncedAt == nil {
            hints.append("to fetch what others recorded: diario sync")
        }
        return hints
    }

    func tell(_ call: Invocation) throws {
        let (space, failure) = (state.space.text, notes.failure)
        let syncedAt = notes.syncedAt.map { Show.time($0) }
        guard !call.isJSON else {
            return try call.output.json([
                "space": space, "replica": state.replica.text, "authority": authority,
                "head": state.head, "pending": state.pending, "inbox": inboxCount,
                "quarantine": quarantineCount, "kept": kept.events, "keptReplicas": kept.replicas,
                "blobs": blobs.here + blobs.refused, "blobsMissing": blobs.missing,
                "blobsComing": blobs.coming, "blobsRefused": blobs.refused,
                "blobRefusal": blobs.refusal,
                "remote": remote?.address, "lastSync": syncedAt,
                "actor": permission?.actor, "rights": ifKnown(permission?.rights),
                "roles": ifKnown(permission?.roles),
                "failedSync": ifKnown(failure.map { Show.time($0.at) }),
                "lastError": failure?.message, "next": hints,
            ])
        }
        var pairs = [
            ("space", space), ("authority", authority),
            ("head", ProgressLine.grouped(state.head)),
            ("pending", Show.grouped(state.pending)), ("inbox", Show.grouped(inboxCount)),
            ("quarantine", Show.grouped(quarantineCount)), ("kept", Show.grouped(kept.events)),
            ("remote", remote?.address ?? "none"),
            ("last sync", syncedAt ?? (notes.isDamaged ? "unknown" : "never")),
        ]
        if remote != nil { pairs.append(("token of", tokenText)) }
        if let text = blobs.text { pairs.append(("blobs", text)) }
        if let failure {
            let time = Show.time(failure.at)
            pairs.append(("last error", "\(time): \(CellText.oneLine(failure.message))"))
        }
        try call.output.pairs(pairs)
        for hint in hints { try call.output.line(hint) }
    }
}

/// How many of the blobs that events refer to are where, without those that are erased.
private struct BlobCounts {
    /// Without those that are refused.
    private(set) var here = 0
    private(set) var coming = 0
    private(set) var missing = 0
    /// Those of others, and those that stay elsewhere.
    private(set) var notWanted = 0
    /// Their bytes are here too.
    private(set) var refused = 0
    /// Why the server does not take one of them.
    private(set) var refusal: String?

    init(_ models: ReadModels, _ space: Space) throws {
        let finder = space.blobLookup
        let actor = try space.defaultActor()
        for blob in try models.knownBlobs() where !blob.isErased {
            switch try finder.state(of: blob.id) {
            case .here: here += 1
            case .coming: coming += 1
            case .refused:
                refused += 1
                if refusal == nil { refusal = try finder.refusal(of: blob.id) }
            case _ where blob.stays || !blob.isOwn(of: actor): notWanted += 1
            default: missing += 1
            }
        }
    }

    /// Nil if there are none.
    var text: String? {
        guard here + coming + missing + refused + notWanted > 0 else { return nil }
        let others = [
            (coming, "coming"), (missing, "missing"), (refused, "refused"),
            (notWanted, "of others"),
        ]
        return others.filter { $0.0 > 0 }.reduce("\(Show.grouped(here + refused)) here") {
            $0 + ", \(Show.grouped($1.0)) \($1.1)"
        }
    }
}
