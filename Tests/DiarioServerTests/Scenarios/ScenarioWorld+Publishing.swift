import Diario
import DiarioCore
import DiarioLog
import DiarioServer
import DiarioStorage
import DiarioSync
import Testing

// A space that gets its authority elsewhere, or back.

extension ScenarioWorld {
    private static let published = "shed"

    /// A device that made a space, of which the server has no more than the name.
    func addAuthority(_ name: String) throws {
        let disk = CrashDisk(machineID: name)
        let own = ManualClock(milliseconds: clock.now.milliseconds)
        let store = try TestReplica.open(disk, own, entropy)
        let space = try store.makeSpace(isAuthority: true).space
        try adopt("notes", in: Space(store: store, id: space))
        let home = try #require(SpaceName(Self.published))
        let draft = TokenDraft(space: home, rights: [.read, .append, .admin])
        devices[name] = Device(
            disk: disk,
            clock: own,
            store: store,
            session: ReplicaSession(store, space, seed: 1),
            key: try server.control.makeToken(draft, drawnFrom: entropy, at: clock.now).key,
            home: Self.published
        )
    }

    /// Publishes until the end, or until so many messages were answered and the program ends.
    func publish(_ name: String, _ words: String) throws {
        let countMax = words.isEmpty ? 50 : words.split(separator: " ").compactMap { Int($0) }.first
        let most = try #require(countMax, "how many messages")
        let device = try device(name)
        var session = PublishSession(device.store, device.session.space, seed: 1)
        for _ in 0..<most {
            let now = device.clock.now
            switch try session.next(at: now) {
            case .send(let request):
                trace.append(try told(name, asks: request))
                let answer = answer(request, to: device)
                trace.append(try told(name, hears: answer, to: request))
                try session.receive(answer, at: now)
            case .wait: return trace.append("\(name) waits")
            case .stop(let refusal): return trace.append("\(name) is paused: \(refusal.reason)")
            case .done(.published):
                let home = try #require(SpaceName(Self.published))
                followPublished(try #require(try server.control.space(home)).id)
                return trace.append("the server gives the positions")
            case .done(.kept): return trace.append("\(name) gives the positions")
            }
        }
        trace.append("(cut off)")
    }

    /// Gives the server what it lost.
    func restore(_ name: String) throws {
        let device = try device(name)
        var session = PublishSession(device.store, device.session.space, seed: 1, .restoring)
        for _ in 0..<50 {
            let now = device.clock.now
            switch try session.next(at: now) {
            case .send(let request):
                trace.append(try told(name, asks: request))
                let answer = answer(request, to: device)
                trace.append(try told(name, hears: answer, to: request))
                try session.receive(answer, at: now)
            case .wait: return trace.append("\(name) has to wait")
            case .stop(let refusal): return trace.append("\(name) cannot: \(refusal.reason)")
            case .done:
                followPublished(try #require(try server.control.space(try Self.spaceName())).id)
                return trace.append("the server has it")
            }
        }
        preconditionFailure("to restore comes to an end")
    }
}
