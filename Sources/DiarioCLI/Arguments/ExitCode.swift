/// What the program ends with, and what that tells.
package enum ExitCode: Int32, CaseIterable, Sendable {
    case done = 0
    case failed = 1
    case usage = 2

    package var meaning: String {
        switch self {
        case .done: "it was done, and nothing wrong was found"
        case .failed:
            "it could not be done, or something wrong was found; stderr or the output says what"
        case .usage: "the words of the command line were wrong; nothing was done"
        }
    }
}
