import DiarioCore
package import DiarioSchema

extension Declaration {
    /// The input of texts by the names of fields, as an address has them.
    ///
    /// Numbers are those of the schema, as in JSON.
    package func input(
        _ texts: [String: String],
        _ language: Language
    ) throws(DiarioError) -> [UInt8] {
        var values = CommandValues()
        let options = optionTexts
        for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
            guard let option = options.first(where: { $0.field.hasBytes(of: name) }) else {
                throw DiarioError(Self.unknown(name, options), in: language)
            }
            guard let value = option.plainValue(text) else {
                throw DiarioError(option.broken(text), in: language)
            }
            values.set(name, to: value)
        }
        return values.json
    }

    private static func unknown(_ name: String, _ options: [OptionText]) -> BrokenRule {
        let list = options.map { $0.field }.joined(separator: ", ")
        return BrokenRule(
            "unknown-field",
            field: name,
            Texts("There is no \(name) here.", it: "Qui non esiste \(name)."),
            remedy: Texts("There is: \(list).", it: "Ci sono: \(list).")
        )
    }

    /// An object of JSON, for programs.
    package var json: [UInt8] {
        JSONObjectWriter.object { json in
            json.add("name", name)
            json.add("kind", kind.rawValue)
            json.add("version", version)
            json.add("description", json: description.json.asWritten)
            if !events.isEmpty {
                json.add("events", list: events.map { JSON.string($0).asWritten })
            }
            if needsActor { json.add("actor", "required") }
            json.add("input", json: inputSchema.asWritten)
            json.add("result", json: resultSchema.asWritten)
        }
    }
}

extension OptionText {
    /// The rule that a text without the form breaks.
    package func broken(_ text: String) -> BrokenRule {
        BrokenRule(
            "type",
            field: field,
            value: text,
            Texts(
                "\(text) is no value for \(field).",
                it: "\(text) non \u{e8} un valore per \(field)."
            ),
            remedy: Texts("Give \(wanted.english).", it: "Indica \(wanted[.italian]).")
        )
    }
}
