import DiarioCore
import DiarioCrypto
package import DiarioSchema

/// Turns a CloudEvent into the line of an export: schema/format/cloudevents.md, section 4.
///
/// Events of other programs get an origin made of their source and id, so that each is recorded
/// once, however often it is imported.
package struct CloudEventReader {
    private let catalog: TypeCatalog
    /// True if events that other programs recorded are taken.
    private let takesForeign: Bool
    /// References to schemas that were found right, with what they name.
    private var knownSchemas: [String: (typeName: String, version: Int64)] = [:]
    /// The attributes that were passed over, as many as a message can name.
    private(set) var ignoredNames: Set<String> = []
    /// True if the event that was read last was recorded by another program.
    private(set) var isForeign = false

    private static let ignoredNameCountMax = 16
    /// The bits of a sequence that is made of an id.
    private static let sequenceMask: UInt64 = 1 << 61 - 1

    package init(_ catalog: TypeCatalog, takesForeign: Bool) {
        self.catalog = catalog
        self.takesForeign = takesForeign
    }

    /// Reads `element`, one JSON object, and gives the line that says the same.
    mutating func read(_ element: [UInt8], _ place: InputPlace) throws(DiarioError) -> [UInt8] {
        let item: JSON.Item
        do throws(SchemaError) { item = try JSON.parse(element) } catch {
            throw Self.syntaxError(error, place)
        }
        do throws(Refusal) {
            let attributes = try attributes(of: item.value)
            return try line(attributes)
        } catch {
            throw DiarioError(
                .invalid,
                "\(place.text): \(error.message)",
                line: place.line,
                rule: "cloudevents",
                field: error.name
            )
        }
    }

    /// The fault of an attribute, with its remedy.
    private struct Refusal: Error {
        let name: String
        let message: String

        init(_ name: String, _ what: String) {
            self.name = name
            message = "attribute \(name): \(what)"
        }
    }

    /// The members of one event that are there.
    private struct Attributes {
        var values: [String: JSON] = [:]

        /// A text of at least one character.
        func text(_ name: String) throws(Refusal) -> String? {
            guard let value = values[name] else { return nil }
            guard case .string(let text) = value, !text.isEmpty else {
                throw Refusal(name, "it must be a text that is not empty")
            }
            return text
        }

        func required(_ name: String) throws(Refusal) -> String {
            guard let text = try text(name) else {
                throw Refusal(name, "it is missing, and no CloudEvent is without it")
            }
            return text
        }
    }

    /// All attributes but those with null, which means absent, and those that are ignored.
    private mutating func attributes(of event: JSON) throws(Refusal) -> Attributes {
        guard case .object(let members) = event else { return Attributes() }
        var attributes = Attributes()
        attributes.values.reserveCapacity(members.count)
        for member in members {
            if case .null = member.item.value { continue }
            switch member.key {
            case "specversion", "id", "source", "type", "datacontenttype", "dataschema", "subject",
                "time", "data", "data_base64":
                attributes.values[member.key] = member.item.value
            case _ where CloudEventName.extensions.contains(member.key):
                attributes.values[member.key] = member.item.value
            default:
                try ignore(member.key)
            }
        }
        return attributes
    }

    private mutating func ignore(_ name: String) throws(Refusal) {
        let isName =
            !name.isEmpty && name.utf8.allSatisfy { 0x61...0x7a ~= $0 || 0x30...0x39 ~= $0 }
        guard isName else {
            throw Refusal(
                FieldText.shortened(name),
                "names of attributes are made of lower-case letters and digits"
            )
        }
        guard !name.hasPrefix(CloudEventName.extensionStart) else {
            throw Refusal(
                FieldText.shortened(name),
                "there is none of that name. Those of Diario are "
                    + CloudEventName.extensions.joined(separator: ", ")
            )
        }
        if ignoredNames.count < Self.ignoredNameCountMax {
            ignoredNames.insert(FieldText.shortened(name))
        }
    }

    private mutating func line(_ attributes: Attributes) throws(Refusal) -> [UInt8] {
        guard case .string("1.0") = attributes.values["specversion"] else {
            throw Refusal("specversion", "it must be \"1.0\", the version that Diario reads")
        }
        let typeName = try attributes.required("type")
        let origin = try origin(attributes, typeName)
        try checkContent(attributes)
        let version = try version(attributes, typeName)
        var text = LineText()
        text.add("type", .string(typeName))
        if let version { text.add("version", .integer(version)) }
        let data = try data(attributes)
        text.add("payload", data)
        if let subject = try subject(attributes, typeName, version, data) {
            text.add("subject", .string(subject))
        }
        if let actor = try actor(attributes) { text.add("actor", .string(actor)) }
        if let time = try time("time", attributes) { text.add("at", .string(time)) }
        if let value = attributes.values[CloudEventName.ifUnchanged] {
            guard case .boolean = value else {
                throw Refusal(CloudEventName.ifUnchanged, "it must be true or false")
            }
            text.add("ifUnchanged", value)
        }
        text.add("origin", .string(origin))
        for (name, key) in [
            (CloudEventName.position, "position"), (CloudEventName.base, "base"),
        ] {
            guard let digits = try attributes.text(name) else { continue }
            guard let number = Int64(digits), number >= 0, "\(number)" == digits else {
                throw Refusal(name, "it must be a whole number as a text, such as \"17\"")
            }
            text.add(key, .integer(number))
        }
        if let clock = try attributes.text(CloudEventName.clock) {
            text.add("clock", .string(clock))
        }
        if let time = try time(CloudEventName.acceptedAt, attributes) {
            text.add("acceptedAt", .string(time))
        }
        if let batch = try attributes.text(CloudEventName.batch) {
            text.add("batch", .string(batch))
        }
        return text.finished
    }

    /// The text of the origin that the event has, or gets if another program recorded it.
    private mutating func origin(
        _ attributes: Attributes,
        _ typeName: String
    ) throws(Refusal) -> String {
        let source = try attributes.required("source")
        let id = try attributes.required("id")
        isForeign = !source.hasPrefix(CloudEventName.scheme)
        guard isForeign else {
            guard Self.isOrigin(id, of: source) else {
                throw Refusal(
                    "source",
                    "with an id such as 7zk3m9q2c1f4a-17 it must be "
                        + "\(CloudEventName.sourceStart)7zk3m9q2c1f4a. Use a source of your own "
                        + "that does not begin with \(CloudEventName.scheme) for other events"
                )
            }
            return id
        }
        guard takesForeign else {
            throw Refusal(
                "source",
                "another program recorded this event, and the file begins with one of Diario. "
                    + "Import it from a file of its own"
            )
        }
        guard !typeName.hasPrefix("engine.") else {
            throw Refusal("type", "events of the pack engine are recorded by the engine alone")
        }
        for name in CloudEventName.exported where attributes.values[name] != nil {
            throw Refusal(name, "only an event that Diario recorded has it; leave it out")
        }
        return Self.derivedOrigin(source: source, id: id).text
    }

    /// True if an id is an origin of the replica that a source names.
    private static func isOrigin(_ id: String, of source: String) -> Bool {
        let replica = source.utf8.dropFirst(CloudEventName.sourceStart.utf8.count)
        let bytes = Array(id.utf8)
        guard source.hasPrefix(CloudEventName.sourceStart), let dash = bytes.firstIndex(of: 0x2d),
            bytes[..<dash].elementsEqual(replica),
            ReplicaID(text: bytes.span.extracting(..<dash)) != nil
        else { return false }
        let digits = bytes[(dash + 1)...]
        return 1...20 ~= digits.count && digits.first != 0x30
            && digits.allSatisfy { 0x30...0x39 ~= $0 }
    }

    /// The derived origin of an event of another program.
    static func derivedOrigin(source: String, id: String) -> Origin {
        var bytes: [UInt8] = []
        for text in [source, id] {
            let count = UInt64(text.utf8.count)
            bytes += (0..<8).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
            bytes += text.utf8
        }
        let words = SHA256.hash(bytes.span).words
        // No hash is known to begin with eight zeros.
        guard let replica = ReplicaID(rawValue: words.0) ?? ReplicaID(rawValue: 1) else {
            preconditionFailure("one is a replica")
        }
        return Origin(replica: replica, sequence: 1 + words.1 & sequenceMask)
    }

    private func checkContent(_ attributes: Attributes) throws(Refusal) {
        if let type = try attributes.text("datacontenttype"), !Self.isJSON(type) {
            throw Refusal(
                "datacontenttype",
                "it is \(FieldText.shortened(type)), and payloads are JSON. Send application/json"
            )
        }
        guard attributes.values["data_base64"] == nil else {
            throw Refusal(
                "data_base64",
                "binary data is not taken, and payloads are JSON. Send them as data"
            )
        }
    }

    /// True if a media type says that its content is JSON.
    private static func isJSON(_ type: String) -> Bool {
        // The usual value.
        if type == "application/json" { return true }
        let name = type.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        guard let slash = name.firstIndex(of: "/") else { return false }
        let subtype = name[name.index(after: slash)...]
        return subtype == "json" || subtype.hasSuffix("+json")
    }

    private mutating func version(
        _ attributes: Attributes,
        _ typeName: String
    ) throws(Refusal) -> Int64? {
        var version: Int64?
        if let value = attributes.values[CloudEventName.version] {
            guard case .integer(let number) = value, number > 0 else {
                throw Refusal(CloudEventName.version, "it must be a whole number from 1")
            }
            version = number
        }
        guard let schema = try attributes.text("dataschema"),
            schema.hasPrefix(CloudEventName.scheme)
        else { return version }
        if let known = knownSchemas[schema], known.typeName == typeName,
            version ?? known.version == known.version
        {
            return known.version
        }
        let parts = schema.dropFirst(CloudEventName.schemaStart.utf8.count).split(
            separator: "/",
            omittingEmptySubsequences: false
        )
        guard schema.hasPrefix(CloudEventName.schemaStart), parts.count == 3,
            parts[0] == typeName, let number = Int64(parts[1]), number > 0,
            version ?? number == number
        else {
            throw Refusal(
                "dataschema",
                "it must name the type and its version: \(CloudEventName.schemaStart)"
                    + "TYPE/VERSION/FINGERPRINT, as the other attributes do"
            )
        }
        if let exact = Int(exactly: number),
            let type = catalog.type(typeName, version: exact)
        {
            guard schema == CloudEventWriter.schema(type) else {
                throw Refusal(
                    "dataschema",
                    "the schema of \(typeName) version \(number) differs from the one of this "
                        + "space. Adopt the pack that the events were recorded with"
                )
            }
            knownSchemas[schema] = (typeName, number)
        }
        return number
    }

    private func data(_ attributes: Attributes) throws(Refusal) -> JSON {
        guard let data = attributes.values["data"] else { return .object([]) }
        guard case .object = data else {
            throw Refusal("data", "it is \(data.kindName), and payloads are JSON objects")
        }
        return data
    }

    /// The subject that the line is to have: none where the payload says it.
    private func subject(
        _ attributes: Attributes,
        _ typeName: String,
        _ version: Int64?,
        _ data: JSON
    ) throws(Refusal) -> String? {
        let subject = try attributes.text("subject")
        if let escaped = try attributes.text(CloudEventName.escapedSubject) {
            guard subject == nil, let text = CloudEventName.unescaped(escaped) else {
                throw Refusal(CloudEventName.escapedSubject, "it must be a text with %XX, alone")
            }
            return text
        }
        let type = version.flatMap { catalog.type(typeName, version: Int(clamping: $0)) }
        guard let subject, let type = type ?? catalog.newest(typeName),
            let index = type.subjectFieldIndex
        else { return subject }
        let name = type.fields[index].name
        let said: String?
        switch data.member(name)?.item.value {
        case .string(let text): said = text
        case .integer(let number): said = "\(number)"
        default: said = nil
        }
        guard said == subject else {
            throw Refusal(
                "subject",
                "events of this type are about what \(name) in data says. Leave subject out, or "
                    + "give both the same value"
            )
        }
        return nil
    }

    private func actor(_ attributes: Attributes) throws(Refusal) -> String? {
        let actor = try attributes.text(CloudEventName.actor)
        guard let escaped = try attributes.text(CloudEventName.escapedActor) else { return actor }
        guard actor == nil, let text = CloudEventName.unescaped(escaped) else {
            throw Refusal(CloudEventName.escapedActor, "it must be a text with %XX, alone")
        }
        return text
    }

    private func time(_ name: String, _ attributes: Attributes) throws(Refusal) -> String? {
        guard let text = try attributes.text(name) else { return nil }
        let bytes = Array(text.utf8)
        guard CivilTime.parseDateTime(bytes.span) != nil else {
            throw Refusal(name, "it must be a time of RFC 3339, such as 2026-05-04T07:30:00Z")
        }
        return text
    }

    /// An error of the JSON itself, with its place in the file in the place of that in the element.
    private static func syntaxError(_ error: SchemaError, _ place: InputPlace) -> DiarioError {
        guard let element = place.element else { return DiarioError(error, line: place.line) }
        let byte = error.byteOffset + 1
        let message = error.message.replacing(
            "byte \(byte)",
            with: "byte \(element.byte + byte - 1)"
        )
        return DiarioError(
            error.kind == .tooLarge ? .tooLarge : .invalid,
            "\(place.text): \(message)",
            line: place.line + (error.line ?? 1) - 1,
            rule: error.rule,
            field: error.path
        )
    }
}

/// Puts a line together.
private struct LineText {
    private var bytes: [UInt8] = [0x7b]

    var finished: [UInt8] { bytes + [0x7d] }

    mutating func add(_ key: String, _ value: JSON) {
        if bytes.count > 1 { bytes.append(0x2c) }
        bytes += "\"\(key)\":".utf8
        value.appendCanonical(to: &bytes)
    }
}

/// Texts of the input in messages.
private enum FieldText {
    private static let countMax = 40

    /// At most 40 characters of it.
    static func shortened(_ text: String) -> String {
        text.count > countMax ? text.prefix(countMax) + "..." : text
    }
}
