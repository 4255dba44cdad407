import DiarioCore

// The loops that make values out of what was read, apart from the reading: each counts what it is
// given once, and then goes through it without further checks.

extension ColumnReader {
    /// Adds to each value the one that `chain` names, which lies before it.
    static func addLast(_ chain: [Int32], to values: inout [Int64]) {
        var target = values.mutableSpan
        let links = chain.span
        precondition(links.count == target.count, "a chain has a link for each row")
        for index in target.indices {
            // Safe: both have the index. A chain names rows in front of its own, or none by a
            // number below zero; one comparison holds it to that.
            let last = Int(unsafe links[unchecked: index])
            if UInt(bitPattern: last) < UInt(bitPattern: index) {
                unsafe target[unchecked: index] &+= target[unchecked: last]
            }
        }
    }

    /// Adds to each value the last one before it whose row has the same code.
    static func addLast(of column: KeyColumn, to values: inout [Int64]) {
        var target = values.mutableSpan
        let codes = column.codes.span
        precondition(codes.count == target.count, "each row has a code")
        // By code: the last value, or zero.
        var table = [Int64](repeating: 0, count: column.cardinality)
        var lasts = table.mutableSpan
        for index in target.indices {
            // Safe: both have the indices that the loop goes through; the table checks the code.
            let code = Int(unsafe codes[unchecked: index])
            let value = unsafe lasts[code] &+ target[unchecked: index]
            lasts[code] = value
            unsafe target[unchecked: index] = value
        }
    }

    /// Makes values out of the differences between them.
    static func addUp(_ values: inout [Int64]) {
        var target = values.mutableSpan
        var last: Int64 = 0
        for index in target.indices {
            // Safe: the loop goes through the indices.
            last &+= unsafe target[unchecked: index]
            unsafe target[unchecked: index] = last
        }
    }

    /// Makes values out of codes: 0 for the next number, which counts up, else 1 more than it is.
    static func count(_ values: inout [Int64], from start: Int64) {
        var next = start
        var target = values.mutableSpan
        for index in target.indices {
            // Safe: the loop goes through the indices.
            let code = unsafe target[unchecked: index]
            unsafe target[unchecked: index] = code == 0 ? next : code &- 1
            next &+= code == 0 ? 1 : 0
        }
    }

    static func add(_ offsets: [Int64], to values: inout [Int64]) {
        var target = values.mutableSpan
        let source = offsets.span
        precondition(source.count == target.count, "there is an offset for each value")
        for index in target.indices {
            // Safe: both have the indices that the loop goes through.
            unsafe target[unchecked: index] &+= source[unchecked: index]
        }
    }

    /// Each head as often as its length says and once more; of all numbers that makes, the wanted
    /// ones.
    static func repeated<Number: SIMDScalar & BitwiseCopyable>(
        _ heads: [Number],
        _ lengths: [Int64],
        _ part: ColumnPart
    ) -> [Number] {
        part.isWhole
            ? repeated(heads, lengths, part.count) : repeated(heads, lengths, part.wanted)
    }

    /// All numbers of runs, which are `count` together.
    private static func repeated<Number: SIMDScalar & BitwiseCopyable>(
        _ heads: [Number],
        _ lengths: [Int64],
        _ count: Int
    ) -> [Number] {
        precondition(heads.count == lengths.count, "each run has a length")
        precondition(
            lengths.reduce(lengths.count) { $0 + Int($1) } == count,
            "the lengths were added up before"
        )
        let (values, sizes) = (heads.span, lengths.span)
        // Safe: the runs together have `count` numbers, as was just checked.
        return unsafe [Number](count: count) { target in
            var next = 0
            for run in values.indices {
                let length = Int(sizes[run]) + 1
                let value = values[run]
                if length <= 4, next &+ 4 <= count {
                    // Runs are short as a rule: what is too much is written over by the next.
                    unsafe UnsafeMutableRawPointer(target + next).storeBytes(
                        of: SIMD4(repeating: value),
                        as: SIMD4<Number>.self
                    )
                } else {
                    unsafe (target + next).initialize(repeating: value, count: length)
                }
                next &+= length
            }
        }
    }

    /// Some of the numbers of runs.
    private static func repeated<Number>(
        _ heads: [Number],
        _ lengths: [Int64],
        _ wanted: Range<Int>
    ) -> [Number] {
        var found: [Number] = []
        found.reserveCapacity(wanted.count)
        var end = 0
        for (head, length) in zip(heads, lengths) where end < wanted.upperBound {
            let start = end
            end += Int(length) + 1
            let overlap = (start..<end).clamped(to: wanted)
            found.append(repeating: head, count: overlap.count)
        }
        return found
    }

    /// Exceptions where the bitmap has a bit, else the value that the chain names.
    ///
    /// Nil if a value is neither. `exceptions` are as many as there are bits.
    static func filled<Number: FixedWidthInteger & BitwiseCopyable>(
        _ bitmap: [UInt8],
        _ chain: [Int32],
        _ exceptions: [Number]
    ) -> [Number]? {
        precondition(
            bitmap.count * 8 >= chain.count && exceptions.count == bitCount(bitmap, chain.count),
            "the bitmap has a bit for each row, and there is an exception for each that is set"
        )
        // One stands in front of the first, and one behind the last, where `next` is in the end.
        let padded = Self.padded(exceptions)
        let (links, given, bits) = (chain.span, padded.span, bitmap.span)
        var missing = 0
        // Safe: the loop writes all rows in order, and reads only those it has written.
        let values = unsafe [Number](count: links.count) { target in
            _ = unsafe given.withAddress { given in
                var next = 0
                for index in 0..<links.count {
                    // Safe: `next` counts bits of the bitmap, of which there are as many as
                    // exceptions, in front of the row; a chain names rows in front of its own,
                    // or none, and one comparison holds it to that.
                    let byte = Int(unsafe bits[unchecked: index &>> 3])
                    let bit = byte &>> (index & 7) & 1
                    let link = Int(unsafe links[unchecked: index])
                    let isKnown = UInt(bitPattern: link) < UInt(bitPattern: index)
                    // Not zero if neither is there. Picks an address, since exceptions come by
                    // chance, which no branch can foresee.
                    missing |= (isKnown ? 0 : 1) & (bit ^ 1)
                    let isGiven = bit == 1 || !isKnown
                    let source = unsafe isGiven ? given + next + 1 : UnsafePointer(target + link)
                    unsafe target[index] = source.pointee
                    next &+= bit
                }
            }
        }
        return missing == 0 ? values : nil
    }

    /// Exceptions where the bitmap has a bit, else the last value before whose row has the same
    /// code; from the row `first` on.
    ///
    /// Nil if a value is neither. `exceptions` are as many as there are bits for rows; two are
    /// added, in front of the first and behind the last.
    static func filled(
        _ bitmap: [UInt8],
        of column: KeyColumn,
        _ exceptions: [Int64],
        from first: Int
    ) -> [Int64]? {
        let count = column.codes.count
        precondition(
            bitmap.count * 8 >= count && 0...count ~= first
                && exceptions.count == bitCount(bitmap, count),
            "the bitmap has a bit for each row, and there is an exception for each that is set"
        )
        let padded = Self.padded(exceptions)
        let (codes, given, bits) = (column.codes.span, padded.span, bitmap.span)
        // By code: the place of the last exception among those given; 0 if there was none.
        var table = [Int32](repeating: 0, count: column.cardinality)
        var lasts = table.mutableSpan
        var next = Self.note(bits, codes, before: first, in: &lasts)
        var isWhole = true
        // Safe: the loops write all rows from the first on, in order.
        let values = unsafe [Int64](count: count - first) { target in
            var index = first
            while index < count {
                // Safe: the bitmap has a byte for each eight rows, and the codes were counted;
                // the table checks them. `next` counts bits of the bitmap, of which there are as
                // many as exceptions, so the table holds places of those given.
                let byte = unsafe bits[unchecked: index &>> 3] &>> UInt8(index & 7)
                let end = min((index | 7) &+ 1, count)
                if byte == 0 {
                    while index < end {
                        let place = lasts[Int(unsafe codes[unchecked: index])]
                        isWhole = isWhole && place != 0
                        unsafe target[index &- first] = given[unchecked: Int(place)]
                        index &+= 1
                    }
                    continue
                }
                var rest = Int32(byte)
                while index < end {
                    let code = Int(unsafe codes[unchecked: index])
                    let bit = rest & 1
                    let last = lasts[code]
                    // Chosen without a branch, since exceptions come by chance.
                    let place = last ^ (last ^ next) & (0 &- bit)
                    unsafe lasts[unchecked: code] = place
                    isWhole = isWhole && place != 0
                    unsafe target[index &- first] = given[unchecked: Int(place)]
                    next &+= bit
                    rest &>>= 1
                    index &+= 1
                }
            }
        }
        return isWhole ? values : nil
    }

    /// A zero, the numbers, and another zero.
    private static func padded<Number: FixedWidthInteger & BitwiseCopyable>(
        _ numbers: [Number]
    ) -> [Number] {
        let source = numbers.span
        // Safe: each number is written, and one more at both ends.
        return unsafe [Number](count: source.count + 2) { target in
            unsafe target[0] = 0
            for index in source.indices { unsafe target[index &+ 1] = source[unchecked: index] }
            unsafe target[source.count + 1] = 0
        }
    }

    /// Notes the places of exceptions in front of a row by code, counted from 1; gives that of the
    /// next one.
    private static func note(
        _ bits: Span<UInt8>,
        _ codes: Span<UInt32>,
        before end: Int,
        in lasts: inout MutableSpan<Int32>
    ) -> Int32 {
        var next: Int32 = 1
        for place in 0..<(end + 7) / 8 {
            var byte = bits[place]
            while byte != 0 {
                let row = place &* 8 &+ byte.trailingZeroBitCount
                guard row < end else { break }
                lasts[Int(codes[row])] = next
                next &+= 1
                byte &= byte &- 1
            }
        }
        return next
    }

    /// Bits that are set among the first `count`.
    static func bitCount(_ bitmap: [UInt8], _ count: Int) -> Int {
        var found = 0
        let bits = bitmap.span
        let wholeCount = count / 64
        precondition(bits.count >= (count + 7) / 8, "there is a bit for each")
        for word in 0..<wholeCount {
            // Safe: there are eight bytes for each 64 bits, and an integer has no invalid pattern.
            let word = unsafe bits.raw.unsafeLoadUnaligned(
                fromByteOffset: word &* 8,
                as: UInt64.self
            )
            found &+= word.nonzeroBitCount
        }
        for place in wholeCount * 8..<count / 8 { found += bits[place].nonzeroBitCount }
        guard count & 7 != 0 else { return found }
        let rest = bits[count / 8] & (1 << UInt8(count & 7) - 1)
        return found + rest.nonzeroBitCount
    }

    /// The values that codes stand for.
    static func picked(_ values: [Int64], _ codes: [UInt32]) -> [Int64] {
        let (source, indices) = (values.span, codes.span)
        // Safe: each number is written; the source checks the code.
        return unsafe [Int64](count: indices.count) { target in
            for index in 0..<indices.count {
                unsafe target[index] = source[Int(indices[unchecked: index])]
            }
        }
    }

    /// Whether all numbers are from 0 on and below a bound.
    static func isBelow(_ bound: UInt64, _ numbers: [Int64]) -> Bool {
        precondition(1...UInt64(Int64.max) ~= bound, "a bound is positive")
        let source = numbers.span
        let last = Int64(bound) - 1
        // Below zero once a number or its distance to the last is.
        var signs: Int64 = 0
        for index in source.indices {
            // Safe: the loop goes through the indices.
            let number = unsafe source[unchecked: index]
            signs |= number | (last &- number)
        }
        return signs >= 0
    }

    static func isWithin(_ range: ClosedRange<Int64>, _ numbers: [Int64]) -> Bool {
        var (lowest, highest) = (range.lowerBound, range.upperBound)
        let source = numbers.span
        for index in source.indices {
            // Safe: the loop goes through the indices.
            let number = unsafe source[unchecked: index]
            lowest = min(lowest, number)
            highest = max(highest, number)
        }
        return lowest == range.lowerBound && highest == range.upperBound
    }
}
