/// The targets of `Package.swift` with what each may import, read from its text.
///
/// Known forms: a row `("Name", ["Import", ...])` of a table, perhaps with `+ rules + labs` for the
/// modules of the apps, `.target(name: "Name", ..., dependencies: ["Import", ...])` with its
/// relatives, and an app: `("Name", true)` if it has a laboratory.
struct Manifest {
    private(set) var imports: [String: Set<String>] = [:]
    /// The names of the apps.
    private(set) var apps: [String] = []
    /// The line of each target, for findings.
    private(set) var lines: [String: Int] = [:]
    /// The targets that are C modules: by convention their names begin with C.
    var modulesOfC: Set<String> {
        Set(imports.keys.filter { !$0.hasPrefix("Diario") && $0.hasPrefix("C") })
    }

    init(_ file: SourceFile) {
        let tokens = file.tokens
        for index in tokens.indices where tokens[index].isSign("(") {
            guard let name = Self.name(tokens, inside: index) else { continue }
            imports[name.text, default: []].formUnion(Self.imports(tokens, from: index))
            lines[name.text] = name.line
        }
        addApps(tokens)
        // What the manifest adds to every test in a closure.
        for name in imports.keys where name.hasSuffix("Tests") {
            imports[name, default: []].insert("DiarioTestSupport")
        }
    }

    /// Adds the targets of the apps, and puts them where others name them all.
    private mutating func addApps(_ tokens: [Token]) {
        let base: Set = ["DiarioCore", "DiarioSchema"]
        var (rules, labs): (Set<String>, Set<String>) = ([], [])
        for index in tokens.indices.dropLast(4)
        where tokens[index].isSign("(") && tokens[index + 1].kind == .string
            && tokens[index + 2].isSign(",") && tokens[index + 4].isSign(")")
        {
            let hasLab = tokens[index + 3].isWord("true")
            guard hasLab || tokens[index + 3].isWord("false") else { continue }
            let own = "Diario" + tokens[index + 1].text
            apps.append(tokens[index + 1].text)
            rules.insert(own)
            imports[own] = base
            imports[own + "Tests"] = base.union([own])
            guard hasLab else { continue }
            labs.insert(own + "Lab")
            imports[own + "Lab"] = base.union([own])
            imports[own + "Tests", default: []].insert(own + "Lab")
        }
        for (name, found) in imports {
            if found.contains("rules") { imports[name, default: []].formUnion(rules) }
            if found.contains("labs") { imports[name, default: []].formUnion(labs) }
            imports[name, default: []].subtract(["rules", "labs"])
        }
    }

    /// The target's name, if the parenthesis at `open` begins a row or a target.
    private static func name(_ tokens: [Token], inside open: Int) -> Token? {
        guard open + 3 < tokens.count else { return nil }
        if tokens[open + 1].kind == .string {
            return tokens[open + 2].isSign(",") && tokens[open + 3].isSign("[")
                ? tokens[open + 1] : nil
        }
        let kinds: Set = ["target", "executableTarget", "systemLibrary", "testTarget", "plugin"]
        guard open > 0, kinds.contains(tokens[open - 1].text), tokens[open + 1].isWord("name"),
            tokens[open + 3].kind == .string
        else { return nil }
        return tokens[open + 3]
    }

    /// The strings of the list that is a row's second part, or behind `dependencies:`.
    private static func imports(_ tokens: [Token], from open: Int) -> Set<String> {
        var depth = 0
        var found: Set<String> = []
        var isInList = false
        for index in open..<tokens.count {
            let token = tokens[index]
            if token.isSign("(") { depth += 1 }
            if token.isSign(")") { depth -= 1 }
            if depth == 0 { break }
            if token.isSign("["), depth == 1 {
                let isRow = tokens[open + 1].kind == .string
                isInList = isRow || index > 1 && tokens[index - 2].isWord("dependencies")
            } else if token.isSign("]") {
                isInList = false
            } else if isInList, token.kind == .string {
                found.insert(token.text)
            } else if ["rules", "labs"].contains(where: { token.isWord($0) }) {
                found.insert(token.text)
            }
        }
        return found
    }
}
