/// The rules for paths inside a data directory.
enum StoragePath {
    /// The names in `path`, from the outside in; none for the directory itself.
    ///
    /// Traps on a path that could lead out of the directory or that names nothing.
    static func names(in path: String) -> [Substring] {
        guard !path.isEmpty else { return [] }
        let names = path.split(separator: "/", omittingEmptySubsequences: false)
        for name in names {
            precondition(!name.isEmpty, "a path here is relative and has no empty names")
            precondition(name != "." && name != "..", "a path here never leads outwards")
            precondition(!name.utf8.contains(0), "the system would end the path at a zero byte")
        }
        return names
    }

    /// Traps unless `path` is well formed.
    static func check(_ path: String) { _ = names(in: path) }

    /// Traps unless `path` is well formed and names something inside the directory.
    static func checkName(_ path: String) {
        precondition(!path.isEmpty, "this needs a name inside the directory")
        check(path)
    }

    /// Traps unless both are well formed and in the same directory.
    static func checkRename(_ old: String, _ new: String) {
        checkName(old)
        checkName(new)
        precondition(
            parent(of: old) == parent(of: new),
            "a rename between directories may survive by half"
        )
    }

    /// The path of the directory that `path` is in.
    static func parent(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
        return String(path[..<slash])
    }

    /// Names in the order of their bytes.
    static func sorted(_ names: some Sequence<String>) -> [String] {
        names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
