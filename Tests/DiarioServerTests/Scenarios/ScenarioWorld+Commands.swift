import Diario
import DiarioCore
import DiarioLog
import DiarioServer
import DiarioStorage
import DiarioSync
import Testing

/// A line of a scenario that says nothing which can be done.
struct UnknownCommand: Error, CustomStringConvertible {
    let command: String
    var description: String { "no such command: \(command)" }
}

// What can be said in a scenario: schema/scenarios/README.md.

extension ScenarioWorld {
    /// Does what a line says; gives what came of it.
    func run(_ command: String) throws -> [String] {
        trace = []
        let quoted = command.split(separator: "\"", omittingEmptySubsequences: false)
        // Every second part stands in quotes.
        let texts = quoted.indices.filter { $0 % 2 == 1 }.map { String(quoted[$0]) }
        let plain = quoted.indices.map { $0 % 2 == 1 ? "\"" : String(quoted[$0]) }.joined()
        let words = plain.split(separator: " ").map(String.init)
        guard !words.isEmpty else { throw UnknownCommand(command: command) }
        do {
            if try !runCommon(words), try !runServer(words), try !runReplica(words, texts) {
                throw UnknownCommand(command: command)
            }
        } catch let error as DiarioError {
            trace.append("error: " + named(error.message))
        }
        noteNames()
        return trace
    }

    private func runCommon(_ words: [String]) throws -> Bool {
        switch (words.count, words[0]) {
        case (6, "replica") where words[2...] == ["that", "gives", "the", "positions"]:
            try addAuthority(words[1])
        case (3..., "replica"): try makeReplica(words)
        case (2, "replica"):
            try addReplica(words[1], actor: nil, [.read, .append])
            trace.append("\(words[1]) has nothing yet")
        case (3, _) where words[1...] == ["s", "pass"]:
            guard let seconds = Int64(words[0]) else { return false }
            clock.advance(milliseconds: seconds * 1000)
            for device in devices.values { device.clock.advance(milliseconds: seconds * 1000) }
        case (2, "compare") where words[1] == "all": trace.append(try comparison())
        default: return false
        }
        return true
    }

    // Such as `replica a of alice`, and `replica a that only reads`.
    private func makeReplica(_ words: [String]) throws {
        let isReader = words[2...] == ["that", "only", "reads"]
        guard isReader || words.count == 4 && words[2] == "of" else {
            throw UnknownCommand(command: words.joined(separator: " "))
        }
        try addReplica(
            words[1],
            actor: isReader ? nil : words[3],
            isReader ? [.read] : [.read, .append]
        )
        trace.append("\(words[1]) has nothing yet")
    }

    // MARK: The server

    private func runServer(_ words: [String]) throws -> Bool {
        guard words[0] == "server" else { return false }
        switch words.dropFirst().joined(separator: " ") {
        case "is backed up": backUpServer()
        case "is restored from its backup": try restoreServer(isNoticed: true)
        case "is set back unnoticed": try restoreServer(isNoticed: false)
        case "resumes": try server.store[server.space].resumeAuthority()
        case "is held": try server.store[server.space].holdAuthority()
        case "is wiped": try wipeServer()
        case "shows its log":
            trace += try log(of: Space(store: server.store, id: server.space))
        default:
            guard words.count > 2 else { return false }
            switch (words[1], words[2]) {
            case ("adopts", _): try adopt(words[words.count - 1])
            case ("revokes", _):
                let token = try device(words[words.count - 1]).key.id
                _ = try server.control.revokeToken(token, at: clock.now)
            case ("allows", _):
                guard let count = Int(words[2]) else { return false }
                let quota = SpaceQuota(eventsMax: count)
                try server.control.setQuota(of: try Self.spaceName(), quota)
            case ("answers", _): try answerHeld(words[2])
            default: return false
            }
        }
        return true
    }

    // MARK: Replicas

    private func runReplica(_ words: [String], _ texts: [String]) throws -> Bool {
        guard words.count > 1 else { return false }
        let name = words[0]
        let rest = words.dropFirst(2).joined(separator: " ")
        switch words[1] {
        case "records": try record(name, words, texts)
        case "syncs": try sync(name, rest)
        case "publishes": try publish(name, rest)
        case "restores": try restore(name)
        case "sends": try send(name, countMax: words.count > 2 ? Int(words[2]) : nil)
        case "hears": try hear(name)
        case "shows": return try show(name, rest)
        case "retries":
            try retry(name, words[2], evenIfChanged: words.count > 3)
        case "drops":
            let origin = try #require(self.origin(words[2]))
            _ = try SpaceInbox(space(of: name)).drop(origin)
        case "goes": devices[name]?.session.goOn()
        case "rejoins": devices[name]?.session.rejoin()
        case "gets":
            // `a gets a token of alice`, `a gets a token that is an administrator's`
            let isAdmin = words.last == "administrator's"
            let actor = words.count > 4 && !isAdmin ? words.last : nil
            let key = try makeKey(actor, isAdmin ? [.admin] : [.read, .append])
            devices[name]?.key = key
        case "is": return try change(name, rest, words)
        default: return false
        }
        return true
    }

    private func show(_ name: String, _ what: String) throws -> Bool {
        switch what {
        case "its log": trace += try log(of: try space(of: name))
        case "its inbox": trace += try inbox(of: name)
        case "its clock":
            let device = try device(name)
            let own = try device.store[device.session.space].status().clock.milliseconds
            let lead = own - clock.now.milliseconds
            trace.append(lead > 1000 ? "\(lead / 1000) s ahead" : "as the server's")
        default: return false
        }
        return true
    }

    private func change(_ name: String, _ rest: String, _ words: [String]) throws -> Bool {
        switch rest {
        case "backed up":
            let backup = try device(name).disk.snapshot()
            devices[name]?.backup = backup
        case "restored from its backup":
            let device = try device(name)
            let backup = try #require(device.backup, "there is a backup")
            try start(name, like: device, on: backup.copy())
        case "restarted":
            let device = try device(name)
            try device.store.close()
            try start(name, like: device, on: device.disk)
        default:
            guard words.count >= 6 else { return false }
            switch (words[2], words[3]) {
            case ("a", "snapshot"):
                let other = try device(words[5])
                try start(name, like: other, on: other.disk.snapshot())
            case ("a", "copy"):
                let other = try device(words[5])
                try start(name, like: other, on: other.disk.copy())
            case (_, "years"):
                guard let years = Int64(words[2]) else { return false }
                try device(name).clock.advance(milliseconds: years * 365 * 86_400_000)
            default: return false
            }
        }
        return true
    }

    // Behind the texts: `about s`, `by mallory`, `of the pack tools`, `if unchanged`.
    private func record(_ name: String, _ words: [String], _ texts: [String]) throws {
        func option(_ word: String) -> String? {
            words.firstIndex(of: word).flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil }
        }
        var texts = texts
        let isMany = texts.isEmpty
        if isMany {
            let count = try #require(Int(words[2]), "how many")
            texts = (1...count).map { "\($0)" }
        }
        let type = "\(option("pack") ?? "notes").thing.noted"
        let subject = option("about").map { origin($0)?.text ?? $0 }
        var recorder = LineRecorder(try space(of: name))
        for text in texts {
            var line = #"{"type":"\#(type)","payload":{"text":"\#(text)"}"#
            line += #","actor":"\#(option("by") ?? "alice")""#
            if let subject { line += #","subject":"\#(subject)""# }
            if words.contains("unchanged") { line += #","ifUnchanged":true"# }
            if texts.count > 1, !isMany { line += #","batch":"b""# }
            try recorder.add(Array((line + "}").utf8).span)
        }
        recorder.finish()
        let origins = try recorder.commit()
        noteNames()
        guard let first = origins.first, let last = origins.last else { return }
        trace.append(range(first.replica, first.sequence, last.sequence))
    }

    private func retry(_ name: String, _ batch: String, evenIfChanged: Bool) throws {
        let origin = try #require(self.origin(batch))
        let retried = try SpaceInbox(space(of: name)).retry(origin, evenIfChanged: evenIfChanged)
        let last = retried.new.sequence + UInt64(retried.count) - 1
        trace.append("recorded again as \(range(retried.new.replica, retried.new.sequence, last))")
    }
}
