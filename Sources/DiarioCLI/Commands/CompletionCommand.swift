/// The command `diario completion`.
enum CompletionCommand {
    static func run(_ call: Invocation) throws(Failure) {
        let name = call.arguments.operands[0]
        guard let shell = Shell(rawValue: name) else {
            let known = Shell.allCases.map(\.rawValue).joined(separator: ", ")
            throw .usage(
                "there is no completion for \(CellText.oneLine(name)); choose one of \(known). "
                    + "Try: diario help completion"
            )
        }
        try call.output.append { $0 += CompletionScript.text(for: shell).utf8 }
    }
}
