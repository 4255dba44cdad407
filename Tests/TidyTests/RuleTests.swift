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
