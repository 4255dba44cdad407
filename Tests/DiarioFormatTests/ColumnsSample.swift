import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioSchema
import Testing

/// Rows drawn from a seed, as they go into a segment, and the segment made of them.
struct ColumnsSample {
    struct Row: Equatable {
        var type: Int
        var replica: ReplicaID
        var sequence: UInt64
        var acceptedAt: Timestamp?
        var isAuthority: Bool
        var publicPart: [UInt8]
        var personalPart: [UInt8]?
        var commitment: Hash32?
    }

    var types: [EventType]
    var rows: [Row]
    var firstPosition: UInt64?
    var saltNodes: [SaltNode] = []

    /// A type that makes things and one that mentions them, beside random ones.
    static let making = """
        {"title": "probe.thing.begun", "x-diario-version": 1, "x-diario-subject": "thing",
        "type": "object", "additionalProperties": false, "properties": {
        "thing": {"type": "string", "x-diario-id": "new"},
        "kind": {"enum": ["a", "b", "c"]}, "size": {"type": "integer"}}}
        """
    static let mentioning = """
        {"title": "probe.thing.seen", "x-diario-version": 1, "x-diario-subject": "what",
        "type": "object", "additionalProperties": false, "required": ["what"], "properties": {
        "what": {"type": "string", "x-diario-id": "thing"},
        "day": {"type": "string", "format": "date"},
        "when": {"type": "string", "format": "date-time"},
        "by": {"type": "string", "x-diario-personal": true},
        "size": {"type": "integer"}, "weight": {"type": "number"}}}
        """

    private var random: SeededRandom
    private var events: RandomEvents
    private var things: [[UInt8]] = []
    private var payloads: [[Payload]] = []

    /// `count` events of five types and up to four replicas, in batches of up to five.
    init(seed: UInt64, count: Int, isPositioned: Bool = true) throws {
        random = SeededRandom(seed: seed)
        events = RandomEvents(seed: seed &+ 1000)
        types = [try Fixtures.type(Self.making), try Fixtures.type(Self.mentioning)]
        for name in ["probe.first", "probe.second"] { types.append(try events.type(name: name)) }
        types.append(try Fixtures.type(Fixtures.ruled))
        payloads = types.map { _ in [] }
        rows = []
        firstPosition = isPositioned ? UInt64(random.below(1 << 40) + 1) : nil
        let replicas = try (0..<(isPositioned ? 4 : 1)).map { _ in try events.replica() }
        let authority = try events.replica()
        var sequences = [UInt64](repeating: 0, count: 5)
        for index in sequences.indices { sequences[index] = UInt64(random.below(1 << 30)) }
        var acceptedAt: Int64 = 1_700_000_000_000
        var clocks = [Int64](repeating: 1_600_000_000_000, count: 5)
        while rows.count < count {
            let isAuthority = isPositioned && random.oneIn(20)
            let writer = isAuthority ? 4 : random.below(replicas.count)
            // Now and then sequences are left out: they were refused.
            if random.oneIn(8) { sequences[writer] += UInt64(random.below(9)) }
            if random.oneIn(3) { acceptedAt += Int64(random.below(100_000)) }
            clocks[writer] += Int64(random.below(1_000_000))
            let size = min(1 + random.below(5), count - rows.count)
            try addBatch(
                size: size,
                RowEnvelope(
                    replica: isAuthority ? authority : replicas[writer],
                    sequence: sequences[writer] + 1,
                    batchFirst: sequences[writer] + 1,
                    batchCount: size,
                    clock: HybridTime(milliseconds: clocks[writer], counter: 0),
                    at: Timestamp(milliseconds: clocks[writer] - (random.oneIn(4) ? 1000 : 0)),
                    base: UInt64(random.below(1000))
                ),
                acceptedAt: isPositioned ? Timestamp(milliseconds: acceptedAt) : nil,
                isAuthority: isAuthority
            )
            sequences[writer] += UInt64(size)
        }
        for index in 0..<random.below(4) {
            let root = Salt(first: random.next(), second: random.next())
            let seed = SaltSeed(replica: rows[0].replica, group: UInt64(index), root: root)
            saltNodes.append(seed.node)
        }
    }

    private mutating func addBatch(
        size: Int,
        _ envelope: RowEnvelope,
        acceptedAt: Timestamp?,
        isAuthority: Bool
    ) throws {
        for place in 0..<size {
            var own = envelope
            own.sequence += UInt64(place)
            own.clock = HybridTime(rawValue: envelope.clock.rawValue + UInt64(place))
            let type = isAuthority ? 4 : random.below(4)
            let origin = Origin(replica: own.replica, sequence: own.sequence)
            let payload = payload(type, origin, at: own.at)
            let hasSubject = types[type].subjectFieldIndex == nil && random.oneIn(3)
            let actor = random.oneIn(5) ? nil : Array("user-\(random.below(6))".utf8)
            let subject = hasSubject ? Array("thing \(random.below(5))".utf8) : nil
            let row = try encode(type, payload, own, actor: actor, subject: subject)
            rows.append(
                Row(
                    type: type,
                    replica: own.replica,
                    sequence: own.sequence,
                    acceptedAt: acceptedAt,
                    isAuthority: isAuthority,
                    publicPart: row.publicPart,
                    personalPart: row.personalPart
                )
            )
        }
    }

    private mutating func payload(_ type: Int, _ origin: Origin, at: Timestamp) -> Payload {
        // Values come again, as those of people do.
        if random.oneIn(3), let known = payloads[type].last, types[type].newIDFieldIndex == nil {
            return known
        }
        var payload = events.payload(of: types[type])
        let text = OriginText.bytes(origin)
        if type == 0 {
            // Some ids are derived, the others random.
            payload.slots[types[0].fieldIndex("thing") ?? 0] = .absent
            if random.oneIn(2) {
                let digits = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
                let given = (0..<26).map { digits[random.below($0 == 0 ? 8 : 32)] }
                payload.setBytes(given.span, at: types[0].fieldIndex("thing") ?? 0)
                things.append(given)
            } else {
                things.append(text)
            }
        } else if type == 1, let what = types[1].fieldIndex("what"), !things.isEmpty {
            let place = things.count - 1 - random.below(min(things.count, 20))
            let thing = things[place]
            payload.setBytes(thing.span, at: what)
            payload.slots[types[1].fieldIndex("day") ?? 0] = .integer(
                at.milliseconds / 86_400_000
            )
            payload.slots[types[1].fieldIndex("weight") ?? 0] = .number(
                Double(random.below(1000)) / 10
            )
            let phrases = ["seen at noon", "near the pier", "perch\u{e9} no", "twice", ""]
            let said = (0...random.below(4)).map { _ in phrases[random.below(phrases.count)] }
            let note = Array(said.joined(separator: ", ").utf8)
            payload.setBytes(note.span, at: types[1].fieldIndex("by") ?? 0)
        }
        payloads[type].append(payload)
        return payload
    }

    func encode(
        _ type: Int,
        _ payload: Payload,
        _ envelope: RowEnvelope,
        actor: [UInt8]?,
        subject: [UInt8]?
    ) throws -> (publicPart: [UInt8], personalPart: [UInt8]?) {
        var batch = DraftBatch()
        let origin = Origin(replica: envelope.replica, sequence: envelope.sequence)
        let texts = (actor ?? []) + (subject ?? [])
        var actorText: Span<UInt8>?
        if let actor { actorText = texts.span.extracting(0..<actor.count) }
        var subjectText: Span<UInt8>?
        if subject != nil { subjectText = texts.span.extracting((actor?.count ?? 0)...) }
        try batch.append(
            payload,
            type: types[type],
            at: envelope.at,
            actor: actorText,
            subject: subjectText,
            ifUnchanged: envelope.sequence % 7 == 0,
            origin: origin
        )
        var builder = BlockBuilder()
        builder.append(event: 0, of: batch, envelope: envelope)
        let block = builder.block()
        let (row, _) = try Fixtures.onlyRow(block)
        guard case .present(let range) = row.personal else {
            return (Array(block[row.publicPart]), nil)
        }
        return (Array(block[row.publicPart]), Array(block[range]))
    }

    /// Replaces the personal parts of some events by commitments.
    mutating func erase(_ chosen: (Int) -> Bool) {
        for index in rows.indices where rows[index].personalPart != nil && chosen(index) {
            rows[index].personalPart = nil
            rows[index].commitment = Hash32(words: (UInt64(index), 1, 2, 3))
        }
    }

    func seal(_ plan: inout SegmentPlan) throws -> SealedSegment {
        var builder = SegmentBuilder(firstPosition: firstPosition)
        for row in rows {
            var bytes = row.publicPart
            var personal = BlockRow.Personal.absent
            if let part = row.personalPart {
                bytes += part
                personal = .present(row.publicPart.count..<bytes.count)
            } else if let commitment = row.commitment {
                bytes += commitment.bytes
                personal = .erased(commitment: row.publicPart.count..<bytes.count)
            }
            try builder.append(
                SegmentEvent(
                    replica: row.replica,
                    sequence: row.sequence,
                    acceptedAt: row.acceptedAt,
                    isAuthority: row.isAuthority,
                    publicPart: 0..<row.publicPart.count,
                    personal: personal
                ),
                of: bytes.span,
                type: types[row.type]
            )
        }
        for node in saltNodes { builder.append(node) }
        return try builder.finish(&plan)
    }

    func seal() throws -> SealedSegment {
        var plan = SegmentPlan()
        return try seal(&plan)
    }
}

extension SealedSegment {
    func reader(
        known: [TypeEntry: EventType] = [:]
    ) throws(SegmentError) -> SegmentReader {
        try SegmentReader(
            SegmentMemory(.segment, segment),
            sidecar: SegmentMemory(.sidecar, sidecar),
            known: known
        )
    }

    /// All rows, with types by their index in `types`.
    func rows(_ types: [EventType]) throws -> [ColumnsSample.Row] {
        var rows = try SegmentRows(try reader())
        var found: [ColumnsSample.Row] = []
        while let row = try rows.next() {
            let entry = rows.reader.index.types[row.typeIndex].entry
            let type = types.firstIndex {
                $0.nameBytes == entry.name && $0.version == entry.version
            }
            var copy = ColumnsSample.Row(
                type: try #require(type),
                replica: row.event.replica,
                sequence: row.event.sequence,
                acceptedAt: row.event.acceptedAt,
                isAuthority: row.event.isAuthority,
                publicPart: Array(rows.bytes[row.event.publicPart])
            )
            switch row.event.personal {
            case .absent: break
            case .present(let range): copy.personalPart = Array(rows.bytes[range])
            case .erased(let range): copy.commitment = Hash32(rows.bytes[range].span)
            }
            found.append(copy)
        }
        return found
    }
}
