import DiarioCore

// A blob field is expanded before anything else reads the schema, so that all that follows sees
// ordinary fields. The canonical schema keeps the form.

extension SchemaReader {
    private static let blobKeywords = ["type", "title", "description", "x-diario-blob"]
    private static let formKeywords = ["maxSize", "types", "public"]
    private static let mediaTypeRule =
        "media types in lower case without parameters, such as image/jpeg"

    /// The form of a blob field in a schema.
    struct BlobForm {
        let name: String
        let sizeMax: Int64
        let types: [String]
        let isPublic: Bool

        /// The fields that must be there if the blob is.
        var requiredNames: [String] { ["\(name)Id", "\(name)Size", "\(name)Type"] }
        var keyName: String? { isPublic ? nil : "\(name)Key" }
        var names: [String] { requiredNames + [keyName].compactMap { $0 } }
    }

    /// The schema with ordinary fields in the place of blobs, and what blobs there were.
    mutating func expandingBlobs(_ root: JSON.Item) -> (root: JSON.Item, blobs: [BlobForm]) {
        guard case .object(let members) = root.value,
            case .object(let properties)? = root.value.member("properties")?.item.value
        else { return (root, []) }
        var expanded: [JSON.Member] = []
        var blobs: [BlobForm] = []
        for property in properties {
            guard let form = property.item.value.member("x-diario-blob") else {
                expanded.append(property)
                continue
            }
            let blob = readBlob(property, form)
            checkNames(of: blob, line: property.line, among: properties)
            blobs.append(blob)
            expanded += fields(of: blob, property)
        }
        guard !blobs.isEmpty else { return (root, []) }
        let changed = members.map { member in
            switch member.key {
            case "properties": member.with(.object(expanded))
            case "required": member.with(requiringParts(member.item.value, of: blobs))
            default: member
            }
        }
        return (JSON.Item(value: .object(changed), line: root.line), blobs)
    }

    /// The blobs of the type, once its fields are known; marks which nodes hold 32 bytes.
    mutating func resolveBlobs(_ blobs: [BlobForm], fields: [Field]) -> [BlobField] {
        blobs.compactMap { blob in
            let indices = blob.names.compactMap { name in
                fields.firstIndex { $0.name.hasBytes(of: name) }
            }
            // Too few only if there was a problem.
            guard indices.count == blob.names.count else { return nil }
            let keyIndex = blob.isPublic ? nil : indices[3]
            rules.nodes[indices[0]].isHash = true
            if let keyIndex { rules.nodes[keyIndex].isHash = true }
            return BlobField(
                name: blob.name,
                sizeMax: blob.sizeMax,
                types: blob.types,
                idIndex: indices[0],
                sizeIndex: indices[1],
                typeIndex: indices[2],
                keyIndex: keyIndex
            )
        }
    }

    private mutating func readBlob(_ property: JSON.Member, _ form: JSON.Member) -> BlobForm {
        let path = SchemaNames.told(property.key)
        if case .object(let members) = property.item.value {
            for member in members where !Self.blobKeywords.contains(member.key) {
                unknownKeyword(member, known: Self.blobKeywords, path: path)
            }
        }
        if readText(property.item, "type") != "object" {
            problem(property.line, "blob-type", "\(path): a blob has \"type\": \"object\"")
        }
        if case .object(let members) = form.item.value {
            for member in members where !Self.formKeywords.contains(member.key) {
                unknownKeyword(member, known: Self.formKeywords, path: "\(path): x-diario-blob")
            }
        }
        var sizeMax = Limits.blobSizeMax
        if case .integer(let size)? = form.item.value.member("maxSize")?.item.value,
            1...Limits.blobSizeMax ~= size
        {
            sizeMax = size
        } else {
            problem(
                form.item.value.member("maxSize")?.line ?? form.line,
                "blob-size",
                "\(path): x-diario-blob needs a maxSize: bytes, from 1 to \(Limits.blobSizeMax)"
            )
        }
        var isPublic = false
        if let member = form.item.value.member("public") {
            isPublic = true
            if case .boolean(true) = member.item.value {
            } else {
                problem(
                    member.line,
                    "blob-public",
                    "\(path): public must be true; leave it out where it is not"
                )
            }
        }
        return BlobForm(
            name: property.key,
            sizeMax: sizeMax,
            types: readMediaTypes(form, path: path),
            isPublic: isPublic
        )
    }

    private mutating func readMediaTypes(_ form: JSON.Member, path: String) -> [String] {
        let member = form.item.value.member("types")
        var types: [String] = []
        if case .array(let items)? = member?.item.value {
            for case .string(let text) in items.map({ $0.value }) where BlobField.isMediaType(text)
            {
                types.append(text)
            }
            if !types.isEmpty, types.count == items.count { return types }
        }
        problem(
            member?.line ?? form.line,
            "blob-types",
            "\(path): x-diario-blob needs types, a list of \(Self.mediaTypeRule)"
        )
        return ["application/octet-stream"]
    }

    private mutating func checkNames(
        of blob: BlobForm,
        line: Int,
        among properties: [JSON.Member]
    ) {
        for name in blob.names where properties.contains(where: { $0.hasKey(name) }) {
            problem(
                line,
                "blob-clash",
                "\(blob.name) is recorded as \(blob.names.joined(separator: ", ")), but there is "
                    + "a field \(name) too; rename one of them"
            )
        }
    }

    /// What a blob is recorded as; its words go to the id.
    private func fields(of blob: BlobForm, _ property: JSON.Member) -> [JSON.Member] {
        func member(_ key: String, _ value: JSON) -> JSON.Member {
            let line = property.line
            return JSON.Member(key: key, line: line, item: JSON.Item(value: value, line: line))
        }
        let hash = [
            member("type", .string("string")), member("contentEncoding", .string("base64")),
            member("minLength", .integer(44)), member("maxLength", .integer(44)),
        ]
        let words = ["title", "description"].compactMap { property.item.value.member($0) }
        let size = [
            member("type", .string("integer")), member("minimum", .integer(0)),
            member("maximum", .integer(blob.sizeMax)),
        ]
        let types = JSON.array(
            blob.types.map { JSON.Item(value: .string($0), line: property.line) }
        )
        let names = blob.requiredNames
        let required = [
            member(names[0], .object(hash + words)), member(names[1], .object(size)),
            member(names[2], .object([member("enum", types)])),
        ]
        guard let key = blob.keyName else { return required }
        guard !isForm else { return required + [member(key, .object(hash))] }
        let personal = member("x-diario-personal", .boolean(true))
        return required + [member(key, .object(hash + [personal]))]
    }

    /// `required` with the parts of each blob that it names, but for the key, which is personal.
    private mutating func requiringParts(_ required: JSON, of blobs: [BlobForm]) -> JSON {
        guard case .array(let items) = required else { return required }
        var parts: [JSON.Item] = []
        for item in items {
            guard case .string(let name) = item.value else {
                parts.append(item)
                continue
            }
            if let blob = blobs.first(where: { $0.names.contains(name) }) {
                problem(
                    item.line,
                    "blob-required",
                    "required names \(name), a part of a blob; write \(blob.name)"
                )
            } else if let blob = blobs.first(where: { $0.name.hasBytes(of: name) }) {
                let names = blob.requiredNames
                parts += names.map { JSON.Item(value: .string($0), line: item.line) }
            } else {
                parts.append(item)
            }
        }
        return .array(parts)
    }
}

extension JSON {
    /// The schema of a payload with ordinary fields in the place of blobs.
    package var withPartsOfBlobs: JSON {
        var reader = SchemaReader(file: "", budget: PatternBudget())
        return reader.expandingBlobs(JSON.Item(value: self, line: 1)).root.value
    }
}
