import DiarioCore
import DiarioSchema

/// Payloads of many rows, one after the other.
struct AssembledPayloads {
    fileprivate(set) var bytes: [UInt8] = []
    /// For each type in turn: where its rows start, and where the last of them ends.
    fileprivate(set) var bounds: [Int] = []

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        bounds.removeAll(keepingCapacity: true)
    }
}

/// Makes one part of payloads out of columns, some rows at a time and column by column.
///
/// First the sizes are found, then the values are put in their places. So each loop is about one
/// kind of value.
struct PayloadAssembler {
    private var columns: [AssembledColumn]
    private let bitmapSize: Int
    private var row = 0
    private var sizes: [Int] = []
    /// Where the next value of each row goes.
    private var places: [Int] = []

    init(_ fields: FieldColumns, _ type: EventType) {
        columns = fields.columns.map { AssembledColumn($0, type.fields[$0.field].kind) }
        bitmapSize = PayloadCodec.bitmapSize(fields.columns.count)
    }

    /// Goes to a row, forward or back.
    mutating func seek(_ row: Int) {
        self.row = row
        for place in columns.indices { columns[place].seek(row) }
    }

    /// Appends the next `count` rows, whose number the caller knows; the bounds of the first rows
    /// of a type begin with their start.
    ///
    /// False if a row is larger than an event may be; `isPersonal` rows have a value.
    mutating func append(
        _ count: Int,
        isFirst: Bool,
        isPersonal: Bool,
        to output: inout AssembledPayloads
    ) -> Bool {
        let window = row..<row + count
        row += count
        sizes.removeAll(keepingCapacity: true)
        sizes.append(contentsOf: repeatElement(bitmapSize, count: count))
        for place in columns.indices { columns[place].addSizes(window, to: &sizes) }
        let first = output.bounds.count
        var total = output.bytes.count
        if isFirst { output.bounds.append(total) }
        places.removeAll(keepingCapacity: true)
        for size in sizes {
            guard size <= Limits.eventSizeMax else { return false }
            places.append(total)
            total += size
            output.bounds.append(total)
        }
        let start = output.bytes.count
        output.bytes.append(contentsOf: repeatElement(0, count: total - start))
        for place in places.indices { places[place] += bitmapSize }
        // Taken out meanwhile, so that bounds and bytes are accessed apart.
        var bytes: [UInt8] = []
        swap(&bytes, &output.bytes)
        var isWhole = true
        do {
            let bounds = output.bounds.span.extracting((isFirst ? first : first - 1)...)
            for place in columns.indices {
                columns[place].write(place, bounds, &places, into: &bytes)
            }
            if isPersonal {
                for index in 0..<count { isWhole = isWhole && hasValue(bounds[index], bytes) }
            }
        }
        swap(&bytes, &output.bytes)
        return isWhole
    }

    /// Whether a bit of the bitmap at `start` is set.
    private func hasValue(_ start: Int, _ bytes: [UInt8]) -> Bool {
        for place in start..<start + bitmapSize where bytes[place] != 0 { return true }
        return false
    }
}

/// The values of one field, and how far they were put into rows.
private struct AssembledColumn {
    private let kind: Field.Kind
    private let present: [Int32]?
    private let values: ColumnValues
    private var next = 0
    /// The values of the window at hand: the first, and the row of each.
    private var first = 0
    private var rows: [Int32] = []

    init(_ column: FieldColumn, _ kind: Field.Kind) {
        self.kind = kind
        present = column.present
        values = column.values
    }

    /// Goes to the first value of a row or of those after it.
    mutating func seek(_ row: Int) {
        guard let present else {
            next = row
            return
        }
        var low = 0
        var high = present.count
        while low < high {
            let middle = (low + high) / 2
            if Int(present[middle]) < row { low = middle + 1 } else { high = middle }
        }
        next = low
    }

    /// Finds the values of a window, and adds what they take to the sizes of its rows.
    mutating func addSizes(_ window: Range<Int>, to sizes: inout [Int]) {
        first = next
        rows.removeAll(keepingCapacity: true)
        if let present {
            while next < present.count, Int(present[next]) < window.upperBound {
                rows.append(present[next] - Int32(window.lowerBound))
                next += 1
            }
        } else {
            next += window.count
            rows.append(addingCapacity: window.count) { output in
                for row in 0..<window.count { output.append(Int32(truncatingIfNeeded: row)) }
            }
        }
        guard !rows.isEmpty else { return }
        var target = sizes.mutableSpan
        let rows = rows.span
        switch values {
        case .none: break
        case .integers(let values):
            let source = values.span.extracting(first..<next)
            if kind == .boolean || kind == .enumeration {
                for index in rows.indices {
                    target[Int(rows[index])] += Varint.size(UInt64(bitPattern: source[index]))
                }
            } else {
                for index in rows.indices {
                    target[Int(rows[index])] += Varint.size(Varint.zigzag(source[index]))
                }
            }
        case .numbers: for index in rows.indices { target[Int(rows[index])] += 8 }
        case .texts(let values):
            let bounds = values.strings.bounds.span
            let all = values.codes ?? []
            let codes = all.span
            for index in rows.indices {
                let string = codes.isEmpty ? first + index : Int(codes[first + index])
                let size = Int(bounds[string + 1] - bounds[string])
                let prefix = kind == .uuid ? 0 : Varint.size(UInt64(size))
                target[Int(rows[index])] += prefix + size
            }
        }
    }

    /// Writes the values of the window, and sets the field's bit in each row that has one.
    func write(
        _ field: Int,
        _ bounds: Span<Int>,
        _ places: inout [Int],
        into bytes: inout [UInt8]
    ) {
        guard !rows.isEmpty else { return }
        var output = bytes.mutableSpan
        var next = places.mutableSpan
        let rows = rows.span
        let bit = UInt8(1) << UInt8(field & 7)
        for index in rows.indices { output[bounds[Int(rows[index])] + field >> 3] |= bit }
        switch values {
        case .none: break
        case .integers(let values):
            let source = values.span.extracting(first..<first + rows.count)
            let isPlain = kind == .boolean || kind == .enumeration
            for index in rows.indices {
                let row = Int(rows[index])
                let value = source[index]
                let code = isPlain ? UInt64(bitPattern: value) : Varint.zigzag(value)
                next[row] = output.put(varint: code, at: next[row])
            }
        case .numbers(let values):
            for index in rows.indices {
                let row = Int(rows[index])
                var bits = values[first + index].bitPattern
                for place in 0..<8 {
                    output[next[row] + place] = UInt8(truncatingIfNeeded: bits)
                    bits >>= 8
                }
                next[row] += 8
            }
        case .texts(let values):
            let strings = values.strings
            let (content, bounds) = (strings.bytes.span, strings.bounds.span)
            let all = values.codes ?? []
            let codes = all.span
            for index in rows.indices {
                let string = codes.isEmpty ? first + index : Int(codes[first + index])
                let start = Int(bounds[string])
                let size = Int(bounds[string + 1]) - start
                let row = Int(rows[index])
                var place = next[row]
                if kind != .uuid { place = output.put(varint: UInt64(size), at: place) }
                output.copy(content, start, size, to: place)
                next[row] = place + size
            }
        }
    }
}

extension MutableSpan where Element == UInt8 {
    /// Writes an unsigned LEB128 number; gives the place behind it.
    @inline(__always)
    @_lifetime(self: copy self)
    fileprivate mutating func put(varint value: UInt64, at place: Int) -> Int {
        var rest = value
        var place = place
        while rest >= 0x80 {
            self[place] = UInt8(truncatingIfNeeded: rest) | 0x80
            rest >>= 7
            place += 1
        }
        self[place] = UInt8(truncatingIfNeeded: rest)
        return place + 1
    }

    /// Copies `size` bytes from `start` of others.
    @inline(__always)
    @_lifetime(self: copy self)
    fileprivate mutating func copy(_ source: Span<UInt8>, _ start: Int, _ size: Int, to place: Int)
    {
        precondition(
            start >= 0 && size >= 0 && start + size <= source.count && place >= 0
                && place + size <= count,
            "a text lies in its column, and its row has room for it"
        )
        // Safe: both ranges were checked just now, and the two lie in different arrays.
        unsafe withUnsafeMutableBufferPointer { target in
            unsafe source.withUnsafeBufferPointer { source in
                guard let to = target.baseAddress, let from = source.baseAddress else { return }
                unsafe (to + place).update(from: from + start, count: size)
            }
        }
    }
}
