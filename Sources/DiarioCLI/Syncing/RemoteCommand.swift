import Diario

extension Command {
    static let remoteSet = Command(
        "remote set",
        "remember the server of the space, and the token for it",
        takes: [.one("URL")],
        details: """
            URL is where the server has the space, as https://example.org/v1/spaces/NAME. Both are
            kept in a file that only you can read. The server is not asked whether they are right:
            `diario sync` will.
            """,
        options: CommandOption.access + [.json],
        examples: [
            "diario remote set https://example.org/v1/spaces/home --token-file key":
                "after a token was replaced, for example"
        ],
        run: { try RemoteCommand.set($0) }
    )

    static let remoteShow = Command(
        "remote show",
        "show the server of the space",
        details: "Of the token it shows the id alone, by which it is revoked.",
        options: [.json],
        examples: ["diario remote show": "address and token's id"],
        run: { try RemoteCommand.show($0) }
    )

    static let remoteRemove = Command(
        "remote remove",
        "forget the server of the space, and the token",
        details: "The events stay, and pending ones stay pending. No server is told.",
        options: [.json],
        examples: ["diario remote remove": "before a folder is given away"],
        run: { try RemoteCommand.remove($0) }
    )
}

/// The commands `diario remote set`, `show` and `remove`.
enum RemoteCommand {
    static func set(_ call: Invocation) throws {
        let address = try ServerAccess.address(call.operands[0])
        try call.writing { space in
            // A note that is there may be damaged, and is replaced.
            let known = try? space.remote()
            let access = try ServerAccess(call, address: address.text, remembered: known)
            // Its form is checked before it is kept.
            _ = try access.transport()
            try space.setRemote(access.remote)
            if !address.isSecure, !address.isLoopback {
                call.remark("http shows the token and the events to everybody on the way")
            }
            try show(access.remote, call)
        }
    }

    static func show(_ call: Invocation) throws {
        try call.reading { space in
            if let remote = try space.remote() { return try show(remote, call) }
            try call.answer(
                "no server is remembered. Set one: diario remote set URL --token-file FILE",
                ["address": String?.none]
            )
        }
    }

    static func remove(_ call: Invocation) throws {
        try call.writing { space in
            let known = try? space.remote()
            try space.setRemote(nil)
            try call.answer(
                known.map { "forgot \($0.address)" } ?? "no server was remembered",
                ["removed": known != nil]
            )
        }
    }

    private static func show(_ remote: RemoteServer, _ call: Invocation) throws {
        let parts = remote.token.split(separator: "_", omittingEmptySubsequences: false)
        // The id in the middle names the token, and is no secret.
        let isOurs = parts.count == 3 && parts[0] == "diario"
        let token = isOurs ? String(parts[1]) : "of another form"
        guard !call.isJSON else {
            return try call.output.json([
                "address": remote.address, "token": token, "certificates": remote.certificates,
            ])
        }
        var pairs = [("address", remote.address), ("token", token)]
        if let file = remote.certificates { pairs.append(("certificates", CellText.oneLine(file))) }
        try call.output.pairs(pairs)
    }
}
