import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioSchema
import DiarioTestSupport
import Testing

@Suite struct RowVectorTests {
    struct Vectors: Decodable {
        var schemas: [String]
        var cases: [Case]
    }

    struct Case: Decodable, Equatable {
        var shows: String
        var line: String
        var replica: String
        var sequence: String
        var batchFirst: String
        var batchCount: Int
        var clock: String
        var at: String
        var base: String
        var seed: String
        var acceptedAt: String
        var publicPart: String?
        var personalPart: String?
        var salt: String?
        var commitment: String?
        var row: String?
        var eventHash: String?
        var leaf: String?
    }

    /// The case with what this program makes of what is given.
    private func completed(_ given: Case) throws -> Case {
        let replica = try #require(ReplicaID(text: given.replica))
        let sequence = try #require(UInt64(given.sequence))
        let envelope = RowEnvelope(
            replica: replica,
            sequence: sequence,
            batchFirst: try #require(UInt64(given.batchFirst)),
            batchCount: given.batchCount,
            clock: HybridTime(rawValue: try #require(UInt64(given.clock))),
            at: Timestamp(milliseconds: try #require(Int64(given.at))),
            base: try #require(UInt64(given.base))
        )
        var text = given.line
        text.removeLast()
        let batch = try Fixtures.batch(
            ["\(text),\"origin\":\"\(envelope.origin.text)\"}"],
            catalog: Fixtures.catalog()
        )
        var builder = BlockBuilder()
        builder.append(event: 0, of: batch, envelope: envelope)
        let block = builder.block()
        let (row, part) = try Fixtures.onlyRow(block)
        #expect(part.envelope == envelope)
        var hasher = EventHasher()
        var result = given
        (result.personalPart, result.salt, result.commitment) = (nil, nil, nil)
        var commitment: Hash32?
        if case .present(let range) = row.personal {
            let seed = SaltSeed(
                replica: replica,
                group: SaltSeed.group(of: sequence),
                root: try Salt(hex: given.seed)
            )
            let salt = hasher.salt(seed, index: SaltSeed.index(of: sequence))
            let personalPart = block.span.raw.extracting(range)
            commitment = hasher.commitment(personalPart, salt: salt)
            result.personalPart = Hex.text(block[range])
            result.salt = Hex.text(salt.bytes)
            result.commitment = commitment?.text
        }
        let entry = batch.entries[0]
        let eventHash = hasher.eventHash(
            typeName: entry.name.span,
            version: entry.version,
            replica: replica,
            sequence: sequence,
            publicPart: block.span.raw.extracting(row.publicPart),
            commitment: commitment
        )
        var canonical: [UInt8] = []
        CanonicalRow.appendStart(
            to: &canonical,
            typeName: entry.name.span,
            version: entry.version,
            replica: replica,
            sequence: sequence
        )
        canonical += block[row.publicPart] + (commitment?.bytes ?? [])
        result.publicPart = Hex.text(block[row.publicPart])
        result.row = Hex.text(canonical)
        result.eventHash = eventHash.text
        let acceptedAt = try #require(Int64(given.acceptedAt))
        result.leaf = hasher.leaf(eventHash, acceptedAt: acceptedAt).text
        return result
    }

    @Test func rowsMatchTheVectors() throws {
        let vectors: Vectors = try VectorFile.read("rows-1.json")
        #expect(vectors.schemas == Fixtures.schemas)
        #expect(vectors.cases.count > 60)
        for expected in vectors.cases {
            #expect(try completed(expected) == expected, "\(expected.shows)")
        }
    }
}
