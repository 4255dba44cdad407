import DiarioCore
import DiarioProjection
package import DiarioSchema

/// The source of packs: the program itself, or folders.
package enum PackSource {
    /// The packs that come with the program, `engine` apart, by name.
    package static func builtIn() throws(DiarioError) -> [Pack] { try readBuiltIn.get() }

    /// The engine's own pack, which every space has.
    package static func engine() throws(DiarioError) -> Pack {
        guard let pack = try readEngine.get().first
        else { preconditionFailure("the program carries its own pack with it") }
        return pack
    }

    // Read once: they are the same for as long as the program runs.
    private static let readBuiltIn = readGroups { $0 != engineName }
    private static let readEngine = readGroups { $0 == engineName }

    private static func readGroups(
        _ isWanted: (Substring) -> Bool
    ) -> Result<[Pack], DiarioError> {
        do throws(DiarioError) {
            return .success(try load(groups: builtInGroups(isWanted)))
        } catch {
            return .failure(error)
        }
    }

    /// The packs of these names that come with the program, all of them for `all`, and those of
    /// these groups.
    package static func load(
        names: [String],
        own groups: [Group]
    ) throws(DiarioError) -> [Pack] {
        let own = try builtIn()
        for name in names where name != "all" && !own.contains(where: { $0.name == name }) {
            throw DiarioError(
                .notFound,
                "No pack \(name) comes with the program. Those that do are "
                    + builtInNames.joined(separator: ", ")
                    + ". One of your own is named by its folder, with a slash: ./\(name)"
            )
        }
        var packs = names.contains("all") ? own : own.filter { names.contains($0.name) }
        if !groups.isEmpty { packs += try load(own: groups) }
        do throws(PackError) { _ = try TypeCatalog(packs) } catch { throw DiarioError(error) }
        return packs
    }

    /// The names of the packs that come with the program.
    package static let builtInNames = builtInGroups { $0 != engineName }.map { $0.name }

    /// The packs of these groups, each of which has a name of its own.
    package static func load(own groups: [Group]) throws(DiarioError) -> [Pack] {
        let packs = try load(groups: groups)
        // The program's own were tried when it was made; those of others are tried here.
        let problems = zip(groups, packs).flatMap { group, pack in
            (ownPackProblems(pack) + offerProblems(pack) + PackCheck.problems(of: pack)).map {
                group.placing($0)
            }
        }
        guard problems.isEmpty else { throw DiarioError(PackError(problems)) }
        return packs
    }

    /// The packs that are part of a program.
    package static func load(embedded packs: [EmbeddedPack]) throws(DiarioError) -> [Pack] {
        try load(groups: packs.map { Group(name: "", files: $0.files) })
    }

    /// The same packs, once their SQL was tried.
    package static func tried(_ packs: [Pack]) throws(DiarioError) -> [Pack] {
        let problems = packs.flatMap { offerProblems($0) + PackCheck.problems(of: $0) }
        guard problems.isEmpty else { throw DiarioError(PackError(problems)) }
        return packs
    }

    /// All that is wrong with the packs in a folder, as `schema check` reports it.
    package static func problems(of groups: [Group], at path: String) -> [PackProblem] {
        var problems: [PackProblem] = []
        var packs: [Pack] = []
        var checked: [Group] = []
        guard !groups.isEmpty else {
            return [PackProblem(file: path, line: nil, rule: "no-pack", message: noPackText)]
        }
        for group in groups {
            guard group.problems.isEmpty else {
                problems += group.problems.map { group.placing($0) }
                continue
            }
            do throws(PackError) {
                let pack = try Pack(files: group.files)
                var found =
                    offerProblems(pack) + pack.checkExamples() + PackCheck.problems(of: pack)
                if found.isEmpty { found = ExampleCheck.problems(of: pack) }
                if pack.types.isEmpty {
                    found.append(
                        PackProblem(
                            file: "events",
                            line: nil,
                            rule: "no-types",
                            message: "the pack has no type of event, so nothing can be recorded; "
                                + "write a schema, as in events/report.filed.1.json"
                        )
                    )
                }
                problems += found.map { group.placing($0) }
                packs.append(pack)
                checked.append(group)
            } catch {
                problems += error.problems.map { group.placing($0) }
            }
        }
        problems += doubles(packs, checked)
        if problems.isEmpty {
            do throws(PackError) { _ = try TypeCatalog(packs) } catch { problems = error.problems }
        }
        return problems
    }

    /// Packs that have one name, with the places of both.
    private static func doubles(_ packs: [Pack], _ groups: [Group]) -> [PackProblem] {
        var first: [String: Group] = [:]
        var problems: [PackProblem] = []
        for (pack, group) in zip(packs, groups) {
            guard let other = first[pack.name] else {
                first[pack.name] = group
                continue
            }
            let problem = PackProblem(
                file: "pack.json",
                line: nil,
                rule: "pack-twice",
                message: "the pack in \(other.place) is named \(pack.name), too; leave one out"
            )
            problems.append(group.placing(problem))
        }
        return problems
    }

    package static let engineName = "engine"
    package static let noPackText =
        "there is no pack.json in it, nor in a folder of it; name the folder of a pack, or of packs"

    /// The problems of an offered pack; those in use were adopted under fewer rules.
    private static func offerProblems(_ pack: Pack) -> [PackProblem] {
        nameProblems(pack) + emptyProblems(pack) + pack.references.flatMap(doubleProblems)
    }

    /// That a pack has the name of the program's own, whose types would be other ones then.
    private static func nameProblems(_ pack: Pack) -> [PackProblem] {
        guard pack.name == engineName, (try? engine())?.files != pack.files else { return [] }
        return [
            PackProblem(
                file: "pack.json",
                line: 1,
                rule: "reserved-name",
                message: "\(engineName) is the name of the program's own pack; choose another"
            )
        ]
    }

    /// That a pack is the program's own, which no space adopts.
    private static func ownPackProblems(_ pack: Pack) -> [PackProblem] {
        guard pack.name == engineName, nameProblems(pack).isEmpty else { return [] }
        return [
            PackProblem(
                file: "pack.json",
                line: 1,
                rule: "reserved-name",
                message: "this is the program's own pack, which every space has; leave it out"
            )
        ]
    }

    /// Files of SQL with nothing in them.
    private static func emptyProblems(_ pack: Pack) -> [PackProblem] {
        pack.files.filter { file in
            file.path.hasSuffix(".sql")
                && !file.path.hasPrefix("examples/")
                && file.bytes.allSatisfy { $0 == 0x20 || 0x09...0x0d ~= $0 }
        }.map {
            PackProblem(
                file: $0.path,
                line: nil,
                rule: "sql-empty",
                message: "there is nothing in it; write it, or remove the file"
            )
        }
    }

    /// Rows of reference data about one subject: each would undo the other whenever the pack is
    /// adopted.
    private static func doubleProblems(_ table: ReferenceTable) -> [PackProblem] {
        guard let subject = table.type.subjectFieldIndex else { return [] }
        var lines: [[UInt8]: Int] = [:]
        var problems: [PackProblem] = []
        for row in table.rows {
            guard let bytes = row.payload.bytes(at: subject).map({ Array($0) }) else { continue }
            guard let first = lines[bytes] else {
                lines[bytes] = row.line
                continue
            }
            let name = table.type.fields[subject].name
            problems.append(
                PackProblem(
                    file: table.path,
                    line: row.line,
                    rule: "reference-twice",
                    message: "line \(first) has this \(name), too, and there is one row for each; "
                        + "leave one out"
                )
            )
        }
        return problems
    }

    /// The files of one pack, and the folder they came from.
    package struct Group {
        /// Relative to what was asked for; empty if that is the pack itself.
        package var name: String
        package var files: [PackFile] = []
        /// Files of the folder that are not part of a pack.
        package var problems: [PackProblem] = []

        package init(name: String, files: [PackFile] = []) {
            self.name = name
            self.files = files
        }

        /// Its name in messages.
        var place: String { name.isEmpty ? "this program" : name }

        /// The same with the folder that was asked for in front, if there are several.
        package func placed(in path: String, of count: Int) -> Group {
            guard count > 1 else { return self }
            var group = self
            group.name = name.isEmpty ? path : "\(path)/\(name)"
            return group
        }

        /// The problem with its file as the user knows it.
        func placing(_ problem: PackProblem) -> PackProblem {
            guard !name.isEmpty else { return problem }
            return PackProblem(
                file: "\(name)/\(problem.file)",
                line: problem.line,
                rule: problem.rule,
                message: problem.message
            )
        }
    }

    private static func load(groups: [Group]) throws(DiarioError) -> [Pack] {
        do throws(PackError) {
            var packs: [Pack] = []
            for group in groups {
                do throws(PackError) {
                    guard group.problems.isEmpty else { throw PackError(group.problems) }
                    packs.append(try Pack(files: group.files))
                } catch {
                    throw PackError(error.problems.map { group.placing($0) })
                }
            }
            let doubles = doubles(packs, groups)
            guard doubles.isEmpty else { throw PackError(doubles) }
            _ = try TypeCatalog(packs)
            return packs
        } catch {
            throw DiarioError(error)
        }
    }

    /// The packs that come with the program, as far as their names are wanted.
    private static func builtInGroups(_ isWanted: (Substring) -> Bool) -> [Group] {
        var groups: [Group] = []
        for (path, text) in BuiltInPacks.files {
            guard let slash = path.firstIndex(of: "/"), isWanted(path[..<slash]) else { continue }
            let name = String(path[..<slash])
            if groups.last?.name != name { groups.append(Group(name: name, files: [])) }
            let file = PackFile(
                path: String(path[path.index(after: slash)...]),
                bytes: Array(text.utf8)
            )
            groups[groups.count - 1].files.append(file)
        }
        return groups
    }
}
