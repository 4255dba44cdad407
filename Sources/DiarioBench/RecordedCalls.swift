import CBaseline
import Diario
import DiarioCore
import DiarioProjection
import DiarioSchema

/// What applying some events asks of SQLite, decoded beforehand, for C to do the same.
struct RecordedCalls {
    private(set) var calls: [baseline_call] = []
    private(set) var cells: [baseline_cell] = []
    private(set) var texts: [UInt8] = []
    private(set) var eventCount = 0
    private let plan: PackPlan
    /// For each model where its statements begin among all.
    private var starts: [Int] = []
    let statements: [String]
    let definitions: String

    private init(_ plan: PackPlan) {
        self.plan = plan
        var statements: [String] = []
        for model in plan.models {
            starts.append(statements.count)
            statements += model.statements.map(\.statement.text)
        }
        self.statements = statements
        definitions = plan.models.flatMap { $0.model.definitions }
            .map { $0.text + ";" }.joined(separator: "\n")
    }

    /// What all events of a space ask for.
    init(_ pack: Pack, of space: Space) throws {
        self.init(PackPlan(pack))
        var reader = try EventReader(space, EventFilter(types: plan.typeNames))
        while let event = try reader.next() { add(event) }
    }

    private mutating func add(_ event: EventLine) {
        var isFirst = true
        for (start, model) in zip(starts, plan.models) {
            guard let type = model.types[event.type.name] else { continue }
            for place in type.statements {
                let sources = model.statements[place].sources
                calls.append(
                    baseline_call(
                        statement: UInt32(start + place),
                        cell_count: UInt32(sources.count),
                        first_cell: UInt64(cells.count),
                        begins_event: isFirst ? 1 : 0
                    )
                )
                isFirst = false
                for source in sources { add(source, event) }
            }
        }
        if !isFirst { eventCount += 1 }
    }

    private mutating func add(_ kind: UInt32, _ value: Int64, size: Int = 0) {
        cells.append(baseline_cell(kind: kind, size: UInt32(size), value: value))
    }

    private mutating func add(text: some Sequence<UInt8>, kind: UInt32 = 3) {
        let start = texts.count
        texts.append(contentsOf: text)
        add(kind, Int64(start), size: texts.count - start)
    }

    private mutating func add(_ value: Int64?) {
        if let value { add(1, value) } else { add(0, 0) }
    }

    private mutating func add(_ source: ParameterSource, _ event: EventLine) {
        switch source {
        case .nothing: add(0, 0)
        case .field(let index): add(field: index, event)
        case .envelope(let parameter):
            switch parameter {
            case .position: add(event.position.map { Int64($0) })
            case .sequence: add(event.origin.map { Int64($0.sequence) })
            case .version: add(Int64(event.type.version))
            case .at: add(event.at?.milliseconds)
            case .clock: add(event.clock.map { Int64($0.rawValue) })
            case .accepted: add(event.acceptedAt?.milliseconds)
            case .base: add(event.base.map { Int64($0) })
            case .stamp:
                guard let clock = event.clock, let origin = event.origin else { return add(0, 0) }
                var stamp: [UInt8] = []
                Stamp.append(Int64(clock.rawValue), origin, to: &stamp)
                add(text: stamp, kind: 4)
            case .type: add(text: event.type.nameBytes)
            case .origin: add(text: (event.origin?.text ?? "").utf8)
            case .replica: add(text: (event.origin?.replica.text ?? "").utf8)
            case .actor: addText(event.actor.map { event.arena[$0] })
            case .subject:
                if let field = event.type.subjectFieldIndex {
                    add(field: field, event)
                } else {
                    addText(event.subject.map { event.arena[$0] })
                }
            }
        }
    }

    private mutating func addText(_ bytes: ArraySlice<UInt8>?) {
        if let bytes { add(text: bytes) } else { add(0, 0) }
    }

    private mutating func add(field index: Int, _ event: EventLine) {
        let field = event.type.fields[index]
        switch event.payload.slots[index] {
        case .absent: add(0, 0)
        case .number(let value): add(2, Int64(bitPattern: value.bitPattern))
        case .integer(let value):
            switch field.kind {
            case .enumeration: add(text: field.bounds.values[Int(value)].utf8)
            case .date:
                var text: [UInt8] = []
                CivilTime.appendDate(value, to: &text)
                add(text: text)
            default: add(1, value)
            }
        case .bytes:
            let bytes = event.payload.bytes(at: index) ?? []
            switch field.kind {
            case .uuid:
                var text: [UInt8] = []
                Payload.appendUUID(Array(bytes).span, to: &text)
                add(text: text)
            case .bytes: add(text: bytes, kind: 4)
            default: add(text: bytes)
            }
        }
    }

    /// The seconds that C takes to make a new database of all calls.
    func run(in scratch: Scratch, batch: Int) throws -> Double {
        let name = "baseline.sqlite"
        defer { for suffix in ["", "-wal", "-shm"] { scratch.remove(name + suffix) } }
        var names: [CChar] = []
        for statement in statements {
            names += statement.utf8.map { CChar(bitPattern: $0) } + [0]
        }
        var failures: UInt64 = 0
        // Safe: the function reads as many as it is told, and keeps no pointer.
        let seconds = unsafe calls.withUnsafeBufferPointer { calls in
            unsafe cells.withUnsafeBufferPointer { cells in
                unsafe texts.withUnsafeBytes { texts in
                    unsafe baseline_apply(
                        scratch.path + "/" + name,
                        definitions,
                        names,
                        statements.count,
                        calls.baseAddress,
                        calls.count,
                        cells.baseAddress,
                        texts.baseAddress?.assumingMemoryBound(to: CChar.self),
                        batch,
                        &failures
                    )
                }
            }
        }
        guard seconds >= 0 else { throw BenchError.failed("SQLite: \(-seconds - 10_000)") }
        guard failures == 0 else { throw BenchError.failed("\(failures) statements fail in C") }
        return seconds
    }
}
