import Diario
import DiarioSchema

extension Space {
    /// Refuses a filter that wants types which the space does not have: what comes out would look
    /// as if nothing had happened.
    func checkTypes(of filter: EventFilter) throws(Failure) {
        let names = catalog.types.map(\.name)
        for wanted in filter.types {
            let isKnown =
                wanted.hasSuffix(".")
                ? names.contains { $0.hasPrefix(wanted) } : names.contains(wanted)
            guard isKnown else { throw failure(unknownType: wanted) }
        }
    }

    /// That there is no such type, or no pack with such a beginning; with what was meant perhaps.
    func failure(unknownType name: String) -> Failure {
        let names = catalog.types.map(\.name)
        let beginnings = Set(names.compactMap { $0.split(separator: ".").first }).map { "\($0)." }
        guard !beginnings.contains(name) else {
            return .failed(
                "\(CellText.oneLine(name)) begins the names of several types, and one is wanted. "
                    + "Try: diario schema list"
            )
        }
        let known = names + beginnings.sorted()
        let hint = NearestWord.find(name, in: known).map { "; did you mean \($0)?" } ?? "."
        return .failed(
            "the space has no type \(CellText.oneLine(name))\(hint) Try: diario schema list"
        )
    }
}
