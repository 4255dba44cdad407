import DiarioCore
import DiarioFormat

/// What the frame under construction changes in a space.
struct StagedSpace: Sendable {
    /// The id under which this replica writes.
    let replica: ReplicaID
    /// The id under which the authority writes; nil if it is elsewhere.
    let authority: ReplicaID?
    var head: UInt64
    var acceptedAt: Int64
    var clock: HybridTime
    /// The last sequence of this replica; kept apart, since it is asked for most.
    private var ownSequence: UInt64?
    /// The last sequences of others, as far as they were asked for.
    private var sequences: [ReplicaID: UInt64] = [:]
    /// Groups that have their seed already, or get it in this frame.
    var seeded: Set<SpaceIndex.SeedKey> = []
    var lastSeeded: SpaceIndex.SeedKey?
    /// So many bytes of rows may follow before a state does.
    var bytesToState: Int
    /// With this mark there is something to seal.
    var sealMarkNext: UInt64

    /// `lastSequence` is the last one of this replica.
    init(
        home: SpaceHome,
        _ brief: LogIndex.Brief,
        lastSequence: UInt64,
        bytesToState: Int,
        segmentCount: Int
    ) {
        replica = home.replica
        authority = home.manifest.authority
        self.bytesToState = bytesToState
        head = brief.head
        acceptedAt = brief.acceptedAt
        clock = brief.clock
        ownSequence = lastSequence
        let unsealed = max(brief.head - brief.released, brief.unsealed)
        sealMarkNext = 0
        sealMarkNext = sealMark + UInt64(segmentCount) - min(unsealed, UInt64(segmentCount))
    }

    var isAuthority: Bool { authority != nil }

    /// Grows with each event that may be sealed one day.
    var sealMark: UInt64 { head + (isAuthority ? 0 : ownSequence ?? 0) }

    /// The mark, if there is something to seal.
    var dueSealMark: UInt64? { sealMark >= sealMarkNext ? sealMark : nil }

    func lastSequence(of replica: ReplicaID) -> UInt64? {
        replica == self.replica ? ownSequence ?? sequences[replica] : sequences[replica]
    }

    /// Those of others and of this replica, as far as they were asked for.
    var allSequences: [ReplicaID: UInt64] {
        var all = sequences
        if let ownSequence { all[replica] = ownSequence }
        return all
    }

    mutating func take(_ all: [ReplicaID: UInt64]) {
        sequences = all
        ownSequence = all[replica]
    }

    /// Accepts events of which this is the last clock.
    mutating func accept(_ last: HybridTime, at now: Timestamp) {
        acceptedAt = last.accepted(at: now.milliseconds, after: acceptedAt)
    }

    mutating func note(_ replica: ReplicaID, sequence: UInt64) {
        if replica == self.replica {
            ownSequence = sequence
        } else {
            sequences[replica] = sequence
        }
    }
}

/// What the frame under construction changes, by space.
struct StagedSpaces: Sendable {
    /// The space that was staged last: mostly it is the next one too.
    private var latest = Latest.none
    private var others: [SpaceID: StagedSpace] = [:]

    private enum Latest: Sendable {
        case none
        /// As the last commit left it, and nothing happened since.
        case carried(SpaceID, StagedSpace)
        /// Changed by this frame.
        case staged(SpaceID, StagedSpace)
    }

    /// Begins a frame; with `carriesOn`, what the last commit left of a space holds still.
    mutating func begin(carriesOn: Bool) {
        if !others.isEmpty { others.removeAll(keepingCapacity: true) }
        if carriesOn, case .carried = latest { return }
        latest = .none
    }

    /// Ends a commit whose last frame has so many bytes: if that is of one space, the next commit
    /// may carry on with it.
    mutating func end(frameSize: Int) {
        var before = Latest.none
        swap(&before, &latest)
        guard others.isEmpty else { return }
        switch consume before {
        case .none: break
        case .carried(let id, var space), .staged(let id, var space):
            space.bytesToState -= frameSize
            latest = .carried(id, space)
        }
    }

    mutating func removeAll() {
        latest = .none
        others.removeAll()
    }

    /// Takes a space out as the frame so far leaves it, or the last commit; nil if it is not here.
    mutating func take(_ id: SpaceID) -> StagedSpace? {
        var before = Latest.none
        swap(&before, &latest)
        switch consume before {
        case .none: break
        case .carried(let last, let space):
            if last == id, space.bytesToState > 0 { return space }
        case .staged(let last, let space):
            if last == id { return space }
            others[last] = space
        }
        return others.removeValue(forKey: id)
    }

    /// Puts a space back that was taken or made.
    mutating func put(_ space: StagedSpace, _ id: SpaceID) { latest = .staged(id, space) }

    /// The spaces of the frame: the last one, and the others.
    var ids: (last: SpaceID?, others: [SpaceID]) {
        let others = others.isEmpty ? [] : Array(others.keys)
        guard case .staged(let id, _) = latest else { return (nil, others) }
        return (id, others)
    }

    /// Notes the spaces in which the frame completes a run of events that can be sealed.
    mutating func noteSealable(in sealing: Sealing, step: UInt64) {
        var before = Latest.none
        swap(&before, &latest)
        switch consume before {
        case .staged(let id, var space):
            if let mark = space.dueSealMark {
                sealing.note(id, mark: mark, step: step)
                space.sealMarkNext = mark + step
            }
            latest = .staged(id, space)
        case .carried(let id, let space): latest = .carried(id, space)
        case .none: break
        }
        for (id, space) in others {
            if let mark = space.dueSealMark { sealing.note(id, mark: mark, step: step) }
        }
    }
}
