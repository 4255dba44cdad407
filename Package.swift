// swift-tools-version: 6.3
import PackageDescription

// The module map, from the bottom up: no line names a target below it. README.md explains it.
let libraries: [(name: String, imports: [Target.Dependency])] = [
    ("DiarioCore", []),
    ("DiarioSchema", ["DiarioCore"]),
    ("DiarioStorage", ["DiarioCore", "CPlatform"]),
    ("DiarioZstd", ["DiarioCore", "CZstd"]),
    ("DiarioCrypto", ["DiarioCore", "COpenSSL"]),
    ("DiarioSQLite", ["DiarioCore", "CSQLite"]),
    ("DiarioTransport", ["DiarioCore", "CCurl"]),
    (
        "DiarioFormat",
        ["DiarioCore", "DiarioSchema", "DiarioZstd", "DiarioCrypto", "CChecksum"]
    ),
    ("DiarioFrames", ["DiarioCore", "DiarioStorage", "DiarioFormat"]),
    (
        "DiarioLog",
        [
            "DiarioCore", "DiarioSchema", "DiarioStorage", "DiarioCrypto", "DiarioFormat",
            "DiarioFrames",
        ]
    ),
    (
        "DiarioProjection",
        ["DiarioCore", "DiarioSchema", "DiarioCrypto", "DiarioSQLite", "DiarioFormat"]
    ),
    ("DiarioSync", ["DiarioCore", "DiarioSchema", "DiarioCrypto", "DiarioFormat"]),
    ("DiarioPictures", ["DiarioCore", "CPNG", "CJPEG"]),
    (
        "Diario",
        [
            "DiarioCore", "DiarioSchema", "DiarioStorage", "DiarioCrypto", "DiarioFormat",
            "DiarioLog", "DiarioSQLite", "DiarioProjection", "DiarioSync", "DiarioTransport",
            "DiarioEngine",
        ]
    ),
    (
        "DiarioServer",
        [
            "DiarioCore", "DiarioSchema", "DiarioStorage", "DiarioCrypto", "DiarioSQLite",
            "DiarioFormat", "DiarioLog", "DiarioSync", "DiarioEngine",
        ]
    ),
    (
        "DiarioSimulation",
        [
            "DiarioCore", "DiarioSchema", "DiarioStorage", "DiarioCrypto", "DiarioFormat",
            "DiarioFrames", "DiarioLog", "DiarioProjection", "DiarioSync", "DiarioServer",
            "Diario", "DiarioEngine",
        ]
    ),
    (
        "DiarioHTTP",
        [
            "DiarioCore", "DiarioSchema", "DiarioStorage", "DiarioCrypto", "DiarioSync",
            "DiarioServer", "Diario", "DiarioEngine", "DiarioFish", "CMicrohttpd",
        ]
    ),
]

// What stands on the libraries and is no library itself.
let executables: [(name: String, imports: [Target.Dependency])] = [
    (
        "DiarioCLI",
        [
            "Diario", "DiarioServer", "DiarioHTTP", "DiarioFish", "DiarioFishLab", "DiarioCore",
            "DiarioSchema",
            "DiarioCrypto", "DiarioPictures",
            // For the sizes of sealed events alone.
            "DiarioLog",
        ]
    ),
    ("DiarioSim", ["DiarioCore", "DiarioStorage", "DiarioSimulation"]),
]

// Each test target with what it may import beyond `DiarioTestSupport`.
let tests: [(name: String, imports: [Target.Dependency])] = [
    ("DiarioCoreTests", ["DiarioCore"]),
    ("DiarioSchemaTests", ["DiarioCore", "DiarioSchema"]),
    ("DiarioStorageTests", ["DiarioCore", "DiarioStorage"]),
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
            "DiarioFrames", "DiarioLog", "DiarioSimulation", "Diario",
        ]
    ),
    (
        "DiarioTests",
        [
            "Diario", "DiarioEngine", "DiarioFish", "DiarioCore", "DiarioSchema", "DiarioStorage",
            "DiarioCrypto", "DiarioFormat", "DiarioFrames", "DiarioLog", "DiarioSQLite",
            "DiarioProjection",
        ]
    ),
    (
        "DiarioEngineTests",
        [
            "DiarioCore", "DiarioSchema", "DiarioStorage", "DiarioLog", "DiarioSQLite",
            "DiarioProjection", "DiarioSync", "DiarioServer", "DiarioEngine", "DiarioSimulation",
            "DiarioFish",
        ]
    ),
    (
        "DiarioProjectionTests",
        ["DiarioCore", "DiarioSchema", "DiarioSQLite", "DiarioProjection"]
    ),
    ("DiarioFishTests", ["DiarioCore", "DiarioSchema", "DiarioFish", "DiarioFishLab"]),
    ("DiarioPicturesTests", ["DiarioCore", "DiarioPictures"]),
    ("DiarioSyncTests", ["DiarioCore", "DiarioCrypto", "DiarioFormat", "DiarioSync"]),
    ("DiarioTransportTests", ["DiarioStorage", "DiarioTransport"]),
    (
        "DiarioServerTests",
        [
            "DiarioCore", "DiarioSchema", "DiarioStorage", "DiarioCrypto", "DiarioFormat",
            "DiarioSQLite", "DiarioFrames", "DiarioLog", "DiarioSync", "DiarioTransport",
            "DiarioServer", "Diario", "DiarioEngine",
        ]
    ),
    (
        "DiarioHTTPTests",
        [
            "DiarioCore", "DiarioSchema", "DiarioStorage", "DiarioCrypto", "DiarioFormat",
            "DiarioLog",
            "DiarioSQLite", "DiarioSync", "DiarioServer", "Diario", "DiarioEngine", "DiarioHTTP",
        ]
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
        .library(name: "DiarioFish", targets: ["DiarioFish"]),
        .plugin(name: "DiarioEvents", targets: ["DiarioEvents"]),
        .executable(name: "diario", targets: ["DiarioCLI"]),
        .executable(name: "diario-sim", targets: ["DiarioSim"]),
    ],
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
        .target(
            name: "DiarioFish",
            dependencies: ["DiarioCore", "DiarioSchema"],
            plugins: ["EmbedPacks"]
        ),
        .target(
            name: "DiarioFishLab",
            dependencies: ["DiarioCore", "DiarioSchema", "DiarioFish"]
        ),
        .target(
            name: "DiarioEngine",
            dependencies: [
                "DiarioCore", "DiarioSchema", "DiarioStorage", "DiarioCrypto", "DiarioFormat",
                "DiarioLog", "DiarioSQLite", "DiarioProjection", "DiarioSync",
            ],
            plugins: ["EmbedPacks"]
        ),
    ],
    swiftLanguageModes: [.v6]
)

package.targets += libraries.map { .target(name: $0.name, dependencies: $0.imports) }
package.targets += executables.map {
    .executableTarget(name: $0.name, dependencies: $0.imports)
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
                "DiarioProjection", "DiarioSync", "DiarioTransport", "DiarioServer", "CBaseline",
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
            "DiarioFish",
        ],
        path: "Tests/DiarioFuzz"
    )
)
// Not a test: tools/validators/payloads.py and fish.py ask it.
package.targets.append(
    .executableTarget(
        name: "DiarioHarness",
        dependencies: ["Diario", "DiarioEngine", "DiarioSchema", "DiarioFish"],
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
