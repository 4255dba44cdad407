import Diario
import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioServer
import DiarioSync
import Foundation

// How messages, states and logs are told in a scenario.

extension ScenarioWorld {
    // MARK: Messages

    /// What a replica asks.
    func told(_ name: String, asks request: [UInt8]) throws -> String {
        switch try SyncMessage(request.span) {
        case .push(let push):
            return "\(name) -> push \(try runs(in: push.blocks).joined(separator: ", "))"
        case .relay(let relay):
            return "\(name) -> relay \(try runs(in: relay.push.blocks).joined(separator: ", "))"
        case .pull(let pull):
            let own = pull.own.map {
                range($0.replica, $0.firstSequence, $0.firstSequence + $0.count - 1)
            }
            let suffix = own.isEmpty ? "" : ", has " + own.joined(separator: ", ")
            return "\(name) -> pull behind \(pull.standing.size)\(suffix)"
        case .packWanted: return "\(name) -> pack wanted"
        case .compare(let compare):
            let sizes = compare.points.map { "\($0.size)" }.joined(separator: ", ")
            return "\(name) -> compare at \(sizes)"
        case .publish(let publish), .restore(let publish):
            let verb = try SyncMessage(request.span).kind == .publish ? "publish" : "restore"
            let events = try runs(in: publish.blocks)
            let packs = publish.pack == nil ? [] : ["a pack"]
            let parts = (events + packs).joined(separator: ", ")
            return "\(name) -> \(verb) \(parts.isEmpty ? "nothing yet" : parts)"
        case .abandon: return "\(name) -> abandon"
        case .verdicts, .news, .pack, .refusal, .common, .publication: return "\(name) -> ?"
        }
    }

    /// What the answer to a request says.
    func told(_ name: String, hears answer: [UInt8], to request: [UInt8]) throws -> String {
        let message: SyncMessage
        do { message = try SyncMessage(answer.span) } catch {
            return "\(name) <- (cannot be read)"
        }
        switch message {
        case .verdicts(let verdicts):
            let replica: ReplicaID
            switch try SyncMessage(request.span) {
            case .push(let push): replica = push.replica
            case .relay(let relay): replica = relay.push.replica
            default: return "?"
            }
            let list = verdicts.list.map { told($0, of: replica) }
            return "\(name) <- \(list.joined(separator: ", ")); head \(verdicts.head)"
        case .news(let news):
            guard !news.pieces.isEmpty else { return "\(name) <- nothing behind \(news.end)" }
            let pieces = try told(news.pieces).joined(separator: ", ")
            return "\(name) <- up to \(news.end) of \(news.head): \(pieces)"
        case .pack(let pack): return "\(name) <- pack of \(pack.files.count) files"
        case .refusal(let refusal):
            let number = refusal.number > 0 ? " \(refusal.number)" : ""
            return "\(name) <- refused: \(refusal.reason)\(number)"
        case .common(let common): return "\(name) <- the same up to \(common.size)"
        case .publication(let publication): return "\(name) <- \(told(publication))"
        case .push, .relay, .pull, .packWanted, .compare, .publish, .abandon, .restore:
            return "\(name) <- ?"
        }
    }

    private func told(_ publication: Publication) -> String {
        switch publication.outcome {
        case .goesOn(let taken, let wanted): "has \(taken) events, wants \(wanted.count) packs"
        case .adopted: "adopted"
        case .ended(let reason): "ended: \(reason)"
        }
    }

    private func told(_ verdict: Verdict, of replica: ReplicaID) -> String {
        // A gap and a fork count nothing.
        let last = verdict.firstSequence + max(verdict.count, 1) - 1
        let events = range(replica, verdict.firstSequence, last)
        return switch verdict.kind {
        case .accepted(let position, _): "\(events) accepted at \(position)"
        case .refused(let position): "\(events) refused at \(position)"
        case .gap: "gap: \(events) is missing"
        case .forked: "forked from \(events) on"
        }
    }

    private func told(_ pieces: [News.Piece]) throws -> [String] {
        var told: [String] = []
        var blocks: [[UInt8]] = []
        for piece in pieces {
            switch piece {
            case .block(let block): blocks.append(block)
            case .own(let run, _):
                told += try runs(in: blocks).map { "rows of " + $0 }
                blocks = []
                let last = run.firstSequence + run.count - 1
                told.append("no rows of " + range(run.replica, run.firstSequence, last))
            }
        }
        return told + (try runs(in: blocks).map { "rows of " + $0 })
    }

    private func runs(in blocks: [[UInt8]]) throws -> [String] {
        var unpacker = BlockUnpacker()
        var runs: [BlockRun] = []
        for packed in blocks {
            for run in try unpacker.unpackAll(packed).flatMap(\.head.runs) {
                if let last = runs.last, last.replica == run.replica,
                    last.lastSequence + 1 == run.firstSequence
                {
                    runs[runs.count - 1].count += run.count
                } else {
                    runs.append(run)
                }
            }
        }
        return runs.map { range($0.replica, $0.firstSequence, $0.lastSequence) }
    }

    // MARK: States

    /// Where a replica stands.
    func state(of name: String) throws -> String {
        let device = try device(name)
        let standing = device.store[device.session.space].standing()
        let pending = standing.pending.map {
            range($0.replica, $0.sequences.lowerBound, $0.sequences.upperBound)
        }
        let inbox = try device.store[device.session.space].inbox.entries().map {
            range($0.replica, $0.sequences.lowerBound, $0.sequences.upperBound)
        }
        let state =
            switch device.session.machine.state {
            case .pulling: "is pulling"
            case .pushing: "is pushing"
            case .comparing: "is comparing"
            case .live: "is live"
            case .backingOff(let until): "backs off for up to \(until.wait(at: device.clock.now))"
            case .paused(let refusal): "is paused: \(refusal.reason)"
            }
        var line = "\(name) \(state); head \(standing.head)"
        if !pending.isEmpty { line += "; pending " + pending.joined(separator: ", ") }
        if !inbox.isEmpty { line += "; inbox " + inbox.joined(separator: ", ") }
        return line
    }

    /// Who has the same log as whom.
    func comparison() throws -> String {
        let root = try server.store[server.space].root()
        var (same, others) = (["server"], [String]())
        for (name, device) in devices.sorted(by: { $0.key < $1.key }) {
            let isSame = try device.store[device.session.space].root() == root
            if isSame { same.append(name) } else { others.append(name) }
        }
        let line =
            "the same log of \(server.store[server.space].standing().head) events: "
            + same.joined(separator: ", ")
        return others.isEmpty ? line : line + "; another one: " + others.joined(separator: ", ")
    }

    // MARK: Events

    /// What a payload may have, of those that scenarios tell of.
    private struct Told: Decodable {
        var text: String?
        var pack: String?
        var replica: String?
        var first: UInt64?
        var count: UInt64?
        var rule: String?
    }

    func log(of space: Space) throws -> [String] {
        var reader = try EventReader(space, .everything)
        var lines: [String] = []
        while let line = try reader.next() {
            guard let event = RecordedEvent(line) else { continue }
            let position = event.position.map { "\($0)" } ?? "-"
            lines.append("\(position) \(try told(event))")
        }
        return lines
    }

    func told(_ event: RecordedEvent) throws -> String {
        let origin = range(event.origin.replica, event.origin.sequence, event.origin.sequence)
        guard let json = event.json else { return "\(origin) of the unknown type \(event.type)" }
        let told = try JSONDecoder().decode(Told.self, from: Data(json.utf8))
        if let rule = told.rule, let replica = told.replica.flatMap({ ReplicaID(text: $0) }),
            let first = told.first, let count = told.count
        {
            return "\(origin) refuses \(range(replica, first, first + count - 1)): \(rule)"
        }
        if let pack = told.pack { return "\(origin) adopts the pack \(pack)" }
        var line = "\(origin) \"\(told.text ?? "")\""
        if let subject = event.subject { line += " about \(named(subject))" }
        return line
    }

    func inbox(of name: String) throws -> [String] {
        let space = try space(of: name)
        var lines: [String] = []
        for batch in try SpaceInbox(space).batches() {
            let texts = try batch.events.map { try told($0) }.joined(separator: ", ")
            lines.append("\(texts), refused: \(batch.refusal?.rule ?? "-")")
            for line in try SpaceInbox(space).concurrentLines(with: batch, limit: 10) {
                guard let event = RecordedEvent(line) else { continue }
                lines.append("  meanwhile \(try told(event))")
            }
        }
        return lines.isEmpty ? ["nothing"] : lines
    }
}

extension Timestamp {
    /// How long it is until then, roughly.
    fileprivate func wait(at now: Timestamp) -> String {
        let seconds = (milliseconds - now.milliseconds + 999) / 1000
        return "\(seconds) s"
    }
}
