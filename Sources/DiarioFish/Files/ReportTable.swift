package import DiarioCore

/// The reports of an export, row by row: the columns of the old app, or these and all others.
package struct ReportTable: Sendable {
    package let columns: [ReportColumn]
    private let unit: Fish.Unit
    /// Where the values of each column are in a row of the query `export`.
    private let indices: [Int?]

    /// A table of what the query `export` answers.
    package init(_ queryColumns: [String], isOld: Bool, unit: Fish.Unit) {
        columns = isOld ? ReportColumn.old : ReportColumn.allCases
        self.unit = unit
        indices = columns.map { column in
            let name = column == .detectedSize ? "lengthUm" : column.fieldName
            return queryColumns.firstIndex { $0.hasBytes(of: name) }
        }
    }

    /// The cells of a row; those of the old app's columns are texts, and never absent.
    package func cells(_ values: [SQLValue]) -> [SQLValue] {
        zip(columns, indices).map { column, index in
            let value = index.map { values[$0] } ?? .null
            switch column {
            case .detectedSize:
                guard case .integer(let length) = value else { return .text("") }
                return .text(unit.text(um: length))
            case .origin:
                return .text(text(value).flatMap { Fish.Origin(rawValue: $0) }?.oldName ?? "")
            case .production:
                return .text(text(value).flatMap { Fish.Production(rawValue: $0) }?.oldName ?? "")
            case .idFish, .fishName, .eligibilitySize, .eligibilityDate, .townReport:
                return .text(text(value) ?? "")
            case .unit: return .text(unit.rawValue)
            default: return value
            }
        }
    }

    private func text(_ value: SQLValue) -> String? {
        switch value {
        case .text(let text): text
        case .integer(let number): "\(number)"
        default: nil
        }
    }
}
