import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioFrames
import DiarioLog
import DiarioStorage
import DiarioTestSupport
import Testing

/// What is written can be read, and what was changed in between is refused.
@Suite struct LayoutTests {
    private let header = LogFileHeader(
        number: 7,
        generation: 0x1122_3344_5566_7788,
        previousGeneration: 9,
        previousLength: 4096,
        firstFrame: 12,
        begunMilliseconds: -5
    )

    /// Calls `body` with a copy of `bytes` for each bit, in which that bit is flipped.
    private func forEachFlip(_ bytes: [UInt8], _ body: (Int, [UInt8]) -> Void) {
        for index in bytes.indices {
            for bit in 0..<8 {
                var flipped = bytes
                flipped[index] ^= 1 << UInt8(bit)
                body(index, flipped)
            }
        }
    }

    @Test func aFileHeaderIsReadAsItWasWritten() {
        let bytes = header.encoded()
        #expect(bytes.count == LogFileHeader.size)
        #expect(LogFileHeader(bytes.span) == header)
    }

    @Test func noBitOfAFileHeaderCanBeFlipped() {
        let bytes = header.encoded()
        forEachFlip(Array(bytes.prefix(72))) { index, flipped in
            let whole = flipped + bytes.dropFirst(72)
            #expect(LogFileHeader(whole.span) == nil, "byte \(index)")
        }
        for index in 64..<LogFileHeader.size {
            var flipped = bytes
            flipped[index] ^= 0x10
            #expect(LogFileHeader(flipped.span) == nil, "byte \(index)")
        }
    }

    @Test func aHeaderCutShortIsRefused() {
        let bytes = header.encoded()
        for count in [0, 63, 64, 4095] {
            #expect(LogFileHeader(bytes.span.extracting(first: count)) == nil)
        }
    }

    private func makeFrame(body: [UInt8]) -> (FrameHeader, [UInt8]) {
        let header = FrameHeader(
            generation: 5,
            number: 3,
            durableBefore: 8,
            bodySize: body.count,
            recordCount: 1
        )
        var bytes = [UInt8](repeating: 0, count: FrameHeader.size) + body
        bytes += [UInt8](repeating: 0, count: header.frameSize - bytes.count)
        header.seal(&bytes)
        return (header, bytes)
    }

    @Test(arguments: 0..<18) func aFrameIsReadAsItWasWritten(size: Int) {
        let (header, bytes) = makeFrame(body: (0..<size).map { UInt8($0) })
        #expect(bytes.count == header.frameSize)
        #expect(bytes.count.isMultiple(of: FrameHeader.alignment))
        let inFile = [UInt8](repeating: 9, count: 16) + bytes + [1, 2, 3]
        #expect(FrameHeader.read(inFile.span, at: 16, generation: 5) == .frame(header))
        #expect(FrameHeader.read(inFile.span, at: 16, generation: 6) == .none)
        #expect(FrameHeader.read(inFile.span, at: 8, generation: 5) == .none)
    }

    /// The padding is covered as well, or bytes of an older use could hide in it.
    @Test func noBitOfAFrameCanBeFlipped() {
        let (_, bytes) = makeFrame(body: Array("eleven bytes".utf8))
        forEachFlip(bytes) { index, flipped in
            let inFile = [UInt8](repeating: 0, count: 8) + flipped
            let reading = FrameHeader.read(inFile.span, at: 8, generation: 5)
            if case .frame = reading { Issue.record("byte \(index)") }
        }
    }

    @Test func everyCutOfAFrameIsRefused() {
        let (_, bytes) = makeFrame(body: [1, 2, 3, 4, 5, 6, 7, 8, 9])
        let inFile = [UInt8](repeating: 0, count: 8) + bytes
        for count in 0..<inFile.count {
            let reading = FrameHeader.read(
                inFile.span.extracting(first: count),
                at: 8,
                generation: 5
            )
            if case .frame = reading { Issue.record("\(count) bytes") }
        }
    }

    /// The length comes before the checksum, so it must not lead anywhere.
    @Test func aFrameWithAHugeLengthIsBroken() {
        let (_, bytes) = makeFrame(body: [1, 2, 3])
        for value: UInt32 in [UInt32(Limits.frameSizeMax) + 1, .max, .max - 47] {
            var changed = [UInt8](repeating: 0, count: 8) + bytes
            for index in 0..<4 {
                changed[8 + 32 + index] = UInt8(truncatingIfNeeded: value >> (8 * index))
            }
            guard case .broken = FrameHeader.read(changed.span, at: 8, generation: 5) else {
                Issue.record("\(value)")
                continue
            }
        }
    }

    @Test func aSyncedMarkIsReadAsItWasWrittenAndNoBitOfItCanBeFlipped() {
        let mark = SyncedMark(generation: 77, length: 4136, number: 12)
        let bytes = mark.encoded()
        #expect(SyncedMark(bytes.span) == mark)
        forEachFlip(bytes) { index, flipped in
            #expect(SyncedMark(flipped.span) == nil, "byte \(index)")
        }
        for count in bytes.indices {
            #expect(SyncedMark(bytes.span.extracting(first: count)) == nil)
        }
        #expect(SyncedMark((bytes + [0, 0, 0, 0, 0, 0, 0, 0]).span) == nil)
    }

    @Test func aReplicaFileIsReadAsItWasWrittenAndNoBitOfItCanBeFlipped() throws {
        let file = ReplicaFile(
            replica: try #require(ReplicaID(rawValue: 3)),
            home: FileIdentity(inode: 12, birthNanoseconds: -1),
            machine: Hash32(words: (1, 2, 3, 4))
        )
        let bytes = file.encoded()
        #expect(bytes.count == 76)
        #expect(ReplicaFile(bytes.span) == file)
        forEachFlip(bytes) { index, flipped in
            #expect(ReplicaFile(flipped.span) == nil, "byte \(index)")
        }
    }

    @Test(arguments: [true, false], [true, false])
    func aManifestIsReadAsItWasWritten(hasAuthority: Bool, isStaging: Bool) throws {
        let manifest = Manifest(
            space: try #require(SpaceID(rawValue: 8)),
            lineage: Lineage(high: 1, low: 2),
            epoch: 4,
            authority: hasAuthority ? ReplicaID(rawValue: 5) : nil,
            isStaging: isStaging,
            replaces: isStaging ? SpaceID(rawValue: 6) : nil
        )
        let bytes = manifest.encoded()
        #expect(bytes.count == 76)
        #expect(Manifest(bytes.span) == manifest)
        forEachFlip(bytes) { index, flipped in
            #expect(Manifest(flipped.span) == nil, "byte \(index)")
        }
    }

    /// Byte for byte as schema/format/directory.md, says.
    @Test func aManifestListsSegmentsWhereTheDocumentSays() throws {
        var manifest = Manifest(
            space: try #require(SpaceID(rawValue: 8)),
            lineage: Lineage(high: 1, low: 2),
            epoch: 4,
            authority: ReplicaID(rawValue: 5),
            isStaging: false,
            replaces: nil
        )
        for first: UInt64 in [1, 4097] {
            manifest.segments.append(
                SegmentEntry(
                    name: SegmentName(first: first, number: 0xabcd),
                    count: 4096,
                    segmentSize: 70_000,
                    sidecarSize: 300,
                    rowSize: 500_000,
                    identity: SegmentIdentity(first: 11, second: 12),
                    sidecarChecksum: 13
                )
            )
        }
        let old = SegmentName(first: 1, number: 9)
        manifest.retired = [RetiredSegment(name: old, since: Timestamp(milliseconds: -2))]
        var expected: [UInt8] = Array("dman".utf8) + [1, 1, 0, 0]
        func add(_ values: UInt64...) {
            for value in values { expected.append(littleEndian: value) }
        }
        add(8, 1, 2, 4, 5, 0, 2, 1)
        for first: UInt64 in [1, 4097] {
            add(first, 0xabcd, 4096 | 13 << 32, 70_000, 300, 500_000, 11, 12, 0)
        }
        add(1, 9, UInt64.max - 1)
        expected.append(littleEndian: Checksum.crc32c(expected.span.raw))
        #expect(manifest.encoded() == expected)
        #expect(Manifest(expected.span) == manifest)
        // A gap between segments is none of ours.
        manifest.segments[1].name.first = 4098
        let gap = manifest.encoded()
        #expect(Manifest(gap.span) == nil)
        let space = manifest.space
        #expect(
            LogPaths.segment(old, of: space)
                == "spaces/\(space.text)/segments/0000000000000001-0000000000000009.dseg"
        )
    }

    @Test(arguments: UInt64(0)..<20) func aStateIsReadAsItWasWritten(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var hasher = EventHasher()
        var range = CompactRange()
        for _ in 0..<random.below(20) {
            range.append(Hash32(words: (random.next(), 0, 1, 2)), &hasher)
        }
        let state = SpaceState(
            released: UInt64(random.below(Int(range.size) + 1)),
            acceptedAt: Int64(random.below(1000)) - 500,
            clock: random.next() >> 1,
            tallies: try (1..<UInt64(2 + random.below(4))).map {
                ReplicaTally(
                    replica: try #require(ReplicaID(rawValue: $0)),
                    lastSequence: random.next() >> 2,
                    isAuthority: $0 == 1
                )
            },
            adoptions: (0..<UInt64(random.below(3))).map {
                Adoption(position: $0, fingerprint: Hash32(words: ($0, 0, 0, 0)))
            },
            range: range
        )
        var bytes: [UInt8] = []
        state.append(to: &bytes)
        #expect(SpaceState(bytes.span) == state)
        for count in 0..<bytes.count {
            #expect(SpaceState(bytes.span.extracting(first: count)) == nil)
        }
        #expect(SpaceState((bytes + [0]).span) == nil)
    }

    /// Counts of lists come from the file, so they must not be believed before the size is.
    @Test func aStateWithHugeCountsIsRefused() {
        for offset in [32, 36, 40] {
            var bytes = [UInt8](repeating: 0, count: 48)
            for index in 0..<4 { bytes[offset + index] = 0xff }
            #expect(SpaceState(bytes.span) == nil)
        }
    }

    @Test func promotedRunsAreReadAsTheyWereWritten() throws {
        let runs = try (1...3).map { number in
            PromotedRun(
                replica: try #require(ReplicaID(rawValue: UInt64(number))),
                firstSequence: 4,
                count: UInt64(number),
                firstPosition: 10,
                acceptedAt: Timestamp(milliseconds: Int64(-number))
            )
        }
        var bytes: [UInt8] = []
        PromotedRun.append(runs, to: &bytes)
        #expect(PromotedRun.read(bytes.span) == runs)
        for count in 0..<bytes.count {
            #expect(PromotedRun.read(bytes.span.extracting(first: count)) == nil)
        }
    }

    @Test func aRecordThatReachesBeyondItsFrameIsRefused() throws {
        let space = try #require(SpaceID(rawValue: 2))
        var bytes: [UInt8] = []
        Record.append(.rows, space, to: &bytes) { $0 += [1, 2, 3] }
        let record = Record.read(bytes.span, at: 0, end: bytes.count)
        #expect(record?.kind == .rows)
        #expect(record?.space == space)
        #expect(record?.content == Record.headerSize..<Record.headerSize + 3)
        for end in 0..<bytes.count {
            #expect(Record.read(bytes.span, at: 0, end: end) == nil)
        }
        for (offset, value) in [(0, UInt8(0)), (0, 10), (1, 1), (7, 0xff)] {
            var changed = bytes
            changed[offset] = value
            #expect(Record.read(changed.span, at: 0, end: changed.count) == nil)
        }
    }

    @Test func fileNamesHaveOneForm() {
        #expect(FramePaths.file(255) == "wal/00000000000000ff.dwal")
        #expect(FramePaths.number("00000000000000ff.dwal") == 255)
        for name in [
            "00000000000000FF.dwal", "ff.dwal", "00000000000000ff.dwa", "+0000000000000ff.dwal",
            "00000000000000ff.dwal.new", ".dwal", "cut-00000000000000ff-8",
        ] {
            #expect(FramePaths.number(name) == nil, "\(name)")
        }
    }
}
