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
            key: try server.control.makeTokenAndSpace(draft, drawnFrom: entropy, at: clock.now).key,
            home: Self.published
        )
    }

    /// Publishes until the end, or until so many messages were answered and the program ends.
    func publish(_ name: String, _ words: String) throws {
        let countMax = words.isEmpty ? 50 : words.split(separator: " ").compactMap { Int($0) }.first
        let most = try #require(countMax, "how many messages")
        switch try carry(name, .publishing, atMost: most) {
        case .wait: trace.append("\(name) waits")
        case .stop(let refusal): trace.append("\(name) is paused: \(refusal.reason)")
        case .done(.published):
            let home = try #require(SpaceName(Self.published))
            followPublished(try #require(try server.control.space(home)).id)
            trace.append("the server gives the positions")
        case .done(.kept): trace.append("\(name) gives the positions")
        case .send: trace.append("(cut off)")
        }
    }

    /// Gives the server what it lost.
    func restore(_ name: String) throws {
        switch try carry(name, .restoring, atMost: 50) {
        case .wait: trace.append("\(name) has to wait")
        case .stop(let refusal): trace.append("\(name) cannot: \(refusal.reason)")
        case .done:
            followPublished(try #require(try server.control.space(try Self.spaceName())).id)
            trace.append("the server has it")
        case .send: preconditionFailure("to restore comes to an end")
        }
    }

    /// Carries so many messages at most, and says what would come next.
    private func carry(
        _ name: String,
        _ purpose: PublishSession.Purpose,
        atMost most: Int
    ) throws -> PublishSession.Action {
        let device = try device(name)
        let now = device.clock.now
        var session = PublishSession(device.store, device.session.space, seed: 1, purpose)
        for _ in 0..<most {
            let action = try session.next(at: now)
            guard case .send(let request) = action else { return action }
            trace.append(try told(name, asks: request))
            let answer = answer(request, to: device)
            trace.append(try told(name, hears: answer, to: request))
            try session.receive(answer, at: now)
        }
        // The program ends here.
        return .send([])
    }
}
