import DiarioSchema
import Diario
import DiarioLog

/// The command `diario status`.
enum StatusCommand {
    /// What is known without asking anybody.
    private struct Standing {
        let status: SpaceStatus
        let publishing: PublishingFile?
        let remote: RemoteFile?
        let lastSync: LastSyncFile?
        /// Whether there is a file that says when, and it is damaged.
        let isLastSyncDamaged: Bool
        let inboxCount: Int
        let quarantineCount: Int
        let kept: (events: Int, replicas: Int)

        init(_ space: Space) throws(Failure) {
            let (store, id) = (space.store, space.id)
            status = try reportingLog { () throws(LogError) in try store.status(of: id) }
            publishing = try reportingLog { () throws(LogError) in try store.publishing(of: id) }
            remote = try reportingLog { () throws(LogError) in try store.remote(of: id) }
            kept = try reportingLog { () throws(LogError) in try store.keptCount(of: id) }
            lastSync = try reportingLog { () throws(LogError) in try store.lastSync(of: id) }
            let faults = try reportingLog { () throws(LogError) in
                try store.remoteFaults(of: id)
            }
            isLastSyncDamaged = faults.contains { $0.file == LogPaths.lastSync(id) }
            (inboxCount, quarantineCount) = try reporting { () throws(DiarioError) in
                (try space.inboxCount(), try ReadModels(space).quarantined().count)
            }
        }

        var authority: String {
            if publishing != nil { return "publishing" }
            return status.manifest.authority == nil ? "elsewhere" : "here"
        }

        var lastSyncText: String {
            if let success = lastSync?.success { return Show.time(success.at.milliseconds) }
            return isLastSyncDamaged ? "unknown" : "never"
        }

        /// What a person may want to do now, the most pressing first.
        var hints: [String] {
            var hints: [String] = []
            if publishing != nil {
                hints.append(
                    "the space is being published: diario publish goes on, diario publish "
                        + "--abandon gives up"
                )
            }
            if inboxCount > 0 { hints.append("the server refused events: diario inbox list") }
            if kept.events > 0 { hints.append(KeptText.text(kept.events, of: kept.replicas)) }
            if quarantineCount > 0 {
                hints.append("read models could not take events: diario quarantine list")
            }
            if isLastSyncDamaged {
                hints.append("the file with the time of the last sync is damaged: diario repair")
            }
            guard publishing == nil else { return hints }
            if status.manifest.authority != nil {
                hints.append("to share the space: diario publish URL")
            } else if remote == nil {
                hints.append("to exchange events: diario remote set URL --token-file FILE")
            } else if status.pending > 0 {
                hints.append("to send what is pending: diario sync")
            } else if lastSync?.success == nil {
                hints.append("to fetch what others recorded: diario sync")
            }
            return hints
        }
    }

    static func run(_ call: Invocation) throws(Failure) {
        try call.withSpace(.readOnly) { (space) throws(Failure) in
            let standing = try Standing(space)
            if call.arguments.has("json") {
                try call.output.json { fill(&$0, standing) }
            } else {
                try print(standing, call.output)
            }
        }
    }

    private static func fill(_ json: inout JSONObjectWriter, _ standing: Standing) {
        json.add("space", standing.status.manifest.space.text)
        json.add("replica", standing.status.replica.text)
        json.add("authority", standing.authority)
        json.add("head", standing.status.head)
        json.add("pending", standing.status.pending)
        json.add("inbox", standing.inboxCount)
        json.add("quarantine", standing.quarantineCount)
        json.add("kept", standing.kept.events)
        json.add("keptReplicas", standing.kept.replicas)
        if let remote = standing.remote {
            json.add("remote", remote.address)
        } else {
            json.addNull("remote")
        }
        if let last = standing.lastSync?.success {
            json.add("lastSync", Show.time(last.at.milliseconds))
        } else {
            json.addNull("lastSync")
        }
        if let failure = standing.lastSync?.failure {
            json.add("failedSync", Show.time(failure.at.milliseconds))
            json.add("lastError", failure.message)
        } else {
            json.addNull("lastError")
        }
        json.add("next", list: standing.hints.map { JSONObjectWriter.string($0) })
    }

    private static func print(_ standing: Standing, _ output: Output) throws(Failure) {
        var lines = [
            ("space", standing.status.manifest.space.text),
            ("authority", standing.authority),
            ("head", ProgressLine.grouped(standing.status.head)),
            ("pending", ProgressLine.grouped(UInt64(standing.status.pending))),
            ("inbox", ProgressLine.grouped(UInt64(standing.inboxCount))),
            ("quarantine", ProgressLine.grouped(UInt64(standing.quarantineCount))),
            ("kept", ProgressLine.grouped(UInt64(standing.kept.events))),
            ("remote", standing.remote?.address ?? "none"),
            ("last sync", standing.lastSyncText),
        ]
        if let failure = standing.lastSync?.failure {
            let time = Show.time(failure.at.milliseconds)
            lines.append(("last error", "\(time): \(CellText.oneLine(failure.message))"))
        }
        for (name, value) in lines {
            let pad = String(repeating: " ", count: 12 - name.utf8.count)
            try output.line("\(name)\(pad)\(value)")
        }
        for hint in standing.hints { try output.line(hint) }
    }
}
