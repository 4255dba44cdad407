/// The words behind a command, sorted into options and operands.
package struct Arguments: Sendable {
    package private(set) var operands: [String] = []
    package let command: Command
    private var values: [String: [String]] = [:]

    /// Takes `words` apart as `command` describes them.
    ///
    /// Options may stand before, between and after operands, as `--name value` or `--name=value`;
    /// behind `--` all words are operands, and `-` alone always is one.
    package init(_ words: [String], of command: Command) throws(UsageError) {
        self.command = command
        var rest = words[...]
        var isOptionPossible = true
        while let word = rest.popFirst() {
            if isOptionPossible, word == "--" {
                isOptionPossible = false
            } else if isOptionPossible, word.hasPrefix("-"), word != "-" {
                try takeOption(word, &rest)
            } else {
                operands.append(word)
            }
        }
        if wantsHelp { return }
        try checkOperands()
    }

    package var wantsHelp: Bool { values["help"] != nil }

    /// Whether an option was given.
    package func has(_ name: String) -> Bool { !all(name).isEmpty }

    /// The value of an option that is given at most once.
    package func value(_ name: String) -> String? { all(name).last }

    /// The values of an option in order; an empty text for one that takes none.
    package func all(_ name: String) -> [String] {
        precondition(command.option(name) != nil, "a command asks for options of its table")
        return values[name] ?? []
    }

    private mutating func takeOption(
        _ word: String,
        _ rest: inout ArraySlice<String>
    ) throws(UsageError) {
        let equals = word.firstIndex(of: "=")
        let spelled = equals.map { String(word[..<$0]) } ?? word
        guard let option = command.options.first(where: { $0.spellings.contains(spelled) }) else {
            throw unknown(spelled)
        }
        var value = equals.map { String(word[word.index(after: $0)...]) }
        if option.value == nil {
            guard value == nil else {
                throw UsageError("--\(option.name) takes no value", in: command)
            }
            values[option.name] = [""]
            return
        }
        if value == nil { value = rest.popFirst() }
        guard let value, !value.isEmpty else {
            throw UsageError("\(option.usage) needs its value", in: command)
        }
        guard option.isRepeatable || values[option.name] == nil else {
            throw UsageError("--\(option.name) is there twice; give it once", in: command)
        }
        values[option.name, default: []].append(value)
    }

    private func unknown(_ word: String) -> UsageError {
        if word == "-C" {
            return UsageError("-C DIR stands before the command: diario -C DIR \(command.name)")
        }
        if word == "--space", CommandName(rawValue: command.name)?.isAboutOneSpace == true {
            return UsageError(
                "--space SPACE stands before the command: diario --space SPACE \(command.name)"
            )
        }
        guard !word.contains(where: \.isWhitespace) else {
            return UsageError(
                "\(CellText.oneLine(word)) begins with a dash, as options do. If it is none, put "
                    + "-- before it: diario \(command.name) -- TEXT",
                in: command
            )
        }
        let names = command.options.map { "--\($0.name)" }
        let hint = NearestWord.find(word, in: names).map { "; did you mean \($0)?" } ?? ""
        return UsageError("\(command.name) has no option \(word)\(hint)", in: command)
    }

    private func checkOperands() throws(UsageError) {
        guard operands.count >= command.operandCount.lowerBound else {
            throw UsageError("\(command.name) needs \(command.operands)", in: command)
        }
        guard operands.count > command.operandCount.upperBound else { return }
        let extra = operands[command.operandCount.upperBound]
        let taken = command.operands.isEmpty ? "no operands" : command.operands
        throw UsageError("\(command.name) takes \(taken); \(extra) is too much", in: command)
    }
}
