// Columns of indices, as most are: read into 32 bits each, and held to their bound on the way.

extension ColumnReader {
    /// Indices below a bound, by whatever method they were written; throws that `what` is malformed
    /// if one is not.
    @_lifetime(self: copy self)
    mutating func nextCodes(
        _ part: ColumnPart,
        below bound: Int,
        as what: FormatPart = .body,
        _ scope: ColumnScope,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> [UInt32] {
        guard part.count > 0 else { return [] }
        let start = offset
        guard bound > 0 else { throw .malformed(what, at: start) }
        let before = reader
        let tag = try nextByte()
        let codes: [UInt32]?
        switch tag {
        case IntegerMethod.runsTag:
            let runCount = try nextCount(1...part.count)
            let heads = try nextSimpleCodes(ColumnPart(all: runCount), bound, &memory)
            let lengths = try nextRunLengths(runCount, part, &memory)
            codes = heads.map { Self.repeated($0, lengths, part) }
        case IntegerMethod.sameTag:
            let keys = try nextKeys(part, scope, &memory)
            let (bitmap, given) = try nextMarks(part, &memory)
            let exceptions = try nextSimpleCodes(given, bound, &memory)
            codes = exceptions.flatMap { exceptions in
                switch keys {
                case .column(let column):
                    Self.filled(bitmap, of: column, codes: exceptions, from: part.first)
                case .chain(let chain):
                    Self.filled(bitmap, chain, exceptions).map { $0.dropping(part.first) }
                }
            }
        case IntegerMethod.lastTag, IntegerMethod.distinctTag, IntegerMethod.offsetTag:
            reader = before
            codes = Self.codes(try nextIntegers(part, scope, &memory).values, below: bound)
        default:
            reader = before
            codes = try nextSimpleCodes(part, bound, &memory)
        }
        guard let codes else { throw .malformed(what, at: start) }
        return codes
    }

    /// Indices that may be keys of columns that follow: all of them, or the wanted ones and a note
    /// of where to find the others.
    @_lifetime(self: copy self)
    mutating func nextKeyCodes(
        _ part: ColumnPart,
        below bound: Int,
        as what: FormatPart = .body,
        _ scope: ColumnScope,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> [UInt32] {
        guard !readsAllKeys, !part.isWhole else {
            let all = ColumnPart(all: part.count)
            return try nextCodes(all, below: bound, as: what, scope, &memory)
        }
        noteUnread(part.count, below: bound, scope)
        return try nextCodes(part, below: bound, as: what, scope, &memory)
    }

    /// Notes that only some of the indices that come next are read.
    mutating func noteUnread(_ count: Int, below bound: Int, _ scope: ColumnScope) {
        unreadCodes = UnreadCodes(
            offset: offset,
            expandedRest: expandedRest,
            count: count,
            bound: bound,
            present: scope.present
        )
    }

    /// The column of this name as a key, which is read now if only some of it was.
    @_lifetime(self: copy self)
    mutating func keyColumn(
        _ name: Int,
        _ scope: ColumnScope,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> KeyColumn? {
        // Taken out first: what it is predicted from in turn stands before it.
        if let place = unreadKeys.firstIndex(where: { $0.name == name }) {
            let unread = unreadKeys.remove(at: place).codes
            let (before, rest) = (reader, expandedRest)
            var own = scope
            own.present = unread.present
            reader = ByteReader(bytes, range: unread.offset..<bytes.byteCount)
            expandedRest = unread.expandedRest
            let all = ColumnPart(all: unread.count)
            let codes = try nextCodes(all, below: unread.bound, own, &memory)
            (reader, expandedRest) = (before, rest)
            scope.keys.add(
                name,
                KeySource(
                    codes: .indices(codes),
                    present: unread.present,
                    distinctCount: unread.bound
                )
            )
        }
        return scope.keys.column(name)
    }

    /// Indices by a method that needs nothing else; nil if one is not below the bound.
    @_lifetime(self: copy self)
    mutating func nextSimpleCodes(
        _ part: ColumnPart,
        _ bound: Int,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> [UInt32]? {
        precondition(1...Self.codeBoundMax ~= bound, "an index has 31 bits")
        guard part.count > 0 else { return [] }
        let before = reader
        switch try nextByte() {
        case SimpleMethod.plain.rawValue: return try nextPackedCodes(part, bound, &memory)
        case SimpleMethod.new.rawValue:
            let start = try reader.nextVarint()
            // Counting does not reach the end of 32 bits.
            guard start <= UInt64(Self.codeBoundMax) else { break }
            let prefix = part.prefix
            guard var codes = try nextPackedCodes(prefix, bound + 1, &memory) else { return nil }
            // In front of the wanted ones only those count that are the next.
            let skipped = Self.zeroCount(codes.span.extracting(0..<part.first))
            codes = codes.dropping(part.first)
            let next = UInt32(start) + skipped
            return Self.count(&codes, from: next, below: UInt32(bound)) ? codes : nil
        default: break
        }
        reader = before
        return Self.codes(try nextSimple(part, &memory), below: bound)
    }

    /// No index, and none made by counting up from there, takes the highest of 32 bits.
    private static var codeBoundMax: Int { 1 << 30 }

    /// Indices by base, factor and streams; nil if one is not below the bound.
    @_lifetime(self: copy self)
    private mutating func nextPackedCodes(
        _ part: ColumnPart,
        _ bound: Int,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> [UInt32]? {
        guard part.count > 0 else { return [] }
        let form = try nextForm()
        switch form.width {
        case 0:
            guard 0..<Int64(bound) ~= form.base else { return nil }
            let code = UInt32(truncatingIfNeeded: form.base)
            return [UInt32](repeating: code, count: part.wanted.count)
        case 1...3:
            let codes = try nextBits(part, form, &memory) { (value: Int64) -> UInt32 in
                0..<Int64(bound) ~= value ? UInt32(truncatingIfNeeded: value) : .max
            }
            return Self.areBelow(UInt32(bound), codes) ? codes : nil
        case 4...5 where form.fitsCodes: break
        default: return Self.codes(try nextPlanes(part, form, &memory), below: bound)
        }
        return try withPlanes(form.planeCount, part, &memory) { (planes) -> [UInt32]? in
            Self.joinCodes(planes, part.wanted.count, form, below: bound)
        }
    }

    /// The indices whose bytes lie in one or two planes; nil if one is not below the bound.
    private static func joinCodes(
        _ planes: Span<UInt8>,
        _ count: Int,
        _ form: PackedForm,
        below bound: Int
    ) -> [UInt32]? {
        precondition(
            planes.count == form.planeCount * count && 1...2 ~= form.planeCount,
            "a plane has a byte for each number"
        )
        let (base, factor) = (UInt32(form.base), UInt32(form.factor))
        let last = Int32(bound - 1)
        // Below zero once the distance of an index to the last is.
        var signs: Int32 = 0
        // Safe: each loop writes all `count` indices, out of planes that were counted just now.
        let codes = unsafe [UInt32](count: count) { target in
            _ = unsafe planes.withAddress { source in
                switch (form.planeCount, factor) {
                case (1, 1):
                    for index in 0..<count {
                        let code = base &+ UInt32(unsafe source[index])
                        signs |= last &- Int32(bitPattern: code)
                        unsafe target[index] = code
                    }
                case (2, 1):
                    let high = unsafe source + count
                    for index in 0..<count {
                        let byte = UInt32(unsafe source[index])
                        let code = base &+ (byte | UInt32(unsafe high[index]) &<< 8)
                        signs |= last &- Int32(bitPattern: code)
                        unsafe target[index] = code
                    }
                default:
                    let high = unsafe source + (form.planeCount - 1) * count
                    let shift = UInt32(8 * (form.planeCount - 1))
                    for index in 0..<count {
                        let byte = UInt32(unsafe source[index])
                        let unit = byte | UInt32(unsafe high[index]) &<< shift
                        let code = base &+ factor &* unit
                        signs |= last &- Int32(bitPattern: code)
                        unsafe target[index] = code
                    }
                }
            }
        }
        return signs >= 0 ? codes : nil
    }

    private static func zeroCount(_ codes: Span<UInt32>) -> UInt32 {
        var count: UInt32 = 0
        for index in codes.indices {
            // Safe: the loop goes through the indices.
            count &+= unsafe codes[unchecked: index] == 0 ? 1 : 0
        }
        return count
    }

    /// Makes indices out of codes: 0 for the next one, which counts up, else 1 more than it is;
    /// false if one that was counted is not below the bound.
    private static func count(
        _ codes: inout [UInt32],
        from start: UInt32,
        below bound: UInt32
    ) -> Bool {
        var next = start
        var target = codes.mutableSpan
        for index in target.indices {
            // Safe: the loop goes through the indices.
            let code = unsafe target[unchecked: index]
            unsafe target[unchecked: index] = code == 0 ? next : code &- 1
            next &+= code == 0 ? 1 : 0
        }
        return next == start || next <= bound
    }

    /// Indices where the bitmap has a bit, else the last one before whose row has the same code;
    /// from the row `first` on.
    ///
    /// Nil if there is neither. `exceptions` are as many as there are bits for rows, and have 31
    /// bits each.
    private static func filled(
        _ bitmap: [UInt8],
        of column: KeyColumn,
        codes exceptions: [UInt32],
        from first: Int
    ) -> [UInt32]? {
        let count = column.codes.count
        precondition(
            bitmap.count * 8 >= count && 0...count ~= first
                && exceptions.count == bitCount(bitmap, count),
            "the bitmap has a bit for each row, and there is an exception for each that is set"
        )
        guard !exceptions.isEmpty else { return first == count ? [] : nil }
        let (keys, given, bits) = (column.codes.span, exceptions.span, bitmap.span)
        // By key: the last exception, or what no index can be.
        let none: UInt32 = 1 << 31
        var table = [UInt32](repeating: none, count: column.cardinality)
        var lasts = table.mutableSpan
        var next = note(bits, keys, given, before: first, in: &lasts)
        var all: UInt32 = 0
        // Safe: the loops write all rows from the first on, in order; each has a key and a bit.
        let values = unsafe [UInt32](count: count - first) { target in
            var index = first
            while index < count {
                let end = min((index | 7) &+ 1, count)
                let byte = unsafe bits[unchecked: index &>> 3] &>> UInt8(index & 7)
                let place = unsafe target + (index &- first)
                if end &- index == 8, byte == 0 {
                    // Most rows are no exceptions: eight of them without a loop.
                    for row in 0..<8 {
                        // Safe: keys are below the size of the table, as `KeyColumn` makes sure.
                        let key = Int(unsafe keys[unchecked: index &+ row])
                        let value = unsafe lasts[unchecked: key]
                        all |= value
                        unsafe place[row] = value
                    }
                } else {
                    var rest = UInt32(byte)
                    for row in 0..<end &- index {
                        // Safe: as above; `next` counts exceptions where there is one, and the
                        // first one stands for it where there is none.
                        let key = Int(unsafe keys[unchecked: index &+ row])
                        let bit = rest & 1
                        let mask = 0 &- bit
                        let last = unsafe lasts[unchecked: key]
                        let own = unsafe given[unchecked: next & (0 &- Int(bit))]
                        // Chosen without a branch, since exceptions come by chance.
                        let value = last ^ (last ^ own) & mask
                        unsafe lasts[unchecked: key] = value
                        all |= value
                        unsafe place[row] = value
                        next &+= Int(bit)
                        rest &>>= 1
                    }
                }
                index = end
            }
        }
        return all & none == 0 ? values : nil
    }

    /// Notes by key the exceptions of rows in front of one; gives how many there are.
    private static func note(
        _ bits: Span<UInt8>,
        _ keys: Span<UInt32>,
        _ given: Span<UInt32>,
        before end: Int,
        in lasts: inout MutableSpan<UInt32>
    ) -> Int {
        var next = 0
        for place in 0..<(end + 7) / 8 {
            var byte = bits[place]
            while byte != 0 {
                let row = place &* 8 &+ byte.trailingZeroBitCount
                guard row < end else { break }
                lasts[Int(keys[row])] = given[next]
                next &+= 1
                byte &= byte &- 1
            }
        }
        return next
    }

    /// Numbers as indices; nil if one is not below the bound.
    static func codes(_ values: [Int64], below bound: Int) -> [UInt32]? {
        precondition(bound <= Int(UInt32.max), "an index has 32 bits")
        let source = values.span
        let last = Int64(bound) - 1
        // Below zero once a value or its distance to the last is.
        var signs: Int64 = 0
        // Safe: each index is written, out of the values that are there.
        let codes = unsafe [UInt32](count: source.count) { target in
            for index in source.indices {
                let value = unsafe source[unchecked: index]
                signs |= value | (last &- value)
                unsafe target[index] = UInt32(truncatingIfNeeded: value)
            }
        }
        return signs >= 0 ? codes : nil
    }

    /// Whether all indices are below a bound of 31 bits.
    private static func areBelow(_ bound: UInt32, _ codes: [UInt32]) -> Bool {
        let source = codes.span
        let last = Int32(bitPattern: bound) - 1
        // Below zero once an index or its distance to the last is.
        var signs: Int32 = 0
        for index in source.indices {
            // Safe: the loop goes through the indices.
            let code = Int32(bitPattern: unsafe source[unchecked: index])
            signs |= code | (last &- code)
        }
        return signs >= 0
    }
}

extension PackedForm {
    /// Whether each number of one or two planes has 31 bits at most.
    fileprivate var fitsCodes: Bool {
        guard !isZigzag, 0..<1 << 30 ~= base else { return false }
        return factor <= UInt64(1) << UInt64(30 - 8 * planeCount)
    }
}
