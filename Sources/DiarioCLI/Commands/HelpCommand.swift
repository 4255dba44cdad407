/// `diario help`
enum HelpCommand {
    static func run(_ call: Invocation) throws(Failure) {
        let words = call.arguments.operands
        let width = call.output.width
        guard !words.isEmpty else {
            try call.output.line(HelpText.overview(width: width))
            return
        }
        if words.count == 1, let text = HelpText.group(words[0], width: width) {
            try call.output.line(text)
            return
        }
        let (name, rest) = try checkingUsage { () throws(UsageError) in
            try CommandName.find(words)
        }
        guard rest.isEmpty else {
            throw .usage("help takes one command. Try: diario help \(name.rawValue)")
        }
        try call.output.line(HelpText.command(name.command, width: width))
    }
}
