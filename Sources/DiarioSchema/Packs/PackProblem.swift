/// A file of a pack, in memory; how it came there is the caller's business.
package struct PackFile: Equatable, Sendable {
    /// Relative to the pack's folder, with `/` between the parts: `events/report.filed.1.json`.
    package let path: String
    package let bytes: [UInt8]

    package init(path: String, bytes: [UInt8]) {
        self.path = path
        self.bytes = bytes
    }
}

/// One thing that is wrong with a pack.
package struct PackProblem: Equatable, Sendable {
    /// The file as `PackFile.path` has it.
    package let file: String
    /// Counted from 1; nil where the whole file or its name is meant.
    package let line: Int?
    /// The stable name of the rule, in kebab case.
    package let rule: String
    /// What is wrong and what to do.
    package let message: String

    package init(file: String, line: Int?, rule: String, message: String) {
        self.file = file
        self.line = line
        self.rule = rule
        self.message = message
    }
}

extension PackProblem: CustomStringConvertible {
    package var description: String {
        if let line {
            "\(file):\(line): \(message) [\(rule)]"
        } else {
            "\(file): \(message) [\(rule)]"
        }
    }
}

/// Why a pack cannot be used: everything that is wrong with it, and at least one thing.
package struct PackError: Error, Equatable, Sendable {
    package let problems: [PackProblem]

    package init(_ problems: [PackProblem]) {
        precondition(!problems.isEmpty, "an error has a reason")
        self.problems = problems
    }
}
