import DiarioSchema
import Diario
import DiarioLog

/// The commands `diario remote set`, `show` and `remove`.
enum RemoteCommand {
    static func set(_ call: Invocation) throws(Failure) {
        let address = try ServerAccess.address(call.arguments.operands[0])
        try call.withSpace(.readWrite) { (space) throws(Failure) in
            // What is there may be damaged, and goes anyway.
            let known = try? space.store.remote(of: space.id)
            let access = try ServerAccess(call, address: address.text, remembered: known)
            // Its form is checked before it is kept.
            _ = try access.transport()
            try reportingLog { () throws(LogError) in
                try space.store.setRemote(access.remote, of: space.id)
            }
            if !address.isSecure, !address.isLoopback {
                call.remark("http shows the token and the events to everybody on the way")
            }
            try show(access.remote, call)
        }
    }

    static func show(_ call: Invocation) throws(Failure) {
        try call.withSpace(.readOnly) { (space) throws(Failure) in
            let remote = try reportingLog { () throws(LogError) in
                try space.store.remote(of: space.id)
            }
            if let remote { return try show(remote, call) }
            if call.arguments.has("json") {
                return try call.output.json { $0.addNull("address") }
            }
            try call.output.line(
                "no server is remembered. Set one: diario remote set URL --token-file FILE"
            )
        }
    }

    static func remove(_ call: Invocation) throws(Failure) {
        try call.withSpace(.readWrite) { (space) throws(Failure) in
            let known = try? space.store.remote(of: space.id)
            try reportingLog { () throws(LogError) in
                try space.store.setRemote(nil, of: space.id)
            }
            if call.arguments.has("json") {
                return try call.output.json { $0.add("removed", known != nil) }
            }
            try call.output.line(
                known.map { "forgot \($0.address)" } ?? "no server was remembered"
            )
        }
    }

    private static func show(_ remote: RemoteFile, _ call: Invocation) throws(Failure) {
        let token = tokenName(remote.token)
        guard !call.arguments.has("json") else {
            return try call.output.json { json in
                json.add("address", remote.address)
                json.add("token", token)
                if let file = remote.certificates {
                    json.add("certificates", file)
                } else {
                    json.addNull("certificates")
                }
            }
        }
        try call.output.line("address       \(remote.address)")
        try call.output.line("token         \(token)")
        if let file = remote.certificates {
            try call.output.line("certificates  \(CellText.oneLine(file))")
        }
    }

    /// What names a token and is no secret.
    private static func tokenName(_ token: String) -> String {
        let parts = token.split(separator: "_", omittingEmptySubsequences: false)
        return parts.count == 3 && parts[0] == "diario" ? String(parts[1]) : "of another form"
    }
}
