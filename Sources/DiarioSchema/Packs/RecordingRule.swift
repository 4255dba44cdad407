import DiarioCore

/// Who may record the events of a type: an entry of `who` in `pack.json`.
///
/// It holds for every version of the type, and is met by whoever meets one of its parts.
package struct RecordingRule: Hashable, Sendable {
    /// The author of what the event is about may record it.
    package let asksAuthor: Bool
    /// The full names of the roles that may record it, `fish.curator`.
    package let roles: [String]
}

/// A role that a pack declares, which a token can give.
package struct PackRole: Hashable, Sendable {
    /// The full name, `fish.curator`.
    package let name: String
    package let description: String
}

/// The parts of `pack.json` that say who may record what.
struct RecordingRules {
    var roles: [PackRole] = []
    /// By the full names of types.
    var who: [String: RecordingRule] = [:]
    /// Blobs that stay on the device that recorded them, by type and field:
    /// `fish.photo.captured.image`.
    var stays: Set<String> = []
    /// The lines of the entries of `who` and `stays`.
    var lines: [String: Int] = [:]
}

extension ManifestReader {
    /// Reads `"roles": { "curator": "Keeps the catalogue." }`.
    mutating func readRoles(_ root: JSON.Item, pack: String?) -> [PackRole] {
        guard let member = root.value.member("roles") else { return [] }
        guard case .object(let members) = member.item.value else {
            problem(
                member.line,
                "roles",
                "roles must be an object of names with a sentence each, as in "
                    + "{ \"curator\": \"Keeps the catalogue.\" }"
            )
            return []
        }
        var roles: [PackRole] = []
        for role in members {
            guard SchemaNames.isPack(role.key) else {
                problem(role.line, "role-name", "the name of a role is \(SchemaNames.packRule)")
                continue
            }
            guard case .string(let text) = role.item.value, !text.isEmpty else {
                problem(
                    role.line,
                    "roles",
                    "the role \(role.key) needs a sentence that says what it is for; write it "
                        + "in quotes"
                )
                continue
            }
            roles.append(PackRole(name: "\(pack ?? "").\(role.key)", description: text))
        }
        return roles
    }

    /// Reads `"who": { "fish.report.reviewed": { "roles": ["researcher"] } }`.
    mutating func readWho(
        _ root: JSON.Item,
        pack: String?,
        _ roles: [PackRole]
    ) -> RecordingRules {
        var rules = RecordingRules(roles: roles)
        guard let member = root.value.member("who") else { return rules }
        guard case .object(let members) = member.item.value else {
            problem(
                member.line,
                "who",
                "who must be an object of event types with their rules, as in "
                    + "{ \"plants.plant.given\": { \"author\": true } }"
            )
            return rules
        }
        for entry in members {
            guard let rule = readRule(entry, pack: pack, roles) else { continue }
            rules.who[entry.key] = rule
            rules.lines[entry.key] = entry.line
        }
        return rules
    }

    private mutating func readRule(
        _ entry: JSON.Member,
        pack: String?,
        _ roles: [PackRole]
    ) -> RecordingRule? {
        guard case .object(let members) = entry.item.value, !members.isEmpty else {
            problem(
                entry.line,
                "who",
                "the rule of \(SchemaNames.told(entry.key)) must name who may record it: "
                    + "{ \"author\": true }, { \"roles\": [\"curator\"] }, or both"
            )
            return nil
        }
        var asksAuthor = false
        var names: [String] = []
        for member in members {
            switch (member.key, member.item.value) {
            case ("author", .boolean(true)): asksAuthor = true
            case ("roles", .array(let items)) where !items.isEmpty:
                names = readRoleNames(items, pack: pack, roles)
                guard names.count == items.count else { return nil }
            case ("author", _), ("roles", _):
                problem(
                    member.line,
                    "who",
                    "author is true or not there, and roles a list of at least one name"
                )
                return nil
            default:
                problem(
                    member.line,
                    "who",
                    "\(member.key) is no rule; there are author and roles"
                )
                return nil
            }
        }
        return RecordingRule(asksAuthor: asksAuthor, roles: names)
    }

    /// The full names of roles that are declared; what is not is a problem.
    private mutating func readRoleNames(
        _ items: [JSON.Item],
        pack: String?,
        _ roles: [PackRole]
    ) -> [String] {
        var names: [String] = []
        for item in items {
            guard case .string(let text) = item.value else {
                problem(item.line, "who-role", "roles holds names in quotes")
                continue
            }
            let name = "\(pack ?? "").\(text)"
            guard roles.contains(where: { $0.name.hasBytes(of: name) }) else {
                problems.add(
                    item.line,
                    "who-role",
                    "the role \(SchemaNames.told(text)) is not declared",
                    misspelt: text,
                    among: roles.map { String($0.name.split(separator: ".").last ?? "") },
                    remedy: "add it to roles"
                )
                continue
            }
            names.append(name)
        }
        return names
    }
}

extension PackReader {
    /// Checks that each rule is of a type of the pack, and that an author is one of something.
    mutating func check(_ rules: RecordingRules, file: String) {
        for (name, rule) in rules.who.sorted(by: { $0.key < $1.key }) {
            let line = rules.lines[name]
            let versions = types.filter { $0.name.hasBytes(of: name) }
            guard !versions.isEmpty else {
                var list = ProblemList(file: file)
                list.add(
                    line,
                    "who-type",
                    "who has a rule for \(SchemaNames.told(name)), which is no type of this pack",
                    misspelt: name,
                    among: types.map { $0.name },
                    remedy: "remove it"
                )
                problems += list.problems
                continue
            }
            guard rule.asksAuthor,
                let type = versions.first(where: { $0.subjectFieldIndex == nil })
            else { continue }
            problem(
                file,
                line,
                "who-author",
                "\(name) is only for its author, and version \(type.version) does not say by "
                    + "x-diario-subject what it is about; add that, or ask for roles"
            )
        }
    }
}
