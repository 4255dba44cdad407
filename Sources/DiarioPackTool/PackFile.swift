import Foundation

/// One file of a pack, as text.
struct PackFile {
    /// `<pack>/...`, below the folder of the packs.
    let path: String
    let text: String

    init(path: String, folder: URL) throws {
        let bytes = try Data(contentsOf: folder.appending(path: path))
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw PackFileError.notText(path: path)
        }
        self.path = path
        self.text = text
    }
}

enum PackFileError: Error, CustomStringConvertible {
    case notText(path: String)

    var description: String {
        switch self {
        case .notText(let path): "\(path) is not valid UTF-8, and a pack holds only text"
        }
    }
}

/// The files of every folder in `schema` that has a `pack.json`, in byte order of their paths.
///
/// Files whose name starts with a dot are those of editors and systems, not of packs.
func packFiles(in schema: URL) throws -> [PackFile] {
    let manager = FileManager.default
    guard manager.fileExists(atPath: schema.path) else { return [] }
    let packs = try manager.contentsOfDirectory(atPath: schema.path).filter {
        manager.fileExists(atPath: schema.appending(path: "\($0)/pack.json").path)
    }
    let paths = try packs.flatMap { pack in
        try manager.subpathsOfDirectory(atPath: schema.appending(path: pack).path)
            .map { "\(pack)/\($0)" }
            .filter { path in
                !path.split(separator: "/").contains { $0.hasPrefix(".") }
                    && isFile(schema.appending(path: path))
            }
    }
    return try paths.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        .map { try PackFile(path: $0, folder: schema) }
}

private func isFile(_ url: URL) -> Bool {
    (try? url.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true
}
