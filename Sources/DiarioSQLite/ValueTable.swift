import CSQLite
import Synchronization

/// Columns of values for many rows, laid out so that they are bound to statements without a copy.
///
/// A column has values of one kind; rows without one are NULL. The table owns the memory of texts,
/// and nothing in it changes once a column is set.
@safe package final class ValueTable {
    fileprivate enum Kind { case none, integers, reals, texts, blobs }

    // Its pointers are used by the table alone.
    @safe fileprivate struct Column {
        var kind = Kind.none
        var rowCount = 0
        /// Of integers and reals: their bits.
        var numbers: UnsafeMutablePointer<Int64>?
        /// Of integers and reals: 0 for NULL; nil if all rows have a value.
        var presence: UnsafeMutablePointer<UInt8>?
        /// Of texts and blobs: 0 for NULL, else 1 more than the number of the text.
        var codes: UnsafeMutablePointer<UInt32>?
        /// The start of each text, and after these the end of the last one.
        var bounds: UnsafeMutablePointer<UInt32>?
        var bytes: UnsafeMutablePointer<UInt8>?
    }

    // Each pointer comes from `allocate`, is set once, and is freed by `deinit`.
    private let columns: UnsafeMutablePointer<Column>
    private let columnCount: Int

    /// A table whose columns are all NULL.
    package init(columnCount: Int) {
        self.columnCount = columnCount
        unsafe columns = .allocate(capacity: max(1, columnCount))
        unsafe columns.initialize(repeating: Column(), count: columnCount)
    }

    deinit {
        // Safe: these are all that was allocated; what was never set is nil.
        for index in 0..<columnCount {
            unsafe columns[index].numbers?.deallocate()
            unsafe columns[index].presence?.deallocate()
            unsafe columns[index].codes?.deallocate()
            unsafe columns[index].bounds?.deallocate()
            unsafe columns[index].bytes?.deallocate()
        }
        unsafe columns.deallocate()
    }

    // MARK: Setting

    /// Sets a column of integers; `rows` have the values, or all rows if nil.
    package func set(
        _ column: Int,
        integers values: Span<Int64>,
        rows: [Int32]?,
        of rowCount: Int
    ) {
        setNumbers(column, .integers, values, rows, rowCount)
    }

    /// Sets a column of reals; `rows` have the values, or all rows if nil.
    package func set(
        _ column: Int,
        reals values: Span<Double>,
        rows: [Int32]?,
        of rowCount: Int
    ) {
        var bits: [Int64] = []
        bits.reserveCapacity(values.count)
        for index in values.indices { bits.append(Int64(bitPattern: values[index].bitPattern)) }
        setNumbers(column, .reals, bits.span, rows, rowCount)
    }

    private func setNumbers(
        _ column: Int,
        _ kind: Kind,
        _ values: Span<Int64>,
        _ rows: [Int32]?,
        _ rowCount: Int
    ) {
        checkUnset(column)
        var made = unsafe Column(kind: kind, rowCount: rowCount)
        // Safe: as many as there are rows are written, by index.
        let numbers = UnsafeMutablePointer<Int64>.allocate(capacity: max(1, rowCount))
        if let rows {
            precondition(rows.count == values.count, "each of these rows has a value")
            let presence = UnsafeMutablePointer<UInt8>.allocate(capacity: max(1, rowCount))
            unsafe presence.initialize(repeating: 0, count: rowCount)
            unsafe numbers.initialize(repeating: 0, count: rowCount)
            for (index, row) in rows.enumerated() {
                let row = Self.checked(Int(row), below: rowCount)
                unsafe numbers[row] = values[index]
                unsafe presence[row] = 1
            }
            unsafe made.presence = presence
        } else {
            precondition(rowCount == values.count, "each row has a value")
            for row in values.indices { unsafe (numbers + row).initialize(to: values[row]) }
        }
        unsafe made.numbers = numbers
        unsafe columns[column] = made
    }

    /// Sets a column of texts, or of blobs.
    ///
    /// Text `n` lies in `bytes` from `bounds[n]` to `bounds[n + 1]`. Value `n` is the text
    /// `codes[n]`, or text `n` without codes. `rows` have the values, or all rows if nil.
    package func set(
        _ column: Int,
        _ bytes: Span<UInt8>,
        _ bounds: Span<UInt32>,
        codes: [UInt32]?,
        rows: [Int32]?,
        of rowCount: Int,
        areBlobs: Bool = false
    ) {
        checkUnset(column)
        let textCount = bounds.count - 1
        let valueCount = codes?.count ?? textCount
        precondition(valueCount == rows?.count ?? rowCount, "each of these rows has a value")
        var made = unsafe Column(kind: areBlobs ? .blobs : .texts, rowCount: rowCount)
        // Safe: what is allocated is written whole; a text is bound only between bounds that were
        // checked here.
        let places = UnsafeMutablePointer<UInt32>.allocate(capacity: bounds.count)
        var last: UInt32 = 0
        for index in bounds.indices {
            let bound = bounds[index]
            precondition(last <= bound && Int(bound) <= bytes.count, "texts lie in the bytes")
            unsafe (places + index).initialize(to: bound)
            last = bound
        }
        let content = UnsafeMutablePointer<UInt8>.allocate(capacity: max(1, bytes.count))
        unsafe bytes.withUnsafeBufferPointer { bytes in
            guard let source = bytes.baseAddress else { return }
            unsafe content.initialize(from: source, count: bytes.count)
        }
        let numbers = UnsafeMutablePointer<UInt32>.allocate(capacity: max(1, rowCount))
        unsafe numbers.initialize(repeating: 0, count: rowCount)
        for value in 0..<valueCount {
            let row = Self.checked(rows.map { Int($0[value]) } ?? value, below: rowCount)
            let text = Self.checked(codes.map { Int($0[value]) } ?? value, below: textCount)
            unsafe numbers[row] = UInt32(text) + 1
        }
        unsafe made.codes = numbers
        unsafe made.bounds = places
        unsafe made.bytes = content
        unsafe columns[column] = made
    }

    private func checkUnset(_ column: Int) {
        precondition(0..<columnCount ~= column, "a column of the table is set")
        precondition(unsafe columns[column].kind == .none, "a column is set once")
    }

    @inline(__always)
    private static func checked(_ index: Int, below count: Int) -> Int {
        precondition(index >= 0 && index < count, "rows and texts are counted from 0")
        return index
    }

    // MARK: Binding

    /// Binds the value of a row to the parameter at `index` (from 1) of a statement.
    ///
    /// Texts and blobs are not copied: the statement must be run, or bound again, before the table
    /// goes.
    @unsafe
    package func bind(
        _ column: Int,
        row: Int,
        to statement: borrowing Statement,
        at index: Int
    ) throws(SQLiteError) {
        statement.parameters.binding = 0
        var bound = BoundValue()
        let code = unsafe self.column(column).bind(
            row,
            to: statement.handle,
            Int32(truncatingIfNeeded: index),
            &bound
        )
        try statement.check(code)
    }

    /// A column as its table's owner sees it.
    fileprivate func column(_ column: Int) -> Column {
        precondition(column >= 0 && column < columnCount, "a column of the table is bound")
        return unsafe columns[column]
    }
}

/// The last value of a parameter, as its column has it.
private struct BoundValue {
    enum Kind { case unknown, null, value, valueOfOther }

    var kind = Kind.unknown
    /// The bits of a number, or the code of a text.
    var bits: Int64 = 0

    /// Notes another value; false if it is the one that is there.
    @inline(__always)
    mutating func change(to kind: Kind, _ bits: Int64) -> Bool {
        if self.bits == bits, self.kind == kind { return false }
        self.kind = kind
        self.bits = bits
        return true
    }
}

extension ValueTable.Column {
    /// Sets a parameter to the value of a row, if it is not set to that; gives the library's code.
    @unsafe
    @inline(__always)
    fileprivate func bind(
        _ row: Int,
        to statement: OpaquePointer,
        _ parameter: Int32,
        _ bound: inout BoundValue,
        as valueKind: BoundValue.Kind = .value
    ) -> Int32 {
        precondition(kind == .none || row >= 0 && row < rowCount, "a row of the table is bound")
        // Safe: the row is one of the column's, and what the pointers lead to lives as long as
        // the table.
        if let numbers = unsafe numbers, unsafe presence.map({ unsafe $0[row] != 0 }) ?? true {
            let value = unsafe numbers[row]
            guard bound.change(to: valueKind, value) else { return SQLITE_OK }
            guard kind == .reals else {
                return unsafe sqlite3_bind_int64(statement, parameter, value)
            }
            let real = Double(bitPattern: UInt64(bitPattern: value))
            return unsafe sqlite3_bind_double(statement, parameter, real)
        }
        guard let codes = unsafe codes, let bounds = unsafe bounds, let bytes = unsafe bytes,
            case let code = unsafe codes[row], code > 0
        else {
            guard bound.change(to: .null, 0) else { return SQLITE_OK }
            return unsafe sqlite3_bind_null(statement, parameter)
        }
        guard bound.change(to: valueKind, Int64(code)) else { return SQLITE_OK }
        let start = Int(unsafe bounds[Int(code) - 1])
        let size = Int32(truncatingIfNeeded: Int(unsafe bounds[Int(code)]) - start)
        return kind == .texts
            ? unsafe diario_sqlite_bind_lent_text(statement, parameter, bytes + start, size)
            : unsafe diario_sqlite_bind_lent_blob(statement, parameter, bytes + start, size)
    }
}

/// Binds the parameters of a statement to rows of two tables, which it keeps.
@safe package final class RowBinding {
    /// The source of a parameter's value.
    package enum Source {
        case nothing
        case integer(Int64)
        /// A column of the first table.
        case own(Int)
        /// A column of the second table.
        case common(Int)
        /// A column of the first table where the mark of the row is not 0, else another one.
        case ownIf([UInt8], Int, else: Int)
    }

    private enum Kind { case nothing, integer, own, common, ownIf }

    @safe private struct Step {
        var kind = Kind.nothing
        var value: Int64 = 0
        var column = ValueTable.Column()
        var other = ValueTable.Column()
        var marks = 0
        var bound = BoundValue()
    }

    private static let lastNumber = Atomic<UInt64>(0)

    // Comes from `allocate`, and is freed by `deinit`; the tables that steps lead to are kept.
    private let steps: UnsafeMutablePointer<Step>
    private let count: Int
    private let own: ValueTable
    private let common: ValueTable
    private var marks: [[UInt8]] = []
    /// Which of all there ever were this is.
    private let number = lastNumber.add(1, ordering: .relaxed).newValue

    package init(_ sources: [Source], _ own: ValueTable, _ common: ValueTable) {
        self.own = own
        self.common = common
        count = sources.count
        unsafe steps = .allocate(capacity: max(1, sources.count))
        for (index, source) in sources.enumerated() {
            var step = Step()
            switch source {
            case .nothing: break
            case .integer(let value):
                step.kind = .integer
                step.value = value
            case .own(let column):
                step.kind = .own
                step.column = own.column(column)
            case .common(let column):
                step.kind = .common
                step.column = common.column(column)
            case .ownIf(let marks, let column, let other):
                step.kind = .ownIf
                step.column = own.column(column)
                step.other = own.column(other)
                step.marks = self.marks.count
                self.marks.append(marks)
            }
            // Safe: the index is below the capacity.
            unsafe (steps + index).initialize(to: step)
        }
    }

    deinit { unsafe steps.deallocate() }

    /// Binds the parameters, in order, to values of a row of each table, and runs the statement to
    /// its end.
    ///
    /// A parameter that has its value from the run before is not bound again.
    @inline(__always)
    package func run(
        _ statement: borrowing Statement,
        own row: Int,
        common other: Int
    ) throws(SQLiteError) {
        let handle = unsafe statement.handle
        if statement.parameters.binding != number {
            for index in 0..<count { unsafe steps[index].bound.kind = .unknown }
            statement.parameters.binding = number
        }
        var fault = SQLITE_OK
        for index in 0..<count {
            let parameter = Int32(truncatingIfNeeded: index + 1)
            // Safe: the index is below the count, the tables are kept, and the statement has run
            // when this returns.
            let step = unsafe steps + index
            switch unsafe step.pointee.kind {
            case .nothing:
                if unsafe step.pointee.bound.change(to: .null, 0) {
                    fault |= unsafe sqlite3_bind_null(handle, parameter)
                }
            case .integer:
                let value = unsafe step.pointee.value
                if unsafe step.pointee.bound.change(to: .value, value) {
                    fault |= unsafe sqlite3_bind_int64(handle, parameter, value)
                }
            case .own:
                fault |= unsafe step.pointee.column.bind(
                    row,
                    to: handle,
                    parameter,
                    &step.pointee.bound
                )
            case .common:
                fault |= unsafe step.pointee.column.bind(
                    other,
                    to: handle,
                    parameter,
                    &step.pointee.bound
                )
            case .ownIf:
                fault |=
                    marks[unsafe step.pointee.marks][row] != 0
                    ? unsafe step.pointee.column.bind(
                        row,
                        to: handle,
                        parameter,
                        &step.pointee.bound
                    )
                    : unsafe step.pointee.other.bind(
                        row,
                        to: handle,
                        parameter,
                        &step.pointee.bound,
                        as: .valueOfOther
                    )
            }
        }
        guard fault == SQLITE_OK else {
            statement.parameters.binding = 0
            return try statement.check(fault)
        }
        try statement.run()
    }
}
