import DiarioCore

/// A pack, loaded and found without fault: its types, reference data and examples.
package struct Pack: Sendable {
    package let name: String
    package let version: Int
    package let title: String?
    package let description: String?
    package let needs: [Need]
    /// The roles that tokens can give.
    package let roles: [PackRole]
    /// Who may record events, by the full names of types; others are open to whoever may append.
    package let who: [String: RecordingRule]
    /// Blobs that stay on the device that recorded them, by type and field.
    package let stays: Set<String>
    /// Those that events, commands and views have in common.
    package let named: NamedTypes
    /// What it says to people; empty if its declarations say all.
    package let texts: PackTexts
    /// Sorted by name, then by version.
    package let types: [EventType]
    /// In byte order of their paths.
    package let references: [ReferenceTable]
    /// Commands and views, in byte order of their paths.
    package let declarations: [Declaration]
    /// Read models, queries and upcasts: read, and not yet tried on a database.
    package let sql: PackSQL
    /// All files, in byte order of their paths.
    package let files: [PackFile]

    /// The newest format of packs that this program reads: 2 has roles and who may record what, 3
    /// has types with names, 4 texts, or parameters of queries with such types, 5 blobs that stay,
    /// or parameters whose values another query has.
    package static let formatMax = 5

    /// The format that a program must read to use the pack.
    package var format: Int {
        if !stays.isEmpty || sql.queries.contains(where: { $0.hasSources }) { return 5 }
        if !texts.isEmpty || sql.queries.contains(where: { $0.hasNewParameters }) { return 4 }
        if !named.types.isEmpty { return 3 }
        return roles.isEmpty && who.isEmpty ? 1 : 2
    }

    /// A Swift function that the pack's SQL calls.
    package struct Need: Equatable, Sendable {
        package let name: String
        package let version: Int
    }

    /// Reads a pack from its files; throws everything that is wrong with it.
    ///
    /// Examples are ignored here, since a space does not adopt them. See `checkExamples`.
    package init(files: [PackFile]) throws(PackError) {
        var reader = PackReader(files)
        let pack = reader.read()
        guard let pack, reader.problems.isEmpty else { throw PackError(reader.sortedProblems) }
        self = pack
    }

    init(
        manifest: PackManifest,
        named: NamedTypes,
        texts: PackTexts,
        types: [EventType],
        references: [ReferenceTable],
        declarations: [Declaration],
        sql: PackSQL,
        files: [PackFile]
    ) {
        name = manifest.name
        version = manifest.version
        title = manifest.title
        description = manifest.description
        needs = manifest.needs
        roles = manifest.rules.roles
        who = manifest.rules.who
        stays = manifest.rules.stays
        self.named = named
        self.texts = texts
        self.types = types
        self.references = references
        self.declarations = declarations
        self.sql = sql
        self.files = files
    }

    /// The files that decide the pack's fingerprint, in byte order of their paths.
    package var fingerprintFiles: [PackFile] {
        files.filter { $0.isAdopted }
    }
}

/// The content of `pack.json`.
struct PackManifest {
    var name: String
    var version: Int
    var title: String?
    var description: String?
    var needs: [Pack.Need]
    var rules: RecordingRules
}

/// One file of reference data, each row as a payload.
package struct ReferenceTable: Sendable {
    package let path: String
    package let type: EventType
    /// In the order of the file.
    package let rows: [Row]

    package struct Row: Sendable {
        /// The line of the file, counted from 1.
        package let line: Int
        package let payload: Payload
    }
}

// MARK: As it is written

extension Pack {
    /// The schema of an event type with the names of types, for what is made of it.
    package func writtenSchema(of type: EventType) -> JSON {
        let name = type.name.dropFirst(type.pack.count + 1)
        return written("events/\(name).\(type.version).json").withPartsOfBlobs
    }

    /// The same of what a command or a view is given and answers.
    package func writtenForms(of declaration: Declaration) -> (input: JSON, result: JSON) {
        let file = "\(declaration.shortName).\(declaration.version).json"
        let root = written(declaration.kind.folder + "/" + file)
        func form(_ key: String) -> JSON {
            guard let item = root.member(key)?.item else { return .object([]) }
            return named.withNames(item).withPartsOfBlobs
        }
        return (form("input"), form("result"))
    }

    private func written(_ path: String) -> JSON {
        guard let file = files.first(where: { $0.path.hasBytes(of: path) }),
            let item = try? JSON.parse(file.bytes)
        else { return .object([]) }
        return named.withNames(item)
    }
}
