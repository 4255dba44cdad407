import DiarioCore

// The end of a world: nothing fails any more, so everything must be settled soon, and equal.

extension SyncWorld {
    /// Milliseconds within which all is settled once the network heals.
    ///
    /// The longest wait is a minute, and each of a few rounds may begin with one.
    private static let healingTime: Int64 = 15 * 60_000
    private static let healingCount = 20_000

    /// Ends all faults, and waits until every event has its verdict everywhere.
    func heal() throws {
        trace.add("healing")
        for device in devices {
            device.link = Link()
            device.isRevoked = false
        }
        for peer in peers {
            peer.clearFaults()
            if let cut = peer.plannedCut {
                // A planned cut comes now, so that nothing fails after this point.
                peer.takeCut(cut, using: &random)
                goDown(peer)
            } else if peer.mayOweFailures {
                peer.kill()
                goDown(peer)
            }
            peer.mayOweFailures = false
        }
        for peer in devices { try start(peer) }
        try start(server)
        try resume()
        let end = now + Self.healingTime
        try settle(until: end)
        try sendKept(until: end)
        trace.add("settled")
    }

    private func settle(until end: Int64) throws {
        for _ in 0..<Self.healingCount where !isSettled {
            guard try advanceOnce(until: end) else { break }
        }
        guard isSettled else {
            let rest = devices.map { $0.state(at: records.ledger) }.joined(separator: "; ")
            throw Broken(.settled, "not settled after \(Self.healingTime / 60_000) min: \(rest)")
        }
    }

    /// Administrators send the kept events of others, as long as that helps: those of one may have
    /// to come before those of another.
    private func sendKept(until end: Int64) throws {
        var before = Int.max
        while true {
            let count = try devices.reduce(0) {
                try $0 + ($1.isOn ? $1.kept(records.book).count : 0)
            }
            guard count > 0, count < before else { return }
            before = count
            for device in devices {
                relay(device)
                try settle(until: end)
            }
        }
    }

    private var isSettled: Bool {
        server.isOn && !server.isWaiting
            && devices.allSatisfy { $0.isSettled(at: records.ledger) }
    }

    // MARK: The end

    func checkAtEnd() throws {
        // Programs that start again find the same.
        for peer in devices { try restart(peer) }
        try restart(server)
        // Where two disks used one id, a refusal may be of an event of the other disk. Nothing
        // shows that, so the author finds it in the inbox.
        let mistaken = Set(
            devices.flatMap(\.contents.refused)
                .filter { records.sharedReplicas.contains($0.key.replica) }.map(\.value)
        )
        let stuck = try records.stuck(devices)
        for (token, entry) in records.book.entries.sorted(by: { $0.key < $1.key })
        where entry.fate == .synced && !stuck.contains(token) {
            guard records.ledger.hasVerdict(token) || mistaken.contains(token) else {
                throw Broken(.settled, "event \(token) has no verdict")
            }
        }
        try server.verify()
        for device in devices {
            try records.checkReplica(device)
            try records.checkKept(device)
            try records.checkRoot(device, server)
            try records.checkInbox(device)
            try device.verify()
        }
        if plan.traits.contains(.models) { try checkModels() }
    }

    /// All replicas have the same read models, and a rebuild gives them too.
    private func checkModels() throws {
        var first: Device.Digests?
        for device in devices {
            device.setClock(now)
            guard let digests = try device.updateModels() else { continue }
            if let first, first != digests {
                throw Broken(.equal, "\(device.name) has other read models than the first")
            }
            if first == nil || device.number == devices.count - 1 {
                try device.compareModels(digests)
            }
            first = digests
        }
    }
}
