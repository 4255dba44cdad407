// swift-tools-version: 6.3
import PackageDescription

// An app as somebody else would write it: it uses what the package Diario offers, and no more.
let package = Package(
    name: "Garden",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Diario", path: "../..")],
    targets: [
        .executableTarget(
            name: "Garden",
            dependencies: [.product(name: "Diario", package: "Diario")],
            exclude: ["Packs"],
            plugins: [.plugin(name: "DiarioEvents", package: "Diario")]
        )
    ],
    swiftLanguageModes: [.v6]
)
