import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioSchema
import Testing

/// Columns that came from elsewhere stand for the blocks that their rows make, and for no others.
@Suite struct ColumnUnpackerTests {
    private static func unpack(
        _ columns: [UInt8],
        _ checksums: SegmentChecksums = .verified
    ) throws(FormatError) -> [(bytes: [UInt8], head: BlockHead)] {
        var unpacker = BlockUnpacker()
        return try unpacker.unpackAll(columns, checksums: checksums)
    }

    /// With the seeds that its personal parts need.
    private static func sample(
        _ seed: UInt64,
        _ count: Int,
        isPositioned: Bool = true
    ) throws -> ColumnsSample {
        var sample = try ColumnsSample(seed: seed, count: count, isPositioned: isPositioned)
        var groups: Set<SaltNode> = []
        for row in sample.rows where row.personalPart != nil {
            let group = SaltSeed.group(of: row.sequence)
            let root = Salt(first: row.replica.rawValue, second: group)
            groups.insert(SaltSeed(replica: row.replica, group: group, root: root).node)
        }
        sample.saltNodes = Array(groups)
        return sample
    }

    private static func rows(
        of blocks: [(bytes: [UInt8], head: BlockHead)],
        _ types: [EventType]
    ) throws -> [ColumnsSample.Row] {
        let entries = types.map(\.nameBytes)
        var rows: [ColumnsSample.Row] = []
        for (bytes, head) in blocks {
            var cursor = RowCursor(bytes.span, head.summary)
            while let row = try cursor.next() {
                let type = try #require(entries.firstIndex(of: head.types[row.typeIndex].name))
                var made = ColumnsSample.Row(
                    type: type,
                    replica: row.replica,
                    sequence: row.sequence,
                    acceptedAt: row.acceptedAt,
                    isAuthority: head.summary.isAuthority,
                    publicPart: Array(bytes[row.publicPart])
                )
                switch row.personal {
                case .absent: break
                case .erased(let range): made.commitment = Hash32(bytes.span.extracting(range))
                case .present(let range): made.personalPart = Array(bytes[range])
                }
                rows.append(made)
            }
        }
        return rows
    }

    @Test(arguments: UInt64(0)..<12) func theBlocksHaveTheRows(seed: UInt64) throws {
        var sample = try Self.sample(seed, 20 + Int(seed) * 30)
        if seed % 3 == 0 { sample.erase { $0 % 2 == 0 } }
        let sealed = try sample.seal()
        let blocks = try Self.unpack(sealed.segment + sealed.sidecar)
        #expect(try Self.rows(of: blocks, sample.types) == sample.rows)
        #expect(blocks.first?.head.summary.firstPosition == sample.firstPosition)
        let found = Set(blocks.flatMap(\.head.saltNodes))
        #expect(found.isSubset(of: sample.saltNodes))
    }

    @Test func aBlockComesBackAsItIs() throws {
        let sample = try Self.sample(1, 40)
        let sealed = try sample.seal()
        let block = try #require(try Self.unpack(sealed.segment + sealed.sidecar).first?.bytes)
        #expect(try Self.unpack(block).map(\.bytes) == [block])
    }

    /// An unpacked block has one run; so a gap, as a private segment may have one, is none of it.
    @Test func pendingEventsHaveNoGaps() throws {
        var sample = try Self.sample(3, 60, isPositioned: false)
        let gap = try #require(
            sample.rows.indices.dropFirst().first {
                sample.rows[$0].sequence != sample.rows[$0 - 1].sequence + 1
            }
        )
        let sealed = try sample.seal()
        #expect(throws: FormatError.self) { try Self.unpack(sealed.segment + sealed.sidecar) }
        sample.rows.removeSubrange(gap...)
        let whole = try sample.seal()
        let blocks = try Self.unpack(whole.segment + whole.sidecar)
        #expect(try Self.rows(of: blocks, sample.types) == sample.rows)
    }

    @Test func aPersonalPartNeedsItsSalt() throws {
        var sample = try Self.sample(2, 100)
        #expect(sample.rows.contains { $0.personalPart != nil })
        sample.saltNodes = []
        let sealed = try sample.seal()
        #expect(throws: FormatError.self) { try Self.unpack(sealed.segment + sealed.sidecar) }
    }

    /// A batch that is not there to its end is refused, as in a block.
    @Test func aBatchIsWhole() throws {
        var sample = try Self.sample(4, 100)
        while true {
            let part = sample.rows[sample.rows.count - 1].publicPart
            var reader = ByteReader(part.span.raw)
            let place = try reader.nextVarint()
            if try reader.nextVarint() > place + 1 { break }
            sample.rows.removeLast()
        }
        let sealed = try sample.seal()
        #expect(throws: FormatError.self) { try Self.unpack(sealed.segment + sealed.sidecar) }
    }

    @Test func whatIsCutOrChangedThrows() throws {
        let sealed = try Self.sample(5, 80).seal()
        let columns = sealed.segment + sealed.sidecar
        for count in stride(from: 4, to: columns.count, by: 7) {
            #expect(throws: FormatError.self) { try Self.unpack(Array(columns[..<count])) }
        }
        #expect(throws: FormatError.self) { try Self.unpack(columns + [0]) }
        #expect(throws: FormatError.self) { try Self.unpack(sealed.segment + sealed.segment) }
        let other = try Self.sample(6, 80).seal()
        #expect(throws: FormatError.self) { try Self.unpack(sealed.segment + other.sidecar) }
        // Nothing traps, whatever the checksums would have told.
        var random = SeededRandom(seed: 5)
        for _ in 0..<400 {
            var changed = columns
            for _ in 0...random.below(3) {
                changed[random.below(changed.count)] = UInt8(random.below(256))
            }
            _ = try? Self.unpack(changed, .ignored)
        }
    }

    /// A few bytes that stand for more than an exchange moves.
    @Test func columnsOfTooMuchAreRefused() throws {
        let type = try Fixtures.type(
            """
            {"title": "probe.note.made", "x-diario-version": 1, "type": "object",
            "additionalProperties": false, "properties": {
            "text": {"type": "string", "maxLength": 60000}}}
            """
        )
        let many = try Self.columns(type, count: Limits.exchangeCountMax + 1, size: 1)
        #expect(many.count < 100_000)
        #expect {
            try Self.unpack(many)
        } throws: {
            guard case .tooLarge(.eventCount, _, Limits.exchangeCountMax)? = $0 as? FormatError
            else { return false }
            return true
        }
        let large = try Self.columns(type, count: 1000, size: 60_000)
        #expect(large.count < 100_000)
        #expect {
            try Self.unpack(large)
        } throws: {
            guard case .tooLarge(.message, _, Limits.exchangeSizeMax)? = $0 as? FormatError
            else { return false }
            return true
        }
    }

    private static func columns(
        _ type: EventType,
        count: Int,
        size: Int
    ) throws -> [UInt8] {
        let replica = try #require(ReplicaID(rawValue: 9))
        var payload = Payload()
        payload.reset(fieldCount: type.fields.count)
        payload.setBytes([UInt8](repeating: 0x61, count: size).span, at: 0)
        var batch = DraftBatch()
        try batch.append(payload, type: type)
        var builder = SegmentBuilder(firstPosition: nil, expected: count)
        var block = BlockBuilder()
        let clock = HybridTime(milliseconds: 1, counter: 0)
        block.append(batch, replica: replica, firstSequence: 1, clock: clock, base: 0)
        let bytes = block.block()
        let (row, _) = try Fixtures.onlyRow(bytes)
        var event = SegmentEvent(row, isAuthority: false)
        for number in 1...UInt64(count) {
            event.sequence = number
            try builder.append(event, of: bytes.span, type: type)
        }
        var plan = SegmentPlan()
        let sealed = try builder.finish(&plan)
        return sealed.segment + sealed.sidecar
    }
}
