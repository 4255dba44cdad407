// Rules on who imports whom. The compiler holds the sources to Package.swift, and these hold
// Package.swift to the map of the modules.

enum ImportRules {
    /// What each target may import at most: the map of the modules, from the bottom up.
    static let map: [String: Set<String>] = [
        "DiarioCore": [],
        "DiarioSchema": ["DiarioCore"],
        "DiarioStorage": ["DiarioCore", "CPlatform"],
        "DiarioSQLite": ["DiarioCore", "CSQLite"],
        "DiarioZstd": ["DiarioCore", "CZstd"],
        "DiarioCrypto": ["DiarioCore", "COpenSSL"],
        "DiarioFormat": ["DiarioCore", "DiarioSchema", "DiarioZstd", "DiarioCrypto", "CChecksum"],
        "DiarioTransport": ["DiarioCore", "CCurl"],
        // Format: checksums and marks of files.
        "DiarioFrames": ["DiarioCore", "DiarioStorage", "DiarioFormat"],
        "DiarioLog": [
            "DiarioCore", "DiarioSchema", "DiarioFormat", "DiarioStorage", "DiarioCrypto",
            "DiarioFrames",
        ],
        // Crypto: fingerprints and digests of read models are hashes.
        "DiarioProjection": [
            "DiarioCore", "DiarioSchema", "DiarioCrypto", "DiarioFormat", "DiarioSQLite",
        ],
        // Crypto: roots and fingerprints travel in messages.
        "DiarioSync": ["DiarioCore", "DiarioSchema", "DiarioCrypto", "DiarioFormat"],
        // The machines and below: no actor, no socket, no transport.
        "DiarioEngine": [
            "DiarioCore", "DiarioSchema", "DiarioStorage", "DiarioSQLite", "DiarioCrypto",
            "DiarioFormat", "DiarioLog", "DiarioProjection", "DiarioSync",
        ],
        // What an engine has of an operating system. Transport: its errors are told like others.
        "DiarioHost": [
            "DiarioCore", "DiarioSchema", "DiarioStorage", "DiarioCrypto", "DiarioFormat",
            "DiarioLog", "DiarioProjection", "DiarioTransport", "DiarioEngine",
        ],
        // What an engine has of a page: files, and the calls of a worker.
        "DiarioWeb": [
            "DiarioCore", "DiarioSchema", "DiarioStorage", "DiarioCrypto", "DiarioFormat",
            "DiarioFrames", "DiarioLog", "DiarioSync", "DiarioEngine", "DiarioFish", "CWeb",
        ],
        "DiarioFish": ["DiarioCore", "DiarioSchema"],
        // Made pictures and people, for programs that measure how good the rules are.
        "DiarioFishLab": ["DiarioCore", "DiarioSchema", "DiarioFish"],
        "DiarioMeals": ["DiarioCore", "DiarioSchema"],
        "DiarioMusic": ["DiarioCore", "DiarioSchema"],
        "DiarioZones": ["DiarioCore", "DiarioSchema"],
        "DiarioMaps": ["DiarioCore", "DiarioSchema"],
        // Native, with C libraries of its own: no engine in a browser has it.
        "DiarioPictures": ["DiarioCore", "CPNG", "CJPEG"],
        // The edge: requests are answered with all that an authority and its spaces can do.
        // Storage: threads and signals.
        "DiarioHTTP": [
            "DiarioServer", "DiarioHost", "DiarioEngine", "DiarioCore", "DiarioSchema",
            "DiarioStorage", "DiarioCrypto", "DiarioSync", "DiarioFish", "DiarioPictures",
            "CMicrohttpd",
        ],
        "DiarioCLI": cliImports.union(["DiarioLog"]),
        "DiarioTestSupport": ["DiarioCore", "DiarioStorage", "DiarioCrypto", "DiarioFormat"],
        "DiarioBench": above.union(["CBaseline"]),
    ]

    /// The command line shows what the doors of the engine give, and looks no deeper.
    private static let cliImports: Set = [
        "Diario", "DiarioServer", "DiarioHTTP", "DiarioFish", "DiarioFishLab", "DiarioCore",
        "DiarioSchema", "DiarioCrypto", "DiarioPictures", "DiarioHost",
    ]

    /// Of the command line only the sizes of sealed events look deeper than the doors of the
    /// engine, and of the HTTP server only what makes problems of the refusals of messages.
    static func deepImports(_ file: SourceFile) -> [Finding] {
        let (deep, place): (Set<String>, String)
        switch file.target {
        case "DiarioCLI":
            (deep, place) = (["DiarioLog"], "DiarioCLI/Reading/SealedSizes+Showing.swift")
        case "DiarioHTTP": (deep, place) = (["DiarioSync"], "DiarioHTTP/API/Problem.swift")
        default: return []
        }
        guard !file.path.contains(place) else { return [] }
        return importedModules(file).compactMap { module, line in
            guard deep.contains(module) else { return nil }
            let message = "only \(place) may import \(module): ask DiarioEngine or DiarioServer"
            return Finding(file, line, message)
        }
    }

    /// Targets above the map's rows may import every library, but no C module.
    private static let above: Set = [
        "Diario", "DiarioCore", "DiarioSchema", "DiarioStorage", "DiarioSQLite", "DiarioZstd",
        "DiarioCrypto", "DiarioFormat", "DiarioTransport", "DiarioFrames", "DiarioLog",
        "DiarioProjection", "DiarioSync", "DiarioFish", "DiarioFishLab", "DiarioMeals",
        "DiarioMusic", "DiarioZones", "DiarioMaps", "DiarioPictures",
        "DiarioEngine", "DiarioHost", "DiarioServer", "DiarioHTTP", "DiarioSimulation",
    ]

    /// What never appears, whoever is above whom: the engines know no socket and no simulator.
    private static let never: [String: Set<String>] = [
        "Diario": ["Diario", "DiarioServer", "DiarioHTTP", "DiarioSimulation", "DiarioPictures"],
        "DiarioServer": [
            "Diario", "DiarioServer", "DiarioHTTP", "DiarioSimulation", "DiarioPictures",
        ],
        "DiarioSimulation": ["DiarioSimulation", "DiarioHTTP"],
    ]

    /// Every line of Package.swift keeps to the map.
    static func widenedManifest(_ file: SourceFile) -> [Finding] {
        guard file.path == "Package.swift" else { return [] }
        let manifest = Manifest(file)
        return manifest.imports.keys.sorted().flatMap { target -> [Finding] in
            guard !target.hasSuffix("Tests") else { return [] }
            let allowed = map[target] ?? above.subtracting(never[target] ?? [])
            let others = manifest.imports[target, default: []].subtracting(allowed).sorted()
            return others.filter { $0 != "DiarioPackTool" }.map {
                let message = "\(target) may not import \($0): declare a protocol it can implement"
                return Finding(file, manifest.lines[target] ?? 1, message)
            }
        }
    }

    /// No target of Package.swift names one that is declared below it.
    static func laterTargets(_ file: SourceFile) -> [Finding] {
        guard file.path == "Package.swift" else { return [] }
        let manifest = Manifest(file)
        return manifest.lines.sorted { $0.value < $1.value }.flatMap { target, line -> [Finding] in
            guard !target.hasSuffix("Tests") else { return [] }
            return manifest.imports[target, default: []].sorted().compactMap { other in
                guard manifest.lines[other, default: 0] > line else { return nil }
                return Finding(file, line, "\(target) names \(other), which is below it: move one")
            }
        }
    }

    /// Every import of a module of ours is in Package.swift, where the map is checked.
    static func undeclaredImports(_ file: SourceFile, _ manifest: Manifest) -> [Finding] {
        // A package of its own says itself what it imports.
        guard let target = file.target, !PlacementRules.examples.contains(target) else { return [] }
        let declared = manifest.imports[target, default: []]
        return importedModules(file).compactMap { module, line in
            guard manifest.imports[module] != nil, !declared.contains(module) else { return nil }
            let message =
                "\(target) does not name \(module) in Package.swift: add it, or do without"
            return Finding(file, line, message)
        }
    }

    /// A C module is imported by the one target that wraps it.
    static func unwrappedModules(_ file: SourceFile, _ manifest: Manifest) -> [Finding] {
        let wrappers = [
            "CPlatform": "DiarioStorage", "CSQLite": "DiarioSQLite", "CZstd": "DiarioZstd",
            "COpenSSL": "DiarioCrypto", "CChecksum": "DiarioFormat", "CCurl": "DiarioTransport",
            "CMicrohttpd": "DiarioHTTP", "CBaseline": "DiarioBench", "CPNG": "DiarioPictures",
            "CJPEG": "DiarioPictures",
        ]
        return importedModules(file).compactMap { module, line in
            // The tests of a wrapper may ask the library itself what it should have said.
            let owner = wrappers[module]
            guard manifest.modulesOfC.contains(module), owner != file.target,
                owner.map({ $0 + "Tests" }) != file.target
            else { return nil }
            let wrapper = wrappers[module] ?? "a wrapper target of its own"
            return Finding(file, line, "\(module) belongs to \(wrapper): use that instead")
        }
    }

    /// Core, bases, format and machines have no Foundation: it makes programs nine times larger.
    static func foundation(_ file: SourceFile) -> [Finding] {
        let without: Set = [
            "DiarioCore", "DiarioSchema", "DiarioStorage", "DiarioSQLite", "DiarioZstd",
            "DiarioCrypto", "DiarioFormat", "DiarioTransport", "DiarioFrames", "DiarioLog",
            "DiarioProjection", "DiarioSync", "DiarioFish", "DiarioPictures",
        ]
        guard without.contains(file.target ?? ""), file.path.hasPrefix("Sources/") else {
            return []
        }
        return importedModules(file).filter { $0.module.hasPrefix("Foundation") }.map {
            Finding(
                file,
                $0.line,
                "`import \($0.module)`: use the standard library, Glibc or Darwin"
            )
        }
    }

    /// The modules after the word `import`; of `import struct A.B`, A.
    static func importedModules(_ file: SourceFile) -> [(module: String, line: Int)] {
        let kinds: Set = ["struct", "enum", "class", "func", "var", "let", "protocol", "typealias"]
        let tokens = file.tokens
        return tokens.indices.compactMap { index in
            guard tokens[index].isWord("import"), index + 1 < tokens.count else { return nil }
            var next = index + 1
            if kinds.contains(tokens[next].text), next + 1 < tokens.count { next += 1 }
            guard tokens[next].kind == .word else { return nil }
            return (tokens[next].text, tokens[next].line)
        }
    }
}
