import DiarioSchema

/// Prints events: as JSON, as a table on a terminal, or as lines with tabs in a pipe.
struct EventPrinter {
    private enum Form { case json, table, tabs }

    private let output: Output
    private let form: Form
    private var table: TablePrinter
    private let namesOrigins: Bool

    /// With `namesOrigins` a table shows origins in the place of positions.
    init(_ output: Output, isJSON: Bool, namesOrigins: Bool) {
        self.output = output
        self.namesOrigins = namesOrigins
        form = isJSON ? .json : output.isTerminal ? .table : .tabs
        table = TablePrinter(
            [
                Table.Column(
                    namesOrigins ? "ORIGIN" : "POSITION",
                    isRight: !namesOrigins,
                    widthMin: 8
                ),
                Table.Column("AT (UTC)", widthMin: 19), Table.Column("TYPE", widthMin: 17),
                Table.Column("SUBJECT", widthMin: 8), Table.Column("ACTOR", widthMin: 5),
                Table.Column("PAYLOAD", widthMin: 8),
            ],
            on: output,
            isBold: true
        )
    }

    mutating func print(_ line: EventLine) throws {
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
            try table.add([
                namesOrigins ? fields.origin : fields.position, fields.shortTime, fields.type,
                fields.subject, fields.actor, fields.payload,
            ])
        }
    }

    /// Shows what was printed so far.
    mutating func flush() throws {
        try table.finish()
        try output.flush()
    }
}
