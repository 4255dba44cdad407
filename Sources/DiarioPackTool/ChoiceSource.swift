/// The Swift type for the values of an enumeration.
struct ChoiceSource {
    let name: String
    let values: [String]
    /// Each value has its place among them as its code, by which payloads are encoded.
    var hasCodes = false

    func append(to text: inout SwiftText) {
        let names = SwiftNames.cases(values)
        text.block("public enum \(name): String, CaseIterable, Sendable") { text in
            for (name, value) in zip(names, values) {
                text.line(name == value ? "case \(name)" : "case \(name) = \(Literal.line(value))")
            }
            if hasCodes { appendCodes(of: names, to: &text) }
        }
    }

    private func appendCodes(of names: [String], to text: inout SwiftText) {
        text.line()
        text.block("fileprivate var code: Int") { text in
            text.line("switch self {")
            for (code, name) in names.enumerated() { text.line("case .\(name): \(code)") }
            text.line("}")
        }
        text.line()
        text.block("fileprivate init?(code: Int?)") { text in
            text.line("switch code {")
            for (code, name) in names.enumerated() { text.line("case \(code): self = .\(name)") }
            text.line("default: return nil")
            text.line("}")
        }
    }
}
