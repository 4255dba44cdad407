import DiarioCore
import DiarioFish
import DiarioSchema

/// A space whose questions are answered from a table.
final class TableSpace: CommandSpace {
    let now: Timestamp
    let actor: String?
    let language = Language.english
    let faults = RowFaults()
    private let answers: [String: [[String: SQLValue]]]

    init(
        at now: Timestamp = Timestamp(milliseconds: 1_780_000_000_000),
        actor: String? = "u1",
        _ answers: [String: [[String: SQLValue]]] = [:]
    ) {
        self.now = now
        self.actor = actor
        self.answers = answers
    }

    func chance() -> UInt64 { 7 }

    func rows(_ query: String, _ parameters: [String: SQLValue]) -> [CommandRow] {
        answers[query, default: []].map { row in
            let columns = row.keys.sorted()
            return CommandRow(
                columns: columns,
                values: columns.compactMap { row[$0] },
                of: query,
                notingIn: faults
            )
        }
    }

    /// A species that is closed in May, with a minimum of 110 mm.
    static let species: [String: SQLValue] = [
        "minSizeKind": .text("legal"), "minSizeUm": .integer(110_000), "seasonMask": .integer(16),
        "isRetired": .integer(0),
    ]
    static let zones: [[String: SQLValue]] = [["zoneId": .text("*")]]
}
