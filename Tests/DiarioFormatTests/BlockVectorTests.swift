import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioZstd
import DiarioTestSupport
import Testing

@Suite struct BlockVectorTests {
    struct Vectors: Codable {
        var comment: String
        var blocks: [Content]
        var compressed: [Compressed]
        var corrupt: [Corrupt]
    }

    struct Content: Codable, Equatable {
        var shows: String
        var block: String
        var isAuthority: Bool
        var highestClock: String
        var firstPosition: String?
        var times: [Time]
        var replicas: [String]
        var runs: [Run]
        var types: [TypeOfBlock]
        var saltNodes: [Node]
        var rows: [Row]
    }

    struct Time: Codable, Equatable {
        var count: Int
        var acceptedAt: String
    }

    struct Run: Codable, Equatable {
        var replica: String
        var firstSequence: String
        var count: Int
    }

    struct TypeOfBlock: Codable, Equatable {
        var name: String
        var version: Int
        var fingerprint: String
    }

    struct Node: Codable, Equatable {
        var replica: String
        var group: String
        var level: Int
        var index: Int
        var value: String
    }

    struct Row: Codable, Equatable {
        var type: Int
        var replica: String
        var sequence: String
        var position: String?
        var acceptedAt: String?
        var publicPart: String
        var personalPart: String?
        var commitment: String?
    }

    struct Compressed: Codable {
        var shows: String
        var block: String
        var decompressed: String
    }

    struct Corrupt: Codable {
        var shows: String
        var block: String
        var failure: String
    }

    static let comment = """
        schema/format/blocks.md. blocks: valid blocks and what they say; firstPosition, \
        position and acceptedAt are there unless the events are pending; rows name their type by \
        its index in types; personalPart is there unless it is absent or erased, commitment only \
        if it is erased. compressed: blocks as they travel, and the same with their body as it \
        was before compression. corrupt: blocks that a reader refuses, with the failure that this \
        program gives; the checksum fits unless the failure says otherwise. Bytes are \
        hexadecimal, 64-bit numbers decimal strings, replicas 13 characters.
        """

    static func content(_ shows: String, _ block: [UInt8]) throws -> Content {
        let head = try Block.check(block.span)
        var rows: [Row] = []
        var cursor = RowCursor(block.span, head.summary)
        while let row = try cursor.next() {
            var found = Row(
                type: row.typeIndex,
                replica: row.replica.text,
                sequence: String(row.sequence),
                position: row.position.map { String($0) },
                acceptedAt: row.acceptedAt.map { String($0.milliseconds) },
                publicPart: Hex.text(block[row.publicPart])
            )
            switch row.personal {
            case .absent: break
            case .erased(let range): found.commitment = Hex.text(block[range])
            case .present(let range): found.personalPart = Hex.text(block[range])
            }
            rows.append(found)
        }
        return Content(
            shows: shows,
            block: Hex.text(block),
            isAuthority: head.summary.isAuthority,
            highestClock: String(head.summary.highestClock.rawValue),
            firstPosition: head.summary.firstPosition.map { String($0) },
            times: head.times.map {
                Time(count: $0.count, acceptedAt: String($0.acceptedAt.milliseconds))
            },
            replicas: head.replicas.map(\.text),
            runs: head.runs.map {
                Run(
                    replica: $0.replica.text,
                    firstSequence: String($0.firstSequence),
                    count: Int($0.count)
                )
            },
            types: head.types.map {
                TypeOfBlock(
                    name: String(decoding: $0.name, as: UTF8.self),
                    version: $0.version,
                    fingerprint: $0.fingerprint.text
                )
            },
            saltNodes: head.saltNodes.map {
                Node(
                    replica: $0.replica.text,
                    group: String($0.group),
                    level: $0.level,
                    index: $0.index,
                    value: Hex.text($0.value.bytes)
                )
            },
            rows: rows
        )
    }

    private func makeVectors() throws -> Vectors {
        let samples = try SampleBlocks()
        var compressor = try Compressor(level: 3)
        let long = try samples.repetitive()
        var compressed: [UInt8] = []
        try Block.compress(long.span, using: &compressor, into: &compressed)
        return Vectors(
            comment: Self.comment,
            blocks: try samples.all().map { try Self.content($0.shows, $0.block) },
            compressed: [
                Compressed(
                    shows: "a body that zstd makes smaller",
                    block: Hex.text(compressed),
                    decompressed: Hex.text(long)
                )
            ],
            corrupt: try CorruptBlocks(samples).small().map { shows, block in
                Corrupt(
                    shows: shows,
                    block: Hex.text(block),
                    failure: Self.failure(of: block) ?? "none"
                )
            }
        )
    }

    /// What is wrong with a block as a stable text; nil if nothing is.
    static func failure(of block: [UInt8]) -> String? {
        do throws(FormatError) {
            var decompressor: Decompressor
            do throws(ZstdError) {
                decompressor = try Decompressor()
            } catch {
                throw .compression(error)
            }
            var plain: [UInt8] = []
            try Block.decompress(block.span, using: &decompressor, into: &plain)
            _ = try Block.check(plain.span)
            return nil
        } catch {
            return switch error {
            case .truncated: "truncated"
            case .trailingBytes: "trailing bytes"
            case .malformed(let part, _): "malformed: \(part.rawValue)"
            case .tooLarge(let part, _, _): "too large: \(part.rawValue)"
            case .unknownVersion: "unknown version"
            case .checksumMismatch: "checksum"
            case .compression: "compression"
            default: "not of a block: \(error.message)"
            }
        }
    }

    @Test func blocksMatchTheVectors() throws {
        let vectors = try VectorFile.load("blocks-1.json", make: makeVectors)
        let samples = try SampleBlocks().all()
        #expect(vectors.blocks.map(\.block) == samples.map { Hex.text($0.block) })
        for expected in vectors.blocks {
            let block = try Hex.bytes(expected.block)
            #expect(try Self.content(expected.shows, block) == expected)
            #expect(try RawBlock(block).bytes == block)
        }
        #expect(vectors.compressed.count == 1)
        var decompressor = try Decompressor()
        for example in vectors.compressed {
            let block = try Hex.bytes(example.block)
            var plain: [UInt8] = []
            try Block.decompress(block.span, using: &decompressor, into: &plain)
            #expect(Hex.text(plain) == example.decompressed)
        }
        #expect(vectors.corrupt.count > 50)
        for example in vectors.corrupt {
            let block = try Hex.bytes(example.block)
            #expect(Self.failure(of: block) == example.failure, "\(example.shows)")
            #expect(example.failure != "none", "\(example.shows)")
        }
    }

    /// What the vectors call a failure is the one that was meant.
    @Test func eachCorruptBlockFailsForItsReason() throws {
        for (shows, block, failure) in try CorruptBlocks(SampleBlocks()).expected() {
            #expect(Self.failure(of: block) == failure, "\(shows)")
        }
    }
}
