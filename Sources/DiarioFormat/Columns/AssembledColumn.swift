import DiarioSchema

/// The values of one field, and how far they were put into rows.
///
/// A window's rows are gone through twice: once for what each value takes, and once to write it.
/// Both count by the same rules, so that the second keeps to the room that the first asked for.
struct AssembledColumn {
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
    /// The value that the arrays begin with.
    private let firstValue: Int
    private var integers: [Int64] = []
    private var codes: [UInt32] = []
    private var numbers: [Double] = []
    private var texts = TextValues(codes: nil, strings: ByteStrings())
    private var next = 0
    /// The values of the window at hand: the first, how many, and the row of each unless all have
    /// one.
    private var first = 0
    private var count = 0
    private var rows: [Int32] = []

    init(_ column: FieldColumn, _ kind: Field.Kind) {
        present = column.present
        firstValue = column.firstValue
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
            texts = values
        }
    }

    /// Goes to the first value of a row or of those after it.
    mutating func seek(_ row: Int) {
        next = present?.firstPlace(notBefore: row) ?? row
    }

    /// Finds the values of a window, and adds what they take to the sizes of its rows.
    mutating func addSizes(_ window: Range<Int>, to sizes: inout [Int]) {
        precondition(sizes.count == window.count, "each row of the window has a size")
        let start = next
        if let present {
            rows.removeAll(keepingCapacity: true)
            let source = present.span
            let firstRow = Int32(truncatingIfNeeded: window.lowerBound)
            while next < source.count, Int(source[next]) < window.upperBound {
                rows.append(source[next] &- firstRow)
                next += 1
            }
        } else {
            next += window.count
        }
        count = next - start
        first = start - firstValue
        // Rows ascend, and the loop ends with those of the window.
        precondition(
            present == nil ? count == window.count : rows.first.map { $0 >= 0 } ?? true,
            "the values of a window are those of its rows"
        )
        guard count > 0, form != .none else { return }
        precondition(first >= 0, "values that were not asked for are not there")
        // Safe: rows are those of the window, which have a size each; the slices check that the
        // values are there.
        unsafe sizes.withUnsafeMutableBufferPointer { sizes in
            guard let sizes = sizes.baseAddress else { return }
            switch form {
            case .none: break
            case .varint:
                let values = codes.span.extracting(first..<first + count)
                unsafe each { row, index in
                    let value = UInt64(unsafe values[unchecked: index])
                    unsafe sizes[row] &+= Varint.size(value)
                }
            case .zigzag:
                let values = integers.span.extracting(first..<first + count)
                unsafe each { row, index in
                    let value = unsafe values[unchecked: index]
                    unsafe sizes[row] &+= Varint.size(Varint.zigzag(value))
                }
            case .number: unsafe each { row, _ in unsafe sizes[row] &+= 8 }
            case .text:
                unsafe eachText { row, _, size in
                    unsafe sizes[row] &+= Varint.size(UInt64(truncatingIfNeeded: size)) &+ size
                }
            case .fixed: unsafe eachText { row, _, size in unsafe sizes[row] &+= size }
            }
        }
    }

    /// Writes the values of the window, and sets the field's bit in each row that has one.
    ///
    /// `places` say where the next value of each row goes, `bounds` where it starts.
    ///
    /// Changes nothing here, but is called where the column lies: a copy counts references.
    mutating func write(
        _ field: Int,
        _ bounds: Span<Int>,
        _ places: inout [Int],
        into bytes: inout [UInt8]
    ) {
        guard count > 0, form != .none else { return }
        precondition(
            bounds.count == places.count + 1 && bounds[0] >= 0
                && bounds[places.count] <= bytes.count
                && (present == nil ? count <= places.count : Int(rows[count - 1]) < places.count),
            "rows lie between bounds, and values belong to rows"
        )
        // Safe: the bytes were made for what `addSizes` counted, value by value as here: the
        // values are those that were counted, and nothing of them can change meanwhile.
        unsafe bytes.withUnsafeMutableBufferPointer { bytes in
            unsafe places.withUnsafeMutableBufferPointer { places in
                guard let bytes = bytes.baseAddress, let places = places.baseAddress else { return }
                let bit = UInt8(1) << UInt8(field & 7)
                unsafe each { row, _ in
                    unsafe bytes[bounds[unchecked: row] &+ field &>> 3] |= bit
                }
                unsafe write(bytes, places)
            }
        }
    }

    @unsafe
    @inline(__always)
    private func write(_ bytes: UnsafeMutablePointer<UInt8>, _ places: UnsafeMutablePointer<Int>) {
        switch form {
        case .none: break
        case .varint:
            let values = codes.span.extracting(first..<first + count)
            unsafe each { row, index in
                let value = UInt64(unsafe values[unchecked: index])
                unsafe places[row] = RowBytes.put(varint: value, bytes, at: places[row])
            }
        case .zigzag:
            let values = integers.span.extracting(first..<first + count)
            unsafe each { row, index in
                let value = Varint.zigzag(unsafe values[unchecked: index])
                unsafe places[row] = RowBytes.put(varint: value, bytes, at: places[row])
            }
        case .number:
            let values = numbers.span.extracting(first..<first + count)
            unsafe each { row, index in
                let bits = unsafe values[unchecked: index].bitPattern
                unsafe RowBytes.put(bits, bytes, at: places[row])
                unsafe places[row] &+= 8
            }
        case .text, .fixed:
            let isCounted = form == .text
            _ = unsafe texts.strings.bytes.span.withAddress { content in
                unsafe eachText { row, start, size in
                    var place = unsafe places[row]
                    if isCounted {
                        let value = UInt64(truncatingIfNeeded: size)
                        place = unsafe RowBytes.put(varint: value, bytes, at: place)
                    }
                    unsafe ShortCopy.exactly(content + start, size, to: bytes + place)
                    unsafe places[row] = place &+ size
                }
            }
        }
    }

    /// Calls `body` with the row of each value of the window, and the value's number there.
    @unsafe
    @inline(__always)
    private func each(_ body: (Int, Int) -> Void) {
        if present == nil {
            for index in 0..<count { body(index, index) }
        } else {
            let rows = rows.span
            for index in rows.indices {
                // Safe: the loop goes through the indices.
                body(Int(unsafe rows[unchecked: index]), index)
            }
        }
    }

    /// Calls `body` with the row of each text, and where it lies among the bytes of the strings.
    @unsafe
    @inline(__always)
    private func eachText(_ body: (Int, Int, Int) -> Void) {
        let bounds = texts.strings.bounds.span
        guard let codes = texts.codes else {
            precondition(first + count < bounds.count, "each value has a text")
            // Safe: the texts of the window are there, as was just checked.
            unsafe each { row, index in
                let start = unsafe bounds[unchecked: first &+ index]
                let end = unsafe bounds[unchecked: first &+ index &+ 1]
                body(row, Int(start), Int(end &- start))
            }
            return
        }
        let window = codes.span.extracting(first..<first + count)
        // Safe: codes are indices of the texts, as the reader checked.
        unsafe each { row, index in
            let code = Int(unsafe window[unchecked: index])
            let start = unsafe bounds[unchecked: code]
            let end = unsafe bounds[unchecked: code &+ 1]
            body(row, Int(start), Int(end &- start))
        }
    }
}
