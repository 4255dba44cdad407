import DiarioCore
import DiarioFormat
import DiarioTestSupport
import DiarioZstd

/// Blocks with one thing wrong each, and the failure that it must lead to.
struct CorruptBlocks {
    typealias Example = (shows: String, block: [UInt8], failure: String)
    private typealias Change = (shows: String, failure: String, change: (inout RawBlock) -> Void)

    private let mixed: [UInt8]
    private let pending: [UInt8]
    private let salted: [UInt8]
    private let personal: [UInt8]
    private let authority: [UInt8]

    init(_ samples: SampleBlocks) throws {
        mixed = try samples.mixed()
        pending = try samples.onePending()
        salted = try samples.salted()
        personal = try samples.personal()
        authority = try samples.authority()
    }

    /// Those that are small enough for a file of vectors.
    func small() throws -> [(shows: String, block: [UInt8])] {
        try expected().filter { $0.block.count < 4096 }.map { ($0.shows, $0.block) }
    }

    func expected() throws -> [Example] {
        var examples = outside
        for (block, changes) in [
            (mixed, headers + lists + rows), (pending, pendings), (salted, salts),
            (personal, personals), (authority, authorities),
        ] {
            for (shows, failure, change) in changes {
                var raw = try RawBlock(block)
                change(&raw)
                examples.append((shows, raw.bytes, failure))
            }
        }
        return try examples + compressed()
    }

    private var outside: [Example] {
        [
            ("no bytes", [], "truncated"),
            ("half a header", Array(mixed[..<12]), "truncated"),
            ("a header alone", Array(mixed[..<24]), "truncated"),
            ("the last byte is missing", Array(mixed.dropLast()), "truncated"),
            ("a byte follows", mixed + [0], "trailing bytes"),
        ]
    }

    private var headers: [Change] {
        [
            ("another magic", "malformed: magic", { $0.magic[0] = 0x65 }),
            ("version 0", "unknown version", { $0.version = 0 }),
            ("version 2", "unknown version", { $0.version = 2 }),
            ("compression 3", "malformed: compression of a block", { $0.compression = 3 }),
            ("an unknown flag", "malformed: block flags", { $0.flags |= 8 }),
            ("an unknown flag in the second byte", "malformed: block flags", { $0.flags |= 256 }),
            ("no events", "malformed: number of events", { $0.eventCount = 0 }),
            ("too many events", "too large: number of events", { $0.eventCount = 65_537 }),
            ("a body above the limit", "too large: body of a block", { $0.bodySize = 2_097_153 }),
            (
                "a stored body above the limit", "too large: stored body of a block",
                { $0.storedSize = 2_097_153 }
            ),
            (
                "two sizes without compression", "malformed: stored body of a block",
                { $0.bodySize = UInt32($0.body.count + 1) }
            ),
            ("another checksum", "checksum", { $0.checksum = 0 }),
            ("fewer events than rows", "malformed: accepted times", { $0.eventCount = 3 }),
            ("more events than rows", "malformed: accepted times", { $0.eventCount = 5 }),
        ]
    }

    private var lists: [Change] {
        [
            ("a clock of 64 bits", "malformed: highest clock", { $0.highestClock |= 1 << 63 }),
            (
                "a highest clock that is too high", "malformed: highest clock",
                { $0.highestClock += 1 }
            ),
            (
                "a highest clock that is too low", "malformed: highest clock",
                { $0.highestClock -= 1 }
            ),
            ("position 0", "malformed: position", { $0.position = 0 }),
            ("positions that run out", "malformed: position", { $0.position = .max - 3 }),
            ("no times", "malformed: accepted times", { $0.times = [] }),
            ("a time of no events", "malformed: accepted times", { $0.times.append((0, .max)) }),
            ("times of too few events", "malformed: accepted times", { $0.times[1].count = 2 }),
            ("times of too many events", "malformed: accepted times", { $0.times[1].count = 4 }),
            (
                "an acceptedAt that decreases", "malformed: accepted times",
                { $0.times[1].acceptedAt -= 2 }
            ),
            (
                "an acceptedAt before the year 1", "malformed: accepted times",
                { $0.times[0].acceptedAt = CivilTime.millisecondsMin - 1 }
            ),
            (
                "an acceptedAt after the year 9999", "malformed: accepted times",
                { $0.times[1].acceptedAt = CivilTime.millisecondsMax + 1 }
            ),
            ("no replicas", "malformed: replica id", { $0.replicas = [] }),
            ("replica 0", "malformed: replica id", { $0.replicas[1] = 0 }),
            ("a replica twice", "malformed: replica id", { $0.replicas[1] = $0.replicas[0] }),
            ("no runs", "malformed: runs", { $0.runs = [] }),
            ("a run of an unknown replica", "malformed: runs", { $0.runs[2].replica = 2 }),
            ("sequence 0", "malformed: runs", { $0.runs[1].first = 0 }),
            ("sequences that run out", "malformed: runs", { $0.runs[1].first = .max - 1 }),
            ("a run of no events", "malformed: runs", { $0.runs.append((0, 9, 0)) }),
            ("runs of too few events", "malformed: runs", { $0.runs[1].count = 1 }),
            ("runs of too many events", "malformed: runs", { $0.runs[1].count = 3 }),
            ("a sequence that does not increase", "malformed: runs", { $0.runs[2].first = 4 }),
            ("no types", "malformed: list of types", { $0.types = [] }),
            ("a type without a name", "malformed: type name", { $0.types[0].name = [] }),
            (
                "a name above the limit", "malformed: type name",
                { $0.types[0].name = Array(repeating: 0x61, count: 129) }
            ),
            ("a name that is not text", "malformed: text", { $0.types[0].name[0] = 0xff }),
            ("version 0 of a type", "malformed: type version", { $0.types[0].version = 0 }),
            (
                "a version above the limit", "malformed: type version",
                { $0.types[0].version = 65_536 }
            ),
            (
                "a type twice", "malformed: list of types",
                {
                    $0.types.append(
                        ($0.types[0].name, $0.types[0].version, $0.types[1].fingerprint)
                    )
                }
            ),
            (
                "an engine's type in a block that is not an authority's", "malformed: block flags",
                { $0.types[0].name = Array("engine.x".utf8) }
            ),
        ]
    }

    private var rows: [Change] {
        [
            ("an unknown type", "malformed: list of types", { $0.rows[0].typeIndex = 2 }),
            (
                "a public part that is too short", "malformed: public part",
                { $0.rows[0].publicSize = 12 }
            ),
            (
                "a public part above the limit", "malformed: public part",
                { $0.rows[0].publicSize = 65_569 }
            ),
            ("a public part beyond the end", "truncated", { $0.rows[3].publicSize = 64 }),
            (
                "a personal part above the limit", "malformed: personal part",
                { $0.rows[0].personalCode = 65_537 }
            ),
            ("a personal part beyond the end", "truncated", { $0.rows[3].personalCode = 2 }),
            ("a byte behind the last row", "trailing bytes", { $0.rest = [0] }),
            (
                "the second event of a batch that has one", "malformed: place in a batch",
                { $0.rows[0].publicPart[0] = 1 }
            ),
            (
                "a batch of no events", "malformed: place in a batch",
                { $0.rows[0].publicPart[1] = 0 }
            ),
            (
                "a batch that is not whole", "malformed: place in a batch",
                { $0.rows[3].publicPart[1] = 2 }
            ),
            (
                "a batch cut by another", "malformed: place in a batch",
                { $0.rows[1].publicPart[1] = 3 }
            ),
            (
                "a batch without its start", "malformed: place in a batch",
                { $0.rows[1].publicPart[0] = 1 }
            ),
            (
                "a batch in which sequences do not agree", "malformed: place in a batch",
                { $0.rows[2].publicPart[1] = 3 }
            ),
            (
                "a clock of 64 bits in a row", "malformed: clock",
                { $0.rows[0].publicPart[9] |= 0x80 }
            ),
            (
                "an at before the year 1", "malformed: time of a row",
                { $0.rows[0].setAt(CivilTime.millisecondsMin - 1) }
            ),
            (
                "an at after the year 9999", "malformed: time of a row",
                { $0.rows[0].setAt(CivilTime.millisecondsMax + 1) }
            ),
            (
                "an unknown flag of a row", "malformed: flags of a row",
                { $0.rows[0].publicPart[12] = 32 }
            ),
            (
                "a personal flag without a part", "malformed: flags of a row",
                { $0.rows[0].publicPart[12] = 16 }
            ),
            ("an actor beyond the end", "truncated", { $0.rows[0].publicPart[12] = 4 }),
            (
                "an empty actor", "malformed: actor",
                {
                    $0.rows[0].publicPart[12] = 4; $0.rows[0].publicPart.append(0)
                }
            ),
            (
                "an actor above the limit", "malformed: actor",
                {
                    $0.rows[0].publicPart[12] = 4;
                    $0.rows[0].publicPart += [0x81, 1] + Array(repeating: 0x61, count: 129)
                }
            ),
            (
                "an actor that is not text", "malformed: text",
                {
                    $0.rows[0].publicPart[12] = 4; $0.rows[0].publicPart += [1, 0]
                }
            ),
            (
                "an empty subject", "malformed: subject",
                {
                    $0.rows[0].publicPart[12] = 8; $0.rows[0].publicPart.append(0)
                }
            ),
            (
                "a subject above the limit", "malformed: subject",
                {
                    $0.rows[0].publicPart[12] = 8;
                    $0.rows[0].publicPart += [0x81, 2] + Array(repeating: 0x61, count: 257)
                }
            ),
            (
                "a base that is not in its shortest form", "malformed: varint",
                { $0.rows[0].publicPart.replaceSubrange(11..<12, with: [0x81, 0]) }
            ),
            (
                "an event above the limit", "too large: row",
                { $0.rows[0].publicPart += Array(repeating: 0, count: 65_536) }
            ),
        ]
    }

    private var pendings: [Change] {
        [
            (
                "two runs without positions", "malformed: runs",
                {
                    $0.runs.append((0, 18, 1))
                    $0.rows.append($0.rows[0])
                }
            ),
            ("two replicas without positions", "malformed: runs", { $0.replicas.append(9) }),
            ("a flag without a position", "truncated", { $0.flags |= 1 }),
        ]
    }

    private var salts: [Change] {
        [
            ("a node of an unknown replica", "malformed: salt node", { $0.nodes?[0].replica = 2 }),
            (
                "a group that no sequence has", "malformed: salt node",
                { $0.nodes?[0].group = 1 << 54 }
            ),
            ("a level below the salts", "malformed: salt node", { $0.nodes?[0].level = 11 }),
            ("an index beyond its level", "malformed: salt node", { $0.nodes?[0].index = 1 }),
            (
                "a node that is cut", "truncated",
                {
                    $0.nodes?[1].value = []; $0.rows = []; $0.eventCount = 1
                }
            ),
        ]
    }

    private var personals: [Change] {
        [
            (
                "a personal part without its flag", "malformed: flags of a row",
                { $0.rows[0].publicPart[12] = 0 }
            ),
            (
                "a commitment that is cut", "truncated",
                {
                    $0.rows[2].personalCode = 1; $0.rows[2].personal = [1]
                }
            ),
        ]
    }

    private var authorities: [Change] {
        [("an authority's block without its flag", "malformed: block flags", { $0.flags = 1 })]
    }

    private func compressed() throws -> [Example] {
        var compressor = try Compressor(level: 3)
        var raw = try RawBlock(mixed)
        let body = raw.body
        var stored: [UInt8] = []
        try compressor.compress(body.span, into: &stored)
        raw.compression = 1
        var examples: [Example] = [
            (
                "a compressed body that is damaged",
                raw.bytes(storedBody: [0x29] + stored.dropFirst()), "compression"
            ),
            (
                "a compressed body that is cut", raw.bytes(storedBody: stored.dropLast()),
                "compression"
            ),
            ("a compressed body of no bytes", raw.bytes(storedBody: []), "compression"),
        ]
        raw.bodySize = UInt32(body.count + 1)
        examples.append(
            ("a compressed body of another size", raw.bytes(storedBody: stored), "compression")
        )
        raw.bodySize = UInt32(body.count - 1)
        examples.append(
            ("a compressed body of a larger size", raw.bytes(storedBody: stored), "compression")
        )
        return examples
    }
}
