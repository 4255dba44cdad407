import DiarioFormat
import DiarioLog
import DiarioSchema

/// Events of the workload in memory: as text, and read and checked.
struct PreparedEvents: Sendable {
    /// The lines, each with its line feed.
    private(set) var text: [UInt8] = []
    /// Where each line ends, after its line feed.
    private(set) var ends: [Int] = []
    private(set) var lines: [EventLine] = []

    var count: Int { lines.count }

    init(_ options: WorkloadOptions) throws {
        var reader = EventLineReader(catalog: try BenchSpace.catalog(), options: .exportKeys)
        var generator = WorkloadGenerator(options)
        while !generator.isFinished {
            let bytes = Array(generator.next().utf8)
            var line = EventLine()
            try reader.read(bytes.span.extracting(0..<bytes.count - 1), into: &line)
            text += bytes
            ends.append(text.count)
            lines.append(line)
        }
    }

    /// Adds an event to a batch; not by way of a copy, which would cost as much as adding it.
    func add(_ index: Int, to draft: inout DraftBatch) {
        let lines = lines.span
        do throws(FormatError) { try draft.append(lines[index % lines.count]) } catch {
            preconditionFailure("the workload keeps to the limits: \(error)")
        }
    }

    func draft(_ range: some Sequence<Int>) -> DraftBatch {
        var draft = DraftBatch()
        for index in range { add(index, to: &draft) }
        return draft
    }

    /// The payload of a line as text.
    func payloadText(_ index: Int) -> String {
        let start = index == 0 ? 0 : ends[index - 1]
        let line = String(decoding: text[start..<ends[index]], as: UTF8.self)
        guard let payload = line.firstRange(of: "\"payload\":"),
            let next = line.firstRange(of: ",\"actor\":")
        else { return "{}" }
        return String(line[payload.upperBound..<next.lowerBound])
    }
}
