import DiarioCore

/// Loads a pack and tells all that is wrong with it.
struct PackReader {
    private let files: [PackFile]
    var problems: [PackProblem] = []
    private var budget = PatternBudget()
    private var named = NamedTypes()
    private var texts = PackTexts()
    private(set) var types: [EventType] = []
    private var references: [ReferenceTable] = []
    private var declarations: [Declaration] = []
    private(set) var sql = PackSQL()

    static let examplesFolder = "examples/"
    static let readmePath = "README.md"
    private static let manifestPath = "pack.json"
    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]
    /// The number of problems after which no further file is read.
    private static let problemCountMax = 1000

    init(_ files: [PackFile]) {
        self.files = files.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }

    /// The problems by file and line.
    var sortedProblems: [PackProblem] {
        problems.enumerated().sorted { left, right in
            let (one, other) = (left.element, right.element)
            return (one.file, one.line ?? 0, left.offset) < (
                other.file, other.line ?? 0, right.offset
            )
        }.map { $0.element }
    }

    /// The pack; valid only if there are no problems.
    mutating func read() -> Pack? {
        guard checkLimits() else { return nil }
        for (left, right) in zip(files, files.dropFirst()) where left.path == right.path {
            problem(left.path, nil, "file-twice", "the file is there twice; remove one")
        }
        let manifest = readManifest()
        if let file = files.first(where: { $0.path == NamedTypes.path }) {
            var found = ProblemList(file: file.path)
            named = NamedTypes(file, &found)
            problems += found.problems
        }
        texts = PackTexts(files.filter { $0.path.hasPrefix(PackTexts.folder) }, &problems)
        for file in files where isType(file.path) && problems.count < Self.problemCountMax {
            readType(file, pack: manifest?.name)
        }
        types.sort { ($0.name, $0.version) < ($1.name, $1.version) }
        let unread = unreadTypes(of: manifest?.name)
        for file in files where file.path != Self.manifestPath && !isType(file.path) {
            guard problems.count < Self.problemCountMax else { return nil }
            if isMarked(file) { continue }
            readContent(file, pack: manifest?.name, unread: unread)
        }
        checkNamedTypes()
        problems += texts.problems(of: declarations, named, sql.queries)
        problems += PackQuery.sourceProblems(of: sql.queries)
        guard let manifest else { return nil }
        check(manifest.rules, file: Self.manifestPath)
        let stays = manifest.rules.stays
        check(stays: stays, lines: manifest.rules.lines, file: Self.manifestPath)
        if let model = BlobModel.make(for: types, stays: stays) { sql.readModels.append(model) }
        return Pack(
            manifest: manifest,
            named: named,
            texts: texts,
            types: types,
            references: references,
            declarations: declarations,
            sql: sql,
            files: files
        )
    }

    /// Types, event types and calls are types of one module in what is made of a pack.
    private mutating func checkNamedTypes() {
        let names = types.map { $0.name } + declarations.map { $0.name }
        for named in self.named.types {
            let taken = names.first {
                SchemaNames.asType($0.drop { $0 != "." }).hasBytes(of: named.name)
            }
            guard let taken else { continue }
            problem(
                NamedTypes.path,
                named.line,
                "type-name",
                "\(named.name) is the name of \(taken) in Swift and TypeScript; choose another"
            )
        }
    }

    /// True for a file with a byte order mark, which is a problem then.
    private mutating func isMarked(_ file: PackFile) -> Bool {
        guard file.path.hasSuffix(".sql") || file.path.hasSuffix(".csv"),
            file.bytes.starts(with: Self.byteOrderMark)
        else { return false }
        problem(
            file.path,
            1,
            "byte-order-mark",
            "the file begins with a byte order mark, as some programs write one; save it as UTF-8 "
                + "without it"
        )
        return true
    }

    /// Reads a file that is neither the manifest nor a type.
    private mutating func readContent(_ file: PackFile, pack: String?, unread: Set<String>) {
        switch (PackPath(file.path), pack) {
        case (.upcast(let name, let from, let to), let pack?):
            let upcast = readUpcast(file, name: "\(pack).\(name)", from: from, to: to)
            if let upcast { sql.upcasts.append(upcast) }
        case (.readModel, _):
            guard file.path != BlobModel.file else {
                let message = "a read model of this name is the engine's; choose another"
                return problem(file.path, nil, "readmodel-name", message)
            }
            var reader = ReadModelReader(file, types: types, unread: unread)
            if let model = reader.read() { sql.readModels.append(model) }
            problems += reader.problems.problems
        case (.query, _):
            var reader = QueryReader(file, named)
            if let query = reader.read() { sql.queries.append(query) }
            problems += reader.problems.problems
        case (.reference(let name, let version), let pack?):
            let table = readReference(file, name: "\(pack).\(name)", version: version)
            if let table { references.append(table) }
        case (.declaration(let kind, let name, let version), let pack?):
            let one = readDeclaration(file, kind, named: ("\(pack).\(name)", version))
            if let one { declarations.append(one) }
        case (.unknown(let message), _): problem(file.path, nil, "unknown-file", message)
        // Of a pack without a name nothing can be read that is called after it.
        case (.upcast, nil), (.reference, nil), (.declaration, nil), (.example, _), (.readme, _),
            (.namedTypes, _), (.texts, _):
            break
        }
    }

    private mutating func readDeclaration(
        _ file: PackFile,
        _ kind: Declaration.Kind,
        named: (name: String, version: Int)
    ) -> Declaration? {
        guard !declarations.contains(where: { $0.name.hasBytes(of: named.name) }) else {
            problem(
                file.path,
                nil,
                "declared-twice",
                "\(named.name) is declared twice; a pack has one version of each command and view, "
                    + "and none has the name of another"
            )
            return nil
        }
        var reader = DeclarationReader(
            file,
            kind,
            named: named,
            types: types,
            self.named,
            texts,
            budget: budget
        )
        let declaration = reader.read()
        budget = reader.budget
        problems += reader.problems.problems
        return declaration
    }

    /// Types of which there is a file, and no version could be read.
    private func unreadTypes(of pack: String?) -> Set<String> {
        guard let pack else { return [] }
        let known = Set(types.map { $0.name })
        let named = files.filter { isType($0.path) }.compactMap {
            PackPath.nameAndVersion($0.path, folder: "events/", suffix: ".json")
        }
        return Set(named.map { "\(pack).\($0.name)" }).subtracting(known)
    }

    private func isType(_ path: String) -> Bool {
        path.hasPrefix("events/") && path.hasSuffix(".json")
    }

    mutating func problem(_ file: String, _ line: Int?, _ rule: String, _ message: String) {
        problems.append(PackProblem(file: file, line: line, rule: rule, message: message))
    }

    private mutating func checkLimits() -> Bool {
        guard files.count <= Limits.packFileCountMax else {
            problem(
                Self.manifestPath,
                nil,
                "file-count",
                "the pack has \(files.count) files, above the limit \(Limits.packFileCountMax); "
                    + "split it"
            )
            return false
        }
        let size = files.reduce(0) { $0 + $1.bytes.count }
        guard size <= Limits.packSizeMax else {
            problem(
                Self.manifestPath,
                nil,
                "pack-size",
                "the pack has \(size) bytes, above the limit \(Limits.packSizeMax); split it"
            )
            return false
        }
        return true
    }

    private mutating func readManifest() -> PackManifest? {
        guard let file = files.first(where: { $0.path == Self.manifestPath }) else {
            problem(
                Self.manifestPath,
                nil,
                "manifest-missing",
                "the pack has no pack.json; write one with its name and version"
            )
            return nil
        }
        var reader = ManifestReader(file: file.path)
        let manifest = reader.read(file.bytes)
        problems += reader.problems.problems
        return manifest
    }

    private mutating func readType(_ file: PackFile, pack: String?) {
        let named = PackPath.nameAndVersion(file.path, folder: "events/", suffix: ".json")
        if named == nil {
            problem(
                file.path,
                nil,
                "file-name",
                "the name must be <name>.<version>.json with the name of the type without its "
                    + "pack, as in report.filed.1.json"
            )
        }
        let type: EventType
        do {
            type = try EventType(
                schema: file.bytes,
                file: file.path,
                self.named,
                budget: &budget
            )
        } catch {
            problems += error.problems
            return
        }
        // Read again only if something is wrong: packs are read whenever a space is opened.
        func line(of key: String) -> Int? {
            (try? JSON.parse(file.bytes))?.value.member(key)?.line
        }
        if let pack, type.pack != pack {
            problem(
                file.path,
                line(of: "title"),
                "type-pack",
                "\(type.name) does not belong to the pack \(pack); its name must start with "
                    + "\(pack)."
            )
        } else if let named, type.name != "\(type.pack).\(named.name)" {
            problem(
                file.path,
                line(of: "title"),
                "title-mismatch",
                "the title \(type.name) disagrees with the file name; write "
                    + "\(type.pack).\(named.name), or rename the file"
            )
        }
        if let named, type.version != named.version {
            problem(
                file.path,
                line(of: "x-diario-version"),
                "version-mismatch",
                "x-diario-version \(type.version) disagrees with the file name; write "
                    + "\(named.version), or rename the file"
            )
        }
        if types.contains(where: { $0.name == type.name && $0.version == type.version }) {
            problem(
                file.path,
                line(of: "title"),
                "type-twice",
                "version \(type.version) of \(type.name) is defined twice; remove one"
            )
            return
        }
        types.append(type)
    }

    private mutating func readUpcast(
        _ file: PackFile,
        name: String,
        from: Int,
        to: Int
    ) -> Upcast? {
        guard from < to else {
            problem(
                file.path,
                nil,
                "upcast-order",
                "an upcast leads to a higher version; rename it to end with .\(to)-\(from).sql"
            )
            return nil
        }
        var found: [EventType] = []
        for version in [from, to] {
            if let type = types.first(where: { $0.name == name && $0.version == version }) {
                found.append(type)
                continue
            }
            problem(
                file.path,
                nil,
                "upcast-type",
                "there is no version \(version) of \(name); add "
                    + "events/\(name.drop { $0 != "." }.dropFirst()).\(version).json, or rename "
                    + "the upcast"
            )
        }
        guard found.count == 2 else { return nil }
        var reader = UpcastReader(file)
        let upcast = reader.read(from: found[0], to: found[1])
        problems += reader.problems.problems
        return upcast
    }

    private mutating func readReference(
        _ file: PackFile,
        name: String,
        version: Int
    ) -> ReferenceTable? {
        guard let type = types.first(where: { $0.name == name && $0.version == version }) else {
            problem(
                file.path,
                nil,
                "reference-type",
                "there is no version \(version) of \(name); name the file after a type that is "
                    + "in events/"
            )
            return nil
        }
        var reader = ReferenceReader(file: file.path, type: type)
        let table = reader.read(file.bytes)
        problems += reader.problems.problems
        return table
    }
}

/// The kind of a file in a pack, by its path.
enum PackPath {
    case upcast(name: String, from: Int, to: Int)
    case reference(name: String, version: Int)
    case readModel
    case query
    case declaration(Declaration.Kind, name: String, version: Int)
    /// Known by its folder, and not looked into here.
    case example
    /// For people, and not looked into at all.
    case readme
    /// Read before all others.
    case namedTypes
    case texts
    case unknown(String)

    init(_ path: String) {
        guard path != PackReader.readmePath else {
            self = .readme
            return
        }
        guard path != NamedTypes.path else {
            self = .namedTypes
            return
        }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty else {
            self = .unknown(
                "a pack has no such file; remove it. There are pack.json, types.json, README.md "
                    + "and the folders events, readmodel, queries, commands, views, reference, "
                    + "texts and examples, without folders in them"
            )
            return
        }
        switch (parts[0], parts[1].split(separator: ".").last) {
        case ("events", "sql"):
            guard let upcast = Self.upcast(parts[1].dropLast(4)) else {
                self = .unknown(
                    "the name of an upcast must be <name>.<from>-<to>.sql, as in "
                        + "report.filed.1-2.sql; rename it"
                )
                return
            }
            self = upcast
        case ("readmodel", "sql"): self = .readModel
        case ("queries", "sql"): self = .query
        case ("texts", "json"): self = .texts
        case ("examples", "jsonl"): self = .example
        case ("commands", "json"): self = Self.declaration(path, .command)
        case ("views", "json"): self = Self.declaration(path, .view)
        case ("reference", "csv"):
            guard
                let named = Self.nameAndVersion(path, folder: "reference/", suffix: ".csv")
            else {
                self = .unknown(
                    "the name must be <name>.<version>.csv, as in species.defined.1.csv; rename "
                        + "the file"
                )
                return
            }
            self = .reference(name: named.name, version: named.version)
        default:
            self = .unknown(
                "a pack has no such file; remove it. events holds .json and .sql, readmodel and "
                    + "queries .sql, commands, views and texts .json, reference .csv, examples "
                    + ".jsonl"
            )
        }
    }

    private static func declaration(_ path: String, _ kind: Declaration.Kind) -> PackPath {
        guard let named = nameAndVersion(path, folder: kind.folder + "/", suffix: ".json") else {
            return .unknown(
                "the name must be <name>.<version>.json with the name of the \(kind.rawValue) "
                    + "without its pack, as in report.file.1.json; rename the file"
            )
        }
        return .declaration(kind, name: named.name, version: named.version)
    }

    /// The parts of `<folder><name>.<version><suffix>`.
    static func nameAndVersion(
        _ path: String,
        folder: String,
        suffix: String
    ) -> (name: String, version: Int)? {
        let file = path.dropFirst(folder.count).dropLast(suffix.count)
        guard let dot = file.lastIndex(of: "."),
            let version = version(file[file.index(after: dot)...]),
            SchemaNames.isType(file[..<dot])
        else { return nil }
        return (String(file[..<dot]), version)
    }

    private static func upcast(_ file: Substring) -> PackPath? {
        guard let dot = file.lastIndex(of: "."), SchemaNames.isType(file[..<dot]) else {
            return nil
        }
        let versions = file[file.index(after: dot)...].split(
            separator: "-",
            omittingEmptySubsequences: false
        )
        guard versions.count == 2, let from = version(versions[0]), let to = version(versions[1])
        else { return nil }
        return .upcast(name: String(file[..<dot]), from: from, to: to)
    }

    private static func version(_ digits: Substring) -> Int? {
        guard digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), digits.utf8.first != 0x30,
            let version = Int(digits), 1...Int(SchemaNames.versionMax) ~= version
        else { return nil }
        return version
    }
}
