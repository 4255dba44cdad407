import Diario
import DiarioCore
import DiarioLog
import DiarioSchema
import DiarioServer
import DiarioStorage

/// The commands `diario space create`, `rename` and `remove`.
extension SpaceCommand {
    static func create(_ call: Invocation) throws(Failure) {
        let name = try call.spaceName(call.arguments.operands[0])
        let packs = try call.packs()
        let folder = try ServedFolder(call)
        let control = try folder.control(for: .making)
        try folder.reporting { () throws(ControlError) in
            if try control.space(name) != nil { throw .taken("The name \(name.text)") }
        }
        let store = try call.openLog(of: folder, folder.directory(.readWrite))
        let id: SpaceID
        do throws(Failure) {
            id = try reporting { () throws(DiarioError) in
                try Space.make(in: store, packs: packs).id
            }
            do throws(Failure) {
                // Last, because it is served from then on.
                try folder.reporting { () throws(ControlError) in
                    try control.name(id, name, at: SystemClock().now)
                }
            } catch {
                try? store.remove(id)
                throw error
            }
        } catch {
            try? store.close()
            throw error
        }
        try reportingLog { () throws(LogError) in try store.close() }
        // One of them may be the one that is meant.
        folder.remarkUnnamed { call.remark($0) }
        guard call.arguments.has("json") else {
            try call.output.line(
                "made space \(name.text) (\(id.text)) with \(SchemaCommand.list(packs))"
            )
            let place = "diario -C \(CellText.oneLine(folder.name)) --space \(name.text)"
            if packs.isEmpty { call.remarkPackless(place) }
            return
        }
        try call.output.json { json in
            json.add("space", name.text)
            json.add("id", id.text)
            json.add("packs", list: packs.map { SchemaCommand.json($0) })
        }
    }

    static func rename(_ call: Invocation) throws(Failure) {
        let (old, new) = (
            try call.spaceName(call.arguments.operands[0]),
            try call.spaceName(call.arguments.operands[1])
        )
        let folder = try ServedFolder(call)
        let control = try folder.control(for: .writing)
        try folder.reporting { () throws(ControlError) in try control.rename(old, to: new) }
        guard call.arguments.has("json") else {
            return try call.output.line(
                "\(old.text) is called \(new.text), and its tokens are for that. Replicas find it "
                    + "after: diario remote set URL"
            )
        }
        try call.output.json { json in
            json.add("space", new.text)
            json.add("before", old.text)
        }
    }

    /// What is lost with a space.
    private struct Loss {
        let id: SpaceID
        /// Nil if it has none.
        let name: SpaceName?
        let events: Int
        let tokens: Int
        let replicas: Int

        var shown: String { name.map { "\($0.text) (\(id.text))" } ?? id.text }
    }

    static func remove(_ call: Invocation) throws(Failure) {
        let isMeant = call.arguments.has("yes")
        let folder = try ServedFolder(call)
        let control = try folder.control(for: .writing)
        let store = try call.openLog(of: folder, folder.directory(.readWrite))
        let loss: Loss
        do throws(Failure) {
            loss = try self.loss(call.arguments.operands[0], folder, control, store)
            if isMeant { try remove(loss, folder, control, store) }
        } catch {
            try? store.close()
            throw error
        }
        try reportingLog { () throws(LogError) in try store.close() }
        if call.arguments.has("json") {
            try call.output.json { json in
                if let name = loss.name {
                    json.add("space", name.text)
                } else {
                    json.addNull("space")
                }
                json.add("id", loss.id.text)
                json.add("events", loss.events)
                json.add("tokens", loss.tokens)
                json.add("replicas", loss.replicas)
                json.add("removed", isMeant)
            }
        } else {
            let parts = [
                Show.count(UInt64(loss.events), "event"), Show.count(UInt64(loss.tokens), "token"),
            ].joined(separator: " and ")
            let verb = isMeant ? "removed" : "would remove"
            try call.output.line("\(verb) \(loss.shown) with \(parts)")
            if loss.replicas > 0 {
                try call.output.line(
                    "its replicas (\(loss.replicas)) keep what they have, and cannot sync any more"
                )
            }
            if !isMeant {
                let name = loss.name?.text ?? loss.id.text
                try call.output.line(
                    "nothing was changed; to remove it for good: diario space remove \(name) "
                        + "--data \(CellText.oneLine(folder.name)) --yes"
                )
            }
        }
        guard isMeant else { throw .found }
    }

    private static func loss(
        _ text: String,
        _ folder: ServedFolder,
        _ control: ControlFile,
        _ store: LogStore
    ) throws(Failure) -> Loss {
        let spaces = try folder.reporting { () throws(ControlError) in try control.spaces() }
        let named = spaces.first { $0.name.text == text }
        let unnamed = SpaceID(text: text).flatMap { id in
            spaces.contains { $0.id == id } || (try? store.hasSpace(id)) != true ? nil : id
        }
        guard let id = named?.id ?? unnamed else {
            throw .failed(
                "there is no space \(CellText.oneLine(text)). They are listed by: diario space list"
            )
        }
        if let broken = try folder.brokenSpaces(of: store).first(where: { $0.id == id }) {
            throw .failed("\(broken.shown) is damaged, and cannot be removed: \(broken.remedy)")
        }
        let isMade = try reportingLog { () throws(LogError) in try store.hasSpace(id) }
        let (tokens, replicas) = try folder.reporting { () throws(ControlError) in
            guard let name = named?.name else { return (0, 0) }
            return (
                try control.tokens(of: name).count { $0.revoked == nil },
                try control.replicas(of: name).count
            )
        }
        return Loss(
            id: id,
            name: named?.name,
            events: try reportingLog { () throws(LogError) in
                isMade ? try store.status(of: id).events : 0
            },
            tokens: tokens,
            replicas: replicas
        )
    }

    private static func remove(
        _ loss: Loss,
        _ folder: ServedFolder,
        _ control: ControlFile,
        _ store: LogStore
    ) throws(Failure) {
        var ids = [loss.id]
        // First: a server lets nobody in from then on. After a crash here the space has no name,
        // and its id can be removed.
        if let name = loss.name {
            ids += try folder.reporting { () throws(ControlError) in try control.removeSpace(name) }
        }
        try reportingLog { () throws(LogError) in
            for id in ids where try store.hasSpace(id) { try store.remove(id) }
        }
    }
}
