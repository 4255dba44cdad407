import DiarioTestSupport
import Foundation
import Testing

/// The files of schema/scenarios: what a replica and its authority say in situations that people
/// ask about, on real logs.
///
/// `DIARIO_REWRITE=1` writes what came of the commands into the files.
struct ScenarioTests {
    private static var files: [String] {
        get throws { try SchemaFolder.files("scenarios").filter { $0.hasSuffix(".txt") } }
    }

    @Test func thereAreScenarios() throws {
        let count = try Self.files.count
        #expect(count >= 20)
    }

    @Test(arguments: try ScenarioTests.files) func goesAsItIsWritten(file: String) throws {
        let written = String(decoding: try SchemaFolder.contents(file), as: UTF8.self)
        let told = try Self.tell(written)
        guard told != written else { return }
        if ProcessInfo.processInfo.environment["DIARIO_REWRITE"] == "1" {
            try told.write(
                toFile: SchemaFolder.path + "/" + file,
                atomically: true,
                encoding: .utf8
            )
        }
        Issue.record("\(file): - as it is written, + as it went\n\(Self.difference(written, told))")
    }

    /// The scenario with what comes of its commands now.
    private static func tell(_ text: String) throws -> String {
        let world = try ScenarioWorld()
        var told: [String] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false)
        where !line.hasPrefix("  ") {
            told.append(String(line))
            guard line.hasPrefix("> ") else { continue }
            told += try world.run(String(line.dropFirst(2))).map { "  " + $0 }
        }
        return told.joined(separator: "\n")
    }

    private static func difference(_ old: String, _ new: String) -> String {
        let before = old.split(separator: "\n", omittingEmptySubsequences: false)
        let after = new.split(separator: "\n", omittingEmptySubsequences: false)
        let changes = after.difference(from: before)
        var lines = before.map { " \($0)" }
        var removed: Set<Int> = []
        for case .remove(let offset, _, _) in changes.removals { removed.insert(offset) }
        for offset in removed { lines[offset] = "-\(before[offset])" }
        // Insertions are told by where they stand in the new text.
        var (shown, next) = ([String](), 0)
        var inserted: [Int: Substring] = [:]
        for case .insert(let offset, let line, _) in changes.insertions { inserted[offset] = line }
        for (offset, line) in lines.enumerated() {
            while let line = inserted[next] {
                shown.append("+\(line)")
                next += 1
            }
            shown.append(line)
            if !removed.contains(offset) { next += 1 }
        }
        while let line = inserted[next] {
            shown.append("+\(line)")
            next += 1
        }
        return shown.joined(separator: "\n")
    }
}
