// Good and bad samples for the rules on imports and documents.

extension RuleSample {
    private static let manifest = Manifest(
        SourceFile(
            "Package.swift",
            """
            ("DiarioCore", []), ("DiarioLog", ["DiarioCore"]), ("DiarioZstd", ["CZstd"])
            .systemLibrary(name: "CZstd")
            """
        )
    )

    static let imports = [
        RuleSample(
            "undeclared imports",
            { ImportRules.undeclaredImports($0, manifest) },
            path: "Sources/DiarioLog/Sample.swift",
            good: "package import DiarioCore\nimport Glibc",
            bad: "import DiarioCore\npackage import DiarioZstd",
            line: 2
        ),
        RuleSample(
            "undeclared imports of a type",
            { ImportRules.undeclaredImports($0, manifest) },
            path: "Sources/DiarioCore/Sample.swift",
            good: "import struct Glibc.stat",
            bad: "import struct DiarioLog.Frame"
        ),
        RuleSample(
            "deep imports",
            ImportRules.deepImports,
            path: "Sources/DiarioCLI/Reading/Sample.swift",
            good: "import Diario\nimport DiarioCrypto",
            bad: "import DiarioLog"
        ),
        RuleSample(
            "deep imports of the HTTP server",
            ImportRules.deepImports,
            path: "Sources/DiarioHTTP/API/Sample.swift",
            good: "import DiarioServer",
            bad: "import DiarioSync"
        ),
        RuleSample(
            "modules of C",
            { ImportRules.unwrappedModules($0, manifest) },
            path: "Sources/DiarioLog/Sample.swift",
            good: "import DiarioZstd\nimport CryptoKit",
            bad: "import CZstd"
        ),
        RuleSample(
            "the map",
            ImportRules.widenedManifest,
            path: "Package.swift",
            good: #"("DiarioSync", ["DiarioCore"]), ("DiarioCLI", ["Diario", "DiarioLog"])"#,
            bad: #"("DiarioCore", []),\#n("DiarioSync", ["DiarioLog"])"#,
            line: 2
        ),
        RuleSample(
            "the map above",
            ImportRules.widenedManifest,
            path: "Package.swift",
            good: #".target(name: "Diario", dependencies: ["DiarioLog"])"#,
            bad: #".target(name: "Diario", dependencies: ["DiarioHTTP"])"#
        ),
        RuleSample(
            "the order of targets",
            ImportRules.laterTargets,
            path: "Package.swift",
            good: #"("DiarioCore", []),\#n("DiarioSync", ["DiarioCore"])"#,
            bad: #"("DiarioCrypto", ["DiarioCore"]),\#n("DiarioCore", [])"#
        ),
        RuleSample(
            "Foundation",
            ImportRules.foundation,
            good: "// import Foundation\nimport Synchronization",
            bad: "private import Foundation"
        ),
        RuleSample(
            "Foundation's parts",
            ImportRules.foundation,
            path: "Sources/DiarioLog/Sample.swift",
            good: "import Glibc",
            bad: "import FoundationEssentials"
        ),
    ]

    private static let limits = SourceFile(
        "Limits.swift",
        """
        public static let aSizeMax = 64 * 1024
        public static let bCountMax = 65_536
        public static let cMillisecondsMax: Int64 = 5 * 60 * 1000
        package static let group = 7
        """
    )
    private static let rows = "| `aSizeMax` | 64 KiB | x |\n| bCountMax | 65,536 | x |\n"

    private static let tests = [
        SourceFile("Tests/DiarioLogTests/LaneTests.swift", "struct A { @Test func one() {} }"),
        SourceFile("schema/scenarios/lost.txt", "Lost"),
    ]

    static let documents = [
        RuleSample(
            "tests that decisions name",
            { DecisionRules.missingTests($0, among: tests) },
            path: "schema/decisions/0001-a.md",
            good: "# A\n`LaneTests.one`, `lost.txt`, `LogError.format`, `tools/bench`",
            bad: "# A\n`LaneTests.two`",
            line: 2
        ),
        RuleSample(
            "suites that decisions name",
            { DecisionRules.missingTests($0, among: tests) },
            path: "schema/decisions/0001-a.md",
            good: "`LaneTests.one`",
            bad: "`ShedTests.one`"
        ),
        RuleSample(
            "scenarios that decisions name",
            { DecisionRules.missingTests($0, among: tests) },
            path: "schema/decisions/0001-a.md",
            good: "`lost.txt`",
            bad: "`found.txt`"
        ),
        RuleSample(
            "missing limits",
            { DocumentRules.limits(limits, document: $0) },
            path: "schema/limits.md",
            good: rows + "| cMillisecondsMax | 300 s | x |",
            bad: rows
        ),
        RuleSample(
            "other limits",
            { DocumentRules.limits(limits, document: $0) },
            path: "schema/limits.md",
            good: rows + "| cMillisecondsMax | 300 s |",
            bad: rows + "| cMillisecondsMax | 30 s |",
            line: 3
        ),
        RuleSample(
            "stale limits",
            { DocumentRules.limits(limits, document: $0) },
            path: "schema/limits.md",
            good: rows + "| cMillisecondsMax | 300 s |",
            bad: rows + "| cMillisecondsMax | 300 s |\n| dCountMax | 1 |",
            line: 4
        ),
    ]
}
