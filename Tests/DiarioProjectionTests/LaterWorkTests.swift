import DiarioProjection
import Testing

/// The end of a build.
@Suite struct LaterWorkTests {
    private static let statement = """
        INSERT INTO thing (id, day, note) VALUES (:id, :day, :note);
        -- derived
        INSERT INTO pair (left, right, count) SELECT id, day, length(id) FROM thing WHERE id = :id
        ON CONFLICT (left, right) DO NOTHING;
        """

    /// A large statement can be ended, which is no reason to build row by row.
    @Test func whatIsEndedIsDoneAgain() throws {
        let definitions = "CREATE INDEX thing_day ON thing (day);"
        let model = PackSample.model(definitions: definitions, statement: Self.statement)
        let pack = try PackSample.pack(["readmodel/things.sql": model])
        let (whole, later) = (try ModelRun(pack), try ModelRun(pack, .deferring))
        for number in 1...300 {
            for run in [whole, later] { try run.apply(#"{"id":"\#(number)","day":"2026-01-01"}"#) }
        }
        #expect(later.file.later.count == 2)
        #expect(try later.file.digest(of: "things") != whole.file.digest(of: "things"))
        #expect(throws: ProjectionError.self) { try later.file.later.step(in: later.file) { true } }
        #expect(later.file.later.count == 2)
        #expect(later.file.later.doubt == nil)
        for left in [1, 0] {
            #expect(try later.file.later.step(in: later.file))
            #expect(later.file.later.count == left)
        }
        #expect(try !later.file.later.step(in: later.file))
        #expect(try later.file.digest(of: "things") == whole.file.digest(of: "things"))
        for run in [whole, later] { try run.apply(#"{"id":"last","day":"2026-01-02"}"#) }
        #expect(try later.file.digest(of: "things") == whole.file.digest(of: "things"))
    }

    /// A derived statement that cannot be done at the end makes the whole build doubtful.
    @Test func whatFailsAtTheEndIsInDoubt() throws {
        let statement = Self.statement.replacing("length(id)", with: "abs(-9223372036854775808)")
        let model = PackSample.model(statement: statement)
        let pack = try PackSample.pack(["readmodel/things.sql": model])
        let run = try ModelRun(pack, .deferring)
        try run.apply(#"{"id":"a","day":"2026-01-01"}"#)
        #expect(throws: ProjectionError.self) { try run.file.later.step(in: run.file) }
        #expect(run.file.later.doubt?.hasPrefix("at the end: ") == true)
    }
}
