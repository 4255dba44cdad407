import DiarioCore
import DiarioSchema

/// An example of a pack as an event, with its file and line.
struct Example {
    var line: EventLine
    let file: String
    let number: Int

    /// All examples as one replica would record them, one after the other.
    static func all(of pack: Pack, _ catalog: TypeCatalog, replica: UInt64) -> [Example] {
        var texts: [Text] = []
        for file in pack.files where file.path.hasPrefix("examples/") {
            let lines = file.bytes.split(separator: 0x0a, omittingEmptySubsequences: false)
            for (index, text) in lines.enumerated() where !text.isEmpty {
                texts.append((file.path, index + 1, Array(text)))
            }
        }
        return read(texts, catalog, replica: replica)
    }

    /// The reference data of a pack, as a replica that adopts it would record it.
    static func references(
        of pack: Pack,
        _ catalog: TypeCatalog,
        replica: UInt64
    ) -> [Example] {
        let texts = pack.references.flatMap { table in
            table.rows.map { row -> Text in
                var payload: [UInt8] = []
                PayloadWriter.append(row.payload, of: table.type, to: &payload)
                let text = JSONObjectWriter.object { json in
                    json.add("type", table.type.name)
                    json.add("version", table.type.version)
                    json.add("payload", json: payload)
                }
                return (table.path, row.line, text)
            }
        }
        return read(texts, catalog, replica: replica)
    }

    private typealias Text = (file: String, number: Int, line: [UInt8])

    private static func read(
        _ texts: [Text],
        _ catalog: TypeCatalog,
        replica: UInt64
    ) -> [Example] {
        guard let replica = ReplicaID(rawValue: replica) else { return [] }
        var recorder = Recorder(replica: replica)
        var reader = EventLineReader(catalog: catalog, options: .batchReferences)
        var examples: [Example] = []
        for text in texts {
            var line = EventLine()
            guard (try? reader.read(text.line.span, into: &line)) != nil else { continue }
            recorder.complete(&line)
            examples.append(Example(line: line, file: text.file, number: text.number))
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

        /// 2100, two seconds for each event: later than any day of an example.
        private static let start: Int64 = 4_102_444_800_000

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
