/// Options with their values, taken from the words of a command line one after another.
package struct OptionValues: Sendable {
    let options: [CommandOption]
    private var values: [String: [String]] = [:]

    init(of options: [CommandOption]) { self.options = options }

    /// The values of an option in order; an empty text for one that takes none.
    func all(_ name: String) -> [String] {
        precondition(options.contains { $0.name == name }, "only options of the table are read")
        return values[name] ?? []
    }

    /// Takes the option `word`, and its value from `rest` unless it is after an equals sign.
    ///
    /// - Throws: what `unknown` makes of a word that is none of the options, or `wrong` of a fault.
    mutating func take(
        _ word: String,
        _ rest: inout ArraySlice<String>,
        wrong: (String) -> Failure,
        unknown: (String) -> Failure
    ) throws {
        let equals = word.hasPrefix("--") ? word.firstIndex(of: "=") : nil
        let spelled = equals.map { String(word[..<$0]) } ?? word
        guard let option = options.first(where: { $0.spellings.contains(spelled) }) else {
            throw unknown(spelled)
        }
        var value = equals.map { String(word[word.index(after: $0)...]) }
        guard option.value != nil else {
            guard value == nil else { throw wrong("--\(option.name) takes no value") }
            values[option.name] = [""]
            return
        }
        if value == nil { value = rest.popFirst() }
        guard let value, !value.isEmpty || option.mayBeEmpty else {
            throw wrong("\(option.usage) needs its value")
        }
        guard option.isRepeatable || values[option.name] == nil else {
            throw wrong("--\(option.name) is there twice; give it once")
        }
        values[option.name, default: []].append(value)
    }
}

/// The words in front of the command, and the rest.
struct GlobalArguments {
    private var values = OptionValues(of: CommandOption.globals)
    let rest: [String]

    init(_ words: [String]) throws {
        var words = words[...]
        while let word = words.first, word.hasPrefix("-") {
            words.removeFirst()
            try values.take(word, &words) {
                .usage("\($0). Try: diario help")
            } unknown: { word in
                let known = CommandOption.globals.flatMap(\.spellings)
                let hint = NearestWord.find(word, in: known).map { "; did you mean \($0)?" } ?? "."
                return .usage(
                    "there is no option \(CellText.oneLine(word)) in front of a command\(hint) "
                        + "Try: diario help"
                )
            }
        }
        rest = Array(words)
    }

    func has(_ name: String) -> Bool { !values.all(name).isEmpty }

    func value(_ name: String) -> String? { values.all(name).last }
}

/// The words after a command, sorted into options and operands.
package struct Arguments: Sendable {
    package private(set) var operands: [String] = []
    package let command: Command
    private var values: OptionValues

    /// Takes `words` apart as `command` describes them.
    ///
    /// Options may be before, between and after operands, as `--name value` or `--name=value`;
    /// after `--` all words are operands, and `-` alone always is one.
    package init(_ words: [String], of command: Command) throws {
        self.command = command
        values = OptionValues(of: command.options)
        var rest = words[...]
        var isOptionPossible = true
        while let word = rest.popFirst() {
            if isOptionPossible, word == "--" {
                isOptionPossible = false
            } else if isOptionPossible, word.hasPrefix("-"), word != "-" {
                try values.take(
                    word,
                    &rest,
                    wrong: { .usage($0, in: command) },
                    unknown: { Self.unknown($0, in: command) }
                )
            } else {
                operands.append(word)
            }
        }
        if !wantsHelp { try checkOperands() }
    }

    package var wantsHelp: Bool { has("help") }

    /// True if an option was given.
    package func has(_ name: String) -> Bool { !all(name).isEmpty }

    /// The value of an option that is given at most once.
    package func value(_ name: String) -> String? { all(name).last }

    /// The values of an option in order; an empty text for one that takes none.
    package func all(_ name: String) -> [String] { values.all(name) }

    private static func unknown(_ word: String, in command: Command) -> Failure {
        if word == "-C" {
            return .usage("-C DIR comes before the command: diario -C DIR \(command.name)")
        }
        if word == "--space", command.scope == .space {
            return .usage(
                "--space SPACE comes before the command: diario --space SPACE \(command.name)"
            )
        }
        guard !word.contains(where: \.isWhitespace) else {
            return .usage(
                "\(CellText.oneLine(word)) begins with a dash, as options do. If it is none, put "
                    + "-- before it: diario \(command.name) -- TEXT",
                in: command
            )
        }
        let names = command.options.map { "--\($0.name)" }
        let hint = NearestWord.find(word, in: names).map { "; did you mean \($0)?" } ?? ""
        return .usage("\(command.name) has no option \(word)\(hint)", in: command)
    }

    private func checkOperands() throws {
        let usage = command.operands.map(\.usage).joined(separator: " ")
        guard operands.count >= command.operandCount.lowerBound else {
            throw Failure.usage("\(command.name) needs \(usage)", in: command)
        }
        guard operands.count > command.operandCount.upperBound else { return }
        let extra = operands[command.operandCount.upperBound]
        let taken = usage.isEmpty ? "no operands" : usage
        throw Failure.usage("\(command.name) takes \(taken); \(extra) is too much", in: command)
    }
}
