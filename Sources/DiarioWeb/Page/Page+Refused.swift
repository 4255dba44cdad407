import DiarioCore
import DiarioEngine
import DiarioSchema

// Events that did not come to be what they were meant to: in the inbox, and in quarantine.
extension Page {
    /// The batches of own events that the server refused.
    func inbox() throws(DiarioError) -> [UInt8] {
        let batches = try SpaceInbox(opened().space).batches()
        return JSONObjectWriter.object { $0.add("batches", list: batches.map { $0.json }) }
    }

    /// One of them with its events, and the last ones of others about the same subjects that its
    /// author did not know.
    func refused(_ input: PageInput) throws(DiarioError) -> [UInt8] {
        let origin = try input.origin("origin")
        let inbox = try SpaceInbox(opened().space)
        let found = try inbox.batches().first {
            $0.replica == origin.replica && $0.sequences.contains(origin.sequence)
        }
        guard let batch = found else {
            throw DiarioError(.notFound, "No event \(origin.text) is in the inbox.")
        }
        let others = try inbox.concurrentLines(with: batch, limit: Self.concurrentCountMax)
        return JSONObjectWriter.object { json in
            json.add("batch", json: batch.json)
            json.add("events", list: batch.lines.map { $0.json(hash: nil) })
            json.add("concurrent", list: others.map { $0.json(hash: nil) })
        }
    }

    private static let concurrentCountMax = 100

    /// Records the events of a batch once more, and takes it out of the inbox.
    func recordAgain(_ input: PageInput) throws(DiarioError) -> [UInt8] {
        let retried = try SpaceInbox(opened().space).retry(
            input.origin("origin"),
            evenIfChanged: input.isTrue("force")
        )
        return JSONObjectWriter.object { json in
            json.add("origin", retried.old.text)
            json.add("recordedAs", retried.new.text)
            json.add("events", retried.count)
        }
    }

    /// Removes a batch for good.
    func discard(_ input: PageInput) throws(DiarioError) -> [UInt8] {
        let (origin, count) = try SpaceInbox(opened().space).drop(input.origin("origin"))
        return JSONObjectWriter.object { json in
            json.add("origin", origin.text)
            json.add("events", count)
        }
    }

    /// The events that a read model could not take.
    func quarantine() throws(DiarioError) -> [UInt8] {
        let found = try opened().quarantined()
        return JSONObjectWriter.object { json in
            json.add(
                "events",
                list: found.map { pack, event in
                    JSONObjectWriter.object { json in
                        json.add("origin", event.origin.text)
                        if let position = event.position { json.add("position", position) }
                        json.add("type", event.type)
                        json.add("version", event.version)
                        json.add("model", "\(pack).\(event.model)")
                        json.add("rule", event.rule)
                        json.add("message", event.message)
                    }
                }
            )
        }
    }

    /// Builds the read models again that left events out: the next steps of `follow` do it.
    func retryQuarantine() throws(DiarioError) -> [UInt8] {
        let models = try opened()
        models.rebuildNext = Set(try models.quarantined().map { $0.pack })
        return []
    }
}

extension PageInput {
    func origin(_ key: String) throws(DiarioError) -> Origin {
        let text = try text(key)
        guard let origin = Origin(text: text) else {
            throw DiarioError(.invalid, "\(text) is no origin, as 7zk3m9q2c1f4a-17.")
        }
        return origin
    }
}

extension InboxBatch {
    fileprivate var json: [UInt8] {
        JSONObjectWriter.object { json in
            json.add("origin", origin.text)
            json.add("events", events.count)
            if let type = events.first?.type { json.add("type", type) }
            if CivilTime.contains(keptAt) {
                var time: [UInt8] = []
                CivilTime.appendDateTime(keptAt, to: &time)
                json.add("keptAt", String(decoding: time, as: UTF8.self))
            }
            if let again = recordedAgain { json.add("recordedAs", again.text) }
            guard let refusal else { return }
            json.add("rule", refusal.rule)
            json.add("message", refusal.message)
            json.add("position", refusal.position)
            if let event = refusal.origin { json.add("event", event.text) }
            if let conflict = refusal.conflict { json.add("conflict", conflict) }
        }
    }
}
