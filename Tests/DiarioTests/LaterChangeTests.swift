import Diario
import DiarioCore
import DiarioHost
import DiarioLog
import DiarioProjection
import DiarioSQLite
import DiarioSchema
import DiarioTestSupport
import Testing

/// Which of several changes is the later one: schema/decisions/0024.
@Suite struct LaterChangeTests {
    private static let model = """
        -- readmodel tasks version 1: when each task was added
        CREATE TABLE change (origin TEXT NOT NULL PRIMARY KEY, clock INT NOT NULL) STRICT;
        -- on tasks.task.added
        INSERT INTO change VALUES (:_origin, :_clock);
        """

    private static func rows(_ space: Space) throws -> [[SQLValue]] {
        let models = try ReadModels(space)
        _ = try models.rebuild()
        return try models.rows("SELECT origin, clock FROM change ORDER BY clock")
    }

    /// What was recorded within a millisecond had one clock, as if nobody had seen the other.
    @Test func theClockIsBoundWhole() throws {
        let folder = try TemporaryFolder()
        let pack = try TasksPack.make(model: Self.model)
        let space = try Space.create(at: folder.path, packs: [pack])
        try space.record(
            (1...40).map { id in
                let payload = TasksPack.added(id, 1)
                return #"{"type":"tasks.task.added","batch":"one","payload":\#(payload)}"#
            }
        )
        var reader = try EventReader(space, EventFilter(types: ["tasks.task.added"]))
        var expected: [[SQLValue]] = []
        while let line = try reader.next() {
            let (origin, clock) = (try #require(line.origin), try #require(line.clock))
            expected.append([.text(origin.text), .integer(Int64(clock.rawValue))])
        }
        #expect(expected.count == 40)
        #expect(try Self.rows(space) == expected)
        _ = try space.store.seal(space.id, all: true, waitSeconds: 600)
        #expect(try Self.rows(space) == expected)
        try space.close()
    }
}
