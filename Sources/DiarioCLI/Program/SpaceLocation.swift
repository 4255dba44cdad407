/// Finds the folder of the space that a command is about.
package struct SpaceLocation: Sendable {
    /// The value of `-C`.
    package let chosen: String?
    /// The value of `DIARIO_DIR`.
    package let environment: String?
    /// The folder in which the program was started.
    package let current: String?
    /// Users whose folders are used; nil if anybody's are.
    package let owners: Set<UInt32>?

    /// The name of the folder that makes another one a space.
    package static let marker = ".diario"

    package init(chosen: String?, environment: String?, current: String?, owners: Set<UInt32>?) {
        self.chosen = chosen
        self.environment = environment
        self.current = current
        self.owners = owners
    }

    /// The users whose folders `user` may use: root also those of `caller`, who ran `sudo`.
    package static func owners(user: UInt32, caller: String?) -> Set<UInt32> {
        guard user == 0, let caller = caller.flatMap({ UInt32($0) }) else { return [user] }
        return [user, caller]
    }

    /// The folder that holds `.diario`: the one that was named, else the nearest one upwards.
    package func find() throws -> String {
        let folder = try found()
        try checkOwner(of: folder)
        return folder
    }

    /// Refuses a folder whose `.diario` belongs to another user, if there is one.
    ///
    /// That user may have made its files to harm a reader, and could do anything with what is
    /// written there.
    package func checkOwner(of folder: String) throws {
        let path = "\(folder)/\(Self.marker)"
        guard let owners, let owner = SystemCall.owner(path), !owners.contains(owner) else {
            return
        }
        throw Failure.failed(
            "\(CellText.oneLine(path)) belongs to another user (id \(owner)). Run the command as "
                + "that user, or, if you trust its files: diario --trust-owner COMMAND"
        )
    }

    /// True if nobody said which folder is meant.
    var isUnsaid: Bool { chosen == nil && environment?.isEmpty ?? true }

    private func found() throws -> String {
        if let chosen { return try named(chosen, by: "-C") }
        if let environment, !environment.isEmpty { return try named(environment, by: "DIARIO_DIR") }
        guard let current else {
            throw Failure.failed(
                "the current folder cannot be read. Name the space: diario -C DIR ..."
            )
        }
        var folder = current
        while !Self.holdsSpace(folder) {
            guard let slash = folder.utf8.lastIndex(of: UInt8(ascii: "/")), folder != "/" else {
                throw Failure.failed(
                    "there is no space in \(current) or above it. Go to one, name one with "
                        + "-C DIR, or make one: diario init DIR"
                )
            }
            folder = slash == folder.startIndex ? "/" : String(folder[..<slash])
        }
        return folder
    }

    private func named(_ folder: String, by way: String) throws -> String {
        if Self.holdsSpace(folder) { return folder }
        let fault = SystemCall.isDirectory(folder) ? "holds no space" : "is no folder"
        throw Failure.failed(
            "\(CellText.oneLine(folder)) (from \(way)) \(fault). "
                + "Check the path, or make one: diario init DIR"
        )
    }

    private static func holdsSpace(_ folder: String) -> Bool {
        SystemCall.isDirectory(folder.hasSuffix("/") ? folder + marker : "\(folder)/\(marker)")
    }

    /// Refuses a path among the files of a space, which only the program itself writes.
    static func refuse(_ path: String) throws {
        guard isWithinSpace(path) else { return }
        throw Failure.failed(
            "\(CellText.oneLine(path)) is among the files of a space, which only the program "
                + "itself writes. Choose another place"
        )
    }

    /// True if a path, of which the end may be missing, leads into `.diario`.
    private static func isWithinSpace(_ path: String) -> Bool {
        var rest = path.hasPrefix("/") ? path : "./" + path
        while SystemCall.realPath(rest) == nil {
            guard let slash = rest.lastIndex(of: "/") else { return false }
            if rest[rest.index(after: slash)...] == marker { return true }
            rest = slash == rest.startIndex ? "/" : String(rest[..<slash])
        }
        let names = (SystemCall.realPath(rest) ?? "").split(separator: "/")
        return names.contains { $0 == marker }
    }
}
