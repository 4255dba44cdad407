import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioFrames
import DiarioLog
import DiarioStorage
import DiarioTestSupport
import Testing

/// Golden manifests, replica files, records and synced marks: schema/vectors/layout-1.json.
@Suite struct LayoutVectorTests {
    struct Vectors: Codable, Equatable {
        let comment: String
        let manifests: [Sample]
        let replicas: [Sample]
        let records: [Record]
        let marks: [Sample]
    }

    struct Sample: Codable, Equatable {
        let shows: String
        let bytes: String
        let holds: [String]
    }

    struct Record: Codable, Equatable {
        let shows: String
        let kind: Int
        let content: String
        let holds: [String]
    }

    private static let comment =
        "schema/format/directory.md and frames.md. manifests: a manifest and what it holds: space, "
        + "lineage, epoch, authority, staging, replaces; of each segment \"segment\", or "
        + "\"private\" and the replica, first position or sequence, number, events, CRC32C of the "
        + "sidecar, both lengths, bytes of rows, identity; of each retired one first, number and "
        + "time. replicas: replica, inode, creation time, hash of the machine, then of each former "
        + "id the id and its end. records: the content of a record of a kind; 6 holds replica, "
        + "first sequence, count, first position, acceptedAt and clock. "
        + "marks: generation, length and number. Bytes are hexadecimal, ids 13 "
        + "characters."

    @Test func goldenFilesAreReadAndWritten() throws {
        let vectors = try VectorFile.load("layout-1.json", make: Self.make)
        #expect(vectors.manifests.count == 4)
        for sample in vectors.manifests {
            let bytes = try Hex.bytes(sample.bytes)
            let read = Manifest(bytes.span)
            let manifest = try #require(read, "\(sample.shows)")
            #expect(Self.lines(manifest) == sample.holds, "\(sample.shows)")
            #expect(manifest.encoded() == bytes, "\(sample.shows)")
        }
        #expect(vectors.replicas.count == 2)
        for sample in vectors.replicas {
            let bytes = try Hex.bytes(sample.bytes)
            let read = ReplicaFile(bytes.span)
            let file = try #require(read, "\(sample.shows)")
            #expect(Self.lines(file) == sample.holds, "\(sample.shows)")
            #expect(file.encoded() == bytes, "\(sample.shows)")
            for index in bytes.indices {
                var flipped = bytes
                flipped[index] ^= 1
                #expect(ReplicaFile(flipped.span) == nil, "\(sample.shows), byte \(index)")
            }
        }
        #expect(vectors.records.map(\.kind) == [6, 6])
        for sample in vectors.records {
            let bytes = try Hex.bytes(sample.content)
            var written: [UInt8] = []
            let read = SealedRows(bytes.span)
            let rows = try #require(read, "\(sample.shows)")
            #expect(Self.lines(rows) == sample.holds, "\(sample.shows)")
            rows.append(to: &written)
            #expect(written == bytes, "\(sample.shows)")
        }
        #expect(vectors.marks.count == 1)
        for sample in vectors.marks {
            let bytes = try Hex.bytes(sample.bytes)
            let read = SyncedMark(bytes.span)
            let mark = try #require(read, "\(sample.shows)")
            #expect(Self.lines(mark) == sample.holds, "\(sample.shows)")
            #expect(mark.encoded() == bytes, "\(sample.shows)")
        }
    }

    // MARK: In words

    private static func hex(_ value: UInt64, _ count: Int = 16) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: count - digits.count) + digits
    }

    private static func lines(_ manifest: Manifest) -> [String] {
        var lines = [
            "space \(manifest.space.text)", "lineage \(manifest.lineage.bytesText)",
            "epoch \(manifest.epoch)", "authority \(manifest.authority?.text ?? "none")",
            "staging \(manifest.isStaging ? 1 : 0)",
            "replaces \(manifest.replaces?.text ?? "none")",
        ]
        for entry in manifest.segments + manifest.lanes {
            var identity: [UInt8] = []
            identity.append(littleEndian: entry.identity.first)
            identity.append(littleEndian: entry.identity.second)
            let kind = entry.replica.map { "private \($0.text)" } ?? "segment"
            lines.append(
                "\(kind) \(entry.first) \(hex(entry.name.number)) \(entry.count) "
                    + "\(hex(UInt64(entry.sidecarChecksum), 8)) \(entry.segmentSize) "
                    + "\(entry.sidecarSize) \(entry.rowSize) \(Hex.text(identity))"
            )
        }
        return lines
            + manifest.retired.map {
                "retired \($0.name.first) \(hex($0.name.number)) \($0.since.milliseconds)"
            }
    }

    private static func lines(_ rows: SealedRows) -> [String] {
        [
            rows.replica.text, "\(rows.firstSequence)", "\(rows.count)",
            "\(rows.placed?.firstPosition ?? 0)", "\(rows.placed?.acceptedAt ?? 0)",
            "\(rows.clock.rawValue)",
        ]
    }

    private static func lines(_ file: ReplicaFile) -> [String] {
        [
            file.replica.text, "\(file.home.inode)", "\(file.home.birthNanoseconds)",
            Hex.text(file.machine.bytes),
        ] + file.former.map { "former \($0.replica.text) \($0.lastSequence)" }
    }

    private static func lines(_ mark: SyncedMark) -> [String] {
        [hex(mark.generation), "\(mark.length)", "\(mark.number)"]
    }

    // MARK: Making

    private static func make() throws -> Vectors {
        let replica = try #require(ReplicaID(rawValue: 0x1111_2222_3333_4444))
        let other = try #require(ReplicaID(rawValue: 0x5555_6666_7777_8888))
        return Vectors(
            comment: comment,
            manifests: try manifests(replica, other),
            replicas: replicas(replica, other),
            records: records(replica),
            marks: [
                SyncedMark(generation: 0x0102_0304_0506_0708, length: 4136, number: 12)
            ].map {
                Sample(shows: "a mark", bytes: Hex.text($0.encoded()), holds: lines($0))
            }
        )
    }

    private static func replicas(_ replica: ReplicaID, _ other: ReplicaID) -> [Sample] {
        var file = ReplicaFile(
            replica: replica,
            home: FileIdentity(inode: 12, birthNanoseconds: 1_700_000_000_123_456_789),
            machine: Hash32(words: (1, 2, 3, 4))
        )
        func sample(_ shows: String) -> Sample {
            Sample(shows: shows, bytes: Hex.text(file.encoded()), holds: lines(file))
        }
        let first = sample("an id and no former one")
        file.former = [
            FormerID(other, lastSequence: 0), FormerID(replica, lastSequence: 1 << 40),
        ]
        return [first, sample("former ids and their ends")]
    }

    private static func manifests(
        _ replica: ReplicaID,
        _ other: ReplicaID
    ) throws -> [Sample] {
        var manifest = Manifest(
            space: try #require(SpaceID(rawValue: 0x0123_4567_89ab_cdef)),
            lineage: Lineage(high: 0x1011_1213_1415_1617, low: 0x1819_1a1b_1c1d_1e1f),
            epoch: 2,
            authority: nil,
            isStaging: false,
            replaces: nil
        )
        func sample(_ shows: String) -> Sample {
            Sample(shows: shows, bytes: Hex.text(manifest.encoded()), holds: lines(manifest))
        }
        var samples = [sample("without segments")]
        manifest.segments = [entry(1, 4096, nil), entry(4097, 77, nil)]
        manifest.retired = [
            RetiredSegment(
                name: SegmentName(first: 4097, number: 5),
                since: Timestamp(milliseconds: 1_795_000_000_000)
            )
        ]
        samples.append(sample("with segments"))
        manifest.lanes = [entry(7, 4096, replica), entry(4200, 3, replica), entry(1, 1, other)]
        samples.append(sample("with private segments of two replicas"))
        manifest.segments = []
        manifest.retired = []
        manifest.lanes = [entry(1 << 40, 65_536, other)]
        samples.append(sample("with a private segment alone"))
        return samples
    }

    private static func entry(
        _ first: UInt64,
        _ count: Int,
        _ replica: ReplicaID?
    ) -> SegmentEntry {
        SegmentEntry(
            name: SegmentName(first: first, number: 0xfedc_ba98_7654_3210 ^ first),
            count: count,
            segmentSize: 1000 + count,
            sidecarSize: 500 + count,
            rowSize: 40 * count,
            identity: SegmentIdentity(first: 0x2021_2223_2425_2627, second: first),
            sidecarChecksum: 0x0bad_cafe,
            replica: replica
        )
    }

    private static func records(_ replica: ReplicaID) -> [Record] {
        let pending = SealedRows(
            replica: replica,
            firstSequence: 9,
            count: 4096,
            placed: nil,
            clock: HybridTime(rawValue: 117_637_120_000_000_007)
        )
        let placed = SealedRows(
            replica: replica,
            firstSequence: 1 << 40,
            count: .max,
            placed: SealedRows.Placed(firstPosition: 12, acceptedAt: -5),
            clock: HybridTime(rawValue: 0)
        )
        return [("pending events", pending), ("events with positions", placed)].map {
            shows,
            rows in
            var bytes: [UInt8] = []
            rows.append(to: &bytes)
            return Record(shows: shows, kind: 6, content: Hex.text(bytes), holds: lines(rows))
        }
    }
}

extension Lineage {
    /// Its bytes as a manifest has them.
    fileprivate var bytesText: String {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: high)
        bytes.append(littleEndian: low)
        return Hex.text(bytes)
    }
}
