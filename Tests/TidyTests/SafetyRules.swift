// Rules on the two words by which code takes over the compiler's work of proving it safe.

enum SafetyRules {
    /// The targets whose whole business is a C library: a plain call into C needs no proof there.
    private static let wrappers: Set = [
        "DiarioZstd", "DiarioCrypto", "DiarioSQLite", "DiarioHTTP", "DiarioTransport",
    ]

    /// Each `unsafe` has a comment above it, or behind it, that says why it is safe.
    ///
    /// The comment may stand above the statement or the run of `unsafe` lines it is part of.
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
            guard !lines.hasProof(line, unsafeLines: unsafeLines) else { return nil }
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

/// Which lines of a file have code or comments, and which go on in the next line.
private struct LinesOfCode {
    private var plainComments: Set<Int> = []
    private var last: [Int: Token] = [:]
    private var first: [Int: Token] = [:]

    init(_ file: SourceFile) {
        for comment in file.comments where !comment.isDocumentation {
            plainComments.insert(comment.line)
        }
        for token in file.tokens {
            if first[token.line] == nil { first[token.line] = token }
            last[token.line] = token
        }
    }

    func hasProof(_ line: Int, unsafeLines: Set<Int>) -> Bool {
        if plainComments.contains(line) { return true }
        var above = line - 1
        while above > 0 {
            guard last[above] != nil else { return plainComments.contains(above) }
            guard unsafeLines.contains(above) || goesOn(above) else { return false }
            if plainComments.contains(above) { return true }
            above -= 1
        }
        return false
    }

    /// True if the statement of `line` is not at its end there, or opens the next line's block.
    private func goesOn(_ line: Int) -> Bool {
        if let end = last[line] {
            if end.kind == .sign, "{([,=&|+-*/?:<>.".contains(end.text) { return true }
            if end.kind == .word, ["in", "return", "else", "throws"].contains(end.text) {
                return true
            }
        }
        guard let next = first[line + 1] else { return false }
        return next.kind == .sign && ".)]},?:&|+-*/<=>".contains(next.text)
            || next.isWord("else") || next.isWord("unsafe") && last[line]?.isWord("try") == true
    }
}
