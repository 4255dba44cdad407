/// A file of a pack, in memory; how it came there is the caller's business.
package struct PackFile: Equatable, Sendable {
    /// Relative to the pack's folder, with `/` between the parts: `events/report.filed.1.json`.
    package let path: String
    package let bytes: [UInt8]

    package init(path: String, bytes: [UInt8]) {
        self.path = path
        self.bytes = bytes
    }

    /// True for what a space adopts; examples and the text for readers stay with their authors.
    package var isAdopted: Bool {
        !path.utf8.starts(with: PackReader.examplesFolder.utf8) && path != PackReader.readmePath
    }
}

/// One thing that is wrong with a pack.
package struct PackProblem: Equatable, Sendable {
    /// The file as `PackFile.path` has it.
    package let file: String
    /// Counted from 1; nil for the whole file or its name.
    package let line: Int?
    /// The stable name of the rule, in kebab case.
    package let rule: String
    /// What is wrong, and how to correct it.
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

/// The problems of one file while it is read, up to as many as help.
struct ProblemList {
    private(set) var problems: [PackProblem] = []
    private let file: String

    private static let countMax = 100

    init(file: String) { self.file = file }

    /// True if further problems are dropped, so that finding their remedies is in vain.
    var isFull: Bool { problems.count >= Self.countMax }

    mutating func add(_ line: Int?, _ rule: String, _ message: String) {
        guard !isFull else { return }
        problems.append(PackProblem(file: file, line: line, rule: rule, message: message))
    }

    /// Adds that `name` is wrong, with the one of `names` that was probably meant, or `remedy`.
    mutating func add(
        _ line: Int?,
        _ rule: String,
        _ message: String,
        misspelt name: String,
        among names: [String],
        remedy: String
    ) {
        guard !isFull else { return }
        let nearest = NearestName.find(name, in: names)
        add(line, rule, "\(message); " + (nearest.map { "did you mean \($0)?" } ?? remedy))
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
