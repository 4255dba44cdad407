// Rules on words that code may not use, or not everywhere.

/// Tokens that may not follow one another, and what to write instead.
struct BannedWords: Sendable {
    let words: [String]
    let replacement: String
    /// Nil where it is banned everywhere.
    let allowedIn: Set<String>?

    init(_ words: [String], _ replacement: String, except allowed: Set<String>? = nil) {
        self.words = words
        self.replacement = replacement
        allowedIn = allowed
    }
}

enum WordRules {
    /// Who talks to people.
    private static let printing: Set = [
        "DiarioCLI", "DiarioBench", "DiarioSim", "DiarioFuzz", "DiarioPackTool", "EmbedPacks",
        "ExampleApp",
    ]
    /// Where the real clock and real chance may come in.
    private static let edge: Set = [
        "Diario", "DiarioServer", "DiarioHTTP", "DiarioCLI", "DiarioBench", "DiarioSim",
        "DiarioPackTool", "EmbedPacks",
    ]

    static let banned: [BannedWords] = [
        BannedWords(["@", "testable"], "give what the test needs `package` access"),
        BannedWords(["as", "!"], "use `as?` with `guard`, or a type that needs no cast"),
        BannedWords(["fatalError", "("], "throw, or `preconditionFailure(\"why it cannot be\")`"),
        BannedWords(
            ["print", "("],
            "return the text to the program that shows it",
            except: printing
        ),
        BannedWords(["Date", "(", ")"], "take a `TimeSource`", except: edge),
        BannedWords(["UUID", "(", ")"], "take an `EntropySource`", except: edge),
        BannedWords([".", "random", "("], "take a `SeededRandom`", except: edge),
        BannedWords([".", "shuffled", "("], "draw with a `SeededRandom`", except: edge),
        BannedWords(["Task", "{"], "use a task group, which waits for its children"),
        BannedWords(["Task", "("], "use a task group, which waits for its children"),
        BannedWords(["Task", ".", "detached"], "use a task group, which waits for its children"),
    ]

    /// Where an app begins a sync that goes on by itself.
    private static let background = "Sources/Diario/Sync/Diary+Connect.swift"

    static func bannedWords(_ file: SourceFile) -> [Finding] {
        let isMain = file.name == "main.swift" || file.path == background
        let rules = banned.filter { rule in
            if isMain, rule.words[0] == "Task" { return false }
            guard let allowed = rule.allowedIn else { return true }
            return !allowed.contains(file.target ?? "")
        }
        let byFirstWord = Dictionary(grouping: rules) { $0.words[0] }
        return file.tokens.indices.flatMap { index -> [Finding] in
            guard let candidates = byFirstWord[file.tokens[index].text] else { return [] }
            return candidates.filter { matches($0.words, file.tokens, at: index) }.map {
                let line = file.tokens[index].line
                return Finding(file, line, "`\($0.words.joined())`: \($0.replacement)")
            }
        }
    }

    private static func matches(_ words: [String], _ tokens: [Token], at index: Int) -> Bool {
        guard index + words.count <= tokens.count else { return false }
        for (distance, word) in words.enumerated() {
            let token = tokens[index + distance]
            guard token.kind != .string, token.text == word else { return false }
        }
        // `x.print(` is somebody's method; `Swift.print(` is not.
        let isMember = index > 0 && tokens[index - 1].isSign(".")
        if isMember, words[0] != "." { return index > 1 && tokens[index - 2].isWord("Swift") }
        // `try !flag` negates.
        if words.last == "!" { return !tokens[index + 1].isSpaced }
        return true
    }

    /// Swift, C and scripts are ASCII, so that what is read is what is compiled.
    static func foreignCharacters(_ file: SourceFile) -> [Finding] {
        guard file.isCode, !file.path.hasSuffix(".sql"), file.bytes.contains(where: { $0 > 127 })
        else { return [] }
        return file.lines.enumerated().compactMap { index, line in
            guard
                let scalar = String(decoding: line, as: UTF8.self).unicodeScalars.first(where: {
                    !$0.isASCII
                })
            else { return nil }
            let escape = "\\u{\(String(scalar.value, radix: 16))}"
            return Finding(file, index + 1, "not ASCII: write \(escape) in a string, or a word")
        }
    }
}
