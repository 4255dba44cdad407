import DiarioCore
import DiarioFormat
import DiarioSchema
import Testing

/// Bytes from outside throw; they never trap, and never give other rows.
@Suite struct ColumnsCorruptTests {
    /// Random types, and the types of all packs, each with hundreds of rows.
    private static let sample = Result { try ColumnsSample(seed: 7, count: 300) }
    private static let sealed = Result {
        [
            try sample.get().seal(),
            try ColumnsPackSample(seed: 7, count: 400).sample.seal(),
        ]
    }

    private static func read(
        _ sealed: SealedSegment,
        _ checksums: SegmentChecksums = .verified
    ) throws(SegmentError) -> Int {
        var rows = try SegmentRows(
            try SegmentReader(
                SegmentMemory(.segment, sealed.segment),
                sidecar: SegmentMemory(.sidecar, sealed.sidecar),
                checksums: checksums
            )
        )
        var count = 0
        while let row = try rows.next() { count += row.event.publicPart.count }
        count += try readColumns(sealed, checksums)
        _ = try rows.reader.saltNodes()
        for type in rows.reader.index.types.indices {
            _ = try rows.reader.mayContain([0x61].span, type: type)
        }
        return count
    }

    /// The same by columns, of which every second one is left out.
    private static func readColumns(
        _ sealed: SealedSegment,
        _ checksums: SegmentChecksums
    ) throws(SegmentError) -> Int {
        var reader = try SegmentReader(
            SegmentMemory(.segment, sealed.segment),
            sidecar: SegmentMemory(.sidecar, sealed.sidecar),
            checksums: checksums
        )
        var selection = SegmentSelection()
        selection.envelope = [.times, .clocks, .accepted, .bases, .actors, .subjects]
        for type in reader.index.types.indices {
            var fields = FieldSelection()
            for field in try reader.eventType(type).fields.indices where field % 2 == type % 2 {
                fields.insert(field)
            }
            selection.fields.append(type % 5 == 4 ? nil : fields)
        }
        var columns = try SegmentColumns(reader, selection)
        var (count, next) = (0, 0)
        while next < columns.envelope.types.count {
            let window = try columns.window(from: next)
            count += window.wanted.count
            next = window.events.upperBound
        }
        return count
    }

    @Test(arguments: 0..<2) func everyChangedBitIsNoticed(sample: Int) throws {
        let sealed = try Self.sealed.get()[sample]
        for place in stride(from: 0, to: sealed.segment.count, by: sealed.segment.count / 60) {
            var changed = sealed
            changed.segment[place] ^= 1 << UInt8(place % 8)
            #expect(throws: SegmentError.self) { try Self.read(changed) }
        }
        for place in stride(from: 0, to: sealed.sidecar.count, by: sealed.sidecar.count / 40) {
            var changed = sealed
            changed.sidecar[place] ^= 1 << UInt8(place % 8)
            #expect(throws: SegmentError.self) { try Self.read(changed) }
        }
    }

    @Test(arguments: 0..<2) func everyCutIsNoticed(sample: Int) throws {
        let sealed = try Self.sealed.get()[sample]
        for size in stride(from: 0, to: sealed.segment.count, by: sealed.segment.count / 30) {
            var changed = sealed
            changed.segment.removeSubrange(size...)
            #expect(throws: SegmentError.self) { try Self.read(changed) }
        }
        for size in stride(from: 0, to: sealed.sidecar.count, by: sealed.sidecar.count / 20) {
            var changed = sealed
            changed.sidecar.removeSubrange(size...)
            #expect(throws: SegmentError.self) { try Self.read(changed) }
        }
    }

    /// Behind the checksums every count, code and size is checked as well.
    @Test(arguments: UInt64(0)..<32) func changesBehindChecksumsDoNotTrap(seed: UInt64) throws {
        let sealed = try Self.sealed.get()[Int(seed % 2)]
        var random = SeededRandom(seed: seed)
        for _ in 0..<6 {
            var changed = sealed
            for _ in 0...random.below(3) {
                let value = UInt8(random.below(256))
                if random.oneIn(3) {
                    changed.sidecar[64 + random.below(changed.sidecar.count - 64)] = value
                } else {
                    changed.segment[64 + random.below(changed.segment.count - 64)] = value
                }
            }
            do throws(SegmentError) {
                #expect(try Self.read(changed, .ignored) > 0)
            } catch {
                #expect(!error.message.isEmpty)
            }
        }
    }

    @Test func aSidecarOfAnotherSegmentIsRefused() throws {
        let first = try Self.sample.get().seal()
        let second = try ColumnsSample(seed: 8, count: 60).seal()
        let mixed = SealedSegment(segment: first.segment, sidecar: second.sidecar)
        #expect(throws: SegmentError.otherSidecar) { try Self.read(mixed) }
    }

    @Test func personalFieldsNeedTheSidecar() throws {
        let sample = try Self.sample.get()
        try #require(sample.rows.contains { $0.personalPart != nil })
        let sealed = try sample.seal()
        let reader = try SegmentReader(SegmentMemory(.segment, sealed.segment), sidecar: nil)
        var rows = try SegmentRows(reader)
        #expect(throws: SegmentError.noSidecar) { while try rows.next() != nil {} }
    }
}
