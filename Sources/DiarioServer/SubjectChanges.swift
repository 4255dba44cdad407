package import DiarioCore
import DiarioEngine
import DiarioFormat
import DiarioLog
import DiarioSchema

/// Where other replicas last wrote to the subjects that the events of a push ask about.
package struct SubjectChanges {
    private var positions: [[UInt8]: UInt64] = [:]

    /// With so many subjects, the log is looked through once for all of them, and not once for
    /// each with the help of its indexes.
    private static let singleCountMax = 8

    /// Looks for writers behind the lowest base of an event that asks.
    init(
        askedBy events: PushedEvents,
        _ types: SpaceTypes,
        in store: LogStore,
        _ space: SpaceID,
        through head: UInt64
    ) throws {
        try self.init(
            behind: Self.bases(askedBy: events, types),
            besides: events.replica,
            types,
            in: store,
            space,
            through: head
        )
    }

    /// Looks for writers to subjects behind a base of each.
    init(
        behind bases: [[UInt8]: UInt64],
        besides replica: ReplicaID,
        _ types: SpaceTypes,
        in store: LogStore,
        _ space: SpaceID,
        through head: UInt64
    ) throws {
        let open = bases.filter { $0.value < head }
        guard let lowest = open.values.min() else { return }
        if open.count > Self.singleCountMax {
            var rest = Set(open.keys)
            let range = lowest + 1...head
            try find(&rest, in: range, of: nil, besides: replica, types, store, space)
        } else {
            for (subject, base) in open {
                var rest: Set = [subject]
                let range = base + 1...head
                try find(
                    &rest,
                    in: range,
                    of: subject,
                    besides: replica,
                    types,
                    store,
                    space
                )
            }
        }
    }

    /// The position of the last event about a subject that another replica wrote; nil if there is
    /// none that matters.
    package func lastPosition(of subject: [UInt8]) -> UInt64? { positions[subject] }

    /// The subjects that events of a push ask about, with the lowest base of each.
    private static func bases(
        askedBy events: PushedEvents,
        _ types: SpaceTypes
    ) throws -> [[UInt8]: UInt64] {
        var bases: [[UInt8]: UInt64] = [:]
        var payload = Payload()
        for block in events.blocks {
            for row in block.rows {
                let part = try PublicPart.parse(block.bytes.span, row)
                guard part.flags.contains(.ifUnchanged),
                    let known = types[block.head.types[row.typeIndex]],
                    let subject = try? known.subject(of: row, part, block.bytes.span, &payload)
                else { continue }
                bases[subject] = min(bases[subject] ?? .max, part.envelope.base)
            }
        }
        return bases
    }

    /// Looks from the end for the last writer to each subject of `rest`.
    private mutating func find(
        _ rest: inout Set<[UInt8]>,
        in range: ClosedRange<UInt64>,
        of single: [UInt8]?,
        besides replica: ReplicaID,
        _ types: SpaceTypes,
        _ store: LogStore,
        _ space: SpaceID
    ) throws {
        var filter = LogFilter()
        filter.subject = single
        var cursor = try store.cursor(
            space,
            positions: range,
            .canonical,
            filter: filter,
            isReversed: true
        )
        var payload = Payload()
        while !rest.isEmpty, let events = try cursor.next() {
            let block = events.bytes.span
            for stored in events.rows where stored.row.replica != replica && !stored.isAuthority {
                guard let known = types[events.types[stored.row.typeIndex]] else { continue }
                let part = try PublicPart.parse(block, stored.row)
                let subject = try known.subject(of: stored.row, part, block, &payload)
                if let subject, let position = stored.position, rest.remove(subject) != nil {
                    positions[subject] = position
                }
            }
        }
    }
}

extension SpaceAuthority {
    /// Where others than a replica last wrote to subjects, each looked for behind a base of its
    /// own; to be asked while alone.
    package func lastChanges(
        behind bases: [[UInt8]: UInt64],
        besides replica: ReplicaID,
        through head: UInt64
    ) throws -> SubjectChanges {
        try SubjectChanges(
            behind: bases,
            besides: replica,
            try sharedTypes(),
            in: store,
            space,
            through: head
        )
    }
}
