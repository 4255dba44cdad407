import DiarioCore

import DiarioCore
extension BrokenRule {
    /// A value of an input that has not the form that the declaration asks for.
    ///
    /// Nil if the input is no JSON at all, which is not about a value.
    package init?(_ error: SchemaError, in declaration: Declaration) {
        let name = String(error.path.prefix { $0 != "." && $0 != "[" })
        let field = declaration.input.fields.first { $0.name.hasBytes(of: name) }
        guard let texts = InputFault(error: error, name: name, field: field).texts else {
            return nil
        }
        self.init(
            error.rule,
            field: error.path,
            value: field.map { InputFault.shown(error.value, $0) } ?? error.value,
            texts.message,
            remedy: texts.remedy
        )
    }
}

/// What is wrong with a value of an input, in both languages.
private struct InputFault {
    let error: SchemaError
    /// The field of the input.
    let name: String
    /// Nil if the declaration has no such field.
    let field: Field?

    /// The value with the unit that people use.
    static func shown(_ value: String, _ field: Field) -> String {
        guard let unit = HumanUnit(of: field.name), let number = Int64(value) else { return value }
        return "\(unit.text(number)) \(unit.symbol)"
    }

    private var value: String { field.map { Self.shown(error.value, $0) } ?? error.value }

    var texts: (message: Texts, remedy: Texts)? {
        switch error.kind {
        case .missingField:
            (
                Texts("\(error.path) is missing.", it: "Manca \(error.path)."),
                Texts("Give it.", it: "Indicalo.")
            )
        case .unknownField:
            (
                Texts(
                    "There is no \(error.path) here.",
                    it: "Qui non esiste \(error.path)."
                ),
                Texts("Leave it out, or check its name.", it: "Toglilo, o controlla il nome.")
            )
        case .belowMinimum, .aboveMaximum, .beyondInteger, .beyondNumber: outOfRange
        case .tooShort, .tooLong, .tooFewItems, .tooManyItems:
            (
                Texts(
                    "\(error.path) is too \(isTooLittle ? "short" : "long").",
                    it: "\(error.path) \u{e8} troppo \(isTooLittle ? "corto" : "lungo")."
                ),
                lengths
            )
        case .notInEnumeration:
            (
                Texts(
                    "\(error.path) cannot be \(value).",
                    it: "\(error.path) non pu\u{f2} essere \(value)."
                ),
                choices
            )
        case .invalidDate:
            wrongForm(
                Texts("Write a day, as in 2026-05-04.", it: "Scrivi un giorno, come 2026-05-04.")
            )
        case .invalidDateTime:
            wrongForm(
                Texts(
                    "Write a time, as in 2026-05-04T07:30:00Z.",
                    it: "Scrivi un'ora, come 2026-05-04T07:30:00Z."
                )
            )
        case .wrongType, .patternMismatch, .invalidUUID, .invalidBase64, .invalidSubject,
            .invalidReference, .explicitNull, .zeroCharacter, .beyondEvent:
            wrongForm(
                Texts(
                    "Write it as the declaration has it; the list of commands shows that.",
                    it: "Scrivilo come nella dichiarazione: la elenca la lista dei comandi."
                )
            )
        default: nil
        }
    }

    private var isTooLittle: Bool { error.kind == .tooShort || error.kind == .tooFewItems }

    private func wrongForm(_ remedy: Texts) -> (message: Texts, remedy: Texts) {
        (
            Texts(
                "\(value) is no value for \(error.path).",
                it: "\(value) non \u{e8} un valore per \(error.path)."
            ),
            remedy
        )
    }

    private var outOfRange: (message: Texts, remedy: Texts) {
        let isLow = error.kind == .belowMinimum
        return (
            Texts(
                "\(error.path) is \(value), which is too \(isLow ? "little" : "much").",
                it: "\(error.path) \u{e8} \(value): \(isLow ? "troppo poco" : "troppo")."
            ),
            range
        )
    }

    /// The bounds of a field itself; those of a nested value are not told.
    private var range: Texts {
        let bounds = field?.bounds
        let low = bounds?.minimum.map { number($0) } ?? bounds?.numberMinimum.map { "\($0)" }
        let high = bounds?.maximum.map { number($0) } ?? bounds?.numberMaximum.map { "\($0)" }
        return switch (low, high) {
        case (let low?, let high?):
            Texts("Give from \(low) to \(high).", it: "Indica da \(low) a \(high).")
        case (let low?, nil): Texts("Give at least \(low).", it: "Indica almeno \(low).")
        case (nil, let high?): Texts("Give at most \(high).", it: "Indica al massimo \(high).")
        case (nil, nil):
            Texts("Give a number in the range that it has.", it: "Indica un numero ammesso.")
        }
    }

    private func number(_ value: Int64) -> String {
        field.map { Self.shown(String(value), $0) } ?? String(value)
    }

    private var lengths: Texts {
        switch (field?.bounds.lengthMin, field?.bounds.lengthMax) {
        case (let low?, let high?):
            Texts("It may have from \(low) to \(high).", it: "Pu\u{f2} averne da \(low) a \(high).")
        case (nil, let high?):
            Texts("It may have at most \(high).", it: "Pu\u{f2} averne al massimo \(high).")
        case (let low?, nil):
            Texts("It needs at least \(low).", it: "Deve averne almeno \(low).")
        case (nil, nil): Texts("Give another one.", it: "Indicane un altro.")
        }
    }

    private var choices: Texts {
        let values = field?.bounds.values ?? []
        guard !values.isEmpty else { return Texts("Choose another one.", it: "Scegline un altro.") }
        let list = values.joined(separator: ", ")
        return Texts("Choose one of: \(list).", it: "Scegli fra: \(list).")
    }
}
