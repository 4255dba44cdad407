// The rule on where files may stand, so that none is left behind when its user goes.

enum PlacementRules {
    private static let topLevel: Set = ["Package.swift", "README.md", "LICENSE"]
    /// Folders whose files are read by people, packs or scripts and belong to no target.
    private static let folders: Set = ["schema", "tools", ".ci"]
    /// What a target compiles by itself.
    private static let compiled = [".swift", ".c", ".h", ".modulemap", ".S"]

    /// A package of its own, which uses this one as somebody else would; and what tools/web builds.
    static let examples: Set = ["ExampleApp", "SixthApp", "Web", "WebVectors"]

    /// Every file stands in a target that uses it, or in one of the few other places.
    static func unusedFiles(_ files: [SourceFile], _ manifest: Manifest) -> [Finding] {
        let byTarget = Dictionary(grouping: files) { $0.target ?? "" }
        return files.compactMap { file in
            let parts = file.path.split(separator: "/").map(String.init)
            if parts.count == 1 {
                guard !topLevel.contains(file.path), !file.path.hasPrefix(".") else { return nil }
                return Finding(file, 1, "not at the top level: move it to schema or tools")
            }
            let isExample = file.target.map(examples.contains) ?? false
            if folders.contains(parts[0]) || isExample { return nil }
            guard let target = file.target, manifest.imports[target] != nil else {
                return Finding(file, 1, "no target of Package.swift has it: move or remove it")
            }
            // Of packs a plugin makes code.
            if compiled.contains(where: file.path.hasSuffix) || parts[2].hasSuffix(".docc")
                || parts[2] == "Packs"
            {
                return nil
            }
            guard !isNamed(file, in: byTarget[target, default: []]) else { return nil }
            return Finding(file, 1, "\(target) does not use this file: remove it")
        }
    }

    /// A data file is used if the target's code names it, or the folder it stands in.
    private static func isNamed(_ file: SourceFile, in others: [SourceFile]) -> Bool {
        let names = file.path.split(separator: "/").suffix(2).map(String.init)
        return others.contains { other in
            other.tokens.contains { token in
                token.kind == .string && names.contains { token.text.contains($0) }
            }
        }
    }
}
