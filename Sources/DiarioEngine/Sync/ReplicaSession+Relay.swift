import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioSchema
import DiarioSync

// Events of others that the authority lost and that are kept here: schema/format/sync.md,
// section 9.

extension ReplicaSession {
    /// The progress of sending kept events.
    struct Relaying: Sendable {
        /// Up to here they were sent.
        var place: KeptPlace?
        /// Replicas of which the authority cannot take events: it lacks earlier ones, or has others
        /// under their origins.
        var stuck: Set<ReplicaID> = []
        /// Types that the space has; nil until they are looked up.
        var types: Set<TypeEntry>?
    }

    /// True if kept events are still to be sent.
    package var isRelaying: Bool { relaying != nil }

    /// Sends the events of others that are kept here, once own ones are sent; for a person to ask.
    package mutating func relay() {
        relaying = Relaying()
        machine.goOn()
    }

    /// The next kept events as a request; nil if all were sent.
    mutating func nextRelay(of standing: SpaceStanding) throws(LogError) -> Action? {
        guard var open = relaying else { return nil }
        let next = try store[space].kept.next(
            behind: open.place,
            without: open.stuck,
            countMax: pushCountMax
        )
        guard let run = next else {
            relaying = nil
            return nil
        }
        let pack = try missingPack(of: run, &open)
        relaying = open
        request = .relay(run)
        let push = Push(standing: try own(standing), replica: run.replica, blocks: [run.block])
        return counted(.relay(Relay(push, pack: pack)))
    }

    /// A pack that the types of these events need and the space does not use: it was adopted in the
    /// part of the log that the authority lost.
    private func missingPack(
        of run: KeptRun,
        _ open: inout Relaying
    ) throws(LogError) -> NamedPack? {
        var known: Set<TypeEntry> = open.types ?? []
        if open.types == nil {
            for adoption in try store[space].adoptions() {
                known.formUnion(
                    try store.packs.pack(adoption.fingerprint).types.map { TypeEntry($0) }
                )
            }
        }
        defer { open.types = known }
        guard let lacking = run.types.first(where: { !known.contains($0) }) else { return nil }
        var found: (pack: Pack, fingerprint: Hash32)?
        for fingerprint in try store.packs.all() {
            let pack = try store.packs.pack(fingerprint)
            guard pack.types.contains(where: { TypeEntry($0) == lacking }),
                pack.version > found?.pack.version ?? 0
            else { continue }
            found = (pack, fingerprint)
        }
        guard let found else { return nil }
        known.formUnion(found.pack.types.map { TypeEntry($0) })
        let files = try store.packs.files(found.fingerprint)
        return NamedPack(
            fingerprint: found.fingerprint,
            pack: PackFiles(
                files: files.map { PackFiles.File(path: $0.path, content: $0.bytes) }
            )
        )
    }

    /// Handles the verdicts on kept events.
    ///
    /// Accepted ones stay until they come back with the news: until then they are not in the log
    /// here. Refused ones go to the inbox.
    mutating func take(
        _ verdicts: Verdicts,
        of run: KeptRun,
        at now: Timestamp
    ) throws(LogError) {
        var next = run.sequences.lowerBound
        var refused: [ClosedRange<UInt64>] = []
        var isStuck = false
        for verdict in verdicts.list {
            guard verdict.isEnd || verdict.firstSequence == next,
                verdict.count <= run.sequences.upperBound - next + 1
            else { return machine.failed("The verdicts are of other events.", at: now) }
            switch verdict.kind {
            case .accepted: moved.relayed += verdict.count
            case .refused: refused.append(next...next + verdict.count - 1)
            case .gap, .forked: isStuck = true
            }
            next += verdict.count
        }
        guard isStuck || next == run.sequences.upperBound + 1 else {
            return machine.failed("The verdicts do not cover what was sent.", at: now)
        }
        relaying?.place = run.end
        if isStuck { relaying?.stuck.insert(run.replica) }
        guard !refused.isEmpty else { return }
        let entries = try run.entries(refused, at: now)
        moved.relayRefused += entries.reduce(0) { $0 + UInt64($1.sequences.count) }
        try store[space].inbox.keep(entries)
        let gone = entries.flatMap { entry in
            entry.sequences.map { Origin(replica: entry.replica, sequence: $0) }
        }
        try store[space].kept.remove(Set(gone), in: run.end.file)
    }
}

extension TypeEntry {
    fileprivate init(_ type: EventType) {
        self.init(
            name: type.nameBytes,
            version: type.version,
            fingerprint: Fingerprint.schema(type)
        )
    }
}
