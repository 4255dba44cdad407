import DiarioCore
package import DiarioSchema

/// Calls of the commands and views of a pack, with inputs, times and rows that are drawn.
///
/// None of them may trap, whatever is drawn.
package struct DrawnCalls {
    /// What came of a call.
    package enum Answer: Equatable {
        /// The input has not the form of the declaration.
        case refused
        /// The rule that it would break.
        case broken(String)
        case answered(eventCount: Int)
    }

    private let calls: [(declaration: Declaration, entry: Domain.Entry)]
    private let columns: DrawnColumns

    package init(of pack: Pack, _ domain: Domain) {
        calls = pack.declarations.compactMap { declaration in
            domain.entries.first { $0.declaration.name == declaration.name }.map {
                (declaration, $0)
            }
        }
        columns = DrawnColumns(pack)
    }

    package var names: [String] { calls.map { $0.declaration.name } }

    /// Draws a call, and runs its rules.
    package func run(_ draws: Draws) -> (name: String, answer: Answer, fault: RowFault?) {
        let (declaration, entry) = draws.pick(calls)
        let isGood = !draws.oneIn(4)
        let values = DrawnValues(draws: draws, badOneIn: isGood ? .max : 16)
        let input = values.object(declaration.inputSchema)
        var bytes: [UInt8] = []
        input.appendCanonical(to: &bytes)
        let name = declaration.name
        var (payload, reader) = (Payload(), PayloadReader())
        let read: JSON
        do throws(SchemaError) {
            try reader.read(bytes.span, as: declaration.input, into: &payload)
            read = try JSON.parse(bytes).value
        } catch {
            _ = BrokenRule(error, in: declaration)
            return (name, .refused, nil)
        }
        let space = DrawnSpace(draws, columns)
        do throws(BrokenRule) {
            let outcome = try entry.run(CommandValues(read), space)
            _ = outcome.result.json
            for event in outcome.events { _ = event.payload.json }
            return (name, .answered(eventCount: outcome.events.count), space.fault)
        } catch {
            return (name, .broken(error.rule), space.fault)
        }
    }
}

/// A space that answers each question with drawn rows.
private final class DrawnSpace: CommandSpace {
    let now: Timestamp
    let actor: String?
    let language: Language
    private(set) var fault: RowFault?
    private let draws: Draws
    private let columns: DrawnColumns

    init(_ draws: Draws, _ columns: DrawnColumns) {
        self.draws = draws
        self.columns = columns
        now = DrawnValues(draws: draws, badOneIn: .max).time()
        actor = draws.oneIn(8) ? nil : "u1"
        language = draws.pick([.english, .italian])
    }

    func chance() -> UInt64 { UInt64(draws.below(.max)) }

    func note(_ fault: RowFault) { if self.fault == nil { self.fault = fault } }

    func rows(_ query: AskedQuery, _ parameters: QueryParameters) -> [RowValues] {
        // All values of a row may be good, or nearly no command would come to its end.
        let isOdd = draws.oneIn(2)
        var rows: [RowValues] = []
        for _ in 0..<draws.pick([0, 1, 1, 1, 2, 5]) {
            let row = columns.row(of: query.name, parameters.values, isOdd: isOdd, draws)
            do throws(RowFault) {
                let places = try RowValues.places(of: query, in: row.columns)
                rows.append(RowValues(of: query, row.values, at: places))
            } catch {
                note(error)
            }
        }
        return rows
    }
}
