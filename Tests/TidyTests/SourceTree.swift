import Foundation

/// The files of this package.
enum SourceTree {
    static let files: [SourceFile] = read()
    static let manifest = Manifest(file("Package.swift"))

    static func file(_ path: String) -> SourceFile {
        files.first { $0.path == path } ?? SourceFile(path: path, bytes: [])
    }

    private static var root: URL {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
    }

    private static func read() -> [SourceFile] {
        (listedByGit() ?? walked()).sorted().compactMap { path in
            guard let data = try? Data(contentsOf: root.appending(path: path)) else { return nil }
            return SourceFile(path: path, bytes: Array(data))
        }
    }

    /// What git knows and what it would take in; nil where git or its folder is missing.
    private static func listedByGit() -> [String]? {
        let git = Process()
        git.executableURL = URL(filePath: "/usr/bin/env")
        git.arguments = [
            "git", "-C", root.path, "ls-files", "-z", "--cached", "--others", "--exclude-standard",
        ]
        let output = Pipe()
        git.standardOutput = output
        git.standardError = FileHandle.nullDevice
        guard (try? git.run()) != nil else { return nil }
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        git.waitUntilExit()
        guard git.terminationStatus == 0 else { return nil }
        return Set(bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }).map(
            \.self
        )
    }

    /// Everything but what a build or git leaves behind.
    private static func walked() -> [String] {
        let skipped: Set = [".git", ".build", ".swiftpm", "__pycache__"]
        guard let walk = FileManager.default.enumerator(atPath: root.path) else { return [] }
        var paths: [String] = []
        for case let path as String in walk {
            if skipped.contains(String(path.split(separator: "/").last ?? "")) {
                walk.skipDescendants()
            } else {
                paths.append(path)
            }
        }
        return paths
    }
}
