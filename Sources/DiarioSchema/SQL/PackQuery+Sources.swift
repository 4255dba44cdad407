import DiarioCore

// A parameter may say which query has its values: schema/README.md, "Queries".

extension PackQuery {
    /// What is wrong with the queries that parameters name.
    static func sourceProblems(of queries: [PackQuery]) -> [PackProblem] {
        queries.flatMap { query in
            query.parameters.compactMap { parameter in
                parameter.sourceFault(among: queries).map { words in
                    PackProblem(
                        file: query.file,
                        line: nil,
                        rule: "query-parameter",
                        message: "the parameter \(parameter.name) \(words)"
                    )
                }
            }
        }
    }
}

extension PackQuery.Parameter {
    /// What is wrong with the query that has its values; nil if nothing is.
    fileprivate func sourceFault(among queries: [PackQuery]) -> String? {
        guard let source else { return nil }
        guard let query = queries.first(where: { $0.name.hasBytes(of: source) }) else {
            let near = NearestName.find(source, in: queries.map { $0.name })
            return "has its values of the query \(source), and there is none"
                + (near.map { "; did you mean \($0)?" } ?? "")
        }
        guard let column = query.columns?.first, column.values.text.hasBytes(of: values.text) else {
            return "has its values of the query \(source), which has to say what it answers, with "
                + "\(values.text) first"
        }
        if let needed = query.parameters.first(where: { $0.fallback == nil }) {
            return "has its values of the query \(source), which needs its parameter "
                + "\(needed.name); give that one a default"
        }
        return nil
    }
}
