import DiarioCore
import DiarioProjection
package import DiarioSchema
import DiarioStorage

/// Where packs come from: the program itself, or folders.
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

    /// The packs in the folder at `path`: one pack, or a folder of packs.
    package static func load(folder path: String) throws(DiarioError) -> [Pack] {
        let groups = try groups(folder: path)
        let packs = try load(groups: groups)
        // The program's own were tried when it was made; those of others are tried here.
        let problems = zip(groups, packs).flatMap { group, pack in
            (nameProblems(pack) + PackCheck.problems(of: pack)).map { group.placing($0) }
        }
        guard problems.isEmpty else { throw DiarioError(PackError(problems)) }
        return packs
    }

    /// The packs that are part of a program.
    static func load(embedded packs: [EmbeddedPack]) throws(DiarioError) -> [Pack] {
        try load(groups: packs.map { Group(name: "", files: $0.files) })
    }

    /// The same packs, once their SQL was tried.
    static func tried(_ packs: [Pack]) throws(DiarioError) -> [Pack] {
        let problems = packs.flatMap { nameProblems($0) + PackCheck.problems(of: $0) }
        guard problems.isEmpty else { throw DiarioError(PackError(problems)) }
        return packs
    }

    /// All that is wrong with the packs in a folder, as `schema check` reports it.
    package static func problems(folder path: String) throws(DiarioError) -> [PackProblem] {
        var problems: [PackProblem] = []
        var packs: [Pack] = []
        for group in try groups(folder: path) {
            do throws(PackError) {
                let pack = try Pack(files: group.files)
                var found =
                    nameProblems(pack) + pack.checkExamples() + PackCheck.problems(of: pack)
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
            } catch {
                problems += error.problems.map { group.placing($0) }
            }
        }
        if problems.isEmpty {
            do throws(PackError) { _ = try TypeCatalog(packs) } catch { problems = error.problems }
        }
        return problems
    }

    private static let engineName = "engine"

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

    /// The files of one pack, and the folder they came from.
    private struct Group {
        /// Relative to what was asked for; empty if that is the pack itself.
        var name: String
        var files: [PackFile]

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
                do throws(PackError) { packs.append(try Pack(files: group.files)) } catch {
                    throw PackError(error.problems.map { group.placing($0) })
                }
            }
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

    private static func groups(folder path: String) throws(DiarioError) -> [Group] {
        do throws(StorageError) {
            let folder = try POSIXDirectory(path: path, access: .read)
            if try folder.exists("pack.json") {
                return [Group(name: "", files: try files(in: folder, below: ""))]
            }
            var groups: [Group] = []
            for name in try folder.list("") where try isPack(name, in: folder) {
                guard name != engineName else { continue }
                groups.append(Group(name: name, files: try files(in: folder, below: name + "/")))
            }
            guard !groups.isEmpty else {
                throw .notFound(path + "/pack.json")
            }
            return groups
        } catch {
            if case .notFound(let missing) = error, missing.hasSuffix("pack.json") {
                throw DiarioError(
                    .notFound,
                    "\(path) holds no pack: there is no pack.json in it, nor in a folder of it."
                )
            }
            throw DiarioError(error)
        }
    }

    /// Whether there is a folder of that name with a pack in it; files beside packs are none.
    private static func isPack(
        _ name: String,
        in folder: POSIXDirectory
    ) throws(StorageError) -> Bool {
        do throws(StorageError) {
            return try folder.exists(name + "/pack.json")
        } catch .notDirectory {
            return false
        }
    }

    /// The files of a pack: those of its folder and of the folders in it.
    private static func files(
        in folder: POSIXDirectory,
        below prefix: String
    ) throws(StorageError) -> [PackFile] {
        var files: [PackFile] = []
        var size = 0
        func add(_ path: String) throws(StorageError) {
            guard files.count <= Limits.packFileCountMax else { return }
            // One byte more than allowed is enough to see that it is too much.
            let bytes = try folder.contents(
                of: prefix + path,
                sizeMax: Limits.packSizeMax - min(size, Limits.packSizeMax)
            )
            size += bytes.count
            files.append(PackFile(path: path, bytes: bytes))
        }
        for name in try folder.list(prefix.isEmpty ? "" : String(prefix.dropLast()))
        where !name.hasPrefix(".") {
            do throws(StorageError) {
                for child in try folder.list(prefix + name) where !child.hasPrefix(".") {
                    try add(name + "/" + child)
                }
            } catch .notDirectory {
                try add(name)
            }
        }
        return files
    }
}
