import DiarioCore
import DiarioProjection
import DiarioSQLite
import DiarioSchema
import DiarioTestSupport
import Testing

/// `:_stamp`, and views beside the tables that it decides about.
@Suite struct StampTests {
    private static let model = """
        -- readmodel things version 1: the last day of each thing
        CREATE TABLE thing (id TEXT NOT NULL PRIMARY KEY, day TEXT NOT NULL, stamp BLOB NOT NULL) \
        STRICT;
        CREATE VIEW latest AS SELECT max(day) AS day FROM thing;
        -- on test.thing.made
        INSERT INTO thing VALUES (:id, :day, :_stamp)
        ON CONFLICT (id) DO UPDATE SET day = excluded.day, stamp = excluded.stamp
        WHERE excluded.stamp > stamp;
        """

    private func pack(_ model: String = model) throws -> Pack {
        try PackSample.pack(["readmodel/things.sql": model])
    }

    private func open(_ folder: TemporaryFolder, _ pack: Pack) throws -> ModelFile {
        try ModelFile(
            path: folder.path + "/test.sqlite",
            plan: PackPlan(pack),
            space: try #require(SpaceID(rawValue: 1)),
            .building
        )
    }

    private func answer(_ folder: TemporaryFolder, _ sql: String) throws -> [Value]? {
        let path = folder.path + "/test.sqlite"
        let reader = try ModelReader(
            ModelReader.Source(pack: "test", path: path, isImmutable: false)
        )
        return try reader.answer(sql).next()
    }

    private func apply(
        _ day: String,
        replica: UInt64,
        sequence: UInt64,
        clock: HybridTime,
        acceptedAt: Int64?,
        to file: ModelFile,
        _ pack: Pack
    ) throws {
        var reader = EventLineReader(catalog: try TypeCatalog(pack.types), options: [])
        var line = EventLine()
        let text = #"{"type":"test.thing.made","payload":{"id":"a","day":"\#(day)"}}"#
        try reader.read(Array(text.utf8).span, into: &line)
        line.origin = Origin(
            replica: try #require(ReplicaID(rawValue: replica)),
            sequence: sequence
        )
        line.clock = clock
        line.at = Timestamp(milliseconds: 0)
        line.acceptedAt = acceptedAt.map { Timestamp(milliseconds: $0) }
        line.position = acceptedAt == nil ? nil : sequence
        try file.begin()
        try file.apply(line, .none)
        try file.commit()
    }

    @Test func itSortsAsClockReplicaAndSequenceDo() throws {
        let folder = try TemporaryFolder()
        let pack = try pack()
        #expect(PackCheck.problems(of: pack) == [])
        let file = try open(folder, pack)
        let clock = HybridTime(milliseconds: 300, counter: 2)
        // Each is later than the one before by what comes next in the order.
        let later = HybridTime(milliseconds: 300, counter: 3)
        for (day, replica, sequence, clock) in [
            ("2026-01-01", 256, 1, clock), ("2026-01-02", 256, 255, clock),
            ("2026-01-03", 257, 1, clock), ("2026-01-04", 1, 1, later),
        ] as [(String, UInt64, UInt64, HybridTime)] {
            try apply(
                day,
                replica: replica,
                sequence: sequence,
                clock: clock,
                acceptedAt: 1000,
                to: file,
                pack
            )
            #expect(try answer(folder, "SELECT day FROM latest") == [.text(day)])
        }
        // An older one changes nothing.
        try apply(
            "2026-01-05",
            replica: 300,
            sequence: 9,
            clock: clock,
            acceptedAt: 1000,
            to: file,
            pack
        )
        #expect(try answer(folder, "SELECT day FROM thing") == [.text("2026-01-04")])
        #expect(
            try answer(folder, "SELECT hex(stamp) FROM thing") == [
                .text("00000000012C0003" + "0000000000000001" + "0000000000000001")
            ]
        )
    }

    /// A clock that is far ahead counts as far as it is believed, once there is a time to compare.
    @Test(arguments: [nil, Int64(1000)]) func itsClockIsCapped(acceptedAt: Int64?) throws {
        let folder = try TemporaryFolder()
        let pack = try pack()
        let file = try open(folder, pack)
        let clock = HybridTime(milliseconds: 10_000_000, counter: 0)
        try apply(
            "2026-01-01",
            replica: 1,
            sequence: 1,
            clock: clock,
            acceptedAt: acceptedAt,
            to: file,
            pack
        )
        let counted = acceptedAt.map { clock.believed(acceptedAt: $0) } ?? clock
        let digits = String(counted.rawValue, radix: 16, uppercase: true)
        let hex = String(repeating: "0", count: 16 - digits.count) + digits
        #expect(try answer(folder, "SELECT substr(hex(stamp), 1, 16) FROM thing") == [.text(hex)])
    }

    /// A view has no part in the digest, and goes with its read model when that is another one.
    @Test func aViewGoesWithItsReadModel() throws {
        let folder = try TemporaryFolder()
        let first = try pack()
        let file = try open(folder, first)
        let time = HybridTime(milliseconds: 1, counter: 0)
        try apply(
            "2026-01-01",
            replica: 1,
            sequence: 1,
            clock: time,
            acceptedAt: 1,
            to: file,
            first
        )
        let digest = try file.digest(of: "things")
        let changed = try pack(Self.model.replacing("max(day)", with: "min(day)"))
        #expect(PackPlan(first).models[0].fingerprint != PackPlan(changed).models[0].fingerprint)
        let again = try open(folder, changed)
        #expect(again.applied == 0)
        #expect(try again.digest(of: "things").rows == 0)
        try apply(
            "2026-01-01",
            replica: 1,
            sequence: 1,
            clock: time,
            acceptedAt: 1,
            to: again,
            changed
        )
        #expect(try again.digest(of: "things") == digest)
        #expect(try answer(folder, "SELECT day FROM latest") == [.text("2026-01-01")])
    }
}
