// Rules on types and on the folders of a module. What a type is and needs is read from words: an
// extension counts as a part of the type, and a name in code as a need of what it names.

/// A declaration, or an extension, at the top of a file.
struct TypePart {
    let name: String
    let file: SourceFile
    let lines: ClosedRange<Int>
    let isExtension: Bool
    /// Nobody but its file can name it.
    let isPrivate: Bool

    static func all(in file: SourceFile) -> [TypePart] {
        let kinds: Set = ["struct", "class", "enum", "actor", "protocol", "extension", "typealias"]
        let tokens = file.tokens
        var parts: [TypePart] = []
        var (depth, index) = (0, 0)
        while index + 1 < tokens.count {
            if tokens[index].isSign("{") { depth += 1 }
            if tokens[index].isSign("}") { depth -= 1 }
            defer { index += 1 }
            guard depth == 0, tokens[index].kind == .word, kinds.contains(tokens[index].text),
                index == 0 || !tokens[index - 1].isWord("import"), tokens[index + 1].kind == .word
            else { continue }
            var end = index + 1
            if !tokens[index].isWord("typealias"),
                let brace = tokens[end...].firstIndex(where: { $0.isSign("{") })
            {
                end = SizeRules.closingBrace(tokens, from: brace) ?? end
            }
            parts.append(
                TypePart(
                    name: tokens[index + 1].text,
                    file: file,
                    lines: tokens[index].line...tokens[end].line,
                    isExtension: tokens[index].isWord("extension"),
                    isPrivate: tokens[..<index].suffix(2).contains {
                        $0.isWord("private") || $0.isWord("fileprivate")
                    }
                )
            )
            index = end
        }
        return parts
    }
}

enum TypeRules {
    static let lineCountMax = 1000

    /// Types that are longer, with how long they may be and why.
    static let exceptions: [String: (lineCountMax: Int, why: String)] = [
        "DiarioCLI.Command": (1800, "a table: each command is a value, in a file of its own"),
        "DiarioBench.WorkloadGenerator": (1400, "measures only"),
    ]

    /// A type has at most 1,000 lines, with all extensions in its module.
    static func longTypes(_ files: [SourceFile]) -> [Finding] {
        targets(files).flatMap { target, files -> [Finding] in
            let parts = Dictionary(grouping: files.flatMap(TypePart.all)) { $0.name }
            return parts.keys.sorted().compactMap { name -> Finding? in
                let all = parts[name, default: []]
                let count = all.reduce(0) { $0 + $1.lines.count }
                let max = exceptions["\(target).\(name)"]?.lineCountMax ?? lineCountMax
                guard count > max, let part = all.first(where: { !$0.isExtension }) else {
                    return nil
                }
                let message = "\(name) has \(count) lines in all: make types of its subjects"
                return Finding(part.file, part.lines.lowerBound, message)
            }
        }
    }

    /// The code of each target in `Sources`.
    private static func targets(_ files: [SourceFile]) -> [(String, [SourceFile])] {
        let sources = files.filter { $0.isSwift && $0.path.hasPrefix("Sources/") }
        let targets = Dictionary(grouping: sources) { $0.target ?? "" }
        return targets.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The folders of each module in order: one needs only those before it.
    ///
    /// Those in one list need each other; "" is the module's own folder.
    static let folders: [String: [[String]]] = [
        "Diario": [["Typed"], ["", "Sync"], ["Reading"]],
        "DiarioBench": [["Harness", "Workload"], [""]],
        // A command is run with its arguments, and both tell the shell what there is.
        "DiarioCLI": [
            ["Terminal"], ["Arguments", "Program", "Shell"], [""], ["Reading"], ["Models"],
            ["Recording"], ["Calls"], ["Fish"], ["Serving"], ["Checking"], ["Syncing"],
        ],
        "DiarioEngine": [
            [""], ["Packs"], ["Events", "Spaces"], ["Models"], ["Commands"], ["Sync"],
        ],
        // Rows are read from blocks and from columns, and both are made of rows.
        "DiarioFish": [
            [""], ["Arithmetic"], ["Geometry"], ["Judging"], ["Files"], ["Measuring"],
            ["Finding"], ["Commands"],
        ],
        "DiarioFishLab": [[""], ["Simulating"], ["Scenes"]],
        "DiarioFormat": [[""], ["Blobs", "Blocks", "Columns", "Hashes", "Rows", "Wire"]],
        "DiarioHTTP": [[""], ["Server"], ["API"], ["Fish"]],
        "DiarioWeb": [["Storage"], ["Page"], ["Boundary"]],
        "DiarioHost": [[""], ["Threads"], ["Folders"]],
        "DiarioLog": [
            // Segments are read through the files that all readers share, and hashed from there.
            ["Layout"], ["Blobs"], ["Spaces"], ["Segments", "Shared"], ["Commit"], [""],
            ["Authors"], ["Tiles"], ["Sealing"], ["Verify"], ["Backup"], ["Exchange"], ["Renewal"],
            ["Salvage"],
        ],
        "DiarioProjection": [[""], ["SQL"], ["Applying"], ["Checking"], ["Reading"]],
        "DiarioSchema": [
            ["Patterns"], ["", "Commands", "Events", "JSON", "Packs", "SQL", "Types"],
        ],
        "DiarioServer": [["", "Blobs", "Control", "Publishing"], ["Folder"]],
        "DiarioSimulation": [
            ["Events"], ["Reading"], ["Model"], ["World"], [""], ["Sync"], ["Blobs", "Calls"],
        ],
        "DiarioStorage": [[""], ["CrashDisk", "POSIX"]],
        "DiarioSync": [["Messages"], ["Replica"]],
    ]

    /// No folder of a module needs one that comes after it.
    static func circularFolders(
        _ files: [SourceFile],
        _ folders: [String: [[String]]]
    ) -> [Finding] {
        targets(files).flatMap { target, files -> [Finding] in
            let names = Set(files.map { folder(of: $0) }).sorted()
            guard names.count > 1 else { return [] }
            let order = folders[target, default: []]
            guard order.flatMap(\.self).sorted() == names else {
                return [Finding(files[0], 1, "the folders of \(target) are \(names): list them")]
            }
            return circles(files, order)
        }
    }

    private static func circles(_ files: [SourceFile], _ order: [[String]]) -> [Finding] {
        var rank: [String: Int] = [:]
        for (index, group) in order.enumerated() { for name in group { rank[name] = index } }
        // A name that two folders give says nothing.
        var homes: [String: Set<String>] = [:]
        for part in files.flatMap(TypePart.all) where !part.isExtension && !part.isPrivate {
            homes[part.name, default: []].insert(folder(of: part.file))
        }
        var findings: [Finding] = []
        for file in files {
            let own = folder(of: file)
            // Its own names count more than those of others.
            var seen = Set(TypePart.all(in: file).filter(\.isPrivate).map(\.name))
            for token in file.tokens where token.kind == .word {
                guard let home = homes[token.text], home.count == 1, let other = home.first,
                    rank[other, default: 0] > rank[own, default: 0],
                    seen.insert(token.text).inserted
                else { continue }
                let message = "\(token.text) is in \(other), which comes after \(own)"
                findings.append(Finding(file, token.line, message))
            }
        }
        return findings
    }

    private static func folder(of file: SourceFile) -> String {
        let parts = file.path.split(separator: "/")
        return parts.count > 3 ? String(parts[2]) : ""
    }
}
