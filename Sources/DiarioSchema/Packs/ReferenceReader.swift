/// Reads a file of reference data and checks each row as a payload of its type.
struct ReferenceReader {
    let file: String
    let type: EventType
    private(set) var problems: ProblemList
    private var payloadReader = PayloadReader()

    init(file: String, type: EventType) {
        self.file = file
        problems = ProblemList(file: file)
        self.type = type
    }

    private mutating func problem(_ line: Int?, _ rule: String, _ message: String) {
        problems.add(line, rule, message)
    }

    /// The rows; valid only if there are no problems.
    mutating func read(_ bytes: [UInt8]) -> ReferenceTable? {
        var reader = CSVReader(bytes)
        do {
            guard let header = try reader.next() else {
                problem(nil, "csv-header", "the file is empty; write the names of fields first")
                return nil
            }
            guard let columns = readHeader(header) else { return nil }
            var rows: [ReferenceTable.Row] = []
            while !problems.isFull {
                let line = reader.line
                guard let cells = try reader.next() else { break }
                guard cells.count == columns.count else {
                    problem(
                        line,
                        "csv-columns",
                        "\(cells.count) cells under \(columns.count) names; put a cell with commas "
                            + "in quotes"
                    )
                    continue
                }
                if let payload = readRow(cells, columns: columns, line: line) {
                    rows.append(ReferenceTable.Row(line: line, payload: payload))
                }
            }
            return ReferenceTable(path: file, type: type, rows: rows)
        } catch {
            problem(error.line, "csv", error.message)
            return nil
        }
    }

    /// The field of each column.
    private mutating func readHeader(_ header: [[UInt8]]) -> [Int]? {
        var columns: [Int] = []
        for cell in header {
            let name = String(decoding: cell, as: UTF8.self)
            guard let index = type.fields.firstIndex(where: { $0.nameBytes == cell }) else {
                problems.add(
                    1,
                    "csv-header",
                    "\(type.name) has no field \(name)",
                    misspelt: name,
                    among: type.fields.map({ $0.name }),
                    remedy: "remove the column"
                )
                return nil
            }
            guard !columns.contains(index) else {
                problem(1, "csv-header", "the column \(name) is there twice; remove one")
                return nil
            }
            columns.append(index)
        }
        return columns
    }

    /// Writes the row as JSON, and lets the reader of payloads check that.
    private mutating func readRow(_ cells: [[UInt8]], columns: [Int], line: Int) -> Payload? {
        var json: [UInt8] = [0x7b]
        for (cell, column) in zip(cells, columns) where !cell.isEmpty {
            let field = type.fields[column]
            if json.count > 1 { json.append(0x2c) }
            JSONWriter.appendString(field.name, to: &json)
            json.append(0x3a)
            switch field.kind {
            case .string, .enumeration, .date, .dateTime, .uuid, .bytes:
                JSONWriter.appendString(cell.span, to: &json)
            case .integer, .number, .boolean, .nested:
                // A cell that is no JSON value by itself could smuggle in other fields.
                guard (try? JSON.parse(cell)) != nil else {
                    let text = FaultPlace.shortened(String(decoding: cell, as: UTF8.self))
                    problem(
                        line,
                        "csv-value",
                        "\(type.name): field \(field.name): \(text) is no JSON; write the value as "
                            + "JSON would"
                    )
                    return nil
                }
                json += cell
            }
        }
        json.append(0x7d)
        var payload = Payload()
        do {
            try payloadReader.read(json.span, as: type, into: &payload)
            return payload
        } catch {
            problem(line, error.rule, error.message)
            return nil
        }
    }
}
