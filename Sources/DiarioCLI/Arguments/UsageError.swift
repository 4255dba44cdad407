/// What is wrong with the words that were typed; the program then ends with 2.
package struct UsageError: Error, Equatable, Sendable {
    package let message: String

    package init(_ message: String) { self.message = message }

    /// An error about a command, whose help it names.
    package init(_ message: String, in command: Command) {
        self.message = "\(message). Try: diario help \(command.name)"
    }
}
