public import DiarioCore
import DiarioFormat
import DiarioSchema

/// Events that are recorded together, all or none: at most 1,000 of them, and 1 MiB.
public struct EventBatch: Sendable {
    /// Always one.
    ///
    /// All of a batch is behind one reference, so that handing it on to another thread
    /// counts no others. Threads that count the same references all the time slow each other down.
    private var contents: [Contents]

    fileprivate struct Contents: Sendable {
        let catalog: TypeCatalog
        var reader = PayloadReader()
        var line = EventLine()
        var draft: DraftBatch
    }

    init(catalog: TypeCatalog, draft: DraftBatch) {
        contents = [Contents(catalog: catalog, draft: draft)]
    }

    /// The number of events.
    public var count: Int { contents[0].draft.events.count }
    public var isEmpty: Bool { contents[0].draft.isEmpty }

    /// The batch as the log takes it.
    var draft: DraftBatch { contents[0].draft }

    /// Adds an event of the type `name`, whose payload is given as JSON and checked here.
    ///
    /// A field that refers to an event of this batch may hold `"#3"`: the id that its third event
    /// makes. When this throws, the batch is as it was.
    ///
    /// - Parameters:
    ///   - name: The full name of the type, such as `meals.food.logged`.
    ///   - version: The version of the type; the newest if nil.
    ///   - json: The payload.
    ///   - at: When it happened; the time of recording if nil.
    ///   - actor: Who did it: an opaque id, never a name.
    ///   - subject: What it is about, where the type itself does not say it.
    ///   - ifUnchanged: Whether to refuse the event if another replica wrote to its subject.
    /// - Throws: ``DiarioError`` that names the field, the rule and the value.
    public mutating func add(
        _ name: String,
        version: Int? = nil,
        json: String,
        at: Timestamp? = nil,
        actor: String? = nil,
        subject: String? = nil,
        ifUnchanged: Bool = false
    ) throws {
        let catalog = contents[0].catalog
        guard let type = version.map({ catalog.type(name, version: $0) }) ?? catalog.newest(name)
        else {
            throw DiarioError(
                .notFound,
                "No adopted pack has the event type \(name)"
                    + (version.map { ", version \($0)" } ?? "") + "."
            )
        }
        guard type.pack != "engine" else {
            throw DiarioError(
                .invalid,
                "\(name) is of the pack engine, whose events only the engine records. "
                    + "Record an event of another pack.",
                rule: "engine-type"
            )
        }
        try contents[0].add(json, as: type) { line in
            line.at = at
            line.ifUnchanged = ifUnchanged
            line.actor = actor.map { line.keep(Array($0.utf8).span) }
            line.subject = subject.map { line.keep(Array($0.utf8).span) }
        }
    }
}

extension EventBatch.Contents {
    /// Adds an event whose envelope `fill` fills in.
    fileprivate mutating func add(
        _ json: String,
        as type: EventType,
        fill: (inout EventLine) -> Void
    ) throws {
        line.reset()
        line.type = type
        fill(&line)
        do throws(SchemaError) {
            try reader.read(
                Array(json.utf8).span,
                as: type,
                options: [.batchReferences],
                into: &line.payload
            )
        } catch {
            throw DiarioError(error)
        }
        do throws(FormatError) { try draft.append(line) } catch { throw DiarioError(error) }
    }
}
