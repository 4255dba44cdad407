import DiarioCore

extension ColumnReader {
    /// `count` numbers by base, factor and streams.
    @_lifetime(self: copy self)
    mutating func nextPacked(
        _ count: Int,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> [Int64] {
        guard count > 0 else { return [] }
        let start = offset
        let mode = try nextByte()
        var form = PackedForm()
        form.width = mode & 15
        form.isZigzag = mode & 16 != 0
        guard mode < 32, form.width <= 11 else { throw .malformed(.body, at: start) }
        form.base = try reader.nextZigzag()
        form.factor = try reader.nextVarint()
        guard form.factor >= 1 else { throw .malformed(.body, at: start) }
        switch form.width {
        case 0: return [Int64](repeating: form.base, count: count)
        case 1...3: return try nextBits(count, form, &memory)
        default: return try nextPlanes(count, form, &memory)
        }
    }

    @_lifetime(self: copy self)
    private mutating func nextBits(
        _ count: Int,
        _ form: PackedForm,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> [Int64] {
        let start = offset
        let bitCount = form.bitCount
        let perByte = 8 / bitCount
        memory.expanded.removeAll(keepingCapacity: true)
        let place = try nextStream(size: (count + perByte - 1) / perByte, &memory)
        let output: [Int64]?
        if place.isExpanded {
            let packed = memory.expanded.span.extracting(place.range)
            output = Self.unpack(packed, count, form)
        } else {
            output = Self.unpack(Span(bytes.extracting(place.range)), count, form)
        }
        guard let output else { throw .malformed(.body, at: start) }
        return output
    }

    /// Nil if bits are set behind the last number.
    private static func unpack(
        _ packed: Span<UInt8>,
        _ count: Int,
        _ form: PackedForm
    ) -> [Int64]? {
        let perByte = 8 / form.bitCount
        precondition(packed.count == (count + perByte - 1) / perByte, "all bits are there")
        let used = count & (perByte - 1)
        guard used == 0 || Int(packed[packed.count - 1]) >> (used * form.bitCount) == 0 else {
            return nil
        }
        // What each code stands for; there are few.
        let values = (0..<UInt64(1 << form.bitCount)).map(form.value)
        let codes = values.span
        // Safe: each loop writes all `count` numbers.
        return unsafe [Int64](count: count) { target in
            switch form.bitCount {
            case 1: unsafe unpack(packed, codes, count, bitCount: 1, target)
            case 2: unsafe unpack(packed, codes, count, bitCount: 2, target)
            default: unsafe unpack(packed, codes, count, bitCount: 4, target)
            }
        }
    }

    /// Inlined for each `bitCount`, so that the numbers of a byte are no loop.
    @unsafe
    @inline(__always)
    private static func unpack(
        _ packed: Span<UInt8>,
        _ codes: Span<Int64>,
        _ count: Int,
        bitCount: Int,
        _ target: UnsafeMutablePointer<Int64>
    ) {
        let perByte = 8 / bitCount
        let mask = 1 << bitCount - 1
        let wholeCount = count / perByte
        // Safe: the caller checked that there is a byte for each `perByte` numbers, and a code
        // is below the mask, which has an entry in `codes`.
        for place in 0..<wholeCount {
            let byte = Int(unsafe packed[unchecked: place])
            let first = place &* perByte
            for index in 0..<perByte {
                unsafe target[first &+ index] =
                    codes[unchecked: byte &>> (index &* bitCount) & mask]
            }
        }
        for index in wholeCount * perByte..<count {
            let byte = Int(unsafe packed[unchecked: wholeCount])
            unsafe target[index] =
                codes[unchecked: byte &>> ((index & (perByte - 1)) &* bitCount) & mask]
        }
    }

    @_lifetime(self: copy self)
    private mutating func nextPlanes(
        _ count: Int,
        _ form: PackedForm,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> [Int64] {
        if form.planeCount == 1 {
            memory.expanded.removeAll(keepingCapacity: true)
            let place = try nextStream(size: count, &memory)
            guard place.isExpanded else {
                return Self.join(Span(bytes.extracting(place.range)), count, form)
            }
        } else {
            try gatherPlanes(form.planeCount, count: count, &memory)
        }
        return Self.join(memory.expanded.span, count, form)
    }

    /// Puts some streams of `count` bytes each into `memory.expanded`, one after the other, behind
    /// those that are known.
    @_lifetime(self: copy self)
    mutating func gatherPlanes(
        _ planeCount: Int,
        count: Int,
        _ memory: inout ColumnMemory,
        after known: [UInt8] = []
    ) throws(FormatError) {
        // Memory is asked for only if the block may hold that much.
        guard planeCount * count <= expandedRest else { throw .malformed(.body, at: offset) }
        memory.expanded.removeAll(keepingCapacity: true)
        memory.expanded.reserveCapacity(known.count + planeCount * count)
        memory.expanded += known
        for _ in 0..<planeCount {
            let place = try nextStream(size: count, &memory)
            guard !place.isExpanded else { continue }
            memory.expanded.append(contentsOf: bytes.extracting(place.range))
        }
    }

    /// The numbers whose bytes lie in planes, the lowest first.
    private static func join(_ planes: Span<UInt8>, _ count: Int, _ form: PackedForm) -> [Int64] {
        precondition(planes.count == form.planeCount * count, "a plane has a byte for each number")
        // Safe: each loop writes all `count` numbers; planes were counted just now.
        return unsafe [Int64](count: count) { target in
            _ = unsafe planes.withAddress { source in
                switch form.planeCount {
                case 1: unsafe join(source, count, planeCount: 1, form, target)
                case 2: unsafe join(source, count, planeCount: 2, form, target)
                case 3: unsafe join(source, count, planeCount: 3, form, target)
                default: unsafe joinMany(source, count, form, target)
                }
            }
        }
    }

    /// Inlined for each `planeCount`; one loop for each kind of form, so that none decides.
    @unsafe
    @inline(__always)
    private static func join(
        _ source: UnsafePointer<UInt8>,
        _ count: Int,
        planeCount: Int,
        _ form: PackedForm,
        _ target: UnsafeMutablePointer<Int64>
    ) {
        let base = form.base
        let factor = Int64(bitPattern: form.factor)
        // Safe: the caller checked that there are `planeCount` planes of `count` bytes.
        switch (form.isZigzag, factor) {
        case (false, 1):
            for index in 0..<count {
                let code = unsafe code(source, count, planeCount, index)
                unsafe target[index] = base &+ Int64(bitPattern: code)
            }
        case (false, _):
            for index in 0..<count {
                let code = unsafe code(source, count, planeCount, index)
                unsafe target[index] = base &+ factor &* Int64(bitPattern: code)
            }
        case (true, 1):
            for index in 0..<count {
                let code = unsafe code(source, count, planeCount, index)
                let sign = 0 &- Int64(bitPattern: code & 1)
                unsafe target[index] = base &+ (Int64(bitPattern: code &>> 1) ^ sign)
            }
        case (true, _):
            for index in 0..<count {
                let code = unsafe code(source, count, planeCount, index)
                unsafe target[index] = form.value(code)
            }
        }
    }

    /// Of many planes: eight numbers at a time.
    @unsafe
    private static func joinMany(
        _ source: UnsafePointer<UInt8>,
        _ count: Int,
        _ form: PackedForm,
        _ target: UnsafeMutablePointer<Int64>
    ) {
        let planeCount = form.planeCount
        let (base, factor) = (form.base, Int64(bitPattern: form.factor))
        var index = 0
        // Safe: the caller checked that there are `planeCount` planes of `count` bytes, and room
        // for `count` numbers.
        while index + 8 <= count {
            let codes = unsafe PlaneWords.lowestFirst(source + index, count, planeCount)
            for place in 0..<8 {
                let code = codes[place]
                let sign = 0 &- Int64(bitPattern: code & 1)
                let signed =
                    form.isZigzag
                    ? Int64(bitPattern: code &>> 1) ^ sign : Int64(bitPattern: code)
                unsafe target[index &+ place] = base &+ factor &* signed
            }
            index += 8
        }
        while index < count {
            unsafe target[index] = form.value(code(source, count, planeCount, index))
            index += 1
        }
    }

    @unsafe
    @inline(__always)
    private static func code(
        _ source: UnsafePointer<UInt8>,
        _ count: Int,
        _ planeCount: Int,
        _ index: Int
    ) -> UInt64 {
        // Safe: the caller keeps the index below the count.
        var code = UInt64(unsafe source[index])
        for plane in 1..<max(planeCount, 1) {
            code |= UInt64(unsafe source[plane &* count &+ index]) &<< UInt64(8 &* plane)
        }
        return code
    }
}

extension PackedForm {
    /// A form that is read.
    init() {}

    /// The number that a code stands for.
    @inline(__always)
    func value(_ code: UInt64) -> Int64 {
        let signed =
            isZigzag
            ? Int64(bitPattern: code >> 1) ^ -Int64(bitPattern: code & 1) : Int64(bitPattern: code)
        return base &+ Int64(bitPattern: factor) &* signed
    }
}
