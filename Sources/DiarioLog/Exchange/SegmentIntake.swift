package import DiarioCore
package import DiarioCrypto
import DiarioFormat
import DiarioStorage

/// Takes over sealed segments that were copied from elsewhere into a staging space, as they lie.
///
/// They are bytes from outside: every row is read, the rules of order are checked, and the root is
/// computed anew. Nothing refers to them before `finish`.
package struct SegmentIntake: ~Copyable {
    private let store: LogStore
    private let space: SpaceID
    private var walk: SpaceWalk
    private var entries: [SegmentEntry] = []
    private var heads: [ReplicaID: ReplicaHead] = [:]
    private var acceptedAt = Int64.min
    /// The highest clock that counts: of none that runs far ahead of when it was accepted.
    private var clock = HybridTime(rawValue: 0)

    package init(_ store: LogStore, _ space: SpaceID) {
        self.store = store
        self.space = space
        walk = SpaceWalk(
            space,
            store,
            store.shared.engine,
            anchors: [],
            known: [],
            tallies: [],
            adoptions: [],
            clock: HybridTime(rawValue: 0),
            own: []
        )
    }

    /// The last position that was taken over.
    package var end: UInt64 { walk.range.size }

    /// The packs that were adopted so far, in order.
    package var adoptions: [Adoption] { walk.adoptions }

    /// Reads the next segment and its sidecar, which lie in the folder of segments, durably.
    ///
    /// - Throws: `.corrupt` if they are not what may come next.
    package mutating func take(_ name: SegmentName) throws(LogError) {
        let place = SegmentPlace(name, of: space)
        guard name.first == end + 1 else {
            throw place.fault(.segment, "position \(end + 1) comes next, not \(name.first)")
        }
        guard let pair = PairReader.open(name, of: space, in: store.shared), pair.replica == nil,
            pair.header.firstPosition == name.first
        else { throw place.fault(.segment, "it is no segment of positions from \(name.first) on") }
        guard let entry = pair.entry() else {
            throw place.fault(.sidecar, "the segment or its sidecar cannot be read")
        }
        guard !pair.holdsLost else {
            throw .outOfOrder(
                what: "events behind position \(end) were lost where the space is copied from, so "
                    + "no copy can be made. A backup there may have them; else go on in a new "
                    + "space: diario export --all there, and import --gaps"
            )
        }
        if let damage = try pair.damage() { throw damage }
        var position = end
        try pair.read(pair.first...pair.last) { (events) throws(LogError) in
            for stored in events.rows {
                position += 1
                guard let what = try fault(of: stored, at: position, in: events) else { continue }
                throw place.fault(.segment, "position \(position): \(what)")
            }
            try walk.take(events)
        }
        entries.append(entry)
    }

    /// What is wrong with a row; nil if nothing is.
    private mutating func fault(
        of stored: StoredRow,
        at position: UInt64,
        in events: StoredEvents
    ) throws(LogError) -> String? {
        let row = stored.row
        let clock: HybridTime
        do throws(FormatError) {
            clock = try PublicPart.parse(events.bytes.span, row).envelope.clock
        } catch {
            return error.message
        }
        guard stored.position == position, let time = stored.acceptedAt else {
            return "it has another position"
        }
        guard time.milliseconds >= acceptedAt else { return "acceptedAt goes back" }
        acceptedAt = time.milliseconds
        let head = ReplicaHead(sequence: row.sequence, clock: clock.rawValue)
        if let last = heads.updateValue(head, forKey: row.replica) {
            guard row.sequence > last.sequence else {
                return OrderFault.sequence(row.origin, after: last.sequence).message
            }
            guard clock.rawValue > last.clock else { return OrderFault.clock(row.origin).message }
        }
        self.clock = self.clock.merged(with: clock, acceptedAt: acceptedAt)
        return nil
    }

    /// Lets the space refer to all that was taken; durable when it returns.
    ///
    /// - Throws: `.outOfOrder` if the first events have another root than `root`.
    package mutating func finish(root: Hash32) throws(LogError) {
        var hasher = EventHasher()
        let range = walk.range
        guard range.root(&hasher) == root else {
            throw .outOfOrder(what: "the first \(end) events have another root than was told")
        }
        guard !entries.isEmpty else { return }
        let (space, entries) = (space, entries)
        var state = walk.state(
            released: end,
            packs: [],
            acceptedAt: 0,
            clock: HybridTime(rawValue: 0)
        )
        state.clock = clock.rawValue
        let hasRefusals = !walk.refusals.isEmpty
        let final = state
        try store.withWriter { (writer) throws(LogError) in
            if hasRefusals {
                try writer.begin()
                defer { writer.end() }
                try writer.upgradeFormat(to: DirectoryFormat.refused)
            }
            _ = try writer.changeSegments(of: space) { $0.segments = entries }
            try writer.write(final, lanes: MendedLanes(), of: space)
        }
        try store.extendTiles(of: space, to: end)
    }
}
