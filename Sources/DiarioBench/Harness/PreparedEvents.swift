import DiarioFormat
import DiarioLog
import DiarioSchema

/// Events of the workload in memory: as text, and read and checked.
struct PreparedEvents: Sendable {
    /// The lines, each with its line feed.
    let text: [UInt8]
    /// Where each line ends, behind its line feed.
    let ends: [Int]
    let lines: [EventLine]

    var count: Int { lines.count }

    init(_ options: WorkloadOptions) throws(BenchError) {
        var reader = EventLineReader(catalog: try BenchSpace.catalog(of: nil), options: .exportKeys)
        var generator = WorkloadGenerator(options)
        var ends: [Int] = []
        var lines: [EventLine] = []
        while !generator.isFinished {
            let start = generator.line.count
            generator.next()
            var line = EventLine()
            do throws(SchemaError) {
                let bytes = generator.line.bytes
                try reader.read(bytes.span.extracting(start..<bytes.count - 1), into: &line)
            } catch {
                throw .failed(error.message)
            }
            ends.append(generator.line.count)
            lines.append(line)
        }
        text = generator.line.bytes
        self.ends = ends
        self.lines = lines
    }

    /// Adds an event to a batch; not by way of a copy, which would cost as much as adding it.
    func add(_ index: Int, to draft: inout DraftBatch) {
        let lines = lines.span
        draft.add(lines[index])
    }

    /// The payload of a line as text.
    func payloadText(_ index: Int) -> String {
        let line = text[(index == 0 ? 0 : ends[index - 1])..<ends[index]]
        let key = Array("\"payload\":".utf8)
        let next = Array(",\"actor\":".utf8)
        guard let start = Self.find(key, in: line), let end = Self.find(next, in: line[start...])
        else { return "{}" }
        return String(decoding: line[(start + key.count)..<end], as: UTF8.self)
    }

    private static func find(_ word: [UInt8], in text: ArraySlice<UInt8>) -> Int? {
        text.indices.first { text[$0...].starts(with: word) }
    }
}

extension DraftBatch {
    /// Adds an event of the workload, whose packs are those that the batch goes to.
    mutating func add(_ line: EventLine) {
        do throws(FormatError) { try append(line) } catch {
            preconditionFailure("the workload keeps to the limits: \(error)")
        }
    }
}
