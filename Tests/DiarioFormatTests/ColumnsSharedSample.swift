import DiarioCore
import DiarioFormat
import DiarioSchema
import Testing

/// Events that tell of points of another system: most of them of the one that their replica
/// looked at last.
struct ColumnsSharedSample {
    /// Three types about points, of which two tell of nothing else, and one about something else
    /// that has as many events as the second.
    static let schemas = [
        schema("looked", subject: "point"), schema("left", subject: "point"),
        schema("measured", subject: "point"), schema("mapped", subject: "map"),
    ]
    /// Where the types stand in the segment.
    static let (looked, left, measured, mapped) = (0, 1, 2, 3)

    private(set) var sample: ColumnsSample
    private var random: SeededRandom
    private let hasDepths: Bool
    /// By replica, the point that was looked at last.
    private var last: [[UInt8]]

    private static func schema(_ name: String, subject: String) -> String {
        """
        {"title": "probe.point.\(name)", "x-diario-version": 1, "x-diario-subject": "\(subject)",
        "type": "object", "additionalProperties": false, "required": ["\(subject)"],
        "properties": {"\(subject)": {"type": "string", "minLength": 1, "maxLength": 32},
        "aNote": {"type": "array", "items": {"type": "integer"}},
        "depth": {"type": "integer"}}}
        """
    }

    /// `count` events of up to three replicas; of 100 that go on, `sameCount` tell of the point
    /// that was looked at last.
    init(seed: UInt64, count: Int, sameCount: Int = 90, hasDepths: Bool = true) throws {
        self.hasDepths = hasDepths
        random = SeededRandom(seed: seed)
        var events = RandomEvents(seed: seed &+ 5)
        sample = try ColumnsSample(seed: seed, count: 1)
        sample.types = try Self.schemas.map { try Fixtures.type($0) }
        sample.rows = []
        sample.saltNodes = []
        let replicas = try (0..<3).map { _ in try events.replica() }
        last = replicas.map { _ in [] }
        var sequences = [UInt64](repeating: 0, count: 3)
        for index in 0..<count {
            // Each type comes first once, so that types have the order above.
            let writer = index < 4 ? 0 : random.below(3)
            sequences[writer] += 1
            let milliseconds = 1_700_000_000_000 + Int64(index) * 1000
            try add(
                RowEnvelope(
                    replica: replicas[writer],
                    sequence: sequences[writer],
                    batchFirst: sequences[writer],
                    batchCount: 1,
                    clock: HybridTime(milliseconds: milliseconds, counter: 0),
                    at: Timestamp(milliseconds: milliseconds),
                    base: 0
                ),
                type: index % 4,
                writer: writer,
                goesOn: random.below(100) < sameCount
            )
        }
    }

    private mutating func add(
        _ envelope: RowEnvelope,
        type: Int,
        writer: Int,
        goesOn: Bool
    ) throws {
        var subject = last[writer]
        if type == Self.looked || subject.isEmpty || !goesOn {
            let digits = Array("0123456789abcdef".utf8)
            var key = SeededRandom(seed: UInt64(random.below(60)))
            subject = (0..<32).map { _ in digits[key.below(16)] }
        }
        if type == Self.looked { last[writer] = subject }
        let fields = sample.types[type].fields
        var payload = Payload()
        payload.reset(fieldCount: fields.count)
        let place = try #require(sample.types[type].subjectFieldIndex)
        payload.setBytes(subject.span, at: place)
        if hasDepths, random.oneIn(2) {
            payload.slots[try #require(sample.types[type].fieldIndex("depth"))] = .integer(
                Int64(random.below(50))
            )
        }
        let row = try sample.encode(type, payload, envelope, actor: nil, subject: nil)
        sample.rows.append(
            ColumnsSample.Row(
                type: type,
                replica: envelope.replica,
                sequence: envelope.sequence,
                acceptedAt: Timestamp(milliseconds: 1_700_000_000_000),
                isAuthority: false,
                publicPart: row.publicPart,
                personalPart: row.personalPart
            )
        )
    }
}
