import DiarioCore
import DiarioLog
import DiarioProjection
import DiarioSchema

/// The space as one command or view sees it.
final class LiveCommandSpace: CommandSpace {
    let now: Timestamp
    let actor: String?
    let language: Language
    private let pack: Pack
    private let reader: ModelReader
    private let store: LogStore
    private let name: String
    private let faults = RowFaults()
    /// Why a question has no rows.
    private var noRows: DiarioError?

    /// Why whatever the rules decide is worth nothing.
    var failure: DiarioError? { noRows ?? faults.first.map { DiarioError($0, name, pack) } }

    init(_ call: Call, _ pack: Pack, _ reader: ModelReader, _ space: Space) {
        name = call.name
        now = call.at ?? space.now
        actor = call.actor
        language = call.language
        self.pack = pack
        self.reader = reader
        store = space.store
    }

    func chance() -> UInt64 { store.chance() }

    func rows(_ query: String, _ parameters: [String: SQLValue]) -> [CommandRow] {
        guard noRows == nil else { return [] }
        guard let query = pack.sql.queries.first(where: { $0.name.hasBytes(of: query) }) else {
            noRows = DiarioError(.incompatible, "The pack \(pack.name) has no query \(query).")
            return []
        }
        do throws(ProjectionError) {
            let answer = try reader.answer(
                query.statement.text,
                try query.completed(parameters),
                isKept: true
            )
            var rows: [CommandRow] = []
            while let values = try answer.next() {
                rows.append(
                    CommandRow(
                        columns: answer.columns,
                        values: values,
                        of: query.name,
                        notingIn: faults
                    )
                )
            }
            return rows
        } catch {
            noRows = DiarioError(error)
            return []
        }
    }
}

extension DiarioError {
    /// A row that is not as the rules of a command or a view read it.
    fileprivate init(_ fault: RowFault, _ name: String, _ pack: Pack) {
        let what =
            fault.wanted.map { "in which \(name) reads \($0), and there is something else" }
            ?? "which \(name) reads, and there is none"
        self.init(
            .incompatible,
            "\(name) cannot be called: the query \(fault.query) of the pack \(pack.name), version "
                + "\(pack.version), should have a column \(fault.column), \(what). Nothing was "
                + "recorded. Update the pack: diario schema adopt --pack \(pack.name). If it is "
                + "the newest, install a newer program.",
            rule: "query-column",
            field: "\(fault.query).\(fault.column)"
        )
    }
}
