import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSchema

/// Events of another space that were recorded here, in a row there and here.
struct ImportedRun: Sendable {
    let first: Origin
    var count: UInt64
    let newFirst: Origin
}

extension [ImportedRun] {
    /// Adds a run, to the last one if it goes on with that.
    mutating func appendMerging(_ run: ImportedRun) {
        if let last = self.last, last.first.replica == run.first.replica,
            last.newFirst.replica == run.newFirst.replica,
            last.first.sequence + last.count == run.first.sequence,
            last.newFirst.sequence + last.count == run.newFirst.sequence
        {
            self[count - 1].count += run.count
        } else {
            append(run)
        }
    }
}

/// Which origins of other spaces were recorded here, and what their origins here are.
///
/// Kept in the space's own history, as events `engine.events.imported`.
struct ImportedOrigins: Sendable {
    /// For each replica its runs in order of sequence.
    private var runs: [ReplicaID: [ImportedRun]] = [:]
    private static let typeName = "engine.events.imported"

    init(of space: Space) throws(DiarioError) {
        var reader = try EventReader(space, EventFilter(types: [Self.typeName]))
        while let line = try reader.next() {
            guard let index = line.type.fields.firstIndex(where: { $0.name == "runs" }),
                let bytes = line.payload.bytes(at: index)
            else { continue }
            let item: JSON.Item
            do throws(SchemaError) { item = try JSON.parse(Array(bytes)) } catch {
                throw DiarioError(error)
            }
            guard case .array(let items) = item.value else { continue }
            add(items.compactMap { Self.run($0.value) })
        }
    }

    /// The origin here of an event of another space; nil if it was not recorded here.
    subscript(origin: Origin) -> Origin? {
        guard let runs = runs[origin.replica] else { return nil }
        let index = runs.sortedIndex(behindAll: {
            $0.first.sequence + $0.count <= origin.sequence
        })
        guard index < runs.count, runs[index].first.sequence <= origin.sequence else { return nil }
        return Origin(
            replica: runs[index].newFirst.replica,
            sequence: runs[index].newFirst.sequence + origin.sequence - runs[index].first.sequence
        )
    }

    mutating func add(_ new: [ImportedRun]) {
        // Changed where they are: a replica may have a run for each of its events.
        for run in new { Self.add(run, to: &runs[run.first.replica, default: []]) }
    }

    private static func add(_ run: ImportedRun, to list: inout [ImportedRun]) {
        if list.last.map({ $0.first.sequence < run.first.sequence }) ?? true {
            list.appendMerging(run)
        } else {
            let index = list.sortedIndex(behindAll: { $0.first.sequence <= run.first.sequence })
            list.insert(run, at: index)
        }
    }

    /// The event that says that these runs were recorded.
    static func note(_ runs: [ImportedRun], _ space: Space) throws(DiarioError) -> DraftBatch {
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
            let first = number("first"), let count = number("count"),
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
