import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioSchema
import DiarioTestSupport
import Testing

/// Golden segments: schema/vectors/segments-1.json.
@Suite struct ColumnsVectorTests {
    struct Vectors: Codable {
        var comment: String
        var segments: [Content]
    }

    struct Content: Codable, Equatable {
        var shows: String
        var segment: String
        var sidecar: String
        var firstPosition: String?
        var types: [String]
        var saltNodes: [String]
        var rows: [Row]
    }

    struct Row: Codable, Equatable {
        var type: Int
        var replica: String
        var sequence: String
        var acceptedAt: String?
        var isAuthority: Bool
        var publicPart: String
        var personalPart: String?
        var commitment: String?
    }

    static let comment = """
        schema/format/segments.md. segments: a segment, its sidecar, and what they hold: types as \
        "name version"; salt nodes as "replica group level index value"; rows in order, which name \
        their type by its index, with their parts as in blocks.md; personalPart is there \
        unless it is absent or erased, commitment only if it is erased; firstPosition and \
        acceptedAt are there unless the events are pending. Bytes are hexadecimal, 64-bit numbers \
        decimal strings, replicas 13 characters.
        """

    static func content(_ shows: String, _ sealed: SealedSegment) throws -> Content {
        var rows = try SegmentRows(try sealed.reader())
        var found: [Row] = []
        while let row = try rows.next() {
            var copy = Row(
                type: row.typeIndex,
                replica: row.event.replica.text,
                sequence: String(row.event.sequence),
                acceptedAt: row.event.acceptedAt.map { String($0.milliseconds) },
                isAuthority: row.event.isAuthority,
                publicPart: Hex.text(rows.bytes[row.event.publicPart])
            )
            switch row.event.personal {
            case .absent: break
            case .present(let range): copy.personalPart = Hex.text(rows.bytes[range])
            case .erased(let range): copy.commitment = Hex.text(rows.bytes[range])
            }
            found.append(copy)
        }
        let header = rows.reader.header
        return Content(
            shows: shows,
            segment: Hex.text(sealed.segment),
            sidecar: Hex.text(sealed.sidecar),
            firstPosition: header.isPositioned ? String(header.firstPosition) : nil,
            types: rows.reader.index.types.map {
                "\(String(decoding: $0.entry.name, as: UTF8.self)) \($0.entry.version)"
            },
            saltNodes: try rows.reader.saltNodes().map {
                "\($0.replica.text) \($0.group) \($0.level) \($0.index) \(Hex.text($0.value.bytes))"
            },
            rows: found
        )
    }

    static func make() throws -> Vectors {
        var segments = [
            try content("one event", ColumnsSample(seed: 1, count: 1).seal()),
            try content("forty events of five types", ColumnsSample(seed: 2, count: 40).seal()),
            try content(
                "pending events of one replica",
                ColumnsSample(seed: 3, count: 30, isPositioned: false).seal()
            ),
        ]
        var erased = try ColumnsSample(seed: 4, count: 30)
        erased.erase { $0 % 2 == 0 }
        segments.append(try content("events of which some are erased", erased.seal()))
        segments.append(
            try content(
                "enough for pools, dictionaries and predictions",
                ColumnsSample(seed: 5, count: 84).seal()
            )
        )
        segments.append(
            try content(
                "a column that three types share",
                ColumnsSharedSample(seed: 1, count: 40).sample.seal()
            )
        )
        return Vectors(comment: comment, segments: segments)
    }

    @Test func goldenSegmentsGiveTheirRows() throws {
        let vectors = try VectorFile.load("segments-1.json", make: Self.make)
        #expect(vectors.segments.count == 6)
        for vector in vectors.segments {
            let sealed = SealedSegment(
                segment: try Hex.bytes(vector.segment),
                sidecar: try Hex.bytes(vector.sidecar)
            )
            #expect(try Self.content(vector.shows, sealed) == vector)
        }
        // One of them has every kind of block.
        let sealed = try Hex.bytes(vectors.segments[4].segment)
        let reader = try SegmentReader(SegmentMemory(.segment, sealed), sidecar: nil)
        #expect(Set(reader.index.blocks.map(\.kind)) == Set(1...14))
    }
}
