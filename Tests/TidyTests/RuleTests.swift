import Testing

@Suite struct RuleTests {
    @Test(arguments: RuleSample.sizes + RuleSample.words + RuleSample.safety)
    func rulesTellGoodFromBad(_ sample: RuleSample) { check(sample) }

    @Test(arguments: RuleSample.imports + RuleSample.documents)
    func rulesOnTheWholeTellGoodFromBad(_ sample: RuleSample) { check(sample) }

    private func check(_ sample: RuleSample) {
        let good = sample.rule(SourceFile(sample.path, sample.good))
        let bad = sample.rule(SourceFile(sample.path, sample.bad))

        #expect(good.isEmpty)
        #expect(bad.map(\.line) == [sample.line])
        #expect(bad.allSatisfy { $0.path == sample.path && !$0.message.isEmpty })
    }

    @Test func filesOfNoTargetAreFound() {
        let paths = [
            "Sources/A/A.swift", "Sources/A/shim.h", "Tests/ATests/ATests.swift",
            "Tests/ATests/Scenarios/two.txt", "schema/a/pack.json", "README.md", ".gitignore",
        ]
        let stray = ["notes.txt", "Sources/B/B.swift", "Sources/A/old.txt", "docs/a.md"]
        let code = #"let folder = "Scenarios""#
        let files = (paths + stray).map { SourceFile($0, $0.hasSuffix("ATests.swift") ? code : "") }
        let manifest = Manifest(SourceFile("Package.swift", #"("A", []), ("ATests", ["A"])"#))

        let findings = PlacementRules.unusedFiles(files, manifest)

        #expect(findings.map(\.path) == stray)
    }

    @Test func longTypesAreFoundOverTheirFiles() {
        let body = String(repeating: "    let a = 1\n", count: 499)
        let files = [
            SourceFile("Sources/A/T.swift", "package struct T {\n" + body + "}"),
            SourceFile("Sources/A/T+B.swift", "private enum U {}\n\nextension T {\n" + body + "}"),
            SourceFile("Sources/B/T.swift", "struct T {\n" + body + "}"),
        ]

        let findings = TypeRules.longTypes(files)

        #expect(findings.map(\.path) == ["Sources/A/T.swift"])
        #expect(findings.map(\.line) == [1])
    }

    @Test func foldersInACircleAreFound() {
        let files = [
            SourceFile("Sources/A/Low/L.swift", "struct L {}\nprivate struct H {}"),
            SourceFile("Sources/A/High/H.swift", "struct H { let low: L }"),
            SourceFile(
                "Sources/A/Low/M.swift",
                "extension L {\n    // H\n    var high: H? { nil }\n}"
            ),
        ]
        let order = ["A": [["Low"], ["High"]]]

        #expect(TypeRules.circularFolders(Array(files[..<2]), order).isEmpty)
        #expect(TypeRules.circularFolders(Array(files[..<2]), [:]).count == 1)
        let findings = TypeRules.circularFolders(files, order)
        #expect(findings.map(\.path) == ["Sources/A/Low/M.swift"])
        #expect(findings.map(\.line) == [3])
        #expect(TypeRules.circularFolders(files, ["A": [["Low", "High"]]]).isEmpty)
    }

    @Test func manifestsAreRead() {
        let manifest = Manifest(
            SourceFile(
                "Package.swift",
                """
                let libraries = [("A", []), ("B", ["A", "CX"])]
                let tests = [("BTests", ["B"])]
                let package = Package(name: "P", products: [.library(name: "P", targets: ["B"])],
                    targets: [.systemLibrary(name: "CX", providers: [.apt(["x"])]),
                        .target(name: "P", dependencies: ["A", "B"], plugins: ["E"])])
                """
            )
        )

        #expect(manifest.imports["A"] == [])
        #expect(manifest.imports["B"] == ["A", "CX"])
        #expect(manifest.imports["BTests"] == ["B", "DiarioTestSupport"])
        #expect(manifest.imports["CX"] == [])
        #expect(manifest.imports["P"] == ["A", "B"])
        #expect(manifest.imports.count == 5)
        #expect(manifest.modulesOfC == ["CX"])
    }
}
