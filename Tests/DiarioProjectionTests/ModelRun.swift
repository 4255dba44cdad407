import DiarioCore
import DiarioProjection
import DiarioSQLite
import DiarioSchema
import Testing

/// Events that the read models of a pack take one after the other, mostly in memory.
final class ModelRun {
    let file: ModelFile
    private var reader: EventLineReader
    private var sequence: UInt64 = 0
    private let replica: ReplicaID

    init(
        _ pack: Pack,
        path: String = ":memory:",
        _ mode: ModelFile.Mode = .building
    ) throws {
        replica = try #require(ReplicaID(rawValue: 1))
        file = try ModelFile(
            path: path,
            plan: PackPlan(pack),
            space: try #require(SpaceID(rawValue: 1)),
            mode
        )
        reader = EventLineReader(catalog: try TypeCatalog(pack.types), options: [])
    }

    private func event(_ payload: String, version: Int) throws -> EventLine {
        var line = EventLine()
        let text = #"{"type":"test.thing.made","version":\#(version),"payload":\#(payload)}"#
        try reader.read(Array(text.utf8).span, into: &line)
        sequence += 1
        line.origin = Origin(replica: replica, sequence: sequence)
        line.clock = HybridTime(milliseconds: Int64(sequence), counter: 0)
        line.at = Timestamp(milliseconds: Int64(sequence))
        line.base = 0
        return line
    }

    /// Applies an event as it is done after one that could not be taken.
    func apply(_ payload: String, version: Int = 1) throws {
        var line = try event(payload, version: version)
        line.position = sequence
        line.acceptedAt = line.at
        try inTransaction { try file.apply(line, .eachEvent) }
        file.settle(through: sequence)
    }

    /// The same for events that have no position yet.
    func applyPending(_ payload: String) throws {
        let line = try event(payload, version: 1)
        try inTransaction {
            try file.beginLane(of: replica, at: sequence)
            try file.apply(line, .eachEvent)
            file.settleLane(through: sequence)
            try file.endLane()
        }
    }

    func undo() throws { try inTransaction { try file.undoSections() } }

    /// Once more if a statement was ended, which takes the transaction with it.
    private func inTransaction(_ body: () throws -> Void) throws {
        do {
            try file.begin()
            try body()
            try file.commit()
        } catch ApplyError.needsCare {
            file.rollback()
            try file.begin()
            try body()
            try file.commit()
        }
    }

    func quarantined() throws -> [String] {
        try file.quarantined().map { "\($0.model) \($0.rule)" }
    }
}
