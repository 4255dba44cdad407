import DiarioCore
import DiarioFormat
import DiarioSchema
import Testing

@Suite struct DraftBatchTests {
    private let catalog: TypeCatalog
    private let made: EventType
    private let told: EventType

    init() throws {
        catalog = try Fixtures.catalog()
        made = try #require(catalog.newest("probe.thing.made"))
        told = try #require(catalog.newest("probe.thing.told"))
    }

    private func payload(of type: EventType, _ values: [String: String] = [:]) -> Payload {
        var payload = Payload()
        payload.reset(fieldCount: type.fields.count)
        for (name, value) in values {
            guard let index = type.fieldIndex(name) else { continue }
            payload.setBytes(Array(value.utf8).span, at: index)
        }
        return payload
    }

    /// A payload whose field `parent` refers to an event of the batch.
    private func child(of number: Int) throws -> Payload {
        let text = Array(##"{"type":"probe.thing.made","payload":{"parent":"#\##(number)"}}"##.utf8)
        var reader = EventLineReader(catalog: catalog, options: .batchReferences)
        var line = EventLine()
        try reader.read(text.span, into: &line)
        return line.payload
    }

    /// The texts of `id` and `parent` of each event of a block.
    private func identifiers(_ block: [UInt8]) throws -> [[String?]] {
        let head = try Block.check(block.span)
        let plan = PayloadPlan(made)
        let fields = try ["id", "parent"].map { try #require(made.fieldIndex($0)) }
        var cursor = RowCursor(block.span, head.summary)
        var result: [[String?]] = []
        var payload = Payload()
        while let row = try cursor.next() {
            let part = try PublicPart.parse(block.span, row)
            try PayloadCodec.decode(block.span, row, part, plan: plan, into: &payload)
            result.append(
                fields.map { field in
                    payload.bytes(at: field).map { String(decoding: $0, as: UTF8.self) }
                }
            )
        }
        return result
    }

    @Test func referencesBecomeTheIDsThatTheBatchMakes() throws {
        var batch = DraftBatch()
        try batch.append(payload(of: made), type: made)
        try batch.append(payload(of: made, ["id": "given"]), type: made)
        try batch.append(child(of: 1), type: made)
        try batch.append(child(of: 2), type: made)
        try batch.append(child(of: 3), type: made)
        for first: UInt64 in [1, 8, 97, 9_999_999, .max - 10] {
            var builder = BlockBuilder()
            let replica = try Fixtures.replica(.max)
            builder.append(
                batch,
                replica: replica,
                firstSequence: first,
                clock: HybridTime(rawValue: 0),
                base: 0
            )
            let texts = (0..<5).map {
                Origin(replica: replica, sequence: first + UInt64($0)).text
            }
            let wanted: [[String?]] = [
                [texts[0], nil], ["given", nil], [texts[2], texts[0]], [texts[3], "given"],
                [texts[4], texts[2]],
            ]
            #expect(try identifiers(builder.block()) == wanted)
        }
    }

    @Test func aReferenceNamesAnEarlierEventThatMakesAnID() throws {
        for number in [1, 2, 1000] {
            var batch = DraftBatch()
            #expect(throws: FormatError.unresolvedReference(number: number)) {
                try batch.append(child(of: number), type: made)
            }
            #expect(batch.isEmpty)
        }
        var batch = DraftBatch()
        try batch.append(payload(of: told), type: told)
        #expect(throws: FormatError.unresolvedReference(number: 1)) {
            try batch.append(child(of: 1), type: made)
        }
        try batch.append(payload(of: made), type: made)
        try batch.append(child(of: 2), type: made)
        #expect(batch.events.count == 3)
    }

    @Test func theOwnOriginIsDerivedOnlyWhereItIsTheOwnOne() throws {
        let origin = Origin(replica: try Fixtures.replica(77), sequence: 12)
        let given = payload(of: made, ["id": origin.text])
        for (own, isDerived) in [
            (origin, true), (Origin(replica: origin.replica, sequence: 13), false), (nil, false),
        ] {
            var batch = DraftBatch()
            try batch.append(given, type: made, origin: own)
            #expect(batch.events[0].flags.contains(.derived) == isDerived)
            #expect((batch.events[0].given == nil) == isDerived)
        }
    }

    @Test func anEventOfTheLargestSizeIsTaken() throws {
        let bare = { (count: Int) in
            self.payload(of: self.made, ["aString": String(repeating: "a", count: count)])
        }
        var batch = DraftBatch()
        try batch.append(bare(40_000), type: made)
        let frill = batch.size - 40_000
        let largest = Limits.eventSizeMax - frill
        batch.removeAll()
        try batch.append(bare(largest), type: made)
        #expect(batch.size == Limits.eventSizeMax)
        #expect(throws: FormatError.eventTooLarge(size: Limits.eventSizeMax + 1)) {
            try batch.append(bare(largest + 1), type: made)
        }
        #expect(throws: FormatError.eventTooLarge(size: 100_000)) {
            try batch.append(bare(100_000), type: made)
        }
        #expect(batch.events.count == 1)
        #expect(batch.size == Limits.eventSizeMax)
    }

    @Test func aBatchOfTheLargestSizeIsTaken() throws {
        var batch = DraftBatch()
        let large = payload(of: made, ["aString": String(repeating: "a", count: 65_000)])
        for _ in 0..<16 { try batch.append(large, type: made) }
        let rest = Limits.batchSizeMax - batch.size
        // A length below 16,384 takes one byte less.
        let fitting = 65_000 - (batch.size / 16 - 1 - rest)
        #expect(throws: FormatError.batchTooLarge(size: Limits.batchSizeMax + 1)) {
            let value = String(repeating: "a", count: fitting + 1)
            try batch.append(payload(of: made, ["aString": value]), type: made)
        }
        try batch.append(
            payload(of: made, ["aString": String(repeating: "a", count: fitting)]),
            type: made
        )
        #expect(batch.size == Limits.batchSizeMax)
        #expect(throws: FormatError.self) { try batch.append(payload(of: made), type: made) }
        var builder = BlockBuilder()
        let hasRoom = builder.hasRoom(for: batch)
        #expect(hasRoom)
        builder.append(
            batch,
            replica: try Fixtures.replica(1),
            firstSequence: 1,
            clock: HybridTime(rawValue: 0),
            base: 0
        )
        #expect(try Block.check(builder.block().span).summary.eventCount == 17)
    }

    @Test func aBatchHasAtMostAThousandEvents() throws {
        var batch = DraftBatch()
        for _ in 0..<Limits.batchCountMax { try batch.append(payload(of: told), type: told) }
        #expect(throws: FormatError.tooManyEvents(count: 1001)) {
            try batch.append(payload(of: told), type: told)
        }
        #expect(batch.events.count == 1000)
    }

    @Test func actorsAndSubjectsHaveBounds() throws {
        var batch = DraftBatch()
        let valid: [UInt8] = Array(repeating: 0x61, count: 256)
        for bytes in [[], Array(valid.prefix(129)), [0], [0xff]] {
            #expect(throws: FormatError.invalidActor(size: bytes.count)) {
                try batch.append(payload(of: told), type: told, actor: bytes.span)
            }
        }
        for bytes in [[], valid + [0x61], [0], [0xff]] {
            #expect(throws: FormatError.invalidSubject(size: bytes.count)) {
                try batch.append(payload(of: told), type: told, subject: bytes.span)
            }
        }
        #expect(throws: FormatError.invalidSubject(size: 256)) {
            try batch.append(payload(of: made), type: made, subject: valid.span)
        }
        #expect(batch.isEmpty && batch.size == 0)
        let actor = Array(valid.prefix(128))
        try batch.append(
            payload(of: told),
            type: told,
            actor: actor.span,
            subject: valid.span
        )
        let event = batch.events[0]
        #expect(event.actor.map { Array(batch.bytes[$0]) } == actor)
        #expect(event.subject.map { Array(batch.bytes[$0]) } == valid)
    }

    /// A value that no reader would take is not written, and nothing of its event is.
    @Test func valuesThatDoNotFitTheirFieldsAreRefused() throws {
        let cases: [(field: String, slot: Slot)] = [
            ("anInteger", .number(1)), ("aNumber", .integer(1)), ("aNumber", .number(.nan)),
            ("aNumber", .number(.infinity)), ("aBoolean", .integer(2)),
            ("aBoolean", .integer(-1)), ("anEnum", .integer(3)), ("anEnum", .integer(-1)),
            ("aDate", .integer(CivilTime.daysMax + 1)), ("aDate", .integer(.min)),
            ("aDateTime", .integer(CivilTime.millisecondsMin - 1)),
            ("aDateTime", .integer(.max)), ("anInteger", .bytes(start: 0, count: 1)),
            ("aUuid", .bytes(start: 0, count: 15)), ("aString", .bytes(start: 15, count: 1)),
            ("anObject", .bytes(start: 14, count: 1)), ("id", .integer(1)),
        ]
        var batch = DraftBatch()
        for (field, slot) in cases {
            var payload = payload(of: made)
            let index = try #require(made.fieldIndex(field))
            payload.arena = Array(repeating: 0x61, count: 14) + [0xff, 0]
            payload.slots[index] = slot
            #expect(throws: FormatError.invalidField(index: index), "\(field) \(slot)") {
                try batch.append(payload, type: made)
            }
        }
        #expect(batch.isEmpty && batch.size == 0 && batch.types.isEmpty)
    }

    @Test func thereIsOneZero() throws {
        let field = try #require(made.fieldIndex("aNumber"))
        let drafts = try [0.0, -0.0].map { value in
            var payload = payload(of: made)
            payload.slots[field] = .number(value)
            var batch = DraftBatch()
            try batch.append(payload, type: made)
            return batch.bytes
        }
        #expect(drafts[0] == drafts[1])
    }

    @Test func aBatchIsUsedAgain() throws {
        var batch = DraftBatch()
        try batch.append(payload(of: made), type: made)
        try batch.append(child(of: 1), type: made)
        try batch.append(payload(of: told), type: told)
        #expect(batch.types.map(\.name) == ["probe.thing.made", "probe.thing.told"])
        batch.removeAll()
        #expect(batch.isEmpty && batch.types.isEmpty && batch.size == 0)
        try batch.append(payload(of: told), type: told)
        var fresh = DraftBatch()
        try fresh.append(payload(of: told), type: told)
        #expect(batch.bytes == fresh.bytes && batch.events == fresh.events)
        #expect(batch.entries == fresh.entries)
    }
}
