package import DiarioCore
import DiarioCrypto
import DiarioFormat
package import DiarioLog
import DiarioSchema
import DiarioStorage
package import DiarioSync

/// A replica's side of publishing its space, and of restoring an authority: schema/format/sync.md,
/// sections 10 and 11.
///
/// Knows no network: whoever drives it carries a request to the authority and brings the answer, or
/// says that there was none. All that lasts is in the log: what a session leaves undone, another
/// one goes on with.
package struct PublishSession: Sendable {
    /// What is to be done next.
    package enum Action: Sendable {
        /// To bring these bytes to the authority.
        case send([UInt8])
        /// Nothing before a time.
        case wait(until: Timestamp)
        /// Nothing before a person says so.
        case stop(Refusal)
        /// Nothing any more.
        case done(Result)
    }

    package enum Purpose: Sendable {
        /// To give the authority to a server; goes on with an attempt that was begun.
        case publishing
        /// To end the attempt that goes on.
        case abandoning
        /// To give a server back what it lost of a space whose authority it was.
        case restoring
    }

    /// How it came to its end.
    package enum Result: Equatable, Sendable {
        /// The authority is elsewhere now, and has all that was here.
        case published
        /// The authority is here again, or still.
        case kept(Publication.Reason?, String)
    }

    package private(set) var machine: ReplicaMachine
    private let store: LogStore
    private let space: SpaceID
    private let purpose: Purpose
    /// What a server gets back; kept in memory, because nothing of it changes here.
    private var restored: PublishingFile?
    /// What the authority said last that it has; nil if it was not asked yet.
    private var there: (taken: UInt64, wanted: [Hash32])?
    private var isAsked = false
    private var result: Result?
    /// Requests that were made.
    package private(set) var requestCount = 0
    /// How many of how many events the authority has.
    package private(set) var progress: (taken: UInt64, size: UInt64) = (0, 0)

    package init(
        _ store: LogStore,
        _ space: SpaceID,
        seed: UInt64,
        _ purpose: Purpose = .publishing
    ) {
        self.store = store
        self.space = space
        self.purpose = purpose
        machine = ReplicaMachine(seed: seed)
    }

    /// The network is there again, or a person says so.
    package mutating func goOn() { machine.goOn() }

    /// What to do now; a request that was not answered counts as lost.
    package mutating func next(at now: Timestamp) throws(LogError) -> Action {
        isAsked = false
        if let result { return .done(result) }
        guard let file = try current() else { return .done(finish(.kept(nil, Self.nothing))) }
        if file.isTakenBack {
            try store[space].publishing.takeBack()
            return .done(finish(.kept(nil, "The space is its own authority again.")))
        }
        switch machine.next(at: now, unsent: 0) {
        case .wait(let until): return .wait(until: until)
        case .stop(let refusal): return .stop(refusal)
        case .pull, .push, .compare, .rest: break
        }
        isAsked = true
        requestCount += 1
        progress.size = file.size
        let standing = try standing(file)
        if purpose == .abandoning {
            let abandon = Abandon(attempt: file.attempt, standing: standing)
            return .send(SyncMessage.abandon(abandon).encoded())
        }
        var publish = Publish(
            attempt: file.attempt,
            standing: standing,
            acceptedAt: file.acceptedAt
        )
        try fill(&publish)
        let message: SyncMessage =
            purpose == .restoring ? .restore(publish) : .publish(publish)
        return .send(message.encoded())
    }

    private static let nothing = "No attempt to publish goes on."

    /// The attempt that goes on; unless one is to be abandoned, it is begun if there is none.
    private mutating func current() throws(LogError) -> PublishingFile? {
        if purpose == .restoring {
            if restored == nil { restored = try attemptToRestore() }
            return restored
        }
        if let known = try store[space].publishing.attempt() { return known }
        return purpose == .abandoning ? nil : try store[space].publishing.begin()
    }

    private func attemptToRestore() throws(LogError) -> PublishingFile {
        let status = try store[space].status()
        guard status.manifest.authority == nil else { throw .isAuthority(space) }
        guard try store[space].publishing.attempt() == nil else {
            throw .outOfOrder(what: "an attempt to publish the space goes on")
        }
        guard let root = try store[space].proofs.root(size: status.head) else {
            throw .outOfOrder(what: "a space that gave events away cannot restore its server")
        }
        let standing = Standing(
            lineage: status.manifest.lineage,
            epoch: status.manifest.epoch,
            size: status.head,
            root: root
        )
        return PublishingFile(
            attempt: AttemptID(restoring: standing),
            size: status.head,
            root: root,
            acceptedAt: status.acceptedAt ?? Timestamp(milliseconds: 0)
        )
    }

    private func standing(_ file: PublishingFile) throws(LogError) -> Standing {
        let manifest = try store[space].status().manifest
        return Standing(
            lineage: manifest.lineage,
            epoch: manifest.epoch,
            size: file.size,
            root: file.root
        )
    }

    /// Adds what is missing there, as much as one message takes.
    private func fill(_ publish: inout Publish) throws(LogError) {
        guard let there else { return }
        publish.before = there.taken
        // Behind that others may have come meanwhile.
        let left = publish.standing.size - there.taken
        let (pieces, _) = try store[space].news(
            after: there.taken,
            own: [:],
            countMax: Int(clamping: min(UInt64(Limits.exchangeCountMax), left)),
            inColumns: true
        )
        for case .block(let block) in pieces { publish.blocks.append(block) }
        guard let fingerprint = there.wanted.first else { return }
        let files = try store.packs.files(fingerprint)
        publish.pack = NamedPack(
            fingerprint: fingerprint,
            pack: PackFiles(
                files: files.map { PackFiles.File(path: $0.path, content: $0.bytes) }
            )
        )
    }

    // MARK: Answers

    /// The carrier brought no answer.
    package mutating func failed(_ what: String, at now: Timestamp) {
        isAsked = false
        there = nil
        machine.failed(what, at: now)
    }

    /// The answer came to the request that was made last.
    package mutating func receive(_ answer: [UInt8], at now: Timestamp) throws(LogError) {
        guard isAsked else { return }
        isAsked = false
        let message: SyncMessage
        do throws(FormatError) { message = try SyncMessage(answer.span) } catch {
            return failed("The answer cannot be read: \(error.message).", at: now)
        }
        switch message {
        case .refusal(let refusal):
            there = nil
            machine.refused(refusal, at: now)
        case .publication(let publication): try take(publication, at: now)
        default: failed("The answer is to another request.", at: now)
        }
    }

    private mutating func take(
        _ publication: Publication,
        at now: Timestamp
    ) throws(LogError) {
        var known = restored
        if known == nil { known = try store[space].publishing.attempt() }
        guard let file = known, publication.attempt == file.attempt else {
            return failed("The answer is about another attempt.", at: now)
        }
        machine.worked()
        switch publication.outcome {
        case .goesOn(let taken, let wanted):
            guard taken <= file.size, purpose != .abandoning else {
                return failed("The answer does not fit what was asked.", at: now)
            }
            if let there, there == (taken, wanted) {
                return failed("The authority takes nothing of what it is sent.", at: now)
            }
            there = (taken, wanted)
            progress.taken = taken
        case .adopted:
            if restored == nil { try store[space].publishing.end() }
            // Who lacks something asks for it first.
            let lacksNothing = restored != nil && there == nil
            result = lacksNothing ? .kept(nil, publication.message) : .published
        case .ended(let reason):
            guard restored == nil else {
                return failed("The answer does not fit what was asked.", at: now)
            }
            try store[space].publishing.takeBack()
            result = .kept(reason, publication.message)
        }
    }

    private mutating func finish(_ result: Result) -> Result {
        self.result = result
        return result
    }
}
