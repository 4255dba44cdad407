package import DiarioCore
package import DiarioCrypto
package import DiarioFormat
import DiarioStorage
import Synchronization

/// What reading a space from its first to its last event showed.
package struct Verification: Sendable {
    /// Canonical and pending events that were read, those of an authority included.
    package var rowCount = 0
    package var root = Hash32.zero
    package var faults: [Fault] = []
}

extension LogStore {
    /// Reads every event of a space, checks it against the rules of the format, and recomputes the
    /// root; goes on after a fault where it can.
    ///
    /// `visit` sees each block after it was checked, and may return a fault of its own.
    package func verify(
        _ space: SpaceID,
        _ visit: (StoredEvents) -> String?
    ) throws(LogError) -> Verification {
        var result = Verification()
        if let fault = report.fault { result.faults.append(fault) }
        let released = shared.index.withLock { $0[space].released }
        let first = try shared.firstReadable(space, released: released)
        var check = SpaceCheck(shared: shared, space: space, released: first - 1)
        var cursor = try cursor(space)
        do throws(LogError) {
            while let events = try cursor.next() {
                result.rowCount += events.rows.count
                let what = check.take(events) ?? visit(events)
                if let what { result.faults.append(check.fault(what)) }
            }
        } catch {
            guard case .corrupt(let fault) = error else { throw error }
            result.faults.append(fault)
        }
        result.root = check.root()
        let isComplete = result.faults.isEmpty && check.released == 0
        if isComplete, result.root != (try root(of: space)) {
            result.faults.append(
                Fault(
                    file: LogPaths.log,
                    offset: 0,
                    what: "the root of space \(space.text) is not that of its events"
                )
            )
        }
        return result
    }
}

/// The rules that hold between the events of a space: L4, L5, and positions without gaps.
private struct SpaceCheck: ~Copyable {
    private let space: SpaceID
    private var hasher = EventHasher()
    private var seeds: Seeds
    private var range: CompactRange
    private var sequences: [ReplicaID: UInt64] = [:]
    private var clocks: [ReplicaID: HybridTime] = [:]
    private var acceptedAt = Int64.min
    private var position: UInt64
    let released: UInt64

    init(shared: LogShared, space: SpaceID, released: UInt64) {
        self.space = space
        seeds = Seeds(store: shared, space: space)
        let index = shared.index.withLock { $0[space] }
        self.released = released
        position = released
        // What was released cannot be hashed again; the state vouches for it.
        range = released > 0 ? index.state?.range ?? CompactRange() : CompactRange()
    }

    func fault(_ what: String) -> Fault {
        Fault(
            file: LogPaths.space(space),
            offset: 0,
            what: "position \(position): \(what)"
        )
    }

    mutating func root() -> Hash32 { range.root(&hasher) }

    /// What is wrong with the events; nil if nothing is.
    mutating func take(_ events: StoredEvents) -> String? {
        seeds.segment = events.salts
        do throws(FormatError) {
            let block = events.bytes.span
            for stored in events.rows {
                if let what = try take(stored, events, block) { return what }
            }
            return nil
        } catch {
            return error.message
        }
    }

    private mutating func take(
        _ stored: StoredRow,
        _ events: StoredEvents,
        _ block: Span<UInt8>
    ) throws(FormatError) -> String? {
        let row = stored.row
        let part = try PublicPart.parse(block, row)
        let last = sequences.updateValue(row.sequence, forKey: row.replica) ?? 0
        guard row.sequence > last else {
            return "sequence \(row.sequence) of \(row.replica.text) comes after \(last)"
        }
        let clock = clocks.updateValue(part.envelope.clock, forKey: row.replica)
        if let clock, part.envelope.clock <= clock {
            return "the clock of \(row.origin.text) does not go on"
        }
        guard let given = stored.position else { return nil }
        guard given == position + 1 else { return "position \(given) comes next" }
        position = given
        let time = stored.acceptedAt?.milliseconds ?? Int64.min
        guard time >= acceptedAt else { return "acceptedAt goes back" }
        acceptedAt = time
        guard given > range.size else { return nil }
        let type = events.types[row.typeIndex]
        let hash = eventHash(
            row,
            block,
            type,
            try hasher.commitment(of: row, in: block, seeds: &seeds)
        )
        range.append(hasher.leaf(hash, acceptedAt: time), &hasher)
        return nil
    }

    private mutating func eventHash(
        _ row: BlockRow,
        _ block: Span<UInt8>,
        _ type: TypeEntry,
        _ commitment: Hash32?
    ) -> Hash32 {
        let name = type.name
        return hasher.eventHash(
            typeName: name.span,
            version: type.version,
            replica: row.replica,
            sequence: row.sequence,
            publicPart: block.raw.extracting(row.publicPart),
            commitment: commitment
        )
    }
}

extension LogStore {
    /// The hash of an event, which is the same for its author and everybody else.
    package func eventHash(
        of row: BlockRow,
        in events: StoredEvents,
        of space: SpaceID
    ) throws(LogError) -> Hash32 {
        var hasher = EventHasher()
        var seeds = Seeds(store: shared, space: space)
        seeds.segment = events.salts
        do throws(FormatError) {
            let block = events.bytes.span
            let type = events.types[row.typeIndex]
            let name = type.name
            return hasher.eventHash(
                typeName: name.span,
                version: type.version,
                replica: row.replica,
                sequence: row.sequence,
                publicPart: block.raw.extracting(row.publicPart),
                commitment: try hasher.commitment(of: row, in: block, seeds: &seeds)
            )
        } catch {
            throw .format(error)
        }
    }
}
