/// The completion of fish.
enum FishCompletion {
    static var text: String {
        """
        # Completion of diario for fish; made by `diario completion fish`.

        # The command before the cursor, a colon, and the number of its operands.
        function __diario_state
            set -l words (commandline -opc)
            set -e words[1]
            set -l name ''
            set -l count 0
            set -l skips 0
            for word in $words
                if test $skips = 1
                    set skips 0
                    continue
                end
                switch "$name $word"
                    case \(valued)
                        set skips 1
                        continue
                end
                if string match -q -- '-?*' $word
                    continue
                end
                switch $name
                    case ''
                        set name $word
                    case \(CommandTree.groups.map { quoted($0.word) }.joined(separator: " "))
                        set name "$name $word"
                    case '*'
                        set count (math $count + 1)
                end
            end
            echo "$name:$count"
        end

        function __diario_at
            string match -q -- $argv[1] (__diario_state)
        end

        function __diario_names
            set -l words (commandline -opc)
            set -l space
            if set -l index (contains -i -- -C $words)
                set space -C $words[(math $index + 1)]
            end
            # Behind a command it is one of its own options.
            if test "$words[2]" = --space
                set -a space --space $words[3]
            else if test "$words[2]" = -C -a "$words[4]" = --space
                set -a space --space $words[5]
            end
            command $words[1] $space $argv --names 2>/dev/null
        end

        function __diario_second
            set -l words (commandline -opc)
            switch $words[-1]
        \(CommandTree.groups.map(secondWords).joined(separator: "\n"))
            end
        end

        complete -c diario -f
        \(lines.joined(separator: "\n"))

        """
    }

    private static func secondWords(_ group: (word: String, commands: [Command])) -> String {
        """
                case \(quoted(group.word))
                    printf '%s\\n' \(CommandTree.secondWords(group.commands))
        """
    }

    private static var lines: [String] {
        var lines = CommandOption.globals.map { line($0, at: ":*") }
        for (word, summary) in CommandTree.firstWords {
            lines.append(line("-a \(quoted(word)) -d \(quoted(summary))", at: ":0"))
        }
        for group in CommandTree.groups {
            for command in group.commands {
                let word = quoted(CommandTree.secondWord(command))
                lines.append(
                    line("-a \(word) -d \(quoted(command.summary))", at: "\(group.word):0")
                )
            }
        }
        for command in CommandTree.commands {
            lines += command.options.map { line($0, at: "\(command.name):*") }
            for (index, kind) in command.operandKinds.enumerated() where kind != .text {
                lines.append(line(offer(kind), at: "\(command.name):\(index)"))
            }
        }
        return lines
    }

    private static func line(_ option: CommandOption, at place: String) -> String {
        let spellings = option.spellings.map { spelling in
            spelling.hasPrefix("--") ? "-l \(spelling.dropFirst(2))" : "-s \(spelling.dropFirst())"
        }
        let value = option.value == nil ? "" : " -r \(offer(option.kind))"
        let words = spellings.joined(separator: " ") + value
        return line("\(words) -d \(quoted(option.summary))", at: place)
    }

    private static func line(_ words: String, at place: String) -> String {
        "complete -c diario -n \(quoted("__diario_at '\(place)'")) \(words)"
    }

    private static func offer(_ kind: WordKind) -> String {
        switch kind {
        case .text: "-f"
        case .file: "-F"
        case .folder: "-f -a '(__fish_complete_directories)'"
        case .typeName: "-f -a '(__diario_names schema list)'"
        case .queryName: "-f -a '(__diario_names query)'"
        case .secondWord: "-f -a '(__diario_second)'"
        case .command:
            "-f -a \(quoted(CommandTree.firstWords.map(\.word).joined(separator: " ")))"
        case .choice(let words): "-f -a \(quoted(words.joined(separator: " ")))"
        }
    }

    /// Options behind which a value stands, with their command in front.
    private static var valued: String {
        var words: [String] = []
        for option in CommandOption.globals where option.value != nil {
            words += option.spellings.map { quoted(" \($0)") }
        }
        for command in CommandTree.commands {
            for option in command.options where option.value != nil {
                words += option.spellings.map { quoted("\(command.name) \($0)") }
            }
        }
        return words.joined(separator: " ")
    }

    private static func quoted(_ text: String) -> String {
        "'\(text.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
    }
}
