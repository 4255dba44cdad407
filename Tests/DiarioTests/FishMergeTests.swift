import Diario
import DiarioCore
import DiarioHost
import DiarioLog
import DiarioProjection
import DiarioSQLite
import DiarioSchema
import DiarioTestSupport
import Testing

/// What two devices do with the pack fish while they are apart, in any order of arrival.
@Suite struct FishMergeTests {
    /// One device begins, both go on without knowing of each other.
    struct Case: CustomTestStringConvertible {
        let testDescription: String
        var shared: [Step] = []
        let apart: [Step]
        let question: String
        /// The columns of each row with blanks between them, `-` for NULL.
        let rows: [String]
    }

    /// An event of the device 0 or 1; it is later by the clock than those before it in its list.
    struct Step {
        let device: Int
        let type: String
        let payload: String
        var actor: String?
        /// The version of the type; nil for the newest.
        var version: Int?

        init(_ device: Int, _ type: String, _ payload: String) {
            self.device = device
            self.type = "fish.\(type)"
            self.payload = payload
        }

        func version(_ version: Int) -> Step {
            var step = self
            step.version = version
            return step
        }

        func by(_ actor: String) -> Step {
            var step = self
            step.actor = actor
            return step
        }
    }

    /// Which device's events arrive first.
    enum Order: CaseIterable {
        case first, second, inTurn

        /// The indices of steps as they arrive: those of each device keep their order.
        func arrival(of steps: [Step]) -> [Int] {
            var own = (0...1).map { device in steps.indices.filter { steps[$0].device == device } }
            if self == .second { own.reverse() }
            guard self == .inTurn else { return own[0] + own[1] }
            return (0..<steps.count).flatMap { place in
                own.compactMap { place < $0.count ? $0[place] : nil }
            }
        }
    }

    @Test(arguments: Self.drafts + Self.reports + Self.corrections + Self.others, Order.allCases)
    func theTablesAreTheSame(example: Case, order: Order) throws {
        let rows = try Self.rows(of: example, order)
        #expect(rows == example.rows)
    }

    /// What the tables answer, after it was compared with a rebuild.
    static func rows(of example: Case, _ order: Order) throws -> [String] {
        let pack = try #require(PackSource.builtIn().first { $0.name == "fish" })
        var lane = try LaneSpace(pack, at: start)
        for (index, step) in (catalogue + example.shared).enumerated() {
            let base = lane.space.store[lane.space.id].head()
            try pull(step, at: index, base: base, into: &lane)
        }
        let base = lane.space.store[lane.space.id].head()
        for index in order.arrival(of: example.apart) {
            try pull(example.apart[index], at: 100 + index, base: base, into: &lane)
        }
        let models = try ReadModels(lane.space)
        try models.update()
        try lane.check(models, "\(example.testDescription)")
        #expect(try models.quarantined().isEmpty)
        let answer = try models.ask(.sql(example.question, [:])).answer()
        var rows: [String] = []
        while let row = try answer.next() {
            rows.append(row.values.map { text($0) }.joined(separator: " "))
        }
        return rows
    }

    /// 2026-05-28.
    private static let start: Int64 = 1_780_000_000_000

    private static func pull(
        _ step: Step,
        at second: Int,
        base: UInt64,
        into lane: inout LaneSpace
    ) throws {
        try lane.pull(
            step.type,
            step.payload,
            by: step.device,
            base: base,
            clock: start + Int64(second) * 1000,
            actor: step.actor,
            version: step.version
        )
    }

    static func text(_ value: SQLValue) -> String {
        switch value {
        case .null: "-"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let text): text
        case .blob: "x"
        }
    }
}
