import DiarioSchema
import Diario
import DiarioCore
import DiarioLog
import DiarioServer
import DiarioStorage

/// The commands `diario authority status`, `resume` and `hold`.
enum AuthorityCommand {
    /// A space whose positions are given in the folder.
    private struct Entry {
        let id: SpaceID
        let name: SpaceName?
        let epoch: UInt64
        let head: UInt64
        var isWaiting: Bool
    }

    static func status(_ call: Invocation) throws(Failure) {
        let folder = try ServedFolder(call)
        let store = try open(folder, .readOnly)
        let (entries, broken) = try entries(of: store, folder)
        for space in broken { call.remark("\(space.shown) cannot be used: \(space.remedy)") }
        if call.arguments.has("json") {
            try call.output.jsonList(entries.map { json($0) })
        } else {
            if entries.isEmpty { try call.output.line("no positions are given here") }
            for entry in entries {
                let state =
                    entry.isWaiting
                    ? "restored from a backup, or held: waits for diario remote restore at a "
                        + "replica, or diario authority resume"
                    : "gives positions"
                try call.output.line(
                    "\(name(of: entry))  \(Show.count(entry.head, "event")), epoch \(entry.epoch)"
                        + "  \(state)"
                )
            }
        }
        try reportingLog { () throws(LogError) in try store.close() }
    }

    static func resume(_ call: Invocation) throws(Failure) {
        let changed = try change(call, to: .resumed)
        if call.arguments.has("json") { return try call.output.jsonList(changed.map { json($0) }) }
        guard !changed.isEmpty else { return try call.output.line("nothing waits here") }
        for entry in changed {
            try call.output.line(
                "\(name(of: entry)) gives positions again, from \(entry.head + 1) on"
            )
        }
        call.remark(
            "events that replicas have and that are not here lost their positions. Their authors "
                + "send them again when they sync; replicas keep those of others until somebody "
                + "there gives: diario remote restore"
        )
    }

    static func hold(_ call: Invocation) throws(Failure) {
        let isForGood = call.arguments.has("no-restore")
        let changed = try change(call, to: isForGood ? .heldWithoutRestore : .held)
        if call.arguments.has("json") { return try call.output.jsonList(changed.map { json($0) }) }
        guard !changed.isEmpty else { return try call.output.line("nothing gives positions here") }
        for entry in changed {
            try call.output.line(
                "\(name(of: entry)) gives no positions behind \(entry.head)"
                    + (isForGood ? " and takes nothing back from replicas" : "")
                    + ", until diario authority resume"
            )
        }
    }

    /// What a space is to be.
    private enum State {
        case resumed
        case held
        case heldWithoutRestore
    }

    /// Resumes spaces that wait, or holds those that do not; gives them as they are then.
    private static func change(
        _ call: Invocation,
        to state: State
    ) throws(Failure) -> [Entry] {
        let folder = try ServedFolder(call)
        let store = try open(folder, .readWrite)
        var wanted: SpaceName?
        if let text = call.arguments.value("space") { wanted = try call.spaceName(text) }
        let (known, broken) = try entries(of: store, folder)
        for space in broken {
            let problem = "\(space.shown) cannot be used: \(space.remedy)"
            if let wanted, space.name == wanted { throw .failed(problem) }
            if wanted == nil { call.remark(problem) }
        }
        if let wanted, !known.contains(where: { $0.name == wanted }) {
            throw .failed(
                "there is no space called \(wanted.text). They are listed by: diario space list"
            )
        }
        let chosen = known.filter { entry in
            switch state {
            case .resumed: guard entry.isWaiting else { return false }
            case .held: guard !entry.isWaiting else { return false }
            case .heldWithoutRestore: break
            }
            guard let wanted else { return true }
            return entry.name == wanted
        }
        try reportingLog { () throws(LogError) in
            for entry in chosen {
                if state == .resumed {
                    try store.resumeAuthority(of: entry.id)
                } else {
                    try store.holdAuthority(of: entry.id, mayBeRestored: state == .held)
                }
            }
            try store.close()
        }
        return chosen.map { entry in
            var entry = entry
            entry.isWaiting = state != .resumed
            return entry
        }
    }

    private static func open(
        _ folder: ServedFolder,
        _ access: LogStore.Access
    ) throws(Failure) -> LogStore {
        let directory = try folder.directory(access == .readWrite ? .readWrite : .read)
        return try reporting { () throws(DiarioError) in
            try Space.openStore(directory, access: access)
        }
    }

    private static func entries(
        of store: LogStore,
        _ folder: ServedFolder
    ) throws(Failure) -> (entries: [Entry], broken: [ServedFolder.BrokenSpace]) {
        let named = try folder.names()
        let names = Dictionary(named.map { ($0.id, $0.name) }) { first, _ in first }
        var broken = try folder.brokenSpaces(of: store)
        let entries = try reportingLog { () throws(LogError) in
            var entries: [Entry] = []
            for manifest in try store.readableManifests().manifests
            where !manifest.isStaging && manifest.authority != nil {
                let id = manifest.space
                let name = names[id]
                do throws(LogError) {
                    if store.access == .readWrite {
                        // A copy that nobody has written to yet finds out now that it is one.
                        _ = try store.author(of: id)
                    }
                    let manifest = try store.status(of: id).manifest
                    entries.append(
                        Entry(
                            id: id,
                            name: name,
                            epoch: manifest.epoch,
                            head: store.standing(of: id).head,
                            isWaiting: try store.isWaiting(id)
                        )
                    )
                } catch .corrupt(let fault) {
                    broken.append(folder.broken(id, name, fault))
                }
            }
            return entries
        }
        return (entries, broken)
    }

    private static func name(of entry: Entry) -> String { entry.name?.text ?? entry.id.text }

    private static func json(_ entry: Entry) -> [UInt8] {
        JSONObjectWriter.object { json in
            if let name = entry.name { json.add("space", name.text) } else { json.addNull("space") }
            json.add("id", entry.id.text)
            json.add("epoch", entry.epoch)
            json.add("events", entry.head)
            json.add("waiting", entry.isWaiting)
        }
    }
}
