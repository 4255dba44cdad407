/// A command: how it is typed, its help, and the function that runs it.
///
/// The parser, `help`, the completion of shells and the manual page all read it from here.
package struct Command: Sendable {
    /// The words after `diario`, as `record` or `schema check`.
    package let name: String
    /// One line that completes "this command ...".
    package let summary: String
    /// The place that the command works on.
    package let scope: Scope
    package let operands: [Operand]
    /// Paragraphs; each is wrapped to the width of the terminal.
    package let details: [String]
    package let options: [CommandOption]
    /// Commands as they are typed, each with its effect.
    package let examples: KeyValuePairs<String, String>
    let run: @Sendable (Invocation) async throws -> Void

    package enum Scope: Sendable {
        /// One space of a folder, which `--space` in front of the command can name.
        case space
        /// A folder, with all of its spaces.
        case folder
        /// Only the operands: `-C` and `--space` say nothing.
        case nothing
    }

    /// A command; paragraphs of `details` have empty lines between them, and `--help` is added.
    init(
        _ name: String,
        _ summary: String,
        on scope: Scope = .space,
        takes operands: [Operand] = [],
        details: String,
        options: [CommandOption] = [],
        examples: KeyValuePairs<String, String>,
        run: @escaping @Sendable (Invocation) async throws -> Void
    ) {
        self.name = name
        self.summary = summary
        self.scope = scope
        self.operands = operands
        var paragraphs: [String] = [""]
        for line in details.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.isEmpty {
                paragraphs.append("")
            } else {
                let last = paragraphs.count - 1
                paragraphs[last] += (paragraphs[last].isEmpty ? "" : " ") + line
            }
        }
        self.details = paragraphs
        self.options = options + [.help]
        self.examples = examples
        self.run = run
    }

    /// The usage line: `diario [-C DIR] record TYPE [JSON|-] [OPTION]...`.
    package var usage: String {
        let program = scope == .nothing ? "diario" : "diario [-C DIR]"
        return ([program, name] + operands.map(\.usage) + ["[OPTION]..."]).joined(separator: " ")
    }

    /// The option named `name`, without its dashes.
    package func option(_ name: some StringProtocol) -> CommandOption? {
        options.first { $0.name == name }
    }

    /// The number of operands.
    package var operandCount: ClosedRange<Int> {
        let least = operands.reduce(0) { $0 + $1.count.lowerBound }
        return least...operands.reduce(0) { $0 + $1.count.upperBound }
    }

    /// The kind of the operand with this index from 0; nil if there is none.
    package func operandKind(_ index: Int) -> WordKind? {
        var end = 0
        for operand in operands {
            end += operand.count.upperBound
            if index < end { return operand.kind }
        }
        return nil
    }
}

/// An operand of a command: a word that is no option.
package struct Operand: Sendable {
    /// As the usage line shows it: `DIR`.
    package let name: String
    package let kind: WordKind
    /// The number of times it may be given.
    package let count: ClosedRange<Int>

    /// As many as may be repeated.
    private static let countMax = 64

    static func one(_ name: String, _ kind: WordKind = .text) -> Operand {
        Operand(name: name, kind: kind, count: 1...1)
    }

    static func optional(_ name: String, _ kind: WordKind = .text) -> Operand {
        Operand(name: name, kind: kind, count: 0...1)
    }

    static func some(_ name: String, _ kind: WordKind = .text) -> Operand {
        Operand(name: name, kind: kind, count: 1...countMax)
    }

    static func any(_ name: String, _ kind: WordKind = .text) -> Operand {
        Operand(name: name, kind: kind, count: 0...countMax)
    }

    package var usage: String {
        let text = count.upperBound > 1 ? "\(name)..." : name
        return count.lowerBound == 0 ? "[\(text)]" : text
    }
}

/// The meaning of a word of the command line, by which a shell completes it.
package enum WordKind: Equatable, Sendable {
    /// Anything, so nothing is offered.
    case text
    case file
    case folder
    /// An event type of the space.
    case typeName
    /// A query of a pack of the space.
    case queryName
    /// A word of the name of a command.
    case command
    /// One of a few words.
    case choice([String])
}

extension Failure {
    /// A wrong use of a command, whose help is named.
    package static func usage(_ message: String, in command: Command) -> Failure {
        .usage("\(message). Try: diario help \(command.name)")
    }
}
