import DiarioSchema
import Foundation

/// A pack as it lies in a folder.
struct PackFolder {
    let url: URL
    /// Relative to the folder, in byte order of their paths.
    let files: [PackFile]

    var name: String { url.lastPathComponent }

    /// The packs in the folder at `url`: every folder in it that has a `pack.json`, by name.
    ///
    /// Files whose name starts with a dot are those of editors and systems, not of packs.
    static func all(in url: URL) throws -> [PackFolder] {
        let manager = FileManager.default
        guard manager.fileExists(atPath: url.path) else { return [] }
        let names = try manager.contentsOfDirectory(atPath: url.path).filter {
            manager.fileExists(atPath: url.appending(path: "\($0)/pack.json").path)
        }
        return try names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            .map { try PackFolder(url: url.appending(path: $0)) }
    }

    init(url: URL) throws {
        self.url = url
        // A link to a folder is as good as the folder.
        let folder = url.resolvingSymlinksInPath()
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter {
            !$0.split(separator: "/").contains { $0.hasPrefix(".") }
                && Self.isFile(folder.appending(path: $0))
        }
        files = try paths.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { path in
            PackFile(path: path, bytes: Array(try Data(contentsOf: folder.appending(path: path))))
        }
    }

    private static func isFile(_ url: URL) -> Bool {
        (try? url.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true
    }

    /// The pack without a fault; else a failure that names every fault with file and line.
    func checked() throws(Failure) -> Pack {
        do throws(PackError) {
            let pack = try Pack(files: files)
            let problems = pack.checkExamples()
            guard problems.isEmpty else { throw PackError(problems) }
            return pack
        } catch {
            throw Failure(lines: error.problems.map { line(of: $0) })
        }
    }

    /// A problem as compilers tell theirs, so that editors find the place.
    private func line(of problem: PackProblem) -> String {
        let place = problem.line.map { ":\($0)" } ?? ""
        return "\(url.path)/\(problem.file)\(place): error: \(problem.message) [\(problem.rule)]"
    }
}

extension PackFile {
    /// The content as text.
    func text() throws(Failure) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(lines: ["error: \(path) is not valid UTF-8, and a pack holds only text"])
        }
        return text
    }
}

/// An error that the build shows.
struct Failure: Error {
    let lines: [String]
}
