import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioProjection
import DiarioSchema

/// The newest canonical events as they lie in the log, read once for all packs.
///
/// Most of what is recorded concerns one pack; the others are told so without a look at the log.
final class RecentEvents {
    private let space: Space
    /// The positions read last.
    private var positions: ClosedRange<UInt64>?
    private var events: [StoredEvents] = []
    /// Reads them for a pack, by its fingerprint.
    private var readers: [Hash32: EventReader] = [:]

    /// Events that are read at once: a batch.
    private static let countMax = UInt64(Limits.batchCountMax)
    /// Their bytes.
    private static let sizeMax = 4 * Limits.batchSizeMax

    init(_ space: Space) { self.space = space }

    /// True if the events at these positions are here, or could be read; false if they are many.
    func holds(_ wanted: ClosedRange<UInt64>) throws(DiarioError) -> Bool {
        if positions == wanted { return true }
        guard UInt64(wanted.count) <= Self.countMax else { return false }
        positions = nil
        events = []
        do {
            var cursor = try space.store.cursor(space.id, positions: wanted, .canonical)
            var size = 0
            while let next = try cursor.next() {
                size += next.bytes.count
                guard size <= Self.sizeMax else {
                    events = []
                    return false
                }
                events.append(next)
            }
        } catch {
            throw DiarioError(error)
        }
        positions = wanted
        return true
    }

    /// True if there is one to which a read model of the pack listens.
    func concern(_ plan: PackPlan) -> Bool {
        events.contains { events in
            let wanted = events.types.map { plan.listens(to: $0.name) }
            return wanted.contains(true) && events.rows.contains { wanted[$0.row.typeIndex] }
        }
    }

    /// Lets the file take all of them to which its models listen, unless what was done should be
    /// kept before that.
    ///
    /// Gives the position through which it has had them; nil if it had none.
    func apply(to file: ModelFile, _ care: ModelFile.Care) throws(ApplyError) -> UInt64? {
        let key = file.plan.fingerprint
        var reader =
            readers.removeValue(forKey: key)
            ?? EventReader(space, types: file.plan.typeNames)
        defer { readers[key] = reader }
        for piece in events {
            try reading { () throws(DiarioError) in try reader.begin(piece) }
            while try reading({ () throws(DiarioError) in try reader.advance() }) {
                try file.apply(reader.line, care)
                if file.shouldCommit { return reader.line.position }
            }
        }
        return positions?.upperBound
    }

    private func reading<Value>(
        _ body: () throws(DiarioError) -> Value
    ) throws(ApplyError) -> Value {
        do { return try body() } catch { throw ApplyError(error) }
    }
}
