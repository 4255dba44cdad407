import DiarioCore

// Blobs that stay on the device that recorded them: schema/README.md, "Blobs".

extension ManifestReader {
    /// Reads `"stays": ["fish.photo.captured.image"]`.
    mutating func readStays(_ root: JSON.Item, into rules: inout RecordingRules) {
        guard let member = root.value.member("stays") else { return }
        guard case .array(let items) = member.item.value, !items.isEmpty else {
            return problem(
                member.line,
                "stays",
                "stays must be a list of event types, each with a field that is a blob, as in "
                    + "[\"plants.plant.seen.photo\"]"
            )
        }
        for item in items {
            guard case .string(let text) = item.value else {
                problem(item.line, "stays", "stays holds names in quotes")
                continue
            }
            rules.stays.insert(text)
            rules.lines[text] = item.line
        }
    }
}

extension PackReader {
    /// Checks that what stays are private blobs of the pack.
    mutating func check(stays: Set<String>, lines: [String: Int], file: String) {
        let blobs = types.flatMap { type in
            type.blobs.filter { !$0.isPublic }.map { "\(type.name).\($0.name)" }
        }
        for name in stays.sorted() where !blobs.contains(where: { $0.hasBytes(of: name) }) {
            var list = ProblemList(file: file)
            list.add(
                lines[name],
                "stays-blob",
                "\(SchemaNames.told(name)) is no private blob of an event type of this pack",
                misspelt: name,
                among: blobs,
                remedy: "remove it from stays"
            )
            problems += list.problems
        }
        guard stays.isEmpty else { return }
        for model in sql.readModels {
            guard let view = model.definition(of: Pack.releasedView) else { continue }
            problem(
                model.file,
                view.line,
                "stays-view",
                "the view \(Pack.releasedView) says which blobs do not stay any more, and "
                    + "pack.json has no stays; add it, or give the view another name"
            )
        }
    }
}

extension Pack {
    /// The view that says for whom blobs are released.
    package static let releasedView = "released_blob"

    /// True if a view of it says for whom blobs are released, in place of events.
    package var hasReleasedView: Bool {
        sql.readModels.contains { $0.definition(of: Self.releasedView) != nil }
    }
}

extension ReadModel {
    /// The statement that makes a view.
    fileprivate func definition(of view: String) -> SQLStatement? {
        definitions.first { statement in
            let words = statement.words
            return words.count > 2 && words[1].hasBytes(of: "view") && words[2].hasBytes(of: view)
        }
    }
}
