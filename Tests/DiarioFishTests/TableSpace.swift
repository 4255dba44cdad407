import DiarioCore
import DiarioFish
import DiarioSchema

/// A space whose questions are answered from a table.
final class TableSpace: CommandSpace {
    let now: Timestamp
    let actor: String?
    let language: Language
    private(set) var fault: RowFault?
    private let answers: [String: [[String: SQLValue]]]

    init(
        at now: Timestamp = Timestamp(milliseconds: 1_780_000_000_000),
        actor: String? = "u1",
        language: Language = .english,
        _ answers: [String: [[String: SQLValue]]] = [:]
    ) {
        self.now = now
        self.actor = actor
        self.language = language
        self.answers = answers
    }

    func chance() -> UInt64 { 7 }

    func note(_ fault: RowFault) { if self.fault == nil { self.fault = fault } }

    /// Columns that a row does not name are NULL.
    func rows(_ query: AskedQuery, _ parameters: QueryParameters) -> [RowValues] {
        answers[query.name, default: []].map { row in
            let values = query.columns.map { row[$0] ?? .null }
            return RowValues(of: query, values, at: Array(values.indices))
        }
    }

    /// A species that is closed in May, with a minimum of 110 mm.
    static let species: [String: SQLValue] = [
        "speciesId": .text("sardina"), "nameIt": .text("Sardina"), "family": .text("finfish"),
        "measure": .text("total_length"), "dateResult": .text("reproducing"),
        "minSizeKind": .text("legal"), "minSizeUm": .integer(110_000), "seasonMask": .integer(16),
        "isRetired": .integer(0),
    ]
    static func assessment(
        actor: String = "u1",
        state: String = "open",
        photoId: String? = nil
    ) -> [String: SQLValue] {
        [
            "assessmentId": .text("a"), "actor": .text(actor), "state": .text(state),
            "speciesId": .text("sardina"), "startedOn": .text("2026-05-31"),
            "photoId": photoId.map { .text($0) } ?? .null,
        ]
    }

    static let zones: [[String: SQLValue]] = [["zoneId": .text("*"), "nameIt": .text("Ovunque")]]
}
