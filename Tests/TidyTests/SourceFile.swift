/// One file of the package, split once for all rules.
struct SourceFile {
    /// Relative to the package, with `/`.
    let path: String
    let bytes: [UInt8]
    let lines: [ArraySlice<UInt8>]
    /// Empty for anything but Swift.
    let tokens: [Token]
    let comments: [Comment]

    init(path: String, bytes: [UInt8]) {
        self.path = path
        self.bytes = bytes
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        self.lines = lines
        let lexer = path.hasSuffix(".swift") ? Lexer(bytes) : Lexer([])
        tokens = lexer.tokens
        comments = lexer.comments
    }

    init(_ path: String, _ text: String) { self.init(path: path, bytes: Array(text.utf8)) }

    /// The target whose folder holds the file, if one does.
    var target: String? {
        let parts = path.split(separator: "/")
        guard parts.count > 2, parts[0] == "Sources" || parts[0] == "Tests" else { return nil }
        return String(parts[1])
    }

    var isSwift: Bool { path.hasSuffix(".swift") }
    var isC: Bool { path.hasSuffix(".c") || path.hasSuffix(".h") }
    var isMarkdown: Bool { path.hasSuffix(".md") }
    var name: String { String(path.split(separator: "/").last ?? "") }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Code and scripts, as opposed to documents, data and golden bytes.
    var isCode: Bool {
        let endings = [".swift", ".c", ".h", ".modulemap", ".py", ".sh", ".sql", ".js"]
        if endings.contains(where: path.hasSuffix) { return true }
        return (path.hasPrefix("tools/") || path.hasPrefix(".ci/")) && !name.contains(".")
    }
}

/// One breach of a rule: where it is and what to write instead.
struct Finding: CustomStringConvertible {
    let path: String
    let line: Int
    let message: String

    init(_ file: SourceFile, _ line: Int, _ message: String) {
        self.path = file.path
        self.line = line
        self.message = message
    }

    var description: String { "\(path):\(line): \(message)" }
}
