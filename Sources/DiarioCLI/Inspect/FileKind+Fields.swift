import DiarioCore

// The fields of the files that are one structure, and of the records of the log, as the documents
// list them.

extension FileKind {
    // MARK: schema/format/directory.md

    static let manifest: [Field] = .smallFile(
        "dman",
        flags: ["authority", "staging", "served", "waiting"],
        [
            .id("space"), .bytes("lineage", 16), .number("epoch"),
            .idOrNone("authority's replica"), .idOrNone("replaces space"),
        ] + segments
    )

    private static let segments: [Field] = [
        .number("segments", 4), .number("private segments", 4), .number("retired segments", 4),
        .zeros(4),
        .list(
            of: "segments",
            [.number("first position").notZero("not from 1")] + segment + [.zeros(8)]
        ),
        .list(
            of: "private segments",
            [.number("private: first sequence").notZero("not from 1")] + segment + [.id("replica")]
        ),
        .list(
            of: "retired segments",
            [
                .number("retired: first position or sequence"), .hex("number in its name"),
                .time("since"),
            ]
        ),
    ]

    private static let segment: [Field] = [
        .hex("number in its name"), .number("events", 4), .crc("CRC32C of its sidecar"),
        .number("length of the segment"), .number("length of the sidecar"),
        .number("bytes of its rows"), .bytes("identity", 16),
    ]

    /// Empty if it was never held.
    static let lock: [Field] = [
        .number("process of the last holder", 4), .number("number drawn at open", 4),
        .number("note: newest log file"),
    ]

    static let replica: [Field] = .smallFile(
        "drep",
        [
            .id("replica"), .number("inode of this file"),
            .number("made at").shown { Show.nanoseconds($0) }, .bytes("machine, hashed", 32),
        ] + .counted("former ids", 8, [.id("former id"), .number("its last sequence")])
    )

    static let publishing: [Field] = .smallFile(
        "dpub",
        flags: ["taken back"],
        [
            .bytes("attempt", 16), .number("size"), .bytes("root", 32),
            .time("last event accepted at"),
        ]
    )

    // MARK: schema/format/frames.md

    static let syncedMark: [Field] = .smallFile(
        "dsyn",
        [.hex("generation"), .number("synced length"), .number("number of the file")]
    )

    static let logHeader: [Field] =
        .smallFile(
            "dwal",
            [
                .number("number of this file"), .hex("generation").notZero(),
                .hex("generation of the file before"), .number("synced length of the file before"),
                .number("number of the first frame"), .time("begun"),
            ]
        ) + [.zeros(4036)]

    static let recordHeadSize = 16

    /// The head of a record, whose kind says what follows.
    static let recordHead: [Field] = [
        .number("kind", 1).wrong { kind, _ in records[kind] == nil ? "unknown kind" : nil },
        .zeros(3),
        .number("length", 4).wrong {
            $0 == $1.end - $1.start - recordHeadSize ? nil : "goes beyond the frame"
        },
        .id("space"),
    ]

    /// The records of a frame by their kinds; that of kind 1 is a block.
    static let records: [UInt64: (name: String, fields: [Field])] = [
        1: ("rows", []),
        2: ("seed", [.id("replica"), .number("group"), .bytes("seed", 16, isSecret: true)]),
        3: (
            "promotion",
            .counted(
                "runs",
                4,
                [
                    .id("replica"), .number("first sequence"), .number("count"),
                    .number("first position"), .time("acceptedAt"),
                ]
            )
        ),
        4: ("state", state),
        5: ("dropped", []),
        6: (
            "sealed",
            [
                .id("replica"), .number("first sequence"), .number("count"),
                .number("first position"),
                .ifZero("first position", [.zeros(8), .clock("clock")]),
                .ifZero("first position", [.time("acceptedAt"), .zeros(8)], isZero: false),
            ]
        ),
    ]

    private static let state: [Field] = [
        .number("released"),
        .number("size").wrong { $0 < $1.last("released") ? "less than released" : nil },
        .time("acceptedAt"), .clock("highest clock"),
        .number("replicas", 4), .number("adoptions", 4),
        .number("nodes", 4).wrong {
            $0 == $1.last("size").nonzeroBitCount ? nil : "not the binary ones of size"
        },
        .zeros(4),
        .list(
            of: "replicas",
            [
                .id("replica"), .number("last sequence"),
                .words("writes for an authority", 8, from: 0, ["no", "yes"]),
            ]
        ),
        .list(of: "adoptions", [.number("position of an adoption"), .bytes("fingerprint", 32)]),
        .list(of: "nodes", [.bytes("node", 32)]),
    ]

    // MARK: schema/format/blocks.md

    static let blockHeader: [Field] = [
        .magic("dblk"), .version(),
        .words("compression", 1, from: 0, ["none", "zstd", "zstd after a context"]),
        .flags("flags", 2, ["positioned", "salted", "authority"]),
        .number("events", 4).from(
            1,
            to: UInt64(Limits.blockCountMax),
            "not 1 to \(Limits.blockCountMax)"
        ),
        .number("size of the body", 4).from(0, to: UInt64(Limits.blockSizeMax), "above the limit"),
        .number("stored size", 4).wrong {
            let rest = $1.remaining - 4
            return $0 == max(0, rest) ? nil : "\(rest) follow"
        },
        .crc("CRC32C").wrong { BlockInspector.checksumFault($0, $1) },
    ]

    static let blockBody: [Field] =
        [
            .clock("highest clock"),
            .ifBit(
                1,
                of: "flags",
                [.varint("first position")]
                    + .counted("number of times", [.varint("events at the time"), acceptedAt])
            ),
        ] + .counted("number of replicas", [.id("replica")])
        + .counted(
            "number of runs",
            [.varint("index of the replica"), .varint("first sequence"), .varint("count")]
        )
        + .counted(
            "number of types",
            [.text("type"), .varint("version of the type"), .bytes("schema fingerprint", 32)]
        ) + [
            .ifBit(
                2,
                of: "flags",
                .counted(
                    "number of salt nodes",
                    [
                        .varint("index of the salt's replica"), .varint("group"),
                        .number("level", 1).from(0, to: 10, "above 10"),
                        .varint("index in the level"), .bytes("node", 16, isSecret: true),
                    ]
                )
            )
        ]

    private static let acceptedAt = Field.zigzag("acceptedAt", sums: true).shown { Show.time($0) }

    static let rowHead: [Field] = [
        .varint("size of the public part"),
        .varint("personal part").shown {
            $0 == 0 ? "none" : $0 == 1 ? "erased" : "\($0) bytes"
        },
    ]

    /// schema/format/rows.md, section 4.
    static let publicPart: [Field] = [
        .varint("number in its batch"), .varint("events in the batch"), .clock("clock"),
        atOfAuthor, .varint("base"),
        .flags("flags", 1, ["derived", "ifUnchanged", "actor", "subject", "personal"]),
        .ifBit(4, of: "flags", [.text("actor")]), .ifBit(8, of: "flags", [.text("subject")]),
    ]

    /// A time that is stored as the difference from the clock.
    private static let atOfAuthor: Field = {
        var field = Field.zigzag("at")
        field.show = { value, reader in
            let clock = HybridTime(rawValue: reader.last("clock")).milliseconds
            return Show.time(clock &+ Int64(bitPattern: value))
        }
        return field
    }()

    // MARK: schema/format/proofs.md, section 7

    static let tileMark: [Field] = .smallFile(
        "dtil",
        [
            .number("leaves"),
            .list(of: "leaves", countsBits: true, [.bytes("node of the compact range", 32)]),
        ]
    )

    // MARK: schema/format/sync.md, sections 8 and 12

    static let recordedAgain: [Field] = .smallFile(
        "dnew",
        [
            .id("replica"), .number("first sequence"), .number("events"),
            .id("recorded again by replica"), .number("first sequence there"),
        ]
    )

    static let imports: [Field] = .smallFile(
        "dimp",
        [
            .idOrNone("replica"), .number("first sequence"), .number("events", 4),
            .number("runs", 4), .bytes("digest", 32),
            .list(
                of: "runs",
                [
                    .id("replica there"), .number("first sequence there"),
                    .number("events there"), .id("recorded by replica"),
                    .number("first sequence here"),
                ]
            ),
        ]
    )
}
