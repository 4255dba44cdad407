import Foundation

/// The files of `schema`, by their paths below it.
package enum SchemaFolder {
    /// Where the folder is.
    package static var path: String { url.path }

    private static var url: URL {
        URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "schema")
    }

    /// The files in a folder, in order of their names.
    package static func files(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: url.appending(path: folder).path)
            .sorted().map { folder + "/" + $0 }
    }

    package static func contents(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: url.appending(path: path)))
    }
}
