/// The completion of bash, from version 3.2 on and without further packages.
enum BashCompletion {
    static var text: String {
        """
        # Completion of diario for bash; made by `diario completion bash`.

        # What a word behind an option or an operand stands for, in REPLY; empty for a flag.
        _diario_kind() {
            case "$1" in
        \(kinds)
            *) REPLY= ;;
            esac
        }

        # The options of a command, in REPLY.
        _diario_options() {
            case "$1" in
        \(options)
            *) REPLY= ;;
            esac
        }

        # Offers what a kind stands for and begins with the second word.
        _diario_offer() {
            local line list=
            case "$1" in
            file) compopt -o filenames 2>/dev/null; list=$(compgen -f -- "$2") ;;
            folder) compopt -o filenames 2>/dev/null; list=$(compgen -d -- "$2") ;;
            type) list=$(compgen -W "$("$_diario_program" \\
                ${_diario_space[@]+"${_diario_space[@]}"} schema list --names \\
                2>/dev/null </dev/null)" -- "$2") ;;
            query) list=$(compgen -W "$("$_diario_program" \\
                ${_diario_space[@]+"${_diario_space[@]}"} query --names \\
                2>/dev/null </dev/null)" -- "$2") ;;
            command) list=$(compgen -W '\(firstWords)' -- "$2") ;;
            second)
                case "$_diario_last" in
        \(secondWords)
                esac
                ;;
            words:*) list=$(compgen -W "${1#words:}" -- "$2") ;;
            esac
            while IFS= read -r line; do
                [ -z "$line" ] || COMPREPLY+=("$line")
            done <<<"$list"
        }

        _diario() {
            local word command= kind= current=${COMP_WORDS[COMP_CWORD]} index=1 count=0 ended=
            local _diario_program=${COMP_WORDS[0]} _diario_space=() REPLY
            local _diario_last=
            COMPREPLY=()
            while ((index < COMP_CWORD)); do
                word=${COMP_WORDS[index]}
                index=$((index + 1))
                # bash makes three words of --name=value.
                [ "$word" != = ] || continue
                if [ -n "$kind" ]; then
                    [ "$kind" != space ] || _diario_space+=(-C "${word/#\\~/$HOME}")
                    [ "$kind" != choice ] || _diario_space+=(--space "$word")
                    kind=
                elif [ -z "$ended" ] && [ "$word" = -- ]; then
                    ended=1
                elif [ -z "$ended" ] && [[ $word == -?* ]]; then
                    _diario_kind "$command $word"
                    kind=$REPLY
                    [ "$command $word" != " -C" ] || kind=space
                    [ "$command $word" != " --space" ] || kind=choice
                elif [ -z "$command" ]; then
                    command=$word
                else
                    case "$command" in
                    \(groupPattern)) command="$command $word" ;;
                    *) count=$((count + 1)) ;;
                    esac
                fi
            done
            _diario_last=${word-}
            [ "$current" != = ] || current=
            if [ -n "$kind" ]; then
                [ "$kind" != space ] || kind=folder
                _diario_offer "$kind" "$current"
            elif [ -z "$ended" ] && [[ $current == -* ]]; then
                _diario_options "$command"
                _diario_offer "words:$REPLY" "$current"
            elif [ -z "$command" ]; then
                _diario_offer command "$current"
            else
                case "$command" in
        \(groupOffers)
                *)
                    _diario_kind "$command $count"
                    _diario_offer "$REPLY" "$current"
                    ;;
                esac
            fi
        }

        complete -F _diario diario

        """
    }

    private static var firstWords: String {
        CommandTree.firstWords.map(\.word).joined(separator: " ")
    }

    private static var groupPattern: String {
        CommandTree.groups.map(\.word).joined(separator: " | ")
    }

    private static var groupOffers: String {
        CommandTree.groups.map { group in
            let words = CommandTree.secondWords(group.commands)
            return "        \(group.word)) _diario_offer 'words:\(words)' \"$current\" ;;"
        }.joined(separator: "\n")
    }

    private static var secondWords: String {
        CommandTree.groups.map { group in
            let words = CommandTree.secondWords(group.commands)
            return "        \(group.word)) list=$(compgen -W '\(words)' -- \"$2\") ;;"
        }.joined(separator: "\n")
    }

    private static var options: String {
        var lines = [line(of: "", CommandOption.globals)]
        for command in CommandTree.commands {
            lines.append(line(of: command.name, command.options))
        }
        return lines.joined(separator: "\n")
    }

    private static func line(of command: String, _ options: [CommandOption]) -> String {
        "    '\(command)') REPLY='\(options.flatMap(\.spellings).joined(separator: " "))' ;;"
    }

    /// Options by command and spelling, operands by command and number.
    private static var kinds: String {
        var lines: [String] = []
        func add(_ key: String, _ kind: WordKind) {
            lines.append("    '\(key)') REPLY=\(name(kind)) ;;")
        }
        for option in CommandOption.globals where option.value != nil {
            for spelling in option.spellings { add(" \(spelling)", option.kind) }
        }
        for command in CommandTree.commands {
            for option in command.options where option.value != nil {
                for spelling in option.spellings { add("\(command.name) \(spelling)", option.kind) }
            }
            for (index, kind) in command.operandKinds.enumerated() where kind != .text {
                add("\(command.name) \(index)", kind)
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func name(_ kind: WordKind) -> String {
        switch kind {
        case .text: "text"
        case .file: "file"
        case .folder: "folder"
        case .typeName: "type"
        case .queryName: "query"
        case .command: "command"
        case .secondWord: "second"
        case .choice(let words): "'words:\(words.joined(separator: " "))'"
        }
    }
}
