import DiarioSchema

/// Looks at what an upcast gives, as far as that shows without an event.
struct UpcastCheck {
    private let upcast: Upcast
    private let type: EventType
    private let pack: Pack

    init(_ upcast: Upcast, to type: EventType, _ pack: Pack) {
        self.upcast = upcast
        self.type = type
        self.pack = pack
    }

    private func problem(_ rule: String, _ message: String, line: Int? = nil) -> PackProblem {
        PackProblem(
            file: upcast.file,
            line: line ?? upcast.statement.line,
            rule: rule,
            message: message
        )
    }

    /// `columns` are the names that SQLite gives to the columns of its result.
    func problems(columns names: [String]) -> [PackProblem] {
        let problems = nameProblems(names)
        let select: SQLSelect
        do throws(SQLSyntaxFault) {
            guard case .select(let found) = try SQLParser.parse(upcast.statement) else {
                return problems
            }
            select = found
        } catch {
            return problems + [problem("sql-form", error.message, line: error.line)]
        }
        guard select.cores.count == 1, let core = select.cores.first, core.condition == nil,
            core.groups.isEmpty, core.having == nil, core.sources.isEmpty
        else {
            return problems + [
                problem("upcast-statement", "an upcast gives one row for each event; SELECT alone")
            ]
        }
        let review = StatementReview([])
        if let old = pack.types.first(where: { $0.name == type.name && $0.version == upcast.from })
        {
            for field in old.fields { review.parameters[field.name] = Trait(field, of: old) }
        }
        review.isReporting = true
        let outputs = review.review(select, Scope())
        let found = review.takeProblems().map {
            problem($0.rule, $0.message, line: max(upcast.statement.line, $0.line))
        }
        return problems + found + valueProblems(names, outputs.map(\.trait), core)
    }

    private func nameProblems(_ names: [String]) -> [PackProblem] {
        var problems: [PackProblem] = []
        for (index, name) in names.enumerated() {
            if type.fieldIndex(name) == nil {
                problems.append(
                    problem(
                        "unknown-field",
                        "\(type.name) version \(type.version) has no field \(name); name each "
                            + "column after a field, with AS"
                    )
                )
            } else if names[..<index].contains(name) {
                problems.append(problem("upcast-field", "the field \(name) is there twice"))
            }
        }
        for field in type.fields where field.isRequired && !names.contains(field.name) {
            problems.append(
                problem(
                    "upcast-field",
                    "version \(type.version) needs the field \(field.name), and the upcast leaves "
                        + "it out"
                )
            )
        }
        return problems
    }

    private func valueProblems(
        _ names: [String],
        _ traits: [Trait],
        _ core: SQLSelect.Core
    ) -> [PackProblem] {
        var problems: [PackProblem] = []
        for (place, (name, trait)) in zip(names, traits).enumerated() {
            guard let index = type.fieldIndex(name) else { continue }
            let field = type.fields[index]
            let line =
                core.columns.indices.contains(place)
                ? core.columns[place].expression?.line : nil
            var wanted = Trait(field, of: type).kinds
            if wanted == .real { wanted.insert(.integer) }
            if trait.kinds.isEmpty, field.isRequired {
                problems.append(
                    problem(
                        "upcast-field",
                        "the field \(name) is needed, and NULL here",
                        line: line
                    )
                )
            } else if !trait.kinds.isEmpty, trait.kinds.isDisjoint(with: wanted) {
                problems.append(
                    problem(
                        "upcast-field",
                        "the field \(name) takes no value of this kind; schema/README.md says what "
                            + "each is in SQL",
                        line: line
                    )
                )
            }
            if trait.isPersonal, !field.isPersonal {
                problems.append(
                    problem(
                        "upcast-personal",
                        "the field \(name) is made of what is personal and can be erased; mark it "
                            + "x-diario-personal as well",
                        line: line
                    )
                )
            }
        }
        return problems
    }
}
