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
    struct Vectors: Decodable {
        let manifests: [Sample]
        let replicas: [Sample]
        let records: [Record]
        let marks: [Sample]
    }

    struct Sample: Decodable {
        let shows: String
        let bytes: String
        let holds: [String]
    }

    struct Record: Decodable {
        let shows: String
        let kind: Int
        let content: String
        let holds: [String]
    }

    @Test func goldenFilesAreReadAndWritten() throws {
        let vectors: Vectors = try VectorFile.read("layout-1.json")
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
