import DiarioCore
import DiarioFormat

/// Everything that can be read of the private segments of a space.
struct LaneSources {
    /// Those that verify and that the manifest names, or will name.
    var kept: [SegmentEntry] = []
    /// Those that the manifest names and that do not verify.
    var damaged: [SegmentEntry] = []
    /// Others of the folder that open, as far as they were looked at.
    var others: [PairReader] = []
    /// What can be read of those; only looked for if something is wrong.
    var parts: [Part] = []
    /// True if the manifest, the log and the segments do not fit together.
    var isBroken = false

    /// Events of a private segment that can be read.
    struct Part {
        let replica: ReplicaID
        let sequences: ClosedRange<UInt64>
        let reader: PairReader
    }

    /// All replicas whose events these hold.
    var replicas: Set<ReplicaID> {
        Set(kept.compactMap(\.replica) + others.compactMap(\.replica))
    }
}

/// What repair made of the pending events of a space.
struct MendedLanes {
    /// All private segments, in order.
    var entries: [SegmentEntry] = []
    /// Where the log does not say yet that events are in those.
    var sealed: [SealedRows] = []
    /// What is not pending any more.
    var gone: [GoneRows] = []
    /// The highest clock among what the log did not know.
    var clock = HybridTime(rawValue: 0)
}

/// The pending events of one replica, and where they can be read.
struct LaneWork {
    /// Where events of sequences that follow one another can be read.
    enum Source {
        /// A private segment that stays.
        case kept(SegmentEntry)
        /// A block of the log, where the log says that they are.
        case log(Run)
        /// A block of the log that was let go of.
        case salvage(Run)
        /// What can be read of another private segment.
        case pair(PairReader)
        case nowhere
    }

    struct Piece {
        let sequences: ClosedRange<UInt64>
        let source: Source
    }

    let replica: ReplicaID
    var pending = NumberRanges()
    /// What the authority refused.
    var refused = NumberRanges()
    var kept: [SegmentEntry] = []
    var parts: [LaneSources.Part] = []
    /// In order of sequence.
    var log: [Run] = []
    var salvage: [Run] = []

    /// The pending events in pieces that each come from one place.
    var pieces: [Piece] {
        var pieces: [Piece] = []
        for range in pending.ranges {
            var next = range.lowerBound
            while next <= range.upperBound {
                let piece = piece(at: next, end: range.upperBound)
                pieces.append(piece)
                next = piece.sequences.upperBound + 1
            }
        }
        return pieces
    }

    private func piece(at sequence: UInt64, end: UInt64) -> Piece {
        var limit = end
        if let entry = kept.first(where: { $0.last >= sequence }) {
            if entry.first <= sequence {
                return Piece(sequences: sequence...min(entry.last, end), source: .kept(entry))
            }
            limit = min(limit, entry.first - 1)
        }
        for (runs, isLog) in [(log, true), (salvage, false)] {
            guard let run = Self.first(in: runs, endingFrom: sequence) else { continue }
            if run.first <= sequence {
                return Piece(
                    sequences: sequence...min(run.last, limit),
                    source: isLog ? .log(run) : .salvage(run)
                )
            }
            limit = min(limit, run.first - 1)
        }
        let found = parts.filter { $0.sequences.contains(sequence) }
            .max { $0.sequences.upperBound < $1.sequences.upperBound }
        if let found {
            return Piece(
                sequences: sequence...min(found.sequences.upperBound, limit),
                source: .pair(found.reader)
            )
        }
        for part in parts where part.sequences.lowerBound > sequence {
            limit = min(limit, part.sequences.lowerBound - 1)
        }
        return Piece(sequences: sequence...limit, source: .nowhere)
    }

    private static func first(in runs: [Run], endingFrom sequence: UInt64) -> Run? {
        runs[runs.sortedIndex(behindAll: { $0.last < sequence })...].first
    }
}

extension LaneWork.Piece {
    var isLost: Bool { if case .nowhere = source { true } else { false } }
    var isKept: Bool { if case .kept = source { true } else { false } }
    /// Whether it is where the log says, in a block.
    var isInLog: Bool { if case .log = source { true } else { false } }
}

extension Run {
    /// The part of it that holds these numbers.
    func part(_ numbers: ClosedRange<UInt64>) -> Run? {
        var list = RunList()
        list.insert(self) { _ in }
        var found: Run?
        list.remove(from: numbers.lowerBound, through: numbers.upperBound) { found = $0 }
        return found
    }
}

extension StoredEvents {
    /// Pending events that stand where a promotion says.
    func placed(by run: PromotedRun) -> StoredEvents {
        StoredEvents(
            bytes: bytes,
            types: types,
            rows: rows.map { stored in
                StoredRow(
                    row: stored.row,
                    position: run.firstPosition &+ (stored.row.sequence &- run.firstSequence),
                    acceptedAt: run.acceptedAt,
                    isAuthority: stored.isAuthority
                )
            },
            fileName: fileName,
            salts: salts
        )
    }
}
