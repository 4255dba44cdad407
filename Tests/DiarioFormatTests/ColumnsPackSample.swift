import DiarioCore
import DiarioFormat
import DiarioSchema
import DiarioTestSupport
import Testing

/// Random events of all packs that come with the program, as rows.
///
/// Values come again as those of people do: half of them are one of the last eight of the field.
struct ColumnsPackSample {
    static let packs = ["fish", "maps", "meals", "music", "zones"]

    /// The types, rows and positions, to be sealed as they are or cut.
    private(set) var sample: ColumnsSample

    private var random: SeededRandom
    private var events: RandomEvents
    /// By type and field, the last values as payloads of their own.
    private var recent: [[[Payload]]]
    /// Ids of things, given or derived.
    private var things: [[UInt8]] = []

    init(seed: UInt64, count: Int) throws {
        random = SeededRandom(seed: seed)
        events = RandomEvents(seed: seed &+ 77)
        sample = try ColumnsSample(seed: seed, count: 1)
        sample.types = try Self.types()
        sample.rows = []
        recent = sample.types.map { type in type.fields.map { _ in [] } }
        sample.firstPosition = UInt64(random.below(1000) + 1)
        sample.saltNodes = []
        let replicas = try (0..<5).map { _ in try events.replica() }
        var sequences = [UInt64](repeating: 0, count: replicas.count)
        var clocks = [Int64](repeating: 1_700_000_000_000, count: replicas.count)
        var acceptedAt: Int64 = 1_700_000_000_000
        var writer = 0
        while sample.rows.count < count {
            if random.oneIn(6) {
                writer = random.below(replicas.count)
                acceptedAt += Int64(random.below(50_000))
            }
            sequences[writer] += 1
            clocks[writer] += Int64(random.below(100_000)) + 1
            let envelope = RowEnvelope(
                replica: replicas[writer],
                sequence: sequences[writer],
                batchFirst: sequences[writer],
                batchCount: 1,
                clock: HybridTime(milliseconds: clocks[writer], counter: 0),
                at: Timestamp(milliseconds: clocks[writer] - Int64(random.below(5000))),
                base: UInt64(sample.rows.count / 20)
            )
            try add(envelope, acceptedAt: Timestamp(milliseconds: acceptedAt))
        }
    }

    /// The event types of all packs, from their folders.
    static func types() throws -> [EventType] {
        try packs.flatMap { name in
            var paths = try SchemaFolder.files("\(name)/events").filter { $0.hasSuffix(".json") }
            paths += try SchemaFolder.files(name).filter { $0.hasSuffix(".json") }
            let files = try paths.map { path in
                PackFile(
                    path: String(path.dropFirst(name.count + 1)),
                    bytes: try SchemaFolder.contents(path)
                )
            }
            return try Pack(files: files).types
        }
    }

    private mutating func add(_ envelope: RowEnvelope, acceptedAt: Timestamp) throws {
        let type = random.below(sample.types.count)
        let payload = payload(type)
        let origin = Origin(replica: envelope.replica, sequence: envelope.sequence)
        if let field = sample.types[type].newIDFieldIndex {
            let isDerived = payload.slots[field] == .absent
            things.append(isDerived ? OriginText.bytes(origin) : payload.text(field))
        }
        let hasSubject = sample.types[type].subjectFieldIndex == nil && random.oneIn(3)
        let row = try sample.encode(
            type,
            payload,
            envelope,
            actor: random.oneIn(3) ? Array("person \(random.below(4))".utf8) : nil,
            subject: hasSubject ? Array("thing \(random.below(9))".utf8) : nil
        )
        sample.rows.append(
            ColumnsSample.Row(
                type: type,
                replica: envelope.replica,
                sequence: envelope.sequence,
                acceptedAt: acceptedAt,
                isAuthority: false,
                publicPart: row.publicPart,
                personalPart: row.personalPart
            )
        )
    }

    private mutating func payload(_ index: Int) -> Payload {
        let type = sample.types[index]
        var payload = Payload()
        payload.reset(fieldCount: type.fields.count)
        for (place, field) in type.fields.enumerated() where !random.oneIn(6) {
            if field.isNewID {
                // A given id looks like a random one; without one it is derived.
                let digits = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
                if random.oneIn(2) {
                    let id = (0..<26).map { digits[random.below($0 == 0 ? 8 : 32)] }
                    payload.setBytes(id.span, at: place)
                }
            } else if field.referenceKind != nil, !things.isEmpty {
                let thing = things[things.count - 1 - random.below(min(things.count, 30))]
                payload.setBytes(thing.span, at: place)
            } else if let known = recent[index][place].randomElement(using: &random),
                random.oneIn(2)
            {
                payload.copy(place, of: known)
            } else {
                events.fill(place, field, in: &payload)
                recent[index][place].append(payload)
                if recent[index][place].count > 8 { recent[index][place].removeFirst() }
            }
        }
        return payload
    }

    /// The rows from `range`, as a segment of their own.
    func cut(_ range: Range<Int>) -> ColumnsSample {
        var part = sample
        part.rows = Array(sample.rows[range])
        part.firstPosition = sample.firstPosition.map { $0 + UInt64(range.lowerBound) }
        return part
    }
}

extension Payload {
    /// The bytes of a slot that has some.
    fileprivate func text(_ index: Int) -> [UInt8] {
        guard case .bytes(let start, let count) = slots[index] else { return [] }
        return Array(arena[Int(start)..<Int(start) + Int(count)])
    }

    fileprivate mutating func copy(_ index: Int, of other: Payload) {
        if case .bytes = other.slots[index] {
            setBytes(other.text(index).span, at: index)
        } else {
            slots[index] = other.slots[index]
        }
    }
}
