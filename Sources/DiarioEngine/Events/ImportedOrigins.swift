import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSchema

/// The imported origins of other spaces, with their origins here.
///
/// An authority keeps them in the space's own history, as events `engine.events.imported`; if the
/// authority is elsewhere they are beside the log: schema/format/sync.md, section 12.
///
/// Follows the log: the part that was read once is not read again.
package struct ImportedOrigins: Sendable {
    /// The position up to which the log was read.
    private var end: UInt64 = 0
    /// For each replica its runs in order of sequence, without overlap.
    private var runs: [ReplicaID: [ImportedRun]] = [:]
    private var runCount = 0
    /// The origins added since the runs were sorted.
    private var recent: [Origin: Origin] = [:]

    private static let typeName = "engine.events.imported"
    /// Runs that an event takes: with the longest numbers they take 144 bytes each.
    private static let noteRunCountMax = 400
    private static let recentCountMin = 65_536

    package init() {}

    init(of space: Space) throws(DiarioError) { try follow(space) }

    /// Reads the new events of the log.
    package mutating func follow(_ space: Space) throws(DiarioError) {
        let head = space.store[space.id].head()
        guard end < head else { return }
        var filter = EventFilter(types: [Self.typeName])
        filter.positions = end + 1...head
        var reader = try EventReader(space, filter)
        var changed: Set<ReplicaID> = []
        while let line = try reader.next() {
            guard let index = line.type.fields.firstIndex(where: { $0.name == "runs" }),
                let bytes = line.payload.bytes(at: index)
            else { continue }
            let item: JSON.Item
            do throws(SchemaError) { item = try JSON.parse(Array(bytes)) } catch {
                throw DiarioError(error)
            }
            guard case .array(let items) = item.value else { continue }
            for run in items.compactMap({ Self.run($0.value) }) {
                runs[run.first.replica, default: []].append(run)
                changed.insert(run.first.replica)
                runCount += 1
            }
        }
        for replica in changed { runs[replica] = runs[replica]?.inOrder() }
        end = head
    }

    /// The origin here of an event of another space; nil if it was not recorded here.
    subscript(origin: Origin) -> Origin? {
        if let new = recent[origin] { return new }
        guard let runs = runs[origin.replica] else { return nil }
        let index = runs.sortedIndex(behindAll: { $0.end <= origin.sequence })
        guard index < runs.count, runs[index].first.sequence <= origin.sequence else { return nil }
        return runs[index].dropFirst(origin.sequence - runs[index].first.sequence).newFirst
    }

    /// All that is known, in order of origin.
    var all: [ImportedRun] { runs.keys.sorted().flatMap { runs[$0] ?? [] } }

    /// True if so much came since the runs were put in order that it is time to do so again.
    var isUnsettled: Bool { recent.count >= Self.recentCountMin + runCount / 4 }

    /// Goes past positions whose events are known.
    mutating func pass(_ positions: ClosedRange<UInt64>) {
        // Behind what others recorded they are read with that.
        if positions.lowerBound == end + 1 { end = positions.upperBound }
    }

    mutating func add(_ origin: Origin, as new: Origin) { recent[origin] = new }

    /// Takes back what was added since the runs were put in order.
    mutating func remove(_ origin: Origin) { recent[origin] = nil }

    mutating func add(_ new: [ImportedRun]) {
        for run in new { runs[run.first.replica, default: []].append(run) }
        settle()
    }

    /// Puts all in order.
    mutating func settle() {
        for (origin, new) in recent {
            runs[origin.replica, default: []].append(
                ImportedRun(first: origin, count: 1, newFirst: new)
            )
        }
        recent.removeAll()
        for replica in runs.keys { runs[replica] = runs[replica]?.inOrder() }
        runCount = runs.values.reduce(0) { $0 + $1.count }
    }

    /// The events that say that these runs were recorded.
    static func notes(_ runs: [ImportedRun], _ space: Space) throws(DiarioError) -> [DraftBatch] {
        var batches: [DraftBatch] = []
        for start in stride(from: 0, to: runs.count, by: noteRunCountMax) {
            let end = min(runs.count, start + noteRunCountMax)
            batches.append(try note(runs[start..<end], space))
        }
        return batches
    }

    private static func note(
        _ runs: ArraySlice<ImportedRun>,
        _ space: Space
    ) throws(DiarioError) -> DraftBatch {
        guard let type = space.catalog.type(typeName, version: 1),
            let index = type.fields.firstIndex(where: { $0.name == "runs" })
        else { preconditionFailure("the engine's types are in every catalog") }
        // Keys in the order of their bytes, no blanks: canonical as it is written.
        let items = runs.map { run in
            #"{"count":\#(run.count),"first":\#(run.first.sequence),"#
                + #""newFirst":\#(run.newFirst.sequence),"#
                + #""newReplica":"\#(run.newFirst.replica.text)","#
                + #""replica":"\#(run.first.replica.text)"}"#
        }
        var payload = Payload()
        payload.reset(fieldCount: type.fields.count)
        let text = "[" + items.joined(separator: ",") + "]"
        payload.setBytes(Array(text.utf8).span, at: index)
        var batch = DraftBatch()
        do throws(FormatError) { try batch.append(payload, type: type) } catch {
            throw DiarioError(error)
        }
        return batch
    }

    private static func run(_ value: JSON) -> ImportedRun? {
        func text(_ key: String) -> String? {
            guard case .string(let text) = value.member(key)?.item.value else { return nil }
            return text
        }
        func number(_ key: String) -> UInt64? {
            guard case .integer(let number) = value.member(key)?.item.value else { return nil }
            return UInt64(exactly: number)
        }
        guard let replica = text("replica").flatMap({ ReplicaID(text: $0) }),
            let newReplica = text("newReplica").flatMap({ ReplicaID(text: $0) }),
            let first = number("first"), let count = number("count"), count > 0,
            let newFirst = number("newFirst"), LogNumber.isValid(first, count: count),
            LogNumber.isValid(newFirst, count: count)
        else { return nil }
        return ImportedRun(
            first: Origin(replica: replica, sequence: first),
            count: count,
            newFirst: Origin(replica: newReplica, sequence: newFirst)
        )
    }
}
