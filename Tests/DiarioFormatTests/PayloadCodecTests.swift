import DiarioCore
import DiarioFormat
import DiarioSchema
import Testing

@Suite struct PayloadCodecTests {
    /// Whatever is drafted is read again from the block that it stands in.
    @Test(arguments: UInt64(0)..<40) func whatIsEncodedIsDecoded(seed: UInt64) throws {
        var events = RandomEvents(seed: seed)
        let types = try (0..<3).map { try events.type(name: "random.type\($0)") }
        let plans = types.map { PayloadPlan($0) }
        var batch = DraftBatch()
        var expected: [(type: EventType, payload: Payload, at: Timestamp?, actor: [UInt8])] = []
        for _ in 0..<events.random.below(12) + 1 {
            let type = types[events.random.below(3)]
            let payload = events.payload(of: type)
            let time = CivilTime.clamped(Timestamp(milliseconds: events.integer()))
            let at = events.random.oneIn(2) ? time : nil
            let actor = events.bytes(count: events.random.below(9)).map { $0 & 0x3f | 0x40 }
            try batch.append(
                payload,
                type: type,
                at: at,
                actor: actor.isEmpty ? nil : actor.span,
                ifUnchanged: events.random.oneIn(2)
            )
            expected.append((type, payload, at, actor))
        }
        let replica = try events.replica()
        let first = events.random.next() >> UInt64(events.random.below(63) + 1) + 1
        let clock = HybridTime(rawValue: events.random.next() >> 2)
        let base = events.random.next() >> UInt64(events.random.below(64))
        var builder = BlockBuilder()
        builder.append(batch, replica: replica, firstSequence: first, clock: clock, base: base)
        #expect(builder.size <= BlockBuilder().size + batch.sizeInBlockMax)
        let block = builder.block()
        #expect(block.count <= builder.size)
        let head = try Block.check(block.span)
        var cursor = RowCursor(block.span, head.summary)
        var payload = Payload()
        for (index, event) in expected.enumerated() {
            let next = try cursor.next()
            let row = try #require(next)
            let part = try PublicPart.parse(block.span, row)
            let ownClock = HybridTime(rawValue: clock.rawValue + UInt64(index))
            #expect(
                part.envelope
                    == RowEnvelope(
                        replica: replica,
                        sequence: first + UInt64(index),
                        batchFirst: first,
                        batchCount: expected.count,
                        clock: ownClock,
                        at: event.at ?? Timestamp(milliseconds: ownClock.milliseconds),
                        base: base
                    )
            )
            #expect(part.actor.map { Array(block[$0]) } ?? [] == event.actor)
            let name = head.types[row.typeIndex].name
            #expect(name == event.type.nameBytes)
            let plan = try #require(plans.first { $0.type === event.type })
            try PayloadCodec.decode(block.span, row, part, plan: plan, into: &payload)
            var wanted = event.payload
            if let index = event.type.newIDFieldIndex, wanted.slots[index] == .absent {
                wanted.setBytes(OriginText.bytes(row.origin).span, at: index)
            }
            #expect(payload == wanted)
        }
        let end = try cursor.next()
        #expect(end == nil)
    }

    private struct OneField {
        let plan: PayloadPlan

        init(_ rule: String) throws {
            plan = PayloadPlan(
                try Fixtures.type(
                    """
                    {"title": "one.field", "x-diario-version": 1, "type": "object",
                    "additionalProperties": false, "properties": {"f": {\(rule)}}}
                    """
                )
            )
        }

        func decode(_ bytes: [UInt8], isDerived: Bool = false) throws(FormatError) -> Payload {
            var payload = Payload()
            guard let replica = ReplicaID(rawValue: 1) else { throw .malformed(.replica, at: 0) }
            try PayloadCodec.decode(
                bytes.span,
                publicPayload: 0..<bytes.count,
                personalPayload: nil,
                plan: plan,
                isDerived: isDerived,
                origin: Origin(replica: replica, sequence: 5),
                into: &payload
            )
            return payload
        }
    }

    @Test func valuesThatNoFieldHasAreRefused() throws {
        let cases: [(rule: String, bytes: [UInt8], part: FormatPart)] = [
            (#""type": "number""#, [0, 0, 0, 0, 0, 0, 0, 0x80], .number),
            (#""type": "number""#, [0, 0, 0, 0, 0, 0, 0xf0, 0x7f], .number),
            (#""type": "number""#, [1, 0, 0, 0, 0, 0, 0xf0, 0xff], .number),
            (#""type": "boolean""#, [2], .boolean),
            (#""enum": ["a", "b"]"#, [2], .enumIndex),
            (#""type": "string", "format": "date""#, [0xff, 0xff, 0xff, 0x7f], .date),
            (
                #""type": "string", "format": "date-time""#,
                [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], .dateTime
            ),
            (#""type": "string""#, [1, 0], .text),
            (#""type": "string""#, [2, 0xc3, 0x28], .text),
            (#""type": "integer""#, [0x80, 0], .varint),
        ]
        for (rule, bytes, part) in cases {
            let field = try OneField(rule)
            #expect(throws: FormatError.malformed(part, at: 1), "\(rule) \(bytes)") {
                try field.decode([1] + bytes)
            }
        }
    }

    @Test func partsHaveNoByteTooFewOrTooMany() throws {
        let field = try OneField(#""type": "string", "format": "uuid""#)
        let value = [UInt8](repeating: 7, count: 16)
        #expect(try field.decode([1] + value).bytes(at: 0).map { Array($0) } == value)
        #expect(try field.decode([0]).slots == [.absent])
        #expect(throws: FormatError.truncated(at: 0)) { try field.decode([]) }
        #expect(throws: FormatError.truncated(at: 1)) { try field.decode([1] + value.dropLast()) }
        #expect(throws: FormatError.trailingBytes(at: 17)) { try field.decode([1] + value + [0]) }
        #expect(throws: FormatError.malformed(.presence, at: 0)) { try field.decode([2]) }
        #expect(throws: FormatError.malformed(.presence, at: 0)) {
            try field.decode([0x81] + value)
        }
    }

    /// R1: one event has one encoding.
    @Test func anIDIsWrittenOutOrDerivedAndNeverBoth() throws {
        let field = try OneField(#""type": "string", "x-diario-id": "new""#)
        let own = Array("0000000000001-5".utf8)
        let identifier = FormatError.malformed(.identifier, at: 0)
        let derived = try field.decode([0], isDerived: true)
        #expect(derived.bytes(at: 0).map { Array($0) } == own)
        #expect(throws: identifier) { try field.decode([0]) }
        #expect(throws: identifier) { try field.decode([1, 1, 0x61], isDerived: true) }
        #expect(throws: identifier) { try field.decode([1, 15] + own) }
        let other = try field.decode([1, 1, 0x61])
        #expect(other.bytes(at: 0).map { Array($0) } == [0x61])
        let plain = try OneField(#""type": "string""#)
        #expect(throws: FormatError.malformed(.rowFlags, at: 0)) {
            try plain.decode([0], isDerived: true)
        }
    }

    @Test func aPersonalPartHasAPersonalValue() throws {
        let plan = PayloadPlan(try Fixtures.type(Fixtures.told))
        let origin = Origin(replica: try Fixtures.replica(1), sequence: 1)
        var payload = Payload()
        #expect(throws: FormatError.malformed(.personalPart, at: 1)) {
            try PayloadCodec.decode(
                [0, 0, 0].span,
                publicPayload: 0..<1,
                personalPayload: 1..<3,
                plan: plan,
                isDerived: false,
                origin: origin,
                into: &payload
            )
        }
    }

    @Test func whatATypeDoesNotHaveIsRefusedInItsRows() throws {
        let catalog = try Fixtures.catalog()
        let passed = PayloadPlan(try Fixtures.type(Fixtures.passed))
        let made = PayloadPlan(try Fixtures.type(Fixtures.made))
        let lines = [
            #"{"type":"probe.thing.told","payload":{"pInteger":1}}"#,
            #"{"type":"probe.nothing.passed","payload":{},"subject":"s"}"#,
        ]
        let failures: [(PayloadPlan, FormatPart)] = [(passed, .personalPart), (made, .subject)]
        for (line, (plan, part)) in zip(lines, failures) {
            var builder = BlockBuilder()
            builder.append(
                try Fixtures.batch([line], catalog: catalog),
                replica: try Fixtures.replica(1),
                firstSequence: 1,
                clock: HybridTime(rawValue: 0),
                base: 0
            )
            let block = builder.block()
            let (row, parsed) = try Fixtures.onlyRow(block)
            var payload = Payload()
            let error = #expect(throws: FormatError.self) {
                try PayloadCodec.decode(block.span, row, parsed, plan: plan, into: &payload)
            }
            guard case .malformed(part, _) = error else {
                Issue.record("\(String(describing: error)) for \(line)")
                continue
            }
        }
    }

    @Test(arguments: UInt64(0)..<20) func randomBytesAreReadOrRefused(seed: UInt64) throws {
        var events = RandomEvents(seed: seed)
        let plan = PayloadPlan(try events.type(name: "random.type"))
        let origin = Origin(replica: try Fixtures.replica(1), sequence: 1)
        var payload = Payload()
        var readCount = 0
        for _ in 0..<500 {
            var bytes = events.bytes(count: events.random.below(40))
            if !bytes.isEmpty { bytes[0] &= UInt8(events.random.below(256)) }
            let cut = events.random.below(bytes.count + 1)
            let isDerived = events.random.oneIn(2)
            do throws(FormatError) {
                try PayloadCodec.decode(
                    bytes.span,
                    publicPayload: 0..<cut,
                    personalPayload: cut..<bytes.count,
                    plan: plan,
                    isDerived: isDerived,
                    origin: origin,
                    into: &payload
                )
                readCount += 1
            } catch {
                #expect(!error.message.isEmpty)
            }
        }
        #expect(readCount < 500)
    }
}
