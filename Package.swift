// swift-tools-version: 6.3
import PackageDescription

// Each app: its rules in `Diario` and its name, and perhaps a laboratory in `...Lab`.
let apps: [(name: String, hasLab: Bool)] = [("Fish", true)]
let rules: [Target.Dependency] = apps.map { .byName(name: "Diario\($0.name)") }
let labs: [Target.Dependency] = apps.filter(\.hasLab).map { .byName(name: "Diario\($0.name)Lab") }

// Each test target with what it may import beyond `DiarioTestSupport`.
let tests: [(name: String, imports: [Target.Dependency])] = [
    ("DiarioCoreTests", ["DiarioCore"]),
    ("DiarioSchemaTests", ["DiarioCore", "DiarioSchema"]),
    ("DiarioStorageTests", ["DiarioCore", "DiarioStorage", "DiarioWeb"]),
    (
        "DiarioWebTests",
        [
            "DiarioCore", "DiarioCrypto", "DiarioSchema", "DiarioStorage", "DiarioFormat",
            "DiarioLog", "DiarioEngine", "DiarioHost", "DiarioWeb",
        ] + rules
    ),
    ("DiarioSQLiteTests", ["DiarioCore", "DiarioStorage", "DiarioSQLite"]),
    (
        "DiarioFormatTests",
        [
            "DiarioCore", "DiarioSchema", "DiarioZstd", "DiarioCrypto", "DiarioFormat",
            "CChecksum",
        ]
    ),
    (
        "DiarioLogTests",
        [
            "DiarioCore", "DiarioSchema", "DiarioStorage", "DiarioCrypto", "DiarioFormat",
            "DiarioFrames", "DiarioLog", "DiarioSimulation", "DiarioHost",
        ]
    ),
    (
        "DiarioTests",
        [
            "Diario", "DiarioEngine", "DiarioCore", "DiarioSchema", "DiarioStorage",
            "DiarioCrypto", "DiarioFormat", "DiarioFrames", "DiarioLog", "DiarioSQLite",
            "DiarioProjection", "DiarioHost",
        ] + rules
    ),
    (
        "DiarioEngineTests",
        [
            "DiarioCore", "DiarioSchema", "DiarioStorage", "DiarioLog", "DiarioSQLite",
            "DiarioProjection", "DiarioSync", "DiarioServer", "DiarioEngine", "DiarioSimulation",
        ] + rules
    ),
    (
        "DiarioProjectionTests",
        ["DiarioCore", "DiarioSchema", "DiarioSQLite", "DiarioProjection"]
    ),
    ("DiarioPicturesTests", ["DiarioCore", "DiarioPictures"]),
    ("DiarioSyncTests", ["DiarioCore", "DiarioCrypto", "DiarioFormat", "DiarioSync"]),
    ("DiarioTransportTests", ["DiarioStorage", "DiarioTransport"]),
    (
        "DiarioServerTests",
        [
            "DiarioCore", "DiarioSchema", "DiarioStorage", "DiarioCrypto", "DiarioFormat",
            "DiarioSQLite", "DiarioFrames", "DiarioLog", "DiarioSync", "DiarioTransport",
            "DiarioServer", "Diario", "DiarioEngine", "DiarioHost",
        ]
    ),
    (
        "DiarioHTTPTests",
        [
            "DiarioCore", "DiarioSchema", "DiarioStorage", "DiarioCrypto", "DiarioFormat",
            "DiarioLog", "DiarioSQLite", "DiarioSync", "DiarioServer", "Diario", "DiarioEngine",
            "DiarioHost", "DiarioHTTP",
        ] + rules
    ),
    ("DiarioSimulationTests", ["DiarioCore", "DiarioStorage", "DiarioSimulation"]),
    (
        "DiarioCLITests",
        [
            "DiarioCore", "DiarioCrypto", "DiarioSchema", "DiarioFormat", "DiarioLog", "Diario",
            "DiarioEngine",
            "DiarioCLI",
        ]
    ),
    ("TidyTests", []),
]

// Targets with a folder of packs, for whose event types Swift types are made.
let withPacks = ["DiarioTests"]

let package = Package(
    name: "Diario",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "Diario", targets: ["Diario"]),
        .plugin(name: "DiarioEvents", targets: ["DiarioEvents"]),
        .executable(name: "diario", targets: ["DiarioCLI"]),
        .executable(name: "diario-sim", targets: ["DiarioSim"]),
    ],
    // The module map, from the bottom up: no target names one below it. README.md explains it.
    targets: [
        .systemLibrary(
            name: "CZstd",
            pkgConfig: "libzstd",
            providers: [.apt(["libzstd-dev"])]
        ),
        .systemLibrary(
            name: "COpenSSL",
            pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"])]
        ),
        .target(name: "CChecksum"),
        .target(name: "CPlatform"),
        .target(
            name: "CMicrohttpd",
            linkerSettings: [.linkedLibrary("microhttpd"), .linkedLibrary("gnutls")]
        ),
        .target(name: "CSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),
        .target(name: "CCurl", linkerSettings: [.linkedLibrary("curl")]),
        .target(name: "CPNG", linkerSettings: [.linkedLibrary("png")]),
        .target(name: "CJPEG", linkerSettings: [.linkedLibrary("jpeg")]),
        .target(name: "DiarioCore"),
        .target(name: "DiarioSchema", dependencies: ["DiarioCore"]),
        .executableTarget(name: "DiarioPackTool", dependencies: ["DiarioSchema"]),
        .plugin(
            name: "EmbedPacks",
            capability: .buildTool(),
            dependencies: ["DiarioPackTool"],
            path: "Sources/EmbedPacks"
        ),
        .plugin(
            name: "DiarioEvents",
            capability: .buildTool(),
            dependencies: ["DiarioPackTool"],
            path: "Sources/DiarioEvents"
        ),
        .target(name: "DiarioStorage", dependencies: ["DiarioCore", "CPlatform"]),
        .target(name: "DiarioZstd", dependencies: ["DiarioCore", "CZstd"]),
        .target(name: "DiarioCrypto", dependencies: ["DiarioCore", "COpenSSL"]),
        .target(name: "DiarioSQLite", dependencies: ["DiarioCore", "CSQLite"]),
        .target(name: "DiarioTransport", dependencies: ["DiarioCore", "CCurl"]),
        .target(
            name: "DiarioFormat",
            dependencies: ["DiarioCore", "DiarioSchema", "DiarioZstd", "DiarioCrypto", "CChecksum"]
        ),
        .target(
            name: "DiarioFrames",
            dependencies: ["DiarioCore", "DiarioStorage", "DiarioFormat"]
        ),
        .target(
            name: "DiarioLog",
            dependencies: [
                "DiarioCore", "DiarioSchema", "DiarioStorage", "DiarioCrypto", "DiarioFormat",
                "DiarioFrames",
            ]
        ),
        .target(
            name: "DiarioProjection",
            dependencies: [
                "DiarioCore", "DiarioSchema", "DiarioCrypto", "DiarioSQLite", "DiarioFormat",
            ]
        ),
        .target(
            name: "DiarioSync",
            dependencies: ["DiarioCore", "DiarioSchema", "DiarioCrypto", "DiarioFormat"]
        ),
        .target(name: "DiarioPictures", dependencies: ["DiarioCore", "CPNG", "CJPEG"]),
        .target(
            name: "DiarioEngine",
            dependencies: [
                "DiarioCore", "DiarioSchema", "DiarioStorage", "DiarioCrypto", "DiarioFormat",
                "DiarioLog", "DiarioSQLite", "DiarioProjection", "DiarioSync",
            ],
            plugins: ["EmbedPacks"]
        ),
        .target(
            name: "DiarioHost",
            dependencies: [
                "DiarioCore", "DiarioSchema", "DiarioStorage", "DiarioCrypto", "DiarioFormat",
                "DiarioLog", "DiarioProjection", "DiarioTransport", "DiarioEngine",
            ]
        ),
        .target(
            name: "Diario",
            dependencies: [
                "DiarioCore", "DiarioSchema", "DiarioStorage", "DiarioCrypto", "DiarioFormat",
                "DiarioLog", "DiarioSQLite", "DiarioSync", "DiarioTransport", "DiarioEngine",
                "DiarioHost",
            ]
        ),
        .target(
            name: "DiarioServer",
            dependencies: [
                "DiarioCore", "DiarioSchema", "DiarioStorage", "DiarioCrypto", "DiarioSQLite",
                "DiarioFormat", "DiarioLog", "DiarioSync", "DiarioEngine", "DiarioHost",
            ]
        ),
        .target(
            name: "DiarioSimulation",
            dependencies: [
                "DiarioCore", "DiarioSchema", "DiarioStorage", "DiarioCrypto", "DiarioFormat",
                "DiarioFrames", "DiarioLog", "DiarioProjection", "DiarioSync", "DiarioEngine",
                "DiarioServer",
            ]
        ),
        .target(
            name: "DiarioHTTP",
            dependencies: [
                "DiarioCore", "DiarioSchema", "DiarioStorage", "DiarioCrypto", "DiarioSync",
                "DiarioEngine", "DiarioHost", "DiarioServer", "CMicrohttpd",
            ] + rules
        ),
        .target(
            name: "DiarioWeb",
            dependencies: [
                "DiarioCore", "DiarioSchema", "DiarioStorage", "DiarioCrypto", "DiarioFormat",
                "DiarioFrames", "DiarioLog", "DiarioSync", "DiarioEngine",
            ] + rules,
            // For wasm32 alone, in place of libraries.
            exclude: ["C"]
        ),
        .executableTarget(
            name: "DiarioCLI",
            dependencies: [
                "Diario", "DiarioServer", "DiarioHTTP", "DiarioCore", "DiarioSchema",
                "DiarioCrypto", "DiarioPictures", "DiarioHost",
                // For the sizes of sealed events alone.
                "DiarioLog",
            ] + rules + labs
        ),
        .executableTarget(
            name: "DiarioSim",
            dependencies: ["DiarioCore", "DiarioStorage", "DiarioSimulation"]
        ),
    ],
    swiftLanguageModes: [.v6]
)

for app in apps {
    let own = "Diario\(app.name)"
    let base: [Target.Dependency] = ["DiarioCore", "DiarioSchema"]
    let lab: [Target.Dependency] = app.hasLab ? [.byName(name: "\(own)Lab")] : []
    package.products.append(.library(name: own, targets: [own]))
    package.targets.append(.target(name: own, dependencies: base, plugins: ["EmbedPacks"]))
    if app.hasLab {
        package.targets.append(
            .target(name: "\(own)Lab", dependencies: base + [.byName(name: own)])
        )
    }
    package.targets.append(
        .testTarget(
            name: "\(own)Tests",
            dependencies: base + [.byName(name: own), "DiarioTestSupport"] + lab
        )
    )
}
// What is measured and what C reaches; tools/bench asks for them, and tests do without.
if Context.environment["DIARIO_BENCH"] != nil {
    package.targets += [
        .target(
            name: "CBaseline",
            linkerSettings: [
                .linkedLibrary("crypto"), .linkedLibrary("microhttpd"),
                .linkedLibrary("sqlite3"), .linkedLibrary("zstd"),
            ]
        ),
        .executableTarget(
            name: "DiarioBench",
            dependencies: [
                "Diario", "DiarioEngine", "DiarioCore", "DiarioSchema", "DiarioStorage",
                "DiarioCrypto", "DiarioFormat", "DiarioFrames", "DiarioLog", "DiarioSQLite",
                "DiarioProjection", "DiarioSync", "DiarioTransport", "DiarioHost", "DiarioServer",
                "CBaseline",
            ]
        ),
    ]
    package.products.append(.executable(name: "diario-bench", targets: ["DiarioBench"]))
}
package.targets.append(
    .target(
        name: "DiarioTestSupport",
        dependencies: ["DiarioCore", "DiarioStorage", "DiarioCrypto", "DiarioFormat"],
        path: "Tests/DiarioTestSupport"
    )
)
// The example package's program, built here as well: it sees no more than other packages do.
package.targets.append(
    .executableTarget(
        name: "Garden",
        dependencies: ["Diario"],
        path: "Tests/ExampleApp/Sources/Garden",
        exclude: ["Packs"],
        packageAccess: false,
        plugins: ["DiarioEvents"]
    )
)
// Not a test: tools/fuzz builds it with libFuzzer, and an ordinary build keeps it compiling.
package.targets.append(
    .executableTarget(
        name: "DiarioFuzz",
        dependencies: [
            "Diario", "DiarioEngine", "DiarioCore", "DiarioSchema", "DiarioStorage", "DiarioZstd",
            "DiarioFormat", "DiarioFrames", "DiarioLog", "DiarioSQLite", "DiarioSync",
            "DiarioTransport", "DiarioServer", "DiarioSimulation", "DiarioHTTP", "DiarioPictures",
            "DiarioHost",
        ] + rules,
        path: "Tests/DiarioFuzz"
    )
)
// Not a test: tools/validators/payloads.py and those of apps ask it.
package.targets.append(
    .executableTarget(
        name: "DiarioHarness",
        dependencies: ["Diario", "DiarioEngine", "DiarioHost", "DiarioSchema"] + rules,
        path: "Tests/DiarioHarness"
    )
)
package.targets += tests.map {
    .testTarget(
        name: $0.name,
        dependencies: $0.imports + ["DiarioTestSupport"],
        exclude: withPacks.contains($0.name) ? ["Packs"] : [],
        plugins: withPacks.contains($0.name) ? ["DiarioEvents"] : []
    )
}

// What the address sanitizer finds nothing in, tools/fuzz does not build.
if Context.environment["DIARIO_FUZZ"] != nil {
    let withPointers = [
        "DiarioFormatTests", "DiarioLogTests", "DiarioStorageTests", "DiarioSQLiteTests",
        "DiarioTests", "DiarioPicturesTests",
    ]
    let programs = ["DiarioCLI", "DiarioSim", "DiarioHarness", "Garden"]
    package.products.removeAll { ["diario", "diario-sim"].contains($0.name) }
    package.targets.removeAll { target in
        target.type == .test && !withPointers.contains(target.name)
            || programs.contains(target.name)
    }
}

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("InferIsolatedConformances"),
        .enableExperimentalFeature("Lifetimes"),
        .strictMemorySafety(),
        .treatAllWarnings(as: .error),
    ]
}
