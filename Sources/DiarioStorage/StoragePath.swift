/// The rules for paths inside a data directory.
enum StoragePath {
    /// The names in `path`, from the outside in; none for the directory itself.
    ///
    /// Traps on a path that could lead out of the directory or that names nothing.
    static func names(in path: String) -> [Substring] {
        check(path)
        return path.utf8.split(separator: UInt8(ascii: "/")).map { Substring($0) }
    }

    /// Traps unless `path` is well formed.
    static func check(_ path: String) {
        guard !path.isEmpty else { return }
        var (size, dotCount) = (0, 0)
        func checkName() {
            precondition(size > 0, "a path here is relative and has no empty names")
            precondition(size > 2 || dotCount < size, "a path here never leads outwards")
        }
        // Byte by byte, since each use of a file comes by here.
        let content = Array(path.utf8)
        let bytes = content.span
        for index in bytes.indices {
            // Safe: the loop goes through the indices.
            let byte = unsafe bytes[unchecked: index]
            precondition(byte != 0, "the system would end the path at a zero byte")
            if byte == UInt8(ascii: "/") {
                checkName()
                (size, dotCount) = (0, 0)
            } else {
                size += 1
                dotCount += byte == UInt8(ascii: ".") ? 1 : 0
            }
        }
        checkName()
    }

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
