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
    private let space: Space
    private let name: String
    /// The first row that is not as the rules read it.
    private var fault: RowFault?
    /// Why a question has no rows.
    private var noRows: DiarioError?

    /// Why whatever the rules decide is worth nothing.
    var failure: DiarioError? { noRows ?? fault.map { DiarioError($0, name, pack) } }

    init(_ call: Call, _ pack: Pack, _ reader: ModelReader, _ space: Space) {
        name = call.name
        now = call.at ?? space.now
        actor = call.actor
        language = call.language
        self.pack = pack
        self.reader = reader
        self.space = space
    }

    func chance() -> UInt64 { space.store.chance() }

    func note(_ fault: RowFault) { if self.fault == nil { self.fault = fault } }

    func rows(_ query: AskedQuery, _ parameters: QueryParameters) -> [RowValues] {
        guard failure == nil else { return [] }
        guard let found = pack.sql.queries.first(where: { $0.name.hasBytes(of: query.name) }) else {
            noRows = DiarioError(
                .incompatible,
                "The pack \(pack.name) has no query \(query.name)."
            )
            return []
        }
        let places: EventPlaces?
        do { places = try EventPlaces(askedBy: found.statement.text, in: space) } catch {
            noRows = error
            return []
        }
        do throws(ProjectionError) {
            if let places { try reader.set(places) }
            let answer = try reader.answer(
                found.statement.text,
                try found.completed(parameters.values),
                isKept: true
            )
            let columns: [Int]
            do throws(RowFault) {
                columns = try RowValues.places(of: query, in: answer.columns)
            } catch {
                note(error)
                return []
            }
            var rows: [RowValues] = []
            while let values = try answer.next() {
                rows.append(RowValues(of: query, values, at: columns))
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
