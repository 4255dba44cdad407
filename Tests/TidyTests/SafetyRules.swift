// Rules on the two words by which code takes over the compiler's work of proving it safe.

enum SafetyRules {
    /// The targets whose whole business is a C library: a plain call into C needs no proof there.
    private static let wrappers: Set = [
        "DiarioZstd", "DiarioCrypto", "DiarioSQLite", "DiarioHTTP", "DiarioTransport",
        "DiarioBench", "DiarioPictures",
    ]

    /// Each `unsafe` has a comment on its line, or above it in its member, that says why it is
    /// safe.
    static func unprovenUnsafe(_ file: SourceFile) -> [Finding] {
        guard !wrappers.contains(file.target ?? ""),
            !file.path.hasPrefix("Sources/DiarioStorage/POSIX")
        else { return [] }
        let unsafeLines = Set(
            file.tokens.indices.filter { isUnsafeExpression(file.tokens, $0) }
                .map { file.tokens[$0].line }
        )
        guard !unsafeLines.isEmpty else { return [] }
        let lines = LinesOfCode(file)
        return unsafeLines.sorted().compactMap { line in
            guard !lines.hasProof(line) else { return nil }
            return Finding(file, line, "`unsafe`: put `// Safe: ` and the reason above it")
        }
    }

    /// The expression, not the attribute `@unsafe` and not `nonisolated(unsafe)`.
    private static func isUnsafeExpression(_ tokens: [Token], _ index: Int) -> Bool {
        guard tokens[index].isWord("unsafe") else { return false }
        guard index > 0 else { return true }
        if tokens[index - 1].isSign("@") { return false }
        return index < 2 || !tokens[index - 2].isWord("nonisolated")
    }

    /// `@unchecked` and `nonisolated(unsafe)` have a comment above that begins `Sendable because`.
    static func uncheckedSendable(_ file: SourceFile) -> [Finding] {
        let tokens = file.tokens
        let proofs = Set(
            file.comments.filter { $0.text.contains("// Sendable because ") }.map(\.line)
        )
        return tokens.indices.dropFirst().compactMap { index in
            let isUnchecked = tokens[index].isWord("unchecked") && tokens[index - 1].isSign("@")
            let isNonisolated =
                tokens[index].isWord("unsafe") && index > 1
                && tokens[index - 2].isWord("nonisolated")
            let line = tokens[index].line
            guard isUnchecked || isNonisolated, !hasProof(above: line, proofs, file) else {
                return nil
            }
            let word = isUnchecked ? "@unchecked" : "nonisolated(unsafe)"
            return Finding(file, line, "`\(word)`: a `Mutex`, or `// Sendable because ` above it")
        }
    }

    /// A proof may be longer than a line: it counts if only comment lines come after it.
    private static func hasProof(above line: Int, _ proofs: Set<Int>, _ file: SourceFile) -> Bool {
        let commented = Set(file.comments.map(\.line))
        var above = line - 1
        while commented.contains(above) {
            if proofs.contains(above) { return true }
            above -= 1
        }
        return false
    }
}

/// Which lines of a file have code, and which a comment that may be a proof.
private struct LinesOfCode {
    private var plainComments: Set<Int> = []
    private var comments: Set<Int> = []
    private var code: Set<Int> = []
    /// The lines of types and members that are marked `@unsafe`: who uses them does the proving.
    private var exempt: Set<Int> = []

    init(_ file: SourceFile) {
        for comment in file.comments {
            comments.insert(comment.line)
            if !comment.isDocumentation { plainComments.insert(comment.line) }
        }
        var depth = 0
        var depthOfUnsafe: Int?
        for (index, token) in file.tokens.enumerated() {
            code.insert(token.line)
            if token.isSign("@"), depthOfUnsafe == nil, index + 1 < file.tokens.count,
                file.tokens[index + 1].isWord("unsafe")
            {
                depthOfUnsafe = depth
            }
            if token.isSign("{") { depth += 1 }
            if token.isSign("}") { depth -= 1 }
            guard let outer = depthOfUnsafe else { continue }
            exempt.insert(token.line)
            if token.isSign("}"), depth == outer { depthOfUnsafe = nil }
        }
    }

    /// Whether a comment stands on the line, or above it in the same paragraph of code.
    ///
    /// Blank lines part members from each other, so one proof serves all of a member.
    func hasProof(_ line: Int) -> Bool {
        if exempt.contains(line) { return true }
        var above = line
        while above > 0, code.contains(above) || comments.contains(above) {
            if plainComments.contains(above) { return true }
            above -= 1
        }
        return false
    }
}
