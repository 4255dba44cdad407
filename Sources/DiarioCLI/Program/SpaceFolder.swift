/// What lies in the folder `.diario` of a space, where nobody but the program may write.
enum SpaceFolder {
    static func refuse(_ path: String) throws {
        guard holds(path) else { return }
        throw Failure.failed(
            "\(CellText.oneLine(path)) is among the files of a space, which only the program "
                + "itself writes. Choose another place"
        )
    }

    /// Whether a path leads there, whether or not something is at its end.
    private static func holds(_ path: String) -> Bool {
        var rest = path.hasPrefix("/") ? path : "./" + path
        // Of what is not there yet, the folders above it are looked at.
        while SystemCall.realPath(rest) == nil {
            guard let slash = rest.lastIndex(of: "/") else { return false }
            if rest[rest.index(after: slash)...] == SpaceLocation.marker { return true }
            rest = slash == rest.startIndex ? "/" : String(rest[..<slash])
        }
        let names = (SystemCall.realPath(rest) ?? "").split(separator: "/")
        return names.contains { $0 == SpaceLocation.marker }
    }
}
