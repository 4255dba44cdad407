import DiarioCore

extension ColumnReader {
    /// Numbers by base, factor and streams.
    @_lifetime(self: copy self)
    mutating func nextPacked(
        _ part: ColumnPart,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> [Int64] {
        guard part.count > 0 else { return [] }
        let form = try nextForm()
        switch form.width {
        case 0: return [Int64](repeating: form.base, count: part.wanted.count)
        case 1...3: return try nextBits(part, form, &memory) { $0 }
        default: return try nextPlanes(part, form, &memory)
        }
    }

    /// How packed numbers are written, from their start.
    @_lifetime(self: copy self)
    mutating func nextForm() throws(FormatError) -> PackedForm {
        let start = offset
        let mode = try nextByte()
        var form = PackedForm()
        form.width = mode & 15
        form.isZigzag = mode & 16 != 0
        guard mode < 32, form.width <= 11 else { throw .malformed(.body, at: start) }
        form.base = try reader.nextZigzag()
        form.factor = try reader.nextVarint()
        guard form.factor >= 1 else { throw .malformed(.body, at: start) }
        return form
    }

    /// What numbers of a few bits each stand for; `meaning` says it of each number.
    @_lifetime(self: copy self)
    mutating func nextBits<Value: BitwiseCopyable>(
        _ part: ColumnPart,
        _ form: PackedForm,
        _ memory: inout ColumnMemory,
        _ meaning: (Int64) -> Value
    ) throws(FormatError) -> [Value] {
        let start = offset
        let perByte = 8 / form.bitCount
        let size = (part.count + perByte - 1) / perByte
        guard !part.wanted.isEmpty else {
            try skipStream(size: size)
            return []
        }
        memory.expanded.removeAll(keepingCapacity: true)
        let place = try nextStream(size: size, &memory)
        // What each code stands for; there are few.
        let values = (0..<UInt64(1 << form.bitCount)).map { meaning(form.value($0)) }
        let output: [Value]?
        if place.isExpanded {
            let packed = memory.expanded.span.extracting(place.range)
            output = Self.unpack(packed, values, part, form)
        } else {
            output = Self.unpack(Span(bytes.extracting(place.range)), values, part, form)
        }
        guard let output else { throw .malformed(.body, at: start) }
        return output
    }

    /// Nil if bits are set behind the last number.
    private static func unpack<Value: BitwiseCopyable>(
        _ packed: Span<UInt8>,
        _ values: [Value],
        _ part: ColumnPart,
        _ form: PackedForm
    ) -> [Value]? {
        let perByte = 8 / form.bitCount
        precondition(packed.count == (part.count + perByte - 1) / perByte, "all bits are there")
        let used = part.count & (perByte - 1)
        guard used == 0 || Int(packed[packed.count - 1]) >> (used * form.bitCount) == 0 else {
            return nil
        }
        // From the first byte with a wanted number on.
        let firstByte = part.first / perByte
        let packed = packed.extracting(firstByte..<(part.end + perByte - 1) / perByte)
        let count = part.end - firstByte * perByte
        let codes = values.span
        // Safe: each loop writes all `count` numbers.
        let numbers = unsafe [Value](count: count) { target in
            switch form.bitCount {
            case 1: unsafe unpack(packed, codes, count, bitCount: 1, target)
            case 2: unsafe unpack(packed, codes, count, bitCount: 2, target)
            default: unsafe unpack(packed, codes, count, bitCount: 4, target)
            }
        }
        return numbers.dropping(part.first - firstByte * perByte)
    }

    /// Inlined for each `bitCount`, so that the numbers of a byte are no loop.
    @unsafe
    @inline(__always)
    private static func unpack<Value: BitwiseCopyable>(
        _ packed: Span<UInt8>,
        _ codes: Span<Value>,
        _ count: Int,
        bitCount: Int,
        _ target: UnsafeMutablePointer<Value>
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
    mutating func nextPlanes(
        _ part: ColumnPart,
        _ form: PackedForm,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> [Int64] {
        try withPlanes(form.planeCount, part, &memory) { (planes) -> [Int64] in
            Self.join(planes, part.wanted.count, form)
        }
    }

    /// Hands the wanted bytes of some streams to `body`, stream by stream.
    @_lifetime(self: copy self)
    mutating func withPlanes<Value>(
        _ planeCount: Int,
        _ part: ColumnPart,
        _ memory: inout ColumnMemory,
        _ body: (Span<UInt8>) -> Value
    ) throws(FormatError) -> Value {
        guard planeCount == 1, !part.wanted.isEmpty else {
            try gatherPlanes(planeCount, part, &memory)
            return body(memory.expanded.span)
        }
        memory.expanded.removeAll(keepingCapacity: true)
        let place = try nextStream(size: part.count, &memory)
        guard place.isExpanded else {
            return body(Span(bytes.extracting(place.range).extracting(part.wanted)))
        }
        return body(memory.expanded.span.extracting(part.wanted))
    }

    /// Puts the wanted bytes of some streams into `memory.expanded`, stream by stream; those of
    /// the `known` ones first.
    @_lifetime(self: copy self)
    mutating func gatherPlanes(
        _ planeCount: Int,
        _ part: ColumnPart,
        _ memory: inout ColumnMemory,
        after known: [UInt8] = []
    ) throws(FormatError) {
        let (count, wanted) = (part.count, part.wanted)
        // Memory is asked for only if the block may hold that much.
        guard planeCount * count <= expandedRest else { throw .malformed(.body, at: offset) }
        memory.expanded.removeAll(keepingCapacity: true)
        if part.isWhole {
            memory.expanded.reserveCapacity(known.count + planeCount * count)
            memory.expanded += known
        } else {
            for start in stride(from: 0, to: known.count, by: max(1, count)) {
                memory.expanded += known[start + wanted.lowerBound..<start + wanted.upperBound]
            }
        }
        for _ in 0..<planeCount {
            guard !wanted.isEmpty else {
                try skipStream(size: count)
                continue
            }
            let place = try nextStream(size: count, &memory)
            if place.isExpanded {
                memory.expanded.removeLast(count - wanted.upperBound)
                let start = place.range.lowerBound
                memory.expanded.removeSubrange(start..<start + wanted.lowerBound)
            } else {
                memory.expanded.append(
                    contentsOf: bytes.extracting(place.range).extracting(wanted)
                )
            }
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
