/// Reads `pack.json`.
struct ManifestReader {
    var problems: ProblemList

    private static let keys = [
        "name", "version", "title", "description", "needs", "roles", "who", "stays",
    ]

    init(file: String) { problems = ProblemList(file: file) }

    mutating func problem(_ line: Int?, _ rule: String, _ message: String) {
        problems.add(line, rule, message)
    }

    /// Nil if the pack has no usable name.
    mutating func read(_ bytes: [UInt8]) -> PackManifest? {
        let root: JSON.Item
        do {
            root = try JSON.parse(bytes)
        } catch {
            problem(error.line, error.rule, error.message)
            return nil
        }
        guard case .object(let members) = root.value else {
            problem(root.line, "manifest", "pack.json must hold an object; write { ... }")
            return nil
        }
        for member in members where !Self.keys.contains(member.key) {
            problems.add(
                member.line,
                "unknown-key",
                "the key \(member.key) is not known",
                misspelt: member.key,
                among: Self.keys,
                remedy: "remove it"
            )
        }
        let name = readName(root)
        let version = readVersion(root.value.member("version"), line: root.line)
        let title = readText(root, "title")
        let description = readText(root, "description")
        let needs = readNeeds(root)
        let roles = readRoles(root, pack: name)
        var rules = readWho(root, pack: name, roles)
        readStays(root, into: &rules)
        guard let name else { return nil }
        return PackManifest(
            name: name,
            version: version ?? 0,
            title: title,
            description: description,
            needs: needs,
            rules: rules
        )
    }

    private mutating func readName(_ root: JSON.Item) -> String? {
        guard let member = root.value.member("name") else {
            problem(root.line, "pack-name", "pack.json has no name; add it")
            return nil
        }
        guard case .string(let name) = member.item.value, SchemaNames.isPack(name) else {
            problem(
                member.line,
                "pack-name",
                "the name of a pack is \(SchemaNames.packRule)"
            )
            return nil
        }
        return name
    }

    private mutating func readVersion(_ member: JSON.Member?, line: Int) -> Int? {
        guard let member, case .integer(let version) = member.item.value,
            1...Int64(Int32.max) ~= version
        else {
            problem(
                member?.line ?? line,
                "pack-version",
                "a pack and what it needs have a version, an integer from 1 on"
            )
            return nil
        }
        return Int(version)
    }

    private mutating func readText(_ root: JSON.Item, _ key: String) -> String? {
        guard let member = root.value.member(key) else { return nil }
        guard case .string(let text) = member.item.value else {
            problem(member.line, "manifest", "\(key) must be a string; add quotes")
            return nil
        }
        return text
    }

    /// Reads `"needs": { "day_of": 1 }`: the names of functions with their versions.
    private mutating func readNeeds(_ root: JSON.Item) -> [Pack.Need] {
        guard let member = root.value.member("needs") else { return [] }
        guard case .object(let members) = member.item.value else {
            problem(
                member.line,
                "needs",
                "needs must be an object of functions with their versions, as in "
                    + "{ \"day_of\": 1 }"
            )
            return []
        }
        var needs: [Pack.Need] = []
        for need in members {
            guard let version = readVersion(need, line: need.line) else { continue }
            needs.append(Pack.Need(name: need.key, version: version))
        }
        return needs
    }
}
