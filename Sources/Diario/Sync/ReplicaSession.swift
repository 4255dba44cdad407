package import DiarioCore
import DiarioCrypto
import DiarioFormat
package import DiarioLog
import DiarioSchema
import DiarioStorage
package import DiarioSync

/// One replica's side of a sync: makes requests of what its log holds, and does what the answers
/// say: schema/format/sync.md, section 7.
///
/// Knows no network: whoever drives it carries a request to the authority and brings the answer,
/// or says that there was none. One request is on its way at a time.
package struct ReplicaSession: Sendable {
    package private(set) var machine: ReplicaMachine
    /// What was moved so far.
    package private(set) var moved = Moved()
    private let store: LogStore
    private let space: SpaceID
    /// Of each own replica the last sequence that has a verdict.
    private var decided: [ReplicaID: UInt64] = [:]
    private var request: Request?
    /// News that wait for packs.
    private var held: News?
    /// Of the authority, when it last answered.
    package private(set) var authorityHead: UInt64 = 0

    /// What is to be done next.
    package enum Action: Sendable {
        /// To bring these bytes to the authority.
        case send([UInt8])
        /// Nothing before a time.
        case wait(until: Timestamp)
        /// Nothing before somebody records or the authority has news.
        case rest
        /// Nothing before a person says so.
        case stop(Refusal)
    }

    /// What a session has moved.
    package struct Moved: Equatable, Sendable {
        package var pushed: UInt64 = 0
        package var pulled: UInt64 = 0
        package var refused: UInt64 = 0
        package var requests = 0
        package var bytesSent = 0
        package var bytesReceived = 0
    }

    private enum Request: Sendable {
        case push(ReplicaID, sequences: ClosedRange<UInt64>, isWhole: Bool)
        case pull(after: UInt64)
        case pack(Hash32)
    }

    package init(_ store: LogStore, _ space: SpaceID, seed: UInt64) {
        self.store = store
        self.space = space
        machine = ReplicaMachine(seed: seed)
    }

    /// There may be news of others, or events of our own.
    package mutating func heardOfNews() { machine.heardOfNews() }

    /// The network is there again, or a person says so.
    package mutating func goOn() { machine.goOn() }

    // MARK: Requests

    /// What to do now; a request that was not answered counts as lost.
    package mutating func next(at now: Timestamp) throws(LogError) -> Action {
        request = nil
        let standing = store.standing(of: space)
        if let pack = try missingPack() { return try send(.pack(pack), of: standing) }
        switch machine.next(at: now, unsent: unsent(standing).reduce(0) { $0 + $1.sequences.count })
        {
        case .pull: return try send(.pull(after: standing.head), of: standing)
        case .push:
            guard let next = unsent(standing).first else { return .rest }
            return try push(next, of: standing)
        case .wait(let until): return .wait(until: until)
        case .rest: return .rest
        case .stop(let refusal): return .stop(refusal)
        }
    }

    /// Pending events without a verdict, in the order in which they are pushed.
    private func unsent(_ standing: SpaceStanding) -> [PendingEvents] {
        standing.pending.compactMap { pending in
            let first = max(pending.sequences.lowerBound, (decided[pending.replica] ?? 0) + 1)
            guard first <= pending.sequences.upperBound else { return nil }
            return PendingEvents(
                replica: pending.replica,
                sequences: first...pending.sequences.upperBound
            )
        }
    }

    private mutating func push(
        _ next: PendingEvents,
        of standing: SpaceStanding
    ) throws(LogError) -> Action {
        let (blocks, count) = try store.pendingBlocks(of: space, next)
        guard count > 0 else { return .rest }
        let first = next.sequences.lowerBound
        let sent = first...first + UInt64(count) - 1
        request = .push(
            next.replica,
            sequences: sent,
            isWhole: sent == next.sequences && unsent(standing).count == 1
        )
        return counted(
            .push(
                Push(standing: try own(standing), replica: next.replica, blocks: blocks)
            )
        )
    }

    private mutating func send(
        _ new: Request,
        of standing: SpaceStanding
    ) throws(LogError) -> Action {
        request = new
        let own = try own(standing)
        switch new {
        case .push: preconditionFailure("a push has its blocks")
        case .pack(let fingerprint):
            return counted(.packWanted(PackWanted(standing: own, fingerprint: fingerprint)))
        case .pull:
            var lanes: [Pull.Own] = []
            for pending in standing.pending.prefix(Limits.ownReplicaCountMax)
            where !lanes.contains(where: { $0.replica == pending.replica }) {
                lanes.append(
                    Pull.Own(
                        replica: pending.replica,
                        firstSequence: pending.sequences.lowerBound
                    )
                )
            }
            return counted(.pull(Pull(standing: own, own: lanes)))
        }
    }

    private mutating func counted(_ message: SyncMessage) -> Action {
        let bytes = message.encoded()
        moved.requests += 1
        moved.bytesSent += bytes.count
        return .send(bytes)
    }

    private func own(_ standing: SpaceStanding) throws(LogError) -> Standing {
        let status = try store.status(of: space)
        return Standing(
            lineage: status.manifest.lineage,
            epoch: status.manifest.epoch,
            size: standing.head,
            root: try store.root(of: space)
        )
    }

    // MARK: Answers

    /// The carrier brought no answer.
    package mutating func failed(_ what: String, at now: Timestamp) {
        request = nil
        machine.failed(what, at: now)
    }

    /// The answer came to the request that was made last.
    package mutating func receive(_ answer: [UInt8], at now: Timestamp) throws(LogError) {
        guard let asked = request else { return }
        request = nil
        moved.bytesReceived += answer.count
        let message: SyncMessage
        do throws(FormatError) { message = try SyncMessage(answer.span) } catch {
            return machine.failed("The answer cannot be read: \(error.message).", at: now)
        }
        switch (asked, message) {
        case (_, .refusal(let refusal)):
            held = nil
            machine.refused(refusal, at: now)
        case (.push(let replica, let sequences, let isWhole), .verdicts(let verdicts)):
            machine.worked()
            authorityHead = verdicts.head
            try take(verdicts, replica, sequences, isWhole: isWhole, at: now)
        case (.pull(let size), .news(let news)):
            machine.worked()
            guard store.standing(of: space).head == size else { return }
            held = news
            authorityHead = news.head
            try takeHeld(at: now)
        case (.pack(let fingerprint), .pack(let pack)):
            machine.worked()
            let files = pack.files.map { PackFile(path: $0.path, bytes: $0.content) }
            guard Fingerprint.pack(files) == fingerprint else {
                return machine.failed("The pack that came is another one.", at: now)
            }
            try store.keep(files, fingerprint: fingerprint)
            try takeHeld(at: now)
        default: machine.failed("The answer is to another request.", at: now)
        }
    }

    private mutating func take(
        _ verdicts: Verdicts,
        _ replica: ReplicaID,
        _ sequences: ClosedRange<UInt64>,
        isWhole: Bool,
        at now: Timestamp
    ) throws(LogError) {
        var next = sequences.lowerBound
        var promoted: [PromotedRun] = []
        var head = store.standing(of: space).head
        let known = head
        var refused: [RefusedRun] = []
        var goesOn = true
        for verdict in verdicts.list {
            switch verdict.kind {
            case .gap:
                decided[replica] = verdict.firstSequence - 1
                machine.pushed(isWhole: false)
                try promote(promoted)
                return
            case .forked:
                try promote(promoted)
                return machine.refused(Self.fork(replica, verdict.firstSequence), at: now)
            case .accepted, .refused: break
            }
            guard verdict.firstSequence == next, verdict.count <= sequences.upperBound - next + 1
            else { return machine.failed("The verdicts are of other events.", at: now) }
            next += verdict.count
            if case .refused(let position) = verdict.kind, position <= known {
                // The news that said so came before, and were lost since: a repair tells of that.
                refused.append(RefusedRun(replica: replica, verdict, at: position))
            }
            guard goesOn, case .accepted(let position, let acceptedAt) = verdict.kind,
                position == head + 1
            else {
                goesOn = false
                continue
            }
            promoted.append(
                PromotedRun(
                    replica: replica,
                    firstSequence: verdict.firstSequence,
                    count: verdict.count,
                    firstPosition: position,
                    acceptedAt: acceptedAt
                )
            )
            head += verdict.count
        }
        guard next == sequences.upperBound + 1 else {
            return machine.failed("The verdicts do not cover what was sent.", at: now)
        }
        decided[replica] = sequences.upperBound
        moved.pushed += UInt64(sequences.count)
        try promote(promoted)
        try keepRefused(refused)
        try store.leaveOut(refused, of: space)
        machine.pushed(isWhole: isWhole)
    }

    private func promote(_ runs: [PromotedRun]) throws(LogError) {
        guard !runs.isEmpty else { return }
        try store.append([.promoted(runs)], to: space)
    }

    private static func fork(_ replica: ReplicaID, _ sequence: UInt64) -> Refusal {
        Refusal(
            .diverged,
            number: sequence,
            "Another event is known as \(replica.text)-\(sequence): this replica was copied, and "
                + "both copies recorded."
        )
    }

    // MARK: News

    /// A pack that the news at hand say is used, and that is not here.
    private func missingPack() throws(LogError) -> Hash32? {
        guard let held else { return nil }
        for block in try blocks(of: held) {
            for adoption in try facts(of: block).adoptions {
                do throws(LogError) { _ = try store.packFiles(adoption.fingerprint) } catch {
                    guard case .storage(.notFound) = error else { throw error }
                    return adoption.fingerprint
                }
            }
        }
        return nil
    }

    private typealias Unpacked = (bytes: [UInt8], head: BlockHead)

    private func blocks(of news: News) throws(LogError) -> [Unpacked] {
        do throws(FormatError) {
            var unpacker = try BlockUnpacker()
            var blocks: [Unpacked] = []
            for case .block(let packed) in news.pieces {
                blocks.append(try unpacker.unpack(packed))
            }
            return blocks
        } catch {
            throw .format(error)
        }
    }

    private func facts(of block: Unpacked) throws(LogError) -> EngineReader.Facts {
        try store.facts(in: block.bytes, block.head)
    }

    /// Appends the news at hand, unless a pack is still missing that they need.
    private mutating func takeHeld(at now: Timestamp) throws(LogError) {
        guard let news = held else { return }
        let contents: [Append.Content]
        do throws(LogError) {
            guard try missingPack() == nil else { return }
            contents = try self.contents(of: news)
            held = nil
        } catch .format(let error) {
            held = nil
            return machine.failed("The news cannot be read: \(error.message).", at: now)
        }
        let before = store.standing(of: space).head
        do throws(LogError) {
            try store.append(contents, to: space)
        } catch .outOfOrder(let what) {
            return machine.failed("The news do not fit: \(what).", at: now)
        }
        let standing = store.standing(of: space)
        moved.pulled += standing.head - before
        guard standing.head == news.end, try store.root(of: space) == news.root else {
            return machine.refused(
                Refusal(
                    .diverged,
                    number: standing.head,
                    "The first \(standing.head) events are others here than at the authority."
                ),
                at: now
            )
        }
        let rest = unsent(standing).reduce(0) { $0 + $1.sequences.count }
        machine.pulled(through: news.end, of: news.head, unsent: rest)
    }

    /// What is to be appended; what was refused of our own is in the inbox when this returns.
    private mutating func contents(of news: News) throws(LogError) -> [Append.Content] {
        var contents: [Append.Content] = []
        var unpacked = try blocks(of: news)[...]
        var runs: [PromotedRun] = []
        var refused: [RefusedRun] = []
        for piece in news.pieces {
            switch piece {
            case .own(let run): runs.append(run)
            case .block:
                if !runs.isEmpty { contents.append(.promoted(runs)) }
                runs = []
                let block = unpacked.removeFirst()
                refused += try facts(of: block).refusals
                contents.append(.received(ReceivedRows(block.bytes, block.head)))
            }
        }
        if !runs.isEmpty { contents.append(.promoted(runs)) }
        try keepRefused(refused)
        return contents
    }

    private mutating func keepRefused(_ refused: [RefusedRun]) throws(LogError) {
        guard !refused.isEmpty else { return }
        let pending = store.standing(of: space).pending
        var entries: [InboxEntry] = []
        for refusal in refused
        where
            pending.contains(where: {
                $0.replica == refusal.replica && $0.sequences.overlaps(refusal.sequences)
            })
        {
            let events = PendingEvents(replica: refusal.replica, sequences: refusal.sequences)
            let (blocks, count) = try store.pendingBlocks(of: space, events)
            guard let block = blocks.first, blocks.count == 1, count > 0 else { continue }
            moved.refused += UInt64(count)
            entries.append(
                InboxEntry(
                    replica: refusal.replica,
                    sequences: refusal.sequences,
                    writtenAt: store.now,
                    block: block
                )
            )
        }
        try store.keepInInbox(entries, of: space)
    }
}

extension RefusedRun {
    fileprivate init(replica: ReplicaID, _ verdict: Verdict, at position: UInt64) {
        let first = verdict.firstSequence
        self.init(
            replica: replica,
            sequences: first...first + verdict.count - 1,
            position: position
        )
    }
}
