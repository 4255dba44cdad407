import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioZstd
import DiarioTestSupport
import Testing

@Suite struct BlockVectorTests {
    struct Vectors: Decodable {
        var blocks: [Content]
        var compressed: [Compressed]
        var corrupt: [Corrupt]
    }

    struct Content: Decodable, Equatable {
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

    struct Time: Decodable, Equatable {
        var count: Int
        var acceptedAt: String
    }

    struct Run: Decodable, Equatable {
        var replica: String
        var firstSequence: String
        var count: Int
    }

    struct TypeOfBlock: Decodable, Equatable {
        var name: String
        var version: Int
        var fingerprint: String
    }

    struct Node: Decodable, Equatable {
        var replica: String
        var group: String
        var level: Int
        var index: Int
        var value: String
    }

    struct Row: Decodable, Equatable {
        var type: Int
        var replica: String
        var sequence: String
        var position: String?
        var acceptedAt: String?
        var publicPart: String
        var personalPart: String?
        var commitment: String?
    }

    struct Compressed: Decodable {
        var shows: String
        var block: String
        var decompressed: String
    }

    struct Corrupt: Decodable {
        var shows: String
        var block: String
        var failure: String
    }

    private func content(_ shows: String, _ block: [UInt8]) throws -> Content {
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

    /// The block that a builder makes of the rows and salts of this one.
    private func rebuilt(_ block: [UInt8]) throws -> [UInt8] {
        let head = try Block.check(block.span)
        var builder = BlockBuilder()
        var cursor = RowCursor(block.span, head.summary)
        while let row = try cursor.next() {
            try builder.append(row, of: block.span, type: head.types[row.typeIndex])
        }
        for node in head.saltNodes { builder.append(node) }
        var rebuilt: [UInt8] = []
        builder.write(
            into: &rebuilt,
            position: head.summary.firstPosition,
            times: head.times,
            isAuthority: head.summary.isAuthority
        )
        return rebuilt
    }

    /// What is wrong with a block as a stable text; nil if nothing is.
    private static func failure(of block: [UInt8]) -> String? {
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
        let vectors: Vectors = try VectorFile.read("blocks-1.json")
        #expect(vectors.blocks.count == 8)
        for expected in vectors.blocks {
            let block = try Hex.bytes(expected.block)
            #expect(try content(expected.shows, block) == expected)
            #expect(try RawBlock(block).bytes == block)
            #expect(try rebuilt(block) == block)
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

    @Test func anEventAboveTheLimitIsRefused() throws {
        var raw = try RawBlock(SampleBlocks().mixed())
        raw.rows[0].publicPart += Array(repeating: 0, count: 65_536)
        #expect(Self.failure(of: raw.bytes) == "too large: row")
    }
}
