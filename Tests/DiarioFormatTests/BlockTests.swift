import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioSchema
import DiarioTestSupport
import DiarioZstd
import Testing

@Suite struct BlockTests {
    /// Walks all that can be read of a block, and reads it.
    private func readAll(_ block: [UInt8]) throws(FormatError) {
        let head = try BlockHead.parse(block.span, verifyChecksum: false)
        var runs = RunCursor(block.span, head.summary)
        while try runs.next() != nil {}
        var types = TypeCursor(block.span, head.summary)
        for index in 0..<head.summary.typeCount { _ = try types.entry(index) }
        var cursor = RowCursor(block.span, head.summary)
        while let row = try cursor.next() { _ = try PublicPart.parse(block.span, row) }
    }

    @Test func everyCutIsRefused() throws {
        for (shows, block) in try SampleBlocks().all() {
            let taken = (0..<block.count).filter { end in
                (try? readAll(Array(block[..<end]))) != nil
            }
            #expect(taken.isEmpty, "\(shows)")
        }
    }

    @Test func everyFlippedBitIsRefused() throws {
        for (shows, block) in try SampleBlocks().all() {
            let taken = (0..<block.count * 8).filter { bit in
                var changed = block
                changed[bit / 8] ^= 1 << UInt8(bit % 8)
                return (try? Block.check(changed.span)) != nil
            }
            #expect(taken.isEmpty, "\(shows)")
        }
    }

    /// Under a checksum that fits, what is taken means exactly its bytes, to the last bit.
    @Test func everyFlippedBitUnderAFittingChecksumIsReadOrRefused() throws {
        for (shows, block) in try SampleBlocks().all() {
            var takenCount = 0
            let wrong = (0..<block.count * 8).filter { bit in
                var changed = block
                changed[bit / 8] ^= 1 << UInt8(bit % 8)
                let resealed = changed.resealed()
                guard (try? Block.check(resealed.span)) != nil else { return false }
                takenCount += 1
                return (try? RawBlock(resealed).bytes) != resealed
            }
            #expect(wrong.isEmpty, "\(shows)")
            // A fingerprint may have any bits, a magic may not.
            #expect(256..<block.count * 8 - 32 ~= takenCount, "\(shows)")
        }
    }

    @Test(arguments: UInt64(0)..<16) func randomBytesAreReadOrRefused(seed: UInt64) throws {
        var events = RandomEvents(seed: seed)
        let blocks = try SampleBlocks().all().map(\.block)
        var refusedCount = 0
        for _ in 0..<200 {
            var block = blocks[events.random.below(blocks.count)]
            for _ in 0..<events.random.below(8) + 1 {
                let place = events.random.below(block.count)
                block[place] = UInt8(events.random.below(256))
            }
            if events.random.oneIn(3) {
                block.removeSubrange(events.random.below(block.count)...)
            }
            if block.count >= BlockHeader.size { block = block.resealed() }
            do throws(FormatError) {
                try readAll(block)
            } catch {
                refusedCount += error.message.isEmpty ? 0 : 1
            }
        }
        #expect(refusedCount > 100)
    }

    /// The builder against a writer that knows none of its shortcuts.
    @Test(arguments: UInt64(0)..<16) func aBuilderWritesWhatThePartsSay(seed: UInt64) throws {
        var events = RandomEvents(seed: seed)
        var builder = BlockBuilder()
        let types = try (0..<2).map { try events.type(name: "random.type\($0)") }
        let replicas = try (0..<3).map { _ in try events.replica() }
        var next: [UInt64] = [1, 300, 70_000]
        // Used again, as from block to block.
        for round in 0..<3 {
            builder.removeAll()
            var runs: [BlockRun] = []
            for _ in 0..<events.random.below(6) + 1 {
                var batch = DraftBatch()
                for _ in 0..<events.random.below(5) + 1 {
                    let type = types[events.random.below(2)]
                    try batch.append(events.payload(of: type), type: type)
                }
                let own = events.random.below(3)
                if events.random.oneIn(4) { next[own] += 5 }
                builder.append(
                    batch,
                    replica: replicas[own],
                    firstSequence: next[own],
                    clock: HybridTime(rawValue: events.random.next() >> 2),
                    base: 3
                )
                let count = UInt64(batch.events.count)
                if let last = runs.last, last.replica == replicas[own],
                    last.lastSequence + 1 == next[own]
                {
                    runs[runs.count - 1].count += count
                } else {
                    runs.append(
                        BlockRun(
                            replica: replicas[own],
                            firstSequence: next[own],
                            count: count
                        )
                    )
                }
                next[own] += count
            }
            let block = builder.block(position: UInt64(round) * 1000 + 1, acceptedAt: -9)
            let head = try Block.check(block.span)
            #expect(head.runs == runs)
            #expect(head.summary.eventCount == builder.eventCount)
            #expect(block.count <= builder.size)
            #expect(try RawBlock(block).bytes == block)
            var copy = BlockBuilder()
            var cursor = RowCursor(block.span, head.summary)
            while let row = try cursor.next() {
                try copy.append(row, of: block.span, type: head.types[row.typeIndex])
            }
            #expect(copy.block(position: UInt64(round) * 1000 + 1, acceptedAt: -9) == block)
        }
    }

    /// R3: how rows are cut into blocks does not show in their hashes.
    @Test func hashesDoNotDependOnBlocks() throws {
        let block = try SampleBlocks().mixed()
        let head = try Block.check(block.span)
        var whole: [Hash32] = []
        var parts: [Hash32] = []
        var cursor = RowCursor(block.span, head.summary)
        while let row = try cursor.next() {
            let type = head.types[row.typeIndex]
            whole.append(hash(row, of: block, type))
            var builder = BlockBuilder()
            try builder.append(row, of: block.span, type: type)
            let part = builder.block()
            parts.append(hash(try Fixtures.onlyRow(part).row, of: part, type))
        }
        #expect(whole == parts)
        #expect(Set(whole).count == 4)
    }

    private func hash(_ row: BlockRow, of block: [UInt8], _ type: TypeEntry) -> Hash32 {
        var hasher = EventHasher()
        return hasher.eventHash(
            typeName: type.name.span,
            version: type.version,
            replica: row.replica,
            sequence: row.sequence,
            publicPart: block.span.raw.extracting(row.publicPart),
            commitment: nil
        )
    }

    @Test func cursorsFindRunsTypesAndTimes() throws {
        let samples = try SampleBlocks()
        let block = try samples.mixed()
        let summary = try BlockSummary.parse(block.span, verifyChecksum: true)
        #expect(summary.firstPosition == 400)
        #expect(summary.lastPosition == 403)
        #expect(summary.lastAcceptedAt?.milliseconds == 1_795_000_000_501)
        var runs = RunCursor(block.span, summary)
        var firsts: [UInt64] = []
        while let run = try runs.next() { firsts.append(run.firstSequence) }
        #expect(firsts == [4, 2, 5])
        var types = TypeCursor(block.span, summary)
        let found = try [1, 0, 0].map { index throws(FormatError) in
            String(decoding: block[try types.entry(index).name], as: UTF8.self)
        }
        #expect(found == ["probe.thing.made", "probe.nothing.passed", "probe.nothing.passed"])
        var rows = RowCursor(block.span, summary)
        var seen: [[UInt64]] = []
        while let row = try rows.next() {
            let accepted = UInt64((row.acceptedAt?.milliseconds ?? 0) - 1_795_000_000_000)
            seen.append([row.position ?? 0, row.sequence, accepted])
        }
        #expect(seen == [[400, 4, 500], [401, 2, 501], [402, 3, 501], [403, 5, 501]])
        let pending = try samples.onePending()
        let other = try BlockSummary.parse(pending.span, verifyChecksum: true)
        #expect(other.firstPosition == nil && other.lastPosition == nil)
        #expect(other.lastAcceptedAt == nil && !other.isPositioned)
    }

    @Test func blocksTravelCompressed() throws {
        var compressor = try Compressor(level: 3)
        var decompressor = try Decompressor()
        for (shows, block) in try SampleBlocks().all() {
            var compressed: [UInt8] = [1, 2, 3]
            try Block.compress(block.span, using: &compressor, into: &compressed)
            compressed.removeFirst(3)
            #expect(compressed.count <= block.count, "\(shows)")
            var plain: [UInt8] = [1]
            try Block.decompress(compressed.span, using: &decompressor, into: &plain)
            #expect(Array(plain.dropFirst()) == block, "\(shows)")
        }
    }

    @Test func aCompressedBlockIsNoPlainOne() throws {
        var compressor = try Compressor(level: 3)
        var block: [UInt8] = []
        let repetitive = try SampleBlocks().repetitive()
        try Block.compress(repetitive.span, using: &compressor, into: &block)
        #expect(block.count < repetitive.count)
        #expect(throws: FormatError.malformed(.compression, at: 5)) {
            try BlockSummary.parse(block.span, verifyChecksum: true)
        }
    }

    @Test func aHeadWithoutItsRowsIsRefused() throws {
        var raw = try RawBlock(SampleBlocks().mixed())
        raw.eventCount = 4
        raw.rows = []
        let block = raw.bytes
        #expect(throws: FormatError.truncated(at: block.count)) {
            try BlockSummary.parse(block.span, verifyChecksum: true)
        }
    }

    @Test func aBatchDoesNotBeginBeforeTheFirstSequence() throws {
        let part = try RawBlock(SampleBlocks().onePending()).rows[0].publicPart
        for (offset, sequence) in [(1, UInt64(1)), (2, 1), (2, 2), (999, 999)] {
            var changed: [UInt8] = []
            changed.append(varint: UInt64(offset))
            changed.append(varint: 1000)
            changed += part.dropFirst(2)
            let origin = Origin(replica: try Fixtures.replica(1), sequence: sequence)
            #expect(throws: FormatError.malformed(.batch, at: 0)) {
                try PublicPart.parse(
                    changed.span,
                    0..<changed.count,
                    origin: origin,
                    personalSize: 0
                )
            }
            let next = Origin(replica: origin.replica, sequence: UInt64(offset) + 1)
            let parsed = try PublicPart.parse(
                changed.span,
                0..<changed.count,
                origin: next,
                personalSize: 0
            )
            #expect(parsed.envelope.batchFirst == 1)
        }
    }

    /// B1 for a replica with two runs: nothing is left out of a batch.
    @Test func aBatchWithAGapIsRefused() throws {
        var raw = try RawBlock(SampleBlocks().mixed())
        raw.runs = [(0, 4, 1), (1, 2, 1), (1, 4, 1), (0, 5, 1)]
        raw.rows[1].publicPart[1] = 3
        raw.rows[2].publicPart[0] = 2
        raw.rows[2].publicPart[1] = 3
        let block = raw.bytes
        let error = #expect(throws: FormatError.self) { try Block.check(block.span) }
        guard case .malformed(.batch, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func aBatchAboveTheLimitIsRefused() throws {
        let type = try Fixtures.type(Fixtures.made)
        let field = try #require(type.fieldIndex("aString"))
        var batch = DraftBatch(isContainer: true)
        for _ in 0..<17 {
            var payload = Payload()
            payload.reset(fieldCount: type.fields.count)
            payload.setBytes([UInt8](repeating: 0x61, count: 65_000).span, at: field)
            try batch.append(payload, type: type)
        }
        var builder = BlockBuilder()
        builder.append(
            batch,
            replica: try Fixtures.replica(1),
            firstSequence: 1,
            clock: HybridTime(rawValue: 0),
            base: 0
        )
        let block = builder.block()
        #expect(
            throws: FormatError.tooLarge(
                .batch,
                size: UInt64(batch.size),
                max: Limits.batchSizeMax
            )
        ) { try Block.check(block.span) }
    }

    /// Pending blocks hold one run; positioned ones have a time for each event.
    @Test(.waits) func misuseOfABuilderTraps() async {
        await #expect(processExitsWith: .failure) {
            _ = BlockBuilder().block()
        }
        await #expect(processExitsWith: .failure) {
            let samples = try SampleBlocks()
            let block = try samples.mixed()
            let head = try Block.check(block.span)
            var builder = BlockBuilder()
            var cursor = RowCursor(block.span, head.summary)
            while let row = try cursor.next() {
                try builder.append(row, of: block.span, type: head.types[row.typeIndex])
            }
            _ = builder.block()
        }
        await #expect(processExitsWith: .failure) {
            let block = try SampleBlocks().onePending()
            let (row, _) = try Fixtures.onlyRow(block)
            let head = try Block.check(block.span)
            var builder = BlockBuilder()
            try builder.append(row, of: block.span, type: head.types[0])
            var output: [UInt8] = []
            builder.write(into: &output, position: 1, times: [], isAuthority: false)
        }
    }
}
