import DiarioSchema
import Diario
import DiarioCore
import DiarioLog
import DiarioServer
import DiarioStorage

/// The commands `diario space list`, `name` and `quota`.
enum SpaceCommand {
    static func list(_ call: Invocation) throws(Failure) {
        let folder = try ServedFolder(call)
        let directory = try folder.directory(.read)
        let store = try reporting { () throws(DiarioError) in
            try Space.openStore(directory, access: .readOnly)
        }
        let named = try folder.names()
        let made = try reportingLog { () throws(LogError) in
            try store.readableManifests().manifests.filter { !$0.isStaging }.map(\.space)
        }
        let broken = try folder.brokenSpaces(of: store)
        func content(_ id: SpaceID) -> Content {
            if let space = broken.first(where: { $0.id == id }) { return .damaged(space.fault) }
            return .events(made.contains(id) ? store.standing(of: id).head : 0)
        }
        let unnamed = (made + broken.map(\.id)).filter { id in !named.contains { $0.id == id } }
        if call.arguments.has("json") {
            try call.output.jsonList(
                named.map { json($0, content($0.id)) }
                    + unnamed.map { id in
                        JSONObjectWriter.object { json in
                            json.addNull("space")
                            json.add("id", id.text)
                            content(id).fill(&json)
                        }
                    }
            )
        } else {
            for space in named {
                let content = content(space.id)
                let most = content.isKnown ? " of at most \(space.quota.events)" : ""
                try call.output.line(
                    "\(space.name.text)  \(space.id.text)  \(content.text)\(most)"
                )
            }
            for id in unnamed.sorted() {
                try call.output.line("(no name)  \(id.text)  \(content(id).text)")
            }
        }
        try reportingLog { () throws(LogError) in try store.close() }
    }

    static func name(_ call: Invocation) throws(Failure) {
        let (text, word) = (call.arguments.operands[0], call.arguments.operands[1])
        guard let id = SpaceID(text: text) else {
            throw .usage(
                "\(CellText.oneLine(text)) is no id of a space, as 7zk3m9q2c1f4a. They are listed "
                    + "by: diario space list"
            )
        }
        let name = try call.spaceName(word)
        let folder = try ServedFolder(call)
        let directory = try folder.directory(.read)
        let isThere = try reportingLog { () throws(LogError) in
            do throws(StorageError) { return try directory.exists(LogPaths.manifest(id)) } catch {
                throw .storage(error)
            }
        }
        guard isThere else {
            throw .failed("there is no space \(id.text). They are listed by: diario space list")
        }
        let control = try folder.control(for: .making)
        try folder.reporting { () throws(ControlError) in
            try control.name(id, name, at: SystemClock().now)
        }
        guard call.arguments.has("json") else {
            return try call.output.line("the space \(id.text) is called \(name.text)")
        }
        try call.output.json { json in
            json.add("space", name.text)
            json.add("id", id.text)
        }
    }

    static func quota(_ call: Invocation) throws(Failure) {
        let name = try call.spaceName(call.arguments.operands[0])
        let arguments = call.arguments
        let (events, bytes) = try checkingUsage { () throws(UsageError) in
            (try arguments.count("events", from: 0), try arguments.count("bytes", from: 0))
        }
        let isChange = events != nil || bytes != nil || arguments.has("default")
        let folder = try ServedFolder(call)
        let control = try folder.control(for: isChange ? .writing : .reading)
        let found = try folder.reporting { () throws(ControlError) in
            guard var space = try control.space(name) else { throw .unknownSpace(name.text) }
            if arguments.has("default") { space.quota = SpaceQuota() }
            if let events { space.quota.eventsMax = Int(clamping: events) }
            if let bytes { space.quota.bytesMax = Int(clamping: bytes) }
            if isChange { try control.setQuota(of: name, space.quota) }
            return space
        }
        guard arguments.has("json") else {
            return try call.output.line(
                "\(name.text) may hold \(found.quota.events) events and \(found.quota.bytes) bytes"
            )
        }
        try call.output.json { json in
            json.add("space", name.text)
            json.add("eventsMax", found.quota.events)
            json.add("bytesMax", found.quota.bytes)
        }
    }

    /// What a space holds, as far as it can be told.
    private enum Content {
        case events(UInt64)
        case damaged(Fault)

        var isKnown: Bool { if case .events = self { true } else { false } }

        var text: String {
            switch self {
            case .events(let head): "\(head) events"
            case .damaged(let fault): "damaged: \(CellText.oneLine(fault.message))"
            }
        }

        func fill(_ json: inout JSONObjectWriter) {
            switch self {
            case .events(let head): json.add("events", head)
            case .damaged(let fault):
                json.addNull("events")
                json.add("fault", json: VerifyCommand.object(fault))
            }
        }
    }

    private static func json(_ space: NamedSpace, _ content: Content) -> [UInt8] {
        JSONObjectWriter.object { json in
            json.add("space", space.name.text)
            json.add("id", space.id.text)
            content.fill(&json)
            json.add("eventsMax", space.quota.events)
            json.add("bytesMax", space.quota.bytes)
        }
    }
}
