/// Reads an upcast of `events/`.
struct UpcastReader {
    private let file: PackFile
    private(set) var problems: ProblemList

    init(_ file: PackFile) {
        self.file = file
        problems = ProblemList(file: file.path)
    }

    /// Valid only if there are no problems; `to` is checked when it is prepared.
    mutating func read(from: EventType, to: EventType) -> Upcast? {
        var reader = SQLSectionReader(file.bytes, file: file.path)
        let sections = reader.read(needsHeading: false) { _ in false }
        problems = reader.problems
        guard let section = sections.first, let statement = section.statements.first,
            section.statements.count == 1,
            statement.head.first == "SELECT"
        else {
            problems.add(
                sections.first?.statements.first?.line ?? 1,
                "upcast-statement",
                "an upcast is one SELECT from the old fields to the new ones"
            )
            return nil
        }
        for parameter in statement.parameters
        where !from.fields.contains(where: { $0.name == parameter.name }) {
            problems.add(
                parameter.line,
                "unknown-field",
                "\(from.name) version \(from.version) has no field \(parameter.name)",
                misspelt: parameter.name,
                among: from.fields.map { $0.name },
                remedy: "only its own fields are known here"
            )
        }
        return Upcast(
            type: from.name,
            from: from.version,
            to: to.version,
            file: file.path,
            statement: statement
        )
    }
}
