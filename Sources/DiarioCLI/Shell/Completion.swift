/// Completes the words of a command line, from the table of the commands.
package struct Completion {
    /// The words that can take the place of the last one, each with its meaning.
    package private(set) var words: [(word: String, meaning: String)] = []
    /// Set if the shell is to offer files or folders, or only the space knows the names.
    package private(set) var kind = WordKind.text
    /// The words in front of the command, by which the space is found.
    package private(set) var global: [String] = []

    /// Completes the last of `typed`, which are the words after the name of the program.
    package init(_ typed: [String]) {
        let current = typed.last ?? ""
        var options = CommandOption.globals
        var (name, operands): (String, [String]) = ("", [])
        // The option whose value comes next.
        var awaiting: CommandOption?
        var isEnded = false
        for word in typed.dropLast() {
            if awaiting != nil {
                awaiting = nil
            } else if !isEnded, word == "--" {
                isEnded = true
            } else if !isEnded, word.hasPrefix("-"), word != "-" {
                awaiting = options.first { $0.spellings.contains(word) && $0.value != nil }
            } else if Command.named(name) != nil {
                operands.append(word)
            } else {
                name += name.isEmpty ? word : " \(word)"
                options = Command.named(name)?.options ?? options
            }
            if name.isEmpty { global.append(word) }
        }
        let command = Command.named(name)
        if let awaiting {
            offer(awaiting.kind, operands)
        } else if !isEnded, current.hasPrefix("-") {
            words = options.flatMap { option in option.spellings.map { ($0, option.summary) } }
        } else if let command {
            offer(command.operandKind(operands.count) ?? .text, operands)
        } else {
            offer(.command, name.isEmpty ? [] : [name])
        }
        words = words.filter { $0.word.hasPrefix(current) }
    }

    private mutating func offer(_ kind: WordKind, _ operands: [String]) {
        self.kind = kind
        switch kind {
        case .choice(let choices): words = choices.map { ($0, "") }
        case .command:
            let start = operands.map { $0 + " " }.joined()
            for command in Command.all where command.name.hasPrefix(start) {
                let rest = command.name.dropFirst(start.count)
                let word = String(rest.prefix { $0 != " " })
                guard !words.contains(where: { $0.word == word }) else { continue }
                words.append((word, rest == word ? command.summary : "\(word) ..."))
            }
        case .text, .file, .folder, .typeName, .queryName: break
        }
    }
}

/// The shells that can complete the words of the program.
package enum Shell: String, CaseIterable, Sendable {
    case bash
    case zsh

    /// The script that asks `diario completion` for each word.
    package var script: String {
        switch self {
        case .bash:
            """
            # Completion of diario for bash, from version 3.2 on; made by `diario completion bash`.
            _diario() {
                local IFS=$'\\n' word typed=() current=${COMP_WORDS[COMP_CWORD]} offers
                # bash makes three words of --name=value.
                [ "$current" != = ] || current=
                for word in "${COMP_WORDS[@]:0:COMP_CWORD}"; do
                    [ "$word" = = ] || typed+=("${word/#\\~\\//$HOME/}")
                done
                offers=$("${typed[0]}" completion bash -- "${typed[@]:1}" "$current" \\
                    2>/dev/null </dev/null)
                COMPREPLY=()
                case "$offers" in
                :files) compopt -o filenames 2>/dev/null; offers=$(compgen -f -- "$current") ;;
                :folders) compopt -o filenames 2>/dev/null; offers=$(compgen -d -- "$current") ;;
                *) offers=$(compgen -W "$offers" -- "$current") ;;
                esac
                while read -r word; do
                    [ -z "$word" ] || COMPREPLY+=("$word")
                done <<<"$offers"
            }
            complete -F _diario diario

            """
        case .zsh:
            """
            #compdef diario
            # Completion of diario for zsh; made by `diario completion zsh`.
            _diario() {
                local -a typed offers
                typed=("${(@Q)words[1,CURRENT]}")
                typed=("${(@)typed/#\\~\\//$HOME/}")
                if [[ $typed[-1] == --*=* ]]; then
                    compset -P '*='
                    typed[-1]=("${typed[-1]%%=*}" "${typed[-1]#*=}")
                fi
                offers=("${(@f)$("$typed[1]" completion zsh -- "${(@)typed[2,-1]}" \\
                    2>/dev/null </dev/null)}")
                case $offers[1] in
                :files) _files ;;
                :folders) _files -/ ;;
                *) _describe -t words word offers ;;
                esac
            }
            if [[ $funcstack[1] == _diario ]]; then
                _diario "$@"
            else
                compdef _diario diario
            fi

            """
        }
    }
}
