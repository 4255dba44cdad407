// The rule on what records of decisions name: tests and scenarios that hold them up.

enum DecisionRules {
    /// Each `SomethingTests.name` between back quotes is a test, and each `name.txt` a scenario.
    static func missingTests(_ file: SourceFile, among files: [SourceFile]) -> [Finding] {
        guard file.isMarkdown else { return [] }
        var findings: [Finding] = []
        for (index, line) in file.lines.enumerated() {
            for name in quoted(line) {
                guard let what = missing(name, among: files) else { continue }
                findings.append(Finding(file, index + 1, "`\(name)`: there is no \(what)"))
            }
        }
        return findings
    }

    /// What stands between back quotes.
    private static func quoted(_ line: ArraySlice<UInt8>) -> [String] {
        let parts = String(decoding: line, as: UTF8.self)
            .split(separator: "`", omittingEmptySubsequences: false)
        return parts.indices.filter { $0 % 2 == 1 }.map { String(parts[$0]) }
    }

    /// What a name says that is not there; nil if it is, or if the name says no such thing.
    private static func missing(_ name: String, among files: [SourceFile]) -> String? {
        let parts = name.split(separator: ".").map(String.init)
        guard parts.count == 2, !name.contains("/"), !name.contains(" ") else { return nil }
        if parts[1] == "txt" {
            let path = "schema/scenarios/\(name)"
            return files.contains { $0.path == path } ? nil : "file \(path)"
        }
        guard parts[0].hasSuffix("Tests") else { return nil }
        let suites = files.filter {
            $0.path.hasPrefix("Tests/") && $0.name == parts[0] + ".swift"
        }
        if suites.isEmpty { return "file of this name in Tests" }
        let isThere = suites.contains { suite in
            zip(suite.tokens, suite.tokens.dropFirst()).contains { word, next in
                word.isWord("func") && next.isWord(parts[1])
            }
        }
        return isThere ? nil : "function of this name in \(parts[0]).swift"
    }
}
