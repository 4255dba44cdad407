package import DiarioCore
import DiarioFormat
package import DiarioLog
import DiarioSchema
import DiarioSync

// What an answer of the authority means: schema/format/sync.md, section 7.

extension ReplicaSession {
    /// The carrier brought no answer.
    package mutating func failed(_ what: String, at now: Timestamp) {
        request = nil
        machine.failed(what, at: now)
    }

    /// The answer came to the request that was made last.
    package mutating func receive(_ answer: [UInt8], at now: Timestamp) throws(LogError) {
        guard let asked = request else { return }
        request = nil
        serverWaits = false
        moved.bytesReceived += answer.count
        let message: SyncMessage
        do throws(FormatError) { message = try SyncMessage(answer.span) } catch {
            return machine.failed("The answer cannot be read: \(error.message).", at: now)
        }
        switch (asked, message) {
        case (.push(_, let sequences, _), .refusal(let refusal))
        where refusal.reason == .tooLarge && sequences.count > 1 && pushCountMax > 1:
            // At least one batch goes with each push: one that is too large itself is sent alone.
            pushCountMax = min(pushCountMax, sequences.count) / 2
            machine.pushFirst()
        case (_, .refusal(let refusal)):
            held = nil
            try take(refusal, at: now)
        case (.push(let replica, let sequences, let isWhole), .verdicts(let verdicts)):
            machine.worked()
            authorityHead = verdicts.head
            try take(verdicts, replica, sequences, isWhole: isWhole, at: now)
        case (.relay(let run), .verdicts(let verdicts)):
            machine.worked()
            authorityHead = verdicts.head
            try take(verdicts, of: run, at: now)
        case (.pull(let size), .news(let news)):
            machine.worked()
            guard store[space].standing().head == size else { return }
            authorityHead = news.head
            do throws(LogError) {
                held = try Arrival(news, store, of: space, after: size)
            } catch .format(let error) {
                avoidsContext = true
                // A run of own events may end within a batch of others that have their origins.
                guard !suspectAll() else { return }
                return machine.failed("The news cannot be read: \(error.message).", at: now)
            }
            try takeHeld(at: now)
        case (.pack(let fingerprint), .pack(let pack)):
            machine.worked()
            let files = pack.files.map { PackFile(path: $0.path, bytes: $0.content) }
            guard Fingerprint.pack(files) == fingerprint else {
                return machine.failed("The pack that came is another one.", at: now)
            }
            try store.keep(files, fingerprint: fingerprint)
            try takeHeld(at: now)
        case (.compare, .common(let common)):
            machine.worked()
            try take(common, at: now)
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
        var head = store[space].standing().head
        var goesOn = true
        for verdict in verdicts.list {
            switch verdict.kind {
            case .gap, .forked:
                try promote(promoted)
                let origin = Origin(replica: replica, sequence: verdict.firstSequence)
                return verdict.kind == .gap
                    ? try closeGap(at: origin, before: sequences.lowerBound, at: now)
                    : try fork(at: origin, at: now)
            case .accepted, .refused: break
            }
            guard verdict.firstSequence == next, verdict.count <= sequences.upperBound - next + 1
            else { return machine.failed("The verdicts are of other events.", at: now) }
            next += verdict.count
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
        lastGap = nil
        decided[replica] = sequences.upperBound
        if let last = suspects[replica], last <= sequences.upperBound {
            suspects[replica] = nil
            cleared.insert(replica)
        }
        moved.pushed += UInt64(sequences.count)
        try promote(promoted)
        machine.pushed(isWhole: isWhole)
    }

    private func promote(_ runs: [PromotedRun]) throws(LogError) {
        guard !runs.isEmpty else { return }
        try store[space].append([.promoted(runs)])
    }
}
