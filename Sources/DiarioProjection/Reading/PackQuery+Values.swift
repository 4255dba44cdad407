package import DiarioCore
package import DiarioSchema

extension PackQuery {
    /// The values of its parameters, made from texts as a command or an address gives them.
    package func values(
        _ texts: [String: String]
    ) throws(ProjectionError) -> [String: SQLValue] {
        if let other = texts.keys.sorted().first(where: { name in
            !parameters.contains { $0.name == name }
        }) {
            let known = parameters.map { "\($0.name) \($0.values.text)" }
            throw .query(
                .invalid,
                "\(name) has no parameter \(other); it has "
                    + (known.isEmpty ? "none" : known.joined(separator: ", "))
            )
        }
        var values: [String: SQLValue] = [:]
        for parameter in parameters {
            if let text = texts[parameter.name] {
                do throws(ValueFault) {
                    values[parameter.name] = try parameter.values.value(text)
                } catch {
                    throw .query(.invalid, "\(parameter.name) \(error.words)")
                }
            }
        }
        return try completed(values)
    }

    /// These values, and the defaults of the parameters that have no value.
    package func completed(
        _ values: [String: SQLValue]
    ) throws(ProjectionError) -> [String: SQLValue] {
        var values = values
        for parameter in parameters where values[parameter.name] == nil {
            guard let fallback = parameter.fallback else {
                throw .query(
                    .invalid,
                    "\(name) needs the parameter \(parameter.name) (\(parameter.values.kind.form))"
                )
            }
            values[parameter.name] = parameter.values.value(literal: fallback)
        }
        return values
    }

    /// The values of its own parameters with which it answers whether it has a value, or without
    /// one all that it has.
    ///
    /// Where a parameter is called as its first column, it is asked for that value alone.
    package func asking(for value: SQLValue?) throws(ProjectionError) -> [String: SQLValue] {
        var values: [String: SQLValue] = [:]
        if let value, let name = columns?.first?.name,
            parameters.contains(where: { $0.name.hasBytes(of: name) })
        {
            values[name] = value
        }
        return try completed(values)
    }
}
