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
        sizes.append(repeating: bitmapSize, count: count)
        for place in columns.indices { columns[place].addSizes(window, to: &sizes) }
        let first = output.bounds.count
        var total = output.bytes.count
        if isFirst { output.bounds.append(total) }
        places.removeAll(keepingCapacity: true)
        for size in sizes {
            guard size <= Limits.eventSizeMax else { return false }
            places.append(total + bitmapSize)
            total += size
            output.bounds.append(total)
        }
        let start = output.bytes.count
        output.bytes.append(repeating: 0, count: total - start)
        // Taken out meanwhile, so that bounds and bytes are accessed apart.
        var bytes: [UInt8] = []
        swap(&bytes, &output.bytes)
        var isWhole = true
        do {
            let bounds = output.bounds.span.extracting((isFirst ? first : first - 1)...)
            for place in columns.indices {
                columns[place].write(place, bounds, &places, into: &bytes)
            }
            precondition(places.last == total, "the sizes of values are what they take")
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
