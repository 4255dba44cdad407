/// Finds the folder of the space that a command is about.
package struct SpaceLocation: Sendable {
    /// What stands behind `-C`.
    package let chosen: String?
    /// The value of `DIARIO_DIR`.
    package let environment: String?
    /// Where the program was started.
    package let current: String?
    /// Users whose folders are used; nil if anybody's are.
    package let owners: Set<UInt32>?

    /// The name of the folder that makes another one a space.
    package static let marker = ".diario"

    package init(
        chosen: String?,
        environment: String?,
        current: String?,
        owners: Set<UInt32>?
    ) {
        self.chosen = chosen
        self.environment = environment
        self.current = current
        self.owners = owners
    }

    /// The users that `user` stands for: root also for `caller`, who called it by `sudo`.
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

    /// Refuses a folder whose `.diario` is that of another user, if there is one.
    ///
    /// Whoever it belongs to may have made its files so that a reader comes to harm, and what is
    /// written there could lie at that user's mercy.
    package func checkOwner(of folder: String) throws {
        let path = "\(folder)/\(Self.marker)"
        guard let owners, let owner = SystemCall.owner(path), !owners.contains(owner) else {
            return
        }
        throw Failure.failed(
            "\(CellText.oneLine(path)) belongs to another user (id \(owner)). Run the command as "
                + "that user, or, if you trust what is in it: diario --trust-owner COMMAND"
        )
    }

    private func found() throws -> String {
        if let chosen { return try named(chosen, by: "-C") }
        if let environment, !environment.isEmpty {
            return try named(environment, by: "DIARIO_DIR")
        }
        guard let current else {
            throw Failure.failed(
                "the current folder cannot be read. Name the space: diario -C DIR ..."
            )
        }
        var folder = current
        while true {
            if Self.holdsSpace(folder) { return folder }
            guard let slash = folder.utf8.lastIndex(of: UInt8(ascii: "/")), folder != "/" else {
                throw Failure.failed(
                    "there is no space in \(current) or above it. Go to one, name one with "
                        + "-C DIR, or make one: diario init DIR"
                )
            }
            folder = slash == folder.startIndex ? "/" : String(folder[..<slash])
        }
    }

    private func named(_ folder: String, by way: String) throws -> String {
        guard Self.holdsSpace(folder) else {
            let what = SystemCall.isDirectory(folder) ? "holds no space" : "is no folder"
            throw Failure.failed(
                "\(CellText.oneLine(folder)) (from \(way)) \(what). "
                    + "Check the path, or make one: diario init DIR"
            )
        }
        return folder
    }

    private static func holdsSpace(_ folder: String) -> Bool {
        SystemCall.isDirectory(folder.hasSuffix("/") ? folder + marker : "\(folder)/\(marker)")
    }
}
