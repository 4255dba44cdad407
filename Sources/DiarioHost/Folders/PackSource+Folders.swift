import DiarioCore
package import DiarioEngine
package import DiarioSchema
import DiarioStorage

// Packs in folders of the operating system.

extension PackSource {
    /// The packs of these names that come with the program, all of them for `all`, and those in
    /// these folders.
    package static func load(
        names: [String],
        folders: [String]
    ) throws -> [Pack] {
        try load(names: names, own: try groups(folders: folders))
    }

    /// The packs in the folder at `path`: one pack, or a folder of packs.
    package static func load(folder path: String) throws -> [Pack] {
        try load(folders: [path])
    }

    /// The packs in several such folders, each of which has a name of its own.
    package static func load(folders paths: [String]) throws -> [Pack] {
        try load(own: try groups(folders: paths))
    }

    /// All that is wrong with the packs in a folder, as `schema check` reports it.
    package static func problems(folder path: String) throws -> [PackProblem] {
        problems(of: try groups(folder: path), at: path)
    }

    private static func groups(folders paths: [String]) throws -> [Group] {
        var groups: [Group] = []
        for path in paths {
            let found = try self.groups(folder: path)
            guard !found.isEmpty else {
                throw DiarioError(.notFound, "\(path) holds no pack: \(noPackText).")
            }
            groups += found.map { $0.placed(in: path, of: paths.count) }
        }
        return groups
    }

    private static func groups(folder path: String) throws -> [Group] {
        let folder = try POSIXDirectory(path: path, access: .read)
        if try folder.exists("pack.json") { return [try group("", in: folder)] }
        var groups: [Group] = []
        for name in try folder.list("") where name != engineName {
            guard let pack = try pack(at: "\(path)/\(name)") else { continue }
            groups.append(try group(name, in: pack))
        }
        return groups
    }

    /// The folder of a pack, which may be a link; nil if it has none, or is a file beside packs.
    private static func pack(at path: String) throws(StorageError) -> POSIXDirectory? {
        do throws(StorageError) {
            let folder = try POSIXDirectory(path: path, access: .read)
            return try folder.exists("pack.json") ? folder : nil
        } catch .notDirectory, .notFound {
            return nil
        }
    }

    /// The pack in a folder: the files of it and of the folders in it.
    private static func group(
        _ name: String,
        in folder: POSIXDirectory
    ) throws(StorageError) -> Group {
        var group = Group(name: name)
        var size = 0
        func refuse(_ path: String, _ rule: String, _ message: String) {
            group.problems.append(
                PackProblem(file: path, line: nil, rule: rule, message: message)
            )
        }
        func add(_ path: String) throws(StorageError) {
            guard group.files.count <= Limits.packFileCountMax else { return }
            do throws(StorageError) {
                // One byte more than allowed is enough to see that it is too much.
                let bytes = try Files.contents(
                    of: path,
                    in: folder,
                    sizeMax: Limits.packSizeMax - min(size, Limits.packSizeMax)
                )
                size += bytes.count
                group.files.append(PackFile(path: path, bytes: bytes))
            } catch .notFile {
                refuse(
                    path,
                    "file-kind",
                    "it is no file but a folder, a pipe or a link, and a pack has files alone: "
                        + "pack.json, and those of the folders beside it. Move it out of the pack, "
                        + "or put the file itself there"
                )
            } catch .tooLarge {
                refuse(
                    path,
                    "pack-size",
                    "with it the pack has more bytes than the limit \(Limits.packSizeMax); split it"
                )
            }
        }
        for name in try folder.list("") where !name.hasPrefix(".") {
            do throws(StorageError) {
                for child in try folder.list(name) where !child.hasPrefix(".") {
                    try add(name + "/" + child)
                }
            } catch .notDirectory {
                try add(name)
            }
        }
        return group
    }
}
