import Diario
import DiarioCore
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

        init(_ device: Int, _ type: String, _ payload: String) {
            self.device = device
            self.type = "fish.\(type)"
            self.payload = payload
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

    @Test(arguments: Self.drafts + Self.reports + Self.others, Order.allCases)
    func theTablesAreTheSame(example: Case, order: Order) throws {
        let pack = try #require(PackSource.builtIn().first { $0.name == "fish" })
        var lane = try LaneSpace(pack)
        let start: Int64 = 1_760_000_000_000
        for (index, step) in example.shared.enumerated() {
            let base = lane.space.store[lane.space.id].head()
            let clock = start + Int64(index) * 1000
            try lane.pull(
                step.type,
                step.payload,
                by: step.device,
                base: base,
                clock: clock,
                actor: step.actor
            )
        }
        let base = lane.space.store[lane.space.id].head()
        for index in order.arrival(of: example.apart) {
            let step = example.apart[index]
            let clock = start + Int64(100 + index) * 1000
            try lane.pull(
                step.type,
                step.payload,
                by: step.device,
                base: base,
                clock: clock,
                actor: step.actor
            )
        }
        let models = try ReadModels(lane.space)
        try models.update()
        try lane.check(models, "\(example.testDescription)")
        #expect(try models.quarantined().isEmpty)
        let answer = try models.ask(.sql(example.question, [:])).answer()
        var rows: [String] = []
        while let row = try answer.next() {
            rows.append(row.values.map { Self.text($0) }.joined(separator: " "))
        }
        #expect(rows == example.rows)
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
