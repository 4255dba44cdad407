import DiarioEngine
import DiarioFish
import DiarioSchema
import DiarioTestSupport
import Foundation
import Testing

/// The texts of the pack, in both languages.
@Suite struct FishTextsTests {
    private static func pack() throws -> Pack {
        try #require(try PackSource.builtIn().first { $0.name == "fish" })
    }

    @Test func bothLanguagesAreComplete() throws {
        let texts = try Self.pack().texts
        #expect(texts.gaps.map(\.description) == [])
        #expect(Fish.languages == ["en", "it"])
        for entry in texts.entries {
            #expect(entry.texts.languages == ["en", "it"], "\(entry.key)")
            #expect(Texts.placeholders(entry.texts[.italian]) == entry.placeholders)
        }
    }

    /// A rule that no code names is no rule; the compiler sees to the other way round, and to what
    /// placeholders are filled with.
    @Test func everyRuleIsUsed() throws {
        let sources = URL(filePath: SchemaFolder.path).deletingLastPathComponent()
            .appending(path: "Sources/DiarioFish")
        var code = ""
        let files = try #require(FileManager.default.enumerator(atPath: sources.path))
        for case let path as String in files where path.hasSuffix(".swift") {
            code += try String(contentsOf: sources.appending(path: path), encoding: .utf8)
        }
        let rules = try Self.pack().texts.names(in: "rules").map(\.name)
        #expect(rules.count == 69)
        for rule in rules {
            let words = rule.split(separator: "-")
            let name = words[0] + words.dropFirst().map(\.capitalized).joined()
            #expect(code.contains("Fish.Rule.\(name)("), "\(rule)")
        }
    }

    /// No text is without what it says of a value that it was given.
    @Test func placeholdersAreFilled() {
        let broken = [
            Fish.Rule.row(reason: "it is too long"), Fish.Rule.file(reason: "it is empty"),
            Fish.Rule.columns(reason: "it is empty", header: "a,b"),
        ]
        for rule in broken {
            for language in [Language.english, .italian] {
                #expect(!rule.message[language].contains("{"))
                #expect(!rule.remedy[language].contains("{"))
            }
        }
        #expect(broken[2].remedy.english == "Begin with the line a,b")
    }
}
