import DiarioCore
import DiarioSchema

/// An example of a pack as an event, with its file and line.
struct Example {
    var line: EventLine
    let file: String
    let number: Int

    /// All examples as one replica would record them, one after the other.
    static func all(of pack: Pack, _ catalog: TypeCatalog, replica: UInt64) -> [Example] {
        guard let replica = ReplicaID(rawValue: replica) else { return [] }
        var recorder = Recorder(replica: replica)
        var reader = EventLineReader(catalog: catalog, options: .batchReferences)
        var examples: [Example] = []
        for file in pack.files where file.path.hasPrefix("examples/") {
            let lines = file.bytes.split(separator: 0x0a, omittingEmptySubsequences: false)
            for (index, text) in lines.enumerated() where !text.isEmpty {
                var line = EventLine()
                guard (try? reader.read(text.span, into: &line)) != nil else { continue }
                recorder.complete(&line)
                examples.append(Example(line: line, file: file.path, number: index + 1))
            }
        }
        return examples
    }

    /// The same after its personal fields were erased.
    var withoutPersonalFields: Example {
        var copy = self
        for (index, field) in line.type.fields.enumerated() where field.isPersonal {
            copy.line.payload.slots[index] = .absent
        }
        return copy
    }

    var hasPersonalFields: Bool {
        line.type.fields.indices.contains { index in
            line.type.fields[index].isPersonal && line.payload.slots[index] != .absent
        }
    }

    func problem(_ rule: String, _ message: String) -> PackProblem {
        PackProblem(file: file, line: number, rule: rule, message: message)
    }

    /// Fills in lines as recording would.
    private struct Recorder {
        let replica: ReplicaID
        private var sequence: UInt64 = 0
        /// The origins of the batch that is being read.
        private var batch: (name: [UInt8]?, origins: [Origin]) = (nil, [])

        /// 2025-10-09, two seconds for each event: any time would do.
        private static let start: Int64 = 1_760_000_000_000

        init(replica: ReplicaID) { self.replica = replica }

        mutating func complete(_ line: inout EventLine) {
            sequence += 1
            let origin = Origin(replica: replica, sequence: sequence)
            let name = line.batch.map { Array(line.arena[$0]) }
            if name == nil || name != batch.name { batch = (name, []) }
            batch.origins.append(origin)
            // Replicas write in turn, so that now one and now the other one is later.
            let milliseconds = Self.start + Int64(sequence) * 2000 + Int64(replica.rawValue)
            line.origin = origin
            line.base = 0
            line.clock = HybridTime(milliseconds: milliseconds, counter: 0)
            line.at = line.at ?? Timestamp(milliseconds: milliseconds)
            for reference in line.payload.references
            where 1...batch.origins.count ~= reference.number {
                let id = Array(batch.origins[reference.number - 1].text.utf8)
                line.payload.setBytes(id.span, at: reference.fieldIndex)
            }
            if let index = line.type.newIDFieldIndex, line.payload.slots[index] == .absent {
                line.payload.setBytes(Array(origin.text.utf8).span, at: index)
            }
        }
    }
}
