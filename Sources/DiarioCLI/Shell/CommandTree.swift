/// The commands as a shell meets them word by word; scripts for all shells are made of this.
struct CommandTree {
    /// The words that may follow `diario`, in the order of the help, with what they mean.
    static let firstWords: [(word: String, summary: String)] = {
        var words: [(word: String, summary: String)] = []
        for command in CommandName.allCases.map(\.command) {
            let first = String(command.name.prefix { $0 != " " })
            guard words.last?.word != first else { continue }
            let isGroup = command.name != first
            words.append((first, isGroup ? groupSummary(first) : command.summary))
        }
        return words
    }()

    /// First words that need a second one, as `schema`, with those.
    static let groups: [(word: String, commands: [Command])] = firstWords.compactMap { entry in
        let commands = CommandName.allCases.map(\.command).filter {
            $0.name.hasPrefix(entry.word + " ")
        }
        return commands.isEmpty ? nil : (entry.word, commands)
    }

    static let commands = CommandName.allCases.map(\.command)

    /// The second word of a command of a group.
    static func secondWord(_ command: Command) -> String {
        String(command.name.drop { $0 != " " }.dropFirst())
    }

    /// The second words of a group's commands, with blanks between them.
    static func secondWords(_ commands: [Command]) -> String {
        commands.map { secondWord($0) }.joined(separator: " ")
    }

    private static func groupSummary(_ word: String) -> String {
        let seconds = CommandName.allCases.map(\.rawValue).filter { $0.hasPrefix(word + " ") }
            .map { String($0.dropFirst(word.count + 1)) }
        return seconds.joined(separator: ", ")
    }
}

/// Scripts that complete the words of the program.
package enum CompletionScript {
    package static func text(for shell: Shell) -> String {
        switch shell {
        case .bash: BashCompletion.text
        case .zsh: ZshCompletion.text
        case .fish: FishCompletion.text
        }
    }
}
