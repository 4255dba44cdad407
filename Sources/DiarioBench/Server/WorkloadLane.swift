import Diario
import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSchema

/// Records the standard workload as a replica's own pending events.
///
/// With derived ids, lines mention the events that made things by their origins. Here all are
/// recorded by one replica, so that they get other origins, and so do the mentions of them.
struct WorkloadLane {
    private let space: Space
    private let replica: ReplicaID
    private var nextSequence: UInt64
    private var sequences: [Origin: UInt64] = [:]
    private var reader: EventLineReader
    private var generator: WorkloadGenerator

    /// Leaves out the first `leftOut`, which were recorded elsewhere.
    init(_ space: Space, _ options: WorkloadOptions, leftOut: Int = 0) throws(BenchError) {
        self.space = space
        let last: UInt64
        (replica, last) = try BenchSpace.log { () throws(LogError) in
            try space.store.author(of: space.id)
        }
        nextSequence = last + 1
        reader = EventLineReader(catalog: try BenchSpace.catalog(of: nil), options: .exportKeys)
        generator = WorkloadGenerator(options)
        for _ in 0..<leftOut {
            generator.line.removeAll()
            generator.next()
        }
    }

    /// Records the next events, each a batch of its own.
    mutating func record(_ count: Int) throws(BenchError) {
        var rest = count
        while rest > 0 {
            var drafts: [DraftBatch] = []
            for _ in 0..<min(rest, Limits.batchCountMax / 2) {
                var draft = DraftBatch()
                draft.add(try next())
                drafts.append(draft)
            }
            rest -= drafts.count
            try LaneReplica.append(.batches(drafts), to: space)
        }
    }

    private mutating func next() throws(BenchError) -> EventLine {
        precondition(!generator.isFinished, "more is recorded than was said")
        generator.line.removeAll()
        generator.next()
        var line = EventLine()
        let text = generator.line.bytes
        do throws(SchemaError) {
            try reader.read(text.span.extracting(0..<text.count - 1), into: &line)
        } catch {
            throw .failed(error.message)
        }
        if let origin = line.origin { sequences[origin] = nextSequence }
        nextSequence += 1
        for (index, field) in line.type.fields.enumerated() where field.referenceKind != nil {
            if let bytes = line.payload.bytes(at: index), let own = own(Array(bytes)) {
                line.payload.setBytes(own.span, at: index)
            }
        }
        if let range = line.subject, let own = own(Array(line.arena[range])) {
            line.subject = line.keep(own.span)
        }
        return line
    }

    /// The origin here of an event that is mentioned.
    private func own(_ text: [UInt8]) -> [UInt8]? {
        guard let origin = Origin(text: String(decoding: text, as: UTF8.self)),
            let sequence = sequences[origin]
        else { return nil }
        return Array(Origin(replica: replica, sequence: sequence).text.utf8)
    }
}
