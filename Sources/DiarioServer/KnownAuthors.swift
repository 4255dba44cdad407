import DiarioCore
import DiarioCrypto
import DiarioEngine
import DiarioFormat
import DiarioLog
import DiarioSchema

/// Who made the things that events of a space are about, as far as its packs ask.
///
/// Follows the log: what is pushed here is noted, and the rest is read from it.
struct KnownAuthors: Sendable {
    private var index: AuthorIndex?
    private var kinds: [RecordingPlan.Kind] = []

    /// What an event makes.
    struct Made: Sendable {
        let key: UInt64
        let author: UInt64
        /// True if the id is the origin of the event.
        let isOwnOrigin: Bool
    }

    /// Reads what was appended since, by the rules of today.
    mutating func follow(
        _ space: SpaceID,
        in store: LogStore,
        _ types: SpaceTypes
    ) throws {
        guard !types.recordingPlan.kinds.isEmpty else { return }
        if index == nil || kinds != types.recordingPlan.kinds {
            kinds = types.recordingPlan.kinds
            index = try AuthorIndex(of: space, in: store, rules: Self.hash(kinds))
        }
        let head = store[space].head()
        guard let end = index?.end, end < head else { return }
        do { try read(end + 1...head, of: space, in: store, types) } catch LogError.corrupt(_) {
            // A file that a crash left damaged; what the log has damaged fails again.
            index?.reset()
            try read(1...head, of: space, in: store, types)
        }
    }

    private static func hash(_ kinds: [RecordingPlan.Kind]) -> UInt64 {
        let text = kinds.map { "\($0.name) \($0.isMade)\n" }.joined()
        return SHA256.hash(Array(text.utf8).span).bytes.span.littleEndian(UInt64.self, at: 0)
    }

    private mutating func read(
        _ positions: ClosedRange<UInt64>,
        of space: SpaceID,
        in store: LogStore,
        _ types: SpaceTypes
    ) throws {
        guard var index = index.take() else { return }
        defer { self.index = index }
        var filter = LogFilter()
        let names = types.makingTypes
        filter.wantsType = { names.contains($0) }
        var cursor = try store.cursor(space, positions: positions, .canonical, filter: filter)
        var payload = Payload()
        while let events = try cursor.next() {
            let block = events.bytes.span
            let known = events.types.map { types[$0] }
            for stored in events.rows {
                guard let position = stored.position, let type = known[stored.row.typeIndex],
                    let entry = type.asked
                else { continue }
                let part = try PublicPart.parse(block, stored.row)
                try PayloadCodec.decode(block, stored.row, part, plan: type.plan, into: &payload)
                let actor = part.actor.map { Array(block, $0)[...] }
                let event = AskedEvent(
                    entry,
                    type.type,
                    payload,
                    actor: actor,
                    origin: stored.row.origin
                )
                let own = OwnOrigins(stored.row.replica, through: stored.row.sequence)
                for made in Self.made(by: event, own, in: index) {
                    try index.add(made.key, by: made.author, isOwnOrigin: made.isOwnOrigin)
                }
                index.advance(to: position)
            }
        }
        index.advance(to: positions.upperBound)
        index.rest()
    }

    // MARK: Asking

    /// The hash of an actor.
    func author(_ actor: ArraySlice<UInt8>?) -> UInt64 {
        guard let index, let actor else { return AuthorIndex.nobody }
        return index.keys.author(Array(actor).span)
    }

    /// The key of an id; nil where no authors matter.
    func key(_ id: ArraySlice<UInt8>, kind: Int) -> UInt64? {
        index.map { $0.keys.key(Array(id).span, kind: kind) }
    }

    /// The author of what has an id; nil if nothing made it.
    mutating func author(
        of id: ArraySlice<UInt8>,
        kind: Int,
        _ space: SpaceID,
        in store: LogStore,
        _ types: SpaceTypes
    ) throws -> UInt64? {
        guard let key = key(id, kind: kind) else { return nil }
        return try author(of: key, space, in: store, types)
    }

    /// The author of what has a key; nil if nothing made it.
    ///
    /// A damaged index is made again from the log.
    mutating func author(
        of key: UInt64,
        _ space: SpaceID,
        in store: LogStore,
        _ types: SpaceTypes
    ) throws -> UInt64? {
        do throws(LogError) { return try index?.author(of: key) } catch {
            guard case .corrupt = error else { throw error }
            index?.reset()
            try follow(space, in: store, types)
            return try index?.author(of: key)
        }
    }

    /// Makes the keys of things and the hashes of actors; nil where no authors matter.
    var keys: AuthorIndex.Keys? { index?.keys }

    private static func made(
        by event: AskedEvent,
        _ own: OwnOrigins,
        in index: AuthorIndex
    ) -> [Made] {
        var made: [Made] = []
        let author = event.actor.map { index.keys.author(Array($0).span) } ?? AuthorIndex.nobody
        func add(_ field: RecordingPlan.IDField?, _ id: ArraySlice<UInt8>?, isOwnOrigin: Bool) {
            guard let field, let id else { return }
            let key = index.keys.key(Array(id).span, kind: field.kind)
            made.append(Made(key: key, author: author, isOwnOrigin: isOwnOrigin))
        }
        if let origin = event.origin, event.new == nil {
            add(event.entry.new, Array(origin.text.utf8)[...], isOwnOrigin: true)
        } else {
            add(event.entry.new, event.new, isOwnOrigin: false)
        }
        if let first = event.first, own.mayMake(first) {
            add(event.entry.first, first, isOwnOrigin: false)
        }
        return made
    }

    // MARK: What was just recorded

    /// Notes what events made, keys with authors, that were just appended at positions, so that
    /// they need not be read.
    ///
    /// None of it was made before.
    mutating func note(_ made: [UInt64: UInt64], at positions: ClosedRange<UInt64>) {
        // After what others appended it is read with that.
        guard index != nil, index?.end == positions.lowerBound - 1 else { return }
        // What is new needs no look at the files.
        for (key, author) in made { try? index?.add(key, by: author, isOwnOrigin: true) }
        index?.advance(to: positions.upperBound)
    }

    /// Closes files.
    mutating func rest() { index?.rest() }

    /// Writes what is only in memory.
    mutating func save() throws(LogError) { try index?.save() }
}
