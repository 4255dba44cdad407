import DiarioCore
import DiarioSchema

extension ColumnReader {
    /// The columns of some fields of a type.
    @_lifetime(self: copy self)
    mutating func nextFields(
        _ fields: [PlannedField],
        ofType type: Int,
        _ rowCount: Int,
        _ texts: TextScope
    ) throws(FormatError) -> FieldColumns {
        let keys = KeyColumns(rowCount: rowCount)
        var found = FieldColumns(type: type, rowCount: rowCount, columns: [])
        for field in fields {
            let start = offset
            var column = try nextField(field, keys, texts)
            column.storedSize = offset - start
            found.columns.append(column)
        }
        return found
    }

    @_lifetime(self: copy self)
    private mutating func nextField(
        _ field: PlannedField,
        _ keys: KeyColumns,
        _ texts: TextScope
    ) throws(FormatError) -> FieldColumn {
        var scope = ColumnScope(keys)
        let rowCount = keys.rowCount
        let start = offset
        let mode = try nextByte()
        guard mode <= 2 else { throw .malformed(.presence, at: start) }
        guard mode > 0 else { return FieldColumn(field: field.index, present: [], values: .none) }
        if mode == 2 {
            let presence = try nextCodes(rowCount, below: 2, as: .presence, scope)
            let present = presence.rows { $0 == 1 }
            // There is one form for all and for none.
            guard !present.isEmpty, present.count < rowCount else {
                throw .malformed(.presence, at: start)
            }
            scope.present = present
        }
        let count = scope.present?.count ?? rowCount
        let (values, distinctCount) = try nextValues(field, count, scope, texts)
        let codes: [UInt32]? =
            switch values {
            case .codes(let codes): codes
            case .texts(let values): values.codes
            case .none, .integers, .numbers: nil
            }
        if let codes {
            keys.add(field.index, codes, present: scope.present, distinctCount: distinctCount)
        }
        return FieldColumn(field: field.index, present: scope.present, values: values)
    }

    /// The values, and how many different ones there are if they have codes.
    @_lifetime(self: copy self)
    private mutating func nextValues(
        _ field: PlannedField,
        _ count: Int,
        _ scope: ColumnScope,
        _ texts: TextScope
    ) throws(FormatError) -> (ColumnValues, Int) {
        let start = offset
        switch field.kind {
        case .string, .nested, .bytes, .uuid:
            let isText = field.kind == .string || field.kind == .nested
            let values = try nextTexts(
                count,
                isText: isText,
                mayBeShared: field.kind == .string,
                scope,
                texts
            )
            if field.kind == .uuid {
                for index in 0..<values.strings.count where values.strings.range(index).count != 16
                {
                    throw .malformed(.identifier, at: start)
                }
            }
            return (.texts(values), values.strings.count)
        case .boolean, .enumeration:
            let bound = field.kind == .boolean ? 2 : field.valueCount
            return (.codes(try nextCodes(count, below: bound, as: .enumIndex, scope)), bound)
        case .number:
            let scale = try nextByte()
            let integers = try nextIntegers(count, scope)
            return (.numbers(try Self.numbers(integers, scale: scale, at: start)), 0)
        case .integer: return (.integers(try nextIntegers(count, scope)), 0)
        case .date:
            let days = try nextIntegers(count, scope)
            guard Self.isWithin(CivilTime.daysMin...CivilTime.daysMax, days) else {
                throw .malformed(.date, at: start)
            }
            return (.integers(days), 0)
        case .dateTime:
            let times = try nextIntegers(count, scope)
            let range = CivilTime.millisecondsMin...CivilTime.millisecondsMax
            guard Self.isWithin(range, times) else { throw .malformed(.dateTime, at: start) }
            return (.integers(times), 0)
        }
    }

    private static func numbers(
        _ integers: [Int64],
        scale: UInt8,
        at offset: Int
    ) throws(FormatError) -> [Double] {
        guard scale == Decimals.none else {
            guard scale <= Decimals.scaleMax else { throw .malformed(.number, at: offset) }
            // A quotient of an integer is finite, and zero has no sign.
            let power = Decimals.powers[Int(scale)]
            return integers.map { Double($0) / power }
        }
        let numbers = integers.map { Double(bitPattern: UInt64(bitPattern: $0)) }
        for value in numbers where !value.isFinite || value == 0 && value.sign == .minus {
            throw .malformed(.number, at: offset)
        }
        return numbers
    }
}
