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
    /// Why a question has no rows.
    private(set) var failure: DiarioError?

    init(_ call: Call, _ pack: Pack, _ reader: ModelReader, _ space: Space) {
        now = call.at ?? space.now
        actor = call.actor
        language = call.language
        self.pack = pack
        self.reader = reader
        store = space.store
    }

    func chance() -> UInt64 { store.chance() }

    func rows(_ query: String, _ parameters: [String: SQLValue]) -> [CommandRow] {
        guard failure == nil else { return [] }
        guard let query = pack.sql.queries.first(where: { $0.name.hasBytes(of: query) }) else {
            failure = DiarioError(.incompatible, "The pack \(pack.name) has no query \(query).")
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
                rows.append(CommandRow(columns: answer.columns, values: values))
            }
            return rows
        } catch {
            failure = DiarioError(error)
            return []
        }
    }
}
