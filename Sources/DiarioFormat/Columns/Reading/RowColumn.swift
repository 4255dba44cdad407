import DiarioSchema

/// The values of one field, as the rows of its block need them one after the other.
struct RowColumn {
    private enum Form {
        case none
        case varint
        case zigzag
        case number
        case text
        /// Texts of one size, without their length.
        case fixed
    }

    private let form: Form
    private let present: [Int32]?
    // One of them has the values: not in the enum, where reading each would count references.
    private var integers: [Int64] = []
    private var codes: [UInt32]?
    private var numbers: [Double] = []
    private var strings = ByteStrings()
    /// The value that comes next.
    private var next = 0

    init(_ column: FieldColumn, _ kind: Field.Kind) {
        present = column.present
        switch column.values {
        case .none: form = .none
        case .integers(let values):
            form = .zigzag
            integers = values
        case .codes(let values):
            form = .varint
            codes = values
        case .numbers(let values):
            form = .number
            numbers = values
        case .texts(let values):
            form = kind == .uuid ? .fixed : .text
            codes = values.codes
            strings = values.strings
        }
    }

    /// Goes to the first value of a row or of those after it.
    mutating func seek(_ row: Int) { next = present?.firstPlace(notBefore: row) ?? row }

    /// Appends the value of a row; false if it has none.
    ///
    /// Rows come in order from the one that was sought.
    mutating func append(of row: Int, to output: inout RowOutput) -> Bool {
        if let present {
            guard next < present.count, Int(present[next]) == row else { return false }
        }
        let value = next
        next += 1
        switch form {
        case .none: return false
        case .varint: output.append(varint: UInt64(codes?[value] ?? 0))
        case .zigzag: output.append(varint: Varint.zigzag(integers[value]))
        case .number: output.append(littleEndian: numbers[value].bitPattern)
        case .text, .fixed:
            let range = strings.range(codes.map { Int($0[value]) } ?? value)
            if form == .text { output.append(varint: UInt64(range.count)) }
            output.append(strings.bytes.span, range)
        }
        return true
    }
}
