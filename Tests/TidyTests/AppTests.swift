import Testing

/// An app is a folder, a module and a line: outside of its own folders hardly anything names it.
@Suite struct AppTests {
    private static let lineCountMax = 12

    @Test func anAppIsNamedInFewLines() {
        for app in SourceTree.manifest.apps {
            let lines = SourceTree.files.filter { $0.isCode || $0.isMarkdown }
                .filter { Self.isCounted($0.path, app) }.flatMap { file in
                    file.lines.enumerated().filter {
                        Self.names(app, String(decoding: $0.element, as: UTF8.self))
                    }.map {
                        "\(file.path):\($0.offset + 1)"
                    }
                }
            #expect(lines.count <= Self.lineCountMax, "\(app): \(lines)")
            #expect(!lines.isEmpty)
        }
    }

    /// True for a file that is neither the app's own, nor a benchmark, nor words for people.
    private static func isCounted(_ path: String, _ app: String) -> Bool {
        let parts = path.split(separator: "/")
        guard path == "Package.swift" || ["Sources", "tools"].contains(parts[0]) else {
            return false
        }
        let isOwn =
            path.hasPrefix("Sources/Diario\(app)") || parts.contains { $0 == app }
            || path.hasPrefix("tools/validators/") && path.contains(app.lowercased())
        return !isOwn && !path.hasPrefix("Sources/DiarioBench")
    }

    private static func names(_ app: String, _ line: String) -> Bool {
        let text = line.drop { $0 == " " }
        guard !["//", "#"].contains(where: { text.hasPrefix($0) }) else { return false }
        return text.lowercased().contains(app.lowercased())
    }
}
