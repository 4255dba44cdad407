import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioSchema
import Testing

/// What schema/format/rows.md asks of a row is checked when rows are made of columns, too.
@Suite struct ColumnsRulesTests {
    private let type: EventType
    private let replica: ReplicaID

    init() throws {
        type = try Fixtures.type(ColumnsSample.making)
        replica = try Fixtures.replica(0x1234)
    }

    private func publicPart(_ id: [UInt8]?) throws -> [UInt8] {
        var payload = Payload()
        payload.reset(fieldCount: type.fields.count)
        if let id { payload.setBytes(id.span, at: type.fieldIndex("thing") ?? 0) }
        let time = Timestamp(milliseconds: 1_700_000_000_000)
        let envelope = RowEnvelope(
            replica: replica,
            sequence: 5,
            batchFirst: 5,
            batchCount: 1,
            clock: HybridTime(milliseconds: time.milliseconds, counter: 0),
            at: time,
            base: 0
        )
        let sample = try ColumnsSample(seed: 1, count: 1)
        return try sample.encode(0, payload, envelope, actor: nil, subject: nil).publicPart
    }

    /// A segment of one event, which may be one that no writer makes.
    private func seal(
        _ publicPart: [UInt8],
        sequence: UInt64 = 5,
        commitment: Hash32? = nil
    ) throws -> SealedSegment {
        var builder = SegmentBuilder(firstPosition: 1)
        var personal = BlockRow.Personal.absent
        var bytes = publicPart
        if let commitment {
            bytes += commitment.bytes
            personal = .erased(commitment: publicPart.count..<bytes.count)
        }
        try builder.append(
            SegmentEvent(
                replica: replica,
                sequence: sequence,
                acceptedAt: Timestamp(milliseconds: 1_700_000_000_000),
                isAuthority: false,
                publicPart: 0..<publicPart.count,
                personal: personal
            ),
            of: bytes.span,
            type: type
        )
        var plan = SegmentPlan()
        return try builder.finish(&plan)
    }

    private func fault(_ sealed: SealedSegment) -> FormatError? {
        do throws(SegmentError) {
            var rows = try SegmentRows(try sealed.reader())
            while try rows.next() != nil {}
            return nil
        } catch {
            guard case .fault(let fault) = error else { return nil }
            return fault.reason
        }
    }

    /// The place of the flags in a public part without actor and subject.
    private func flags(_ part: [UInt8]) throws -> Int {
        let origin = Origin(replica: replica, sequence: 5)
        let parsed = try PublicPart.parse(
            part.span,
            0..<part.count,
            origin: origin,
            personalSize: 0
        )
        return parsed.payload.lowerBound - 1
    }

    @Test func rowsThatLogsAllowAreTaken() throws {
        #expect(fault(try seal(try publicPart(nil))) == nil)
        #expect(fault(try seal(try publicPart(Array("given".utf8)))) == nil)
    }

    @Test func anOwnOriginIsNotWrittenOut() throws {
        let next = OriginText.bytes(Origin(replica: replica, sequence: 6))
        let part = try publicPart(next)
        #expect(fault(try seal(part)) == nil)
        // The same bytes are the text of the event's own origin one sequence later.
        #expect(fault(try seal(part, sequence: 6)) == .malformed(.identifier, at: 0))
    }

    @Test func payloadsThatAreNoneOfTheTypeAreRefused() throws {
        let part = try publicPart(Array("given".utf8))
        let bitmap = try flags(part) + 1
        #expect(throws: FormatError.trailingBytes(at: part.count)) {
            try seal(part + [0])
        }
        #expect(throws: FormatError.truncated(at: bitmap + 1)) { try seal(Array(part.dropLast())) }
        #expect(throws: FormatError.truncated(at: bitmap)) { try seal(Array(part[..<bitmap])) }
        var marked = part
        marked[bitmap] |= 0x80
        #expect(throws: FormatError.malformed(.presence, at: bitmap)) { try seal(marked) }
    }

    @Test func aNewIDIsGivenOrDerived() throws {
        var neither = try publicPart(nil)
        neither[try flags(neither)] &= ~RowFlags.derived.rawValue
        #expect(fault(try seal(neither)) == .malformed(.identifier, at: 0))
        var both = try publicPart(Array("given".utf8))
        both[try flags(both)] |= RowFlags.derived.rawValue
        #expect(fault(try seal(both)) == .malformed(.identifier, at: 0))
    }

    @Test func aTypeWithoutPersonalFieldsHasNoErasedPart() throws {
        var part = try publicPart(nil)
        part[try flags(part)] |= RowFlags.personal.rawValue
        let sealed = try seal(part, commitment: Hash32.zero)
        #expect(fault(sealed) == .malformed(.rowFlags, at: 0))
    }

    /// S5: the identity covers the index and all blocks.
    @Test func anotherIdentityIsNoticed() throws {
        let sealed = try ColumnsSample(seed: 5, count: 40).seal()
        var reader = try sealed.reader()
        #expect(try reader.damagedBlocks().isEmpty)
        let changed = Self.withOtherIdentity(sealed.segment, reader.header.blocksOffset)
        var other = try SegmentReader(SegmentMemory(.segment, changed), sidecar: nil)
        let faults = try other.damagedBlocks()
        #expect(faults.map(\.reason) == [.malformed(.identity, at: 44)])
        #expect(faults.map(\.offset) == [44])
    }

    /// The segment with a bit of its identity changed, and a checksum that fits.
    private static func withOtherIdentity(_ segment: [UInt8], _ indexEnd: Int) -> [UInt8] {
        var head = Array(segment[..<60])
        head[44] ^= 1
        let index = Array(segment[64..<indexEnd])
        let checksum = Checksum.crc32c(
            index.span.raw,
            continuing: Checksum.crc32c(head.span.raw)
        )
        head.append(littleEndian: checksum)
        return head + segment[64...]
    }
}
