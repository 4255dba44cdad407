import DiarioSchema

/// Prints events: as JSON, as a table on a terminal, or as lines with tabs in a pipe.
struct EventPrinter {
    private let output: Output
    private let form: Form
    private var table: Table?
    /// Rows of a table that wait until it is known how wide its columns are.
    private var waiting: [[String]] = []
    private let namesOrigins: Bool

    enum Form {
        case json
        case table
        case tabs
    }

    private static let fittedCount = 200

    /// With `namesOrigins` a table shows origins in the place of positions.
    init(_ output: Output, isJSON: Bool, namesOrigins: Bool) {
        self.output = output
        self.namesOrigins = namesOrigins
        form = isJSON ? .json : output.isTerminal ? .table : .tabs
    }

    mutating func print(_ line: EventLine) throws(Failure) {
        let fields = EventFields(line)
        switch form {
        case .json:
            try output.append {
                EventLineWriter.append(line, to: &$0)
                $0.append(0x0a)
            }
        case .tabs:
            let cells = [
                fields.position, fields.origin, fields.acceptedAt, fields.at, fields.type,
                fields.version, fields.subject, fields.actor, fields.payload,
            ]
            try output.line(cells.joined(separator: "\t"))
        case .table:
            let name = namesOrigins ? fields.origin : fields.position
            let row = [
                name, fields.shortTime, fields.type, fields.subject, fields.actor, fields.payload,
            ]
            guard let table else {
                waiting.append(row)
                if waiting.count >= Self.fittedCount { try flush() }
                return
            }
            try output.line(table.line(row))
        }
    }

    /// Shows what was printed so far.
    mutating func flush() throws(Failure) {
        if !waiting.isEmpty {
            var table = Table(columns, width: output.width)
            table.fit(waiting)
            try output.line(Self.bold(table.heading))
            for row in waiting { try output.line(table.line(row)) }
            waiting.removeAll()
            self.table = table
        }
        try output.flush()
    }

    private var columns: [Table.Column] {
        [
            Table.Column(namesOrigins ? "ORIGIN" : "POSITION", isRight: !namesOrigins, widthMin: 8),
            Table.Column("AT (UTC)", widthMin: 19),
            Table.Column("TYPE", widthMin: 17),
            Table.Column("SUBJECT", widthMin: 8),
            Table.Column("ACTOR", widthMin: 5),
            Table.Column("PAYLOAD", widthMin: 8),
        ]
    }

    private static func bold(_ text: String) -> String {
        let isDumb = EnvironmentVariable.terminal.value == "dumb"
        return EnvironmentVariable.noColor.isSet || isDumb ? text : "\u{1b}[1m\(text)\u{1b}[0m"
    }
}
