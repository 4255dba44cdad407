import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioSchema
import DiarioTestSupport
import Testing

/// Golden segments: schema/vectors/segments-1.json.
@Suite struct ColumnsVectorTests {
    struct Vectors: Decodable {
        var segments: [Content]
    }

    struct Content: Decodable, Equatable {
        var shows: String
        var segment: String
        var sidecar: String
        var firstPosition: String?
        var types: [String]
        var saltNodes: [String]
        var rows: [Row]
    }

    struct Row: Decodable, Equatable {
        var type: Int
        var replica: String
        var sequence: String
        var acceptedAt: String?
        var isAuthority: Bool
        var publicPart: String
        var personalPart: String?
        var commitment: String?
    }

    private func content(_ shows: String, _ sealed: SealedSegment) throws -> Content {
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

    @Test func goldenSegmentsGiveTheirRows() throws {
        let vectors: Vectors = try VectorFile.read("segments-1.json")
        #expect(vectors.segments.count == 6)
        for vector in vectors.segments {
            let sealed = SealedSegment(
                segment: try Hex.bytes(vector.segment),
                sidecar: try Hex.bytes(vector.sidecar)
            )
            #expect(try content(vector.shows, sealed) == vector)
        }
        // One of them has every kind of block.
        let sealed = try Hex.bytes(vectors.segments[4].segment)
        let reader = try SegmentReader(SegmentMemory(.segment, sealed), sidecar: nil)
        #expect(Set(reader.index.blocks.map(\.kind)) == Set(1...14))
    }
}
