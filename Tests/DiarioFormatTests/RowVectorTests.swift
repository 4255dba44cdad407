import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioSchema
import DiarioTestSupport
import Testing

@Suite struct RowVectorTests {
    struct Vectors: Codable {
        var comment: String
        var schemas: [String]
        var cases: [Case]
    }

    struct Case: Codable {
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

    static let comment = """
        schema/format/rows.md, sections 3 to 5. schemas: the texts of the event types' files. \
        Each case gives an event: line (JSON with type, version, payload, and if present actor, \
        subject, ifUnchanged), replica (13 characters), sequence, batchFirst (the sequence of the \
        batch's first event), batchCount, clock (the u64), at and acceptedAt (milliseconds), base, \
        and seed (16 bytes: of the group of this sequence). Expected are publicPart; if there are \
        personal values also personalPart, salt and commitment; row (the canonical row), eventHash \
        and leaf. Bytes are hexadecimal, 64-bit numbers decimal strings. A key that is not there \
        stands for nothing.
        """

    /// What differs from case to case, beside the payload.
    private struct Setting {
        var replica: UInt64 = 0x7f3a_09c4_5512_0b6e
        var sequence: UInt64 = 1
        var batchFirst: UInt64?
        var batchCount = 1
        var clock = HybridTime(milliseconds: 1_795_000_000_000, counter: 0)
        var at: Int64?
        var base: UInt64 = 0
        var acceptedAt: Int64 = 1_795_000_000_456
    }

    private func makeCase(
        _ shows: String,
        _ line: String,
        _ setting: Setting = Setting(),
        seed: Salt
    ) throws -> Case {
        Case(
            shows: shows,
            line: line,
            replica: try Fixtures.replica(setting.replica).text,
            sequence: String(setting.sequence),
            batchFirst: String(setting.batchFirst ?? setting.sequence),
            batchCount: setting.batchCount,
            clock: String(setting.clock.rawValue),
            at: String(setting.at ?? setting.clock.milliseconds),
            base: String(setting.base),
            seed: Hex.text(seed.bytes),
            acceptedAt: String(setting.acceptedAt)
        )
    }

    private func line(_ type: String, _ payload: String, _ rest: String = "") -> String {
        #"{"type":"probe.\#(type)","payload":{\#(payload)}\#(rest)}"#
    }

    private func makeVectors() throws -> Vectors {
        var random = SeededRandom(seed: 5)
        var examples = try envelopes.map { ($0.shows, $0.line, Setting()) }
        examples += fields.map { ($0.shows, $0.line, Setting()) }
        let told = line("thing.told", #""open":-1,"pString":"secret""#)
        examples += Self.settings.map { ($0.shows, told, $0.setting) }
        let cases = try examples.map { shows, line, setting in
            let seed = Salt(first: random.next(), second: random.next())
            return try completed(makeCase(shows, line, setting, seed: seed))
        }
        return Vectors(comment: Self.comment, schemas: Fixtures.schemas, cases: cases)
    }

    /// What lies beside the values of fields: ids, actors, subjects, flags.
    private var envelopes: [(shows: String, line: String)] {
        get throws {
            let replica = try Fixtures.replica(Setting().replica)
            let own = Origin(replica: replica, sequence: 1).text
            let actor = String(repeating: "a", count: 128)
            let subject = String(repeating: "\u{e9}", count: 128)
            return [
                ("no fields", line("nothing.passed", "")),
                ("all fields absent, the id derived", line("thing.made", "")),
                ("the own origin as id is derived", line("thing.made", "\"id\":\"\(own)\"")),
                ("another id is kept", line("thing.made", #""id":"thing-1""#)),
                ("no personal value, no personal part", line("thing.told", #""open":1"#)),
                ("an actor", line("nothing.passed", "", #","actor":"\#(actor)""#)),
                ("a subject", line("nothing.passed", "", #","subject":"s""#)),
                (
                    "a subject of 256 bytes and an actor",
                    line("thing.told", "", #","subject":"\#(subject)","actor":"b""#)
                ),
                (
                    "if unchanged",
                    line("nothing.passed", "", #","subject":"s","ifUnchanged":true"#)
                ),
                (
                    "an authority's type of a version in two bytes",
                    #"{"type":"engine.probe.ruled","payload":{"reason":"because"}}"#
                ),
            ]
        }
    }

    /// Each value in a public field and one of each kind in a personal one, then all of a type at
    /// once.
    private var fields: [(shows: String, line: String)] {
        var examples: [(shows: String, line: String)] = []
        for (name, values) in Self.values {
            for value in values {
                let shows = String("\(name) \(value)".prefix(60))
                examples.append((shows, line("thing.made", "\"\(name)\":\(value)")))
                guard value == values[0], let personal = Self.personalNames[name] else { continue }
                examples.append(
                    (
                        String("personal \(name) \(value)".prefix(60)),
                        line("thing.told", "\"\(personal)\":\(value)")
                    )
                )
            }
        }
        let allPublic = Self.values.map { "\"\($0.name)\":\($0.values[0])" }
        let allPersonal = Self.values.compactMap { value in
            Self.personalNames[value.name].map { "\"\($0)\":\(value.values[1])" }
        }
        examples.append(
            ("all public fields", line("thing.made", allPublic.joined(separator: ",")))
        )
        examples.append(
            ("all personal fields", line("thing.told", allPersonal.joined(separator: ",")))
        )
        return examples
    }

    private static let personalNames = [
        "anInteger": "pInteger", "aNumber": "pNumber", "aString": "pString",
        "aBoolean": "pBoolean", "aDate": "pDate", "aDateTime": "pDateTime", "aUuid": "pUuid",
        "someBytes": "pBytes", "parent": "pThing",
    ]

    private static let values: [(name: String, values: [String])] = [
        (
            "anInteger",
            [
                "0", "-1", "1", "63", "64", "-64", "-65", "8191", "8192", "9223372036854775807",
                "-9223372036854775808", "1.0", "1e3",
            ]
        ),
        ("aNumber", ["0", "-0", "1.5", "-1e-300", "5e-324", "1.7976931348623157e308", "0.1"]),
        (
            "aString",
            [
                #""""#, #""text""#, #""\u00e9\u20ac\ud83d\ude00""#,
                "\"\(String(repeating: "x", count: 128))\"",
            ]
        ),
        ("aBoolean", ["true", "false"]),
        ("anEnum", [#""red""#, #""blue""#]),
        ("aDate", [#""1970-01-01""#, #""0001-01-01""#, #""9999-12-31""#, #""2026-11-20""#]),
        (
            "aDateTime",
            [
                #""1970-01-01T00:00:00Z""#, #""1969-12-31T23:59:59.999Z""#,
                #""9999-12-31T23:59:59.999Z""#, #""2026-11-20T10:44:00.123+01:00""#,
            ]
        ),
        (
            "aUuid",
            [
                #""00112233-4455-6677-8899-aabbccddeeff""#,
                #""FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF""#,
            ]
        ),
        ("someBytes", [#""""#, #""AP8=""#]),
        ("anArray", ["[]", "[3, 1,2]"]),
        ("anObject", ["{}", #"{"title": "t\u0001"}"#]),
        ("parent", [#""some-thing""#, #""7zk3m9q2c1f4a-17""#]),
    ]

    private static var settings: [(shows: String, setting: Setting)] {
        let millisecondsMax = HybridTime.millisecondsMax
        return [
            ("the last index of a group", Setting(sequence: 1024)),
            ("the first index of the next group", Setting(sequence: 1025)),
            ("the highest sequence and replica", Setting(replica: .max, sequence: .max - 1)),
            ("the middle of a batch", Setting(sequence: 500, batchFirst: 372, batchCount: 129)),
            (
                "the end of the largest batch",
                Setting(sequence: 2000, batchFirst: 1001, batchCount: 1000)
            ),
            (
                "a counter",
                Setting(clock: HybridTime(milliseconds: 1_795_000_000_000, counter: 0xfedc))
            ),
            ("the first clock", Setting(clock: HybridTime(rawValue: 0))),
            (
                "the last clock",
                Setting(clock: HybridTime(milliseconds: millisecondsMax, counter: .max))
            ),
            ("at before the clock", Setting(at: 1_794_999_999_999)),
            ("at after the clock", Setting(at: 1_795_000_086_400)),
            ("at before 1970", Setting(at: -1)),
            ("the first at", Setting(at: CivilTime.millisecondsMin)),
            ("the last at", Setting(at: CivilTime.millisecondsMax)),
            (
                "the last at and the first clock",
                Setting(clock: HybridTime(rawValue: 0), at: CivilTime.millisecondsMax)
            ),
            ("a base in two bytes", Setting(base: 128)),
            ("the highest base", Setting(base: .max)),
            ("acceptedAt before 1970", Setting(acceptedAt: -1)),
            ("the first acceptedAt", Setting(acceptedAt: CivilTime.millisecondsMin)),
        ]
    }

    /// The case with what is expected of it filled in.
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
        let vectors = try VectorFile.load("rows-1.json", make: makeVectors)
        #expect(vectors.schemas == Fixtures.schemas)
        #expect(vectors.cases.count > 60)
        for expected in vectors.cases {
            var given = expected
            given.publicPart = nil
            given.personalPart = nil
            given.salt = nil
            given.commitment = nil
            given.row = nil
            given.eventHash = nil
            given.leaf = nil
            let found = try completed(given)
            #expect(found.publicPart == expected.publicPart, "\(expected.shows)")
            #expect(found.personalPart == expected.personalPart, "\(expected.shows)")
            #expect(found.salt == expected.salt, "\(expected.shows)")
            #expect(found.commitment == expected.commitment, "\(expected.shows)")
            #expect(found.row == expected.row, "\(expected.shows)")
            #expect(found.eventHash == expected.eventHash, "\(expected.shows)")
            #expect(found.leaf == expected.leaf, "\(expected.shows)")
        }
    }
}
