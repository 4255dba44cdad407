/// What a benchmark found, as a table for people or as one JSON object for programs.
struct Report: Sendable {
    let benchmark: String
    /// How it was measured: counts, seed, sizes.
    let settings: [(name: String, value: String)]
    var measurements: [Measurement] = []

    func show(asJSON: Bool) {
        System.say(asJSON ? json : table, to: System.standardOutput)
    }

    private var table: String {
        let machine = Machine.current
        var text =
            "\(benchmark): \(settings.map { "\($0.name) \($0.value)" }.joined(separator: ", "))"
        text += "\n\(machine.cores) x \(machine.processor), \(machine.system), \(machine.date)\n\n"
        var rows = [
            ["measured", "unit", "ours", "baseline", "ratio", "min", "max", "goal", "met"]
        ]
        for measurement in measurements { rows.append(row(measurement)) }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        for row in rows {
            let cells = row.enumerated().map { column, cell in
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                return column < 2 ? cell + padding : padding + cell
            }
            text += cells.joined(separator: "  ") + "\n"
        }
        for measurement in measurements where !measurement.figures.isEmpty {
            text += "\n\(measurement.name):"
            for figure in measurement.figures {
                text += "\n  \(figure.name) \(number(figure.spread.median))"
                text += " (\(number(figure.spread.min)) to \(number(figure.spread.max)))"
            }
            text += "\n"
        }
        return text
    }

    private func row(_ measurement: Measurement) -> [String] {
        let isRatio = measurement.baseline != nil
        let met = measurement.isMet.map { $0 ? "yes" : "NO" } ?? "-"
        return [
            measurement.name, measurement.unit, number(measurement.ours.median),
            measurement.baseline.map { number($0.median) } ?? "-",
            isRatio ? number(measurement.judged.median) : "-",
            number(measurement.judged.min), number(measurement.judged.max),
            measurement.goal.text, met,
        ]
    }

    private var json: String {
        let machine = Machine.current
        let head = [
            ("benchmark", quoted(benchmark)), ("cores", "\(machine.cores)"),
            ("processor", quoted(machine.processor)), ("system", quoted(machine.system)),
            ("date", quoted(machine.date)),
        ]
        let body = measurements.map { measurement in
            var members = [
                ("name", quoted(measurement.name)), ("unit", quoted(measurement.unit)),
                ("ours", json(measurement.ours)),
            ]
            if let baseline = measurement.baseline {
                members.append(("baseline", json(baseline)))
                members.append(("ratio", json(measurement.judged)))
            }
            members.append(("goal", quoted(measurement.goal.text)))
            if let isMet = measurement.isMet { members.append(("met", "\(isMet)")) }
            members += measurement.figures.map { ($0.name, json($0.spread)) }
            return object(members)
        }
        let settings = object(settings.map { ($0.name, quoted($0.value)) })
        let list = "[" + body.joined(separator: ",") + "]"
        return object(head + [("settings", settings), ("measurements", list)]) + "\n"
    }

    private func json(_ spread: Spread) -> String {
        object([
            ("median", "\(spread.median)"), ("min", "\(spread.min)"), ("max", "\(spread.max)"),
        ])
    }

    private func object(_ members: [(String, String)]) -> String {
        "{" + members.map { quoted($0.0) + ":" + $0.1 }.joined(separator: ",") + "}"
    }

    private func quoted(_ text: String) -> String {
        let escaped = text.flatMap { character -> [Character] in
            switch character {
            case "\"", "\\": ["\\", character]
            case "\n": ["\\", "n"]
            default: [character]
            }
        }
        return "\"" + String(escaped) + "\""
    }
}
