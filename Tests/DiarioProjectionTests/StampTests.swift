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

    private let folder: TemporaryFolder
    private let pack: Pack

    init() throws {
        folder = try TemporaryFolder()
        pack = try PackSample.pack(["readmodel/things.sql": Self.model])
    }

    private func open(_ pack: Pack) throws -> ModelFile {
        try ModelFile(
            path: folder.path + "/test.sqlite",
            plan: PackPlan(pack),
            space: try #require(SpaceID(rawValue: 1)),
            .building
        )
    }

    private func answer(_ sql: String) throws -> [SQLValue]? {
        let path = folder.path + "/test.sqlite"
        let reader = try ModelReader(
            ModelReader.Source(pack: "test", path: path, isImmutable: false)
        )
        return try reader.answer(sql).next()
    }

    private func apply(
        _ day: String,
        _ replica: UInt64 = 1,
        _ sequence: UInt64 = 1,
        clock: HybridTime,
        acceptedAt: Int64? = 1000,
        to file: ModelFile
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
        #expect(PackCheck.problems(of: pack) == [])
        let file = try open(pack)
        let clock = HybridTime(milliseconds: 300, counter: 2)
        // Each is later than the one before by what comes next in the order.
        let later = HybridTime(milliseconds: 300, counter: 3)
        for (day, replica, sequence, clock) in [
            ("2026-01-01", 256, 1, clock), ("2026-01-02", 256, 255, clock),
            ("2026-01-03", 257, 1, clock), ("2026-01-04", 1, 1, later),
        ] as [(String, UInt64, UInt64, HybridTime)] {
            try apply(day, replica, sequence, clock: clock, to: file)
            #expect(try answer("SELECT day FROM latest") == [.text(day)])
        }
        // An older one changes nothing.
        try apply("2026-01-05", 300, 9, clock: clock, to: file)
        #expect(try answer("SELECT day FROM thing") == [.text("2026-01-04")])
        #expect(
            try answer("SELECT hex(stamp) FROM thing") == [
                .text("00000000012C0003" + "0000000000000001" + "0000000000000001")
            ]
        )
    }

    /// A clock that is far ahead counts as far as it is believed, once there is a time to compare.
    @Test(arguments: [nil, Int64(1000)]) func itsClockIsCapped(acceptedAt: Int64?) throws {
        let clock = HybridTime(milliseconds: 10_000_000, counter: 0)
        try apply("2026-01-01", clock: clock, acceptedAt: acceptedAt, to: open(pack))
        let counted = acceptedAt.map { clock.believed(acceptedAt: $0) } ?? clock
        let digits = String(counted.rawValue, radix: 16, uppercase: true)
        let hex = String(repeating: "0", count: 16 - digits.count) + digits
        #expect(try answer("SELECT substr(hex(stamp), 1, 16) FROM thing") == [.text(hex)])
    }

    /// A view has no part in the digest, and goes with its read model when that is another one.
    @Test func aViewGoesWithItsReadModel() throws {
        let file = try open(pack)
        let time = HybridTime(milliseconds: 1, counter: 0)
        try apply("2026-01-01", clock: time, to: file)
        let digest = try file.digest(of: "things")
        let changed = try PackSample.pack([
            "readmodel/things.sql": Self.model.replacing("max(day)", with: "min(day)")
        ])
        #expect(PackPlan(pack).models[0].fingerprint != PackPlan(changed).models[0].fingerprint)
        let again = try open(changed)
        #expect(again.applied == 0)
        #expect(try again.digest(of: "things").rows == 0)
        try apply("2026-01-01", clock: time, to: again)
        #expect(try again.digest(of: "things") == digest)
        #expect(try answer("SELECT day FROM latest") == [.text("2026-01-01")])
    }
}
