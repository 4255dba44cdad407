/// The completion of zsh, for a file `_diario` in a folder of `fpath` or to be sourced.
enum ZshCompletion {
    static var text: String {
        """
        #compdef diario
        # Completion of diario for zsh; made by `diario completion zsh`.

        _diario_types() {
            local -a names
            names=(${(f)"$(_call_program types $_diario_program $_diario_space schema list \\
                --names 2>/dev/null)"})
            compadd -a names
        }

        _diario_queries() {
            local -a names
            names=(${(f)"$(_call_program queries $_diario_program $_diario_space query \\
                --names 2>/dev/null)"})
            compadd -a names
        }

        _diario_commands() {
            local -a commands
            commands=(
        \(entries(CommandTree.firstWords))
            )
            _describe -t commands command commands
        }

        \(CommandTree.groups.map(groupFunction).joined(separator: "\n\n"))

        _diario_second() {
            case $words[CURRENT-1] in
        \(CommandTree.groups.map { "    \($0.word)) _diario_\($0.word) ;;" }
            .joined(separator: "\n"))
            esac
        }

        _diario() {
            local curcontext="$curcontext" state line _diario_program=$words[1]
            local -a _diario_space
            typeset -A opt_args
            _arguments -C \\
        \(arguments(CommandOption.globals, indent: "        ")) \\
                '1: :_diario_commands' \\
                '*:: :->rest'
            (( ! ${+opt_args[-C]} )) || _diario_space=(-C ${~opt_args[-C]})
            (( ! ${+opt_args[--space]} )) || _diario_space+=(--space $opt_args[--space])
            [[ $state == rest ]] || return
            curcontext="${curcontext%:*:*}:diario-$line[1]:"
            case $line[1] in
        \(CommandTree.groups.map(groupCase).joined(separator: "\n"))
        \(singles.map(commandCase).joined(separator: "\n"))
            esac
        }

        if [[ $funcstack[1] == _diario ]]; then
            _diario "$@"
        else
            compdef _diario diario
        fi

        """
    }

    /// The commands of one word.
    private static var singles: [Command] {
        CommandTree.commands.filter { !$0.name.contains(" ") }
    }

    private static func groupFunction(_ group: (word: String, commands: [Command])) -> String {
        """
        _diario_\(group.word)() {
            local -a commands
            commands=(
        \(entries(group.commands.map { (CommandTree.secondWord($0), $0.summary) }))
            )
            _describe -t commands command commands
        }
        """
    }

    private static func groupCase(_ group: (word: String, commands: [Command])) -> String {
        """
            \(group.word))
                _arguments -C '1: :_diario_\(group.word)' '*:: :->second'
                [[ $state == second ]] || return
                case $line[1] in
        \(group.commands.map { commandCase($0, name: CommandTree.secondWord($0)) }
            .joined(separator: "\n"))
                esac
                ;;
        """
    }

    private static func commandCase(_ command: Command) -> String {
        commandCase(command, name: command.name)
    }

    private static func commandCase(_ command: Command, name: String) -> String {
        var specs = [arguments(command.options, indent: "            ")]
        for index in 0..<command.operandCount.upperBound {
            let kind =
                index < command.operandKinds.count ? command.operandKinds[index] : WordKind.text
            let isOptional = index >= command.operandCount.lowerBound
            specs.append(
                "            "
                    + quoted(
                        "\(index + 1)\(isOptional ? "::" : ":")\(message(kind)):\(action(kind))"
                    )
            )
        }
        return """
                \(name))
                    _arguments \\
            \(specs.joined(separator: " \\\n"))
                    ;;
            """
    }

    private static func entries(_ entries: [(String, String)]) -> String {
        entries.map { word, summary in
            "        " + quoted("\(word):\(summary.replacing(":", with: "\\:"))")
        }.joined(separator: "\n")
    }

    private static func arguments(_ options: [CommandOption], indent: String) -> String {
        options.map { option in
            let all = option.spellings.joined(separator: " ")
            let summary = escaped(option.summary)
            let value = option.value.map { ":\(escaped($0)):\(action(option.kind))" } ?? ""
            return option.spellings.map { spelling in
                let exclusion = option.isRepeatable ? "*" : "(\(all))"
                let takes = option.value == nil ? "" : spelling.hasPrefix("--") ? "=" : "+"
                return indent + quoted("\(exclusion)\(spelling)\(takes)[\(summary)]\(value)")
            }.joined(separator: " \\\n")
        }.joined(separator: " \\\n")
    }

    private static func action(_ kind: WordKind) -> String {
        switch kind {
        case .text: " "
        case .file: "_files"
        case .folder: "_files -/"
        case .typeName: "_diario_types"
        case .queryName: "_diario_queries"
        case .command: "_diario_commands"
        case .secondWord: "_diario_second"
        case .choice(let words): "(\(words.joined(separator: " ")))"
        }
    }

    /// What is said above the words that are offered; never empty, or two colons would touch.
    private static func message(_ kind: WordKind) -> String {
        switch kind {
        case .text: "text"
        case .file: "file"
        case .folder: "folder"
        case .typeName: "event type"
        case .queryName: "query"
        case .command: "command"
        case .secondWord: "second word"
        case .choice: "word"
        }
    }

    /// What may stand in the description of an option.
    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("[", with: "\\[")
            .replacing("]", with: "\\]").replacing(":", with: "\\:")
    }

    private static func quoted(_ text: String) -> String {
        "'\(text.replacing("'", with: "'\\''"))'"
    }
}
