import DiarioCore

// How many strings are put together out of others: first their bounds, then the bytes, into memory
// that is taken once.

extension ByteStrings {
    /// For each code its text of the pool, counted from 1, or for 0 the next one of `own`.
    ///
    /// Nil if they are too many bytes for a block. The codes are those of texts that are there.
    init?(_ codes: [UInt32], of pool: ByteStrings, orElse own: ByteStrings) {
        let codes = codes.span
        var highest: UInt32 = 0
        var ownCount = 0
        for index in codes.indices {
            // Safe: the loop goes through the indices.
            let code = unsafe codes[unchecked: index]
            highest = max(highest, code)
            ownCount &+= code == 0 ? 1 : 0
        }
        precondition(
            Int(highest) <= pool.count && ownCount == own.count,
            "a code names a text of the pool, or the next one of the column's own"
        )
        let (poolBounds, ownBounds) = (pool.bounds.span, own.bounds.span)
        var total = 0
        // Safe: one bound is written for each code, and one in front of them. The codes, and how
        // many are 0, were checked just now; each list has a bound in front of its first text.
        let bounds = unsafe [UInt32](count: codes.count + 1) { target in
            unsafe poolBounds.withAddress { poolBounds in
                unsafe ownBounds.withAddress { ownBounds in
                    unsafe target[0] = 0
                    var next = 0
                    for index in codes.indices {
                        let code = Int(unsafe codes[unchecked: index])
                        // An address is chosen without a branch, since chance has none here.
                        let place = unsafe code == 0 ? ownBounds + next : poolBounds + (code &- 1)
                        total &+= Int(unsafe place[1]) &- Int(unsafe place[0])
                        next &+= code == 0 ? 1 : 0
                        unsafe target[index &+ 1] = UInt32(truncatingIfNeeded: total)
                    }
                }
            }
        }
        // No more than 65,536 times what a block may hold, so this does not overflow.
        guard total <= SegmentLimits.blockSizeMax else { return nil }
        self.init(bytes: Self.bytes(codes, of: pool, orElse: own, size: total), bounds: bounds)
    }

    /// The bytes of those texts, whose sizes were added up and whose codes were checked.
    private static func bytes(
        _ codes: Span<UInt32>,
        of pool: ByteStrings,
        orElse own: ByteStrings,
        size: Int
    ) -> [UInt8] {
        let (poolBounds, ownBounds) = (pool.bounds.span, own.bounds.span)
        let (poolBytes, ownBytes) = (pool.bytes.span, own.bytes.span)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size + ShortCopy.slack)
        bytes.append(addingCapacity: size + ShortCopy.slack) { output in
            // Safe: each text is one of the pool or of the column's own, whose bounds lie in their
            // bytes; the sizes were added up before, and the room has the slack.
            unsafe output.withUnsafeMutableBufferPointer { buffer, written in
                guard let target = buffer.baseAddress else { return }
                var next = 0
                for index in codes.indices {
                    let code = Int(unsafe codes[unchecked: index])
                    if code == 0 {
                        unsafe written &+= copy(ownBytes, ownBounds, next, to: target + written)
                        next &+= 1
                    } else {
                        let place = unsafe target + written
                        unsafe written &+= copy(poolBytes, poolBounds, code &- 1, to: place)
                    }
                }
            }
        }
        precondition(bytes.count == size, "the sizes were added up before")
        return bytes
    }

    /// Copies a text to where there is room for it and the slack of `ShortCopy`; gives its size.
    @unsafe
    @inline(__always)
    private static func copy(
        _ bytes: Span<UInt8>,
        _ bounds: Span<UInt32>,
        _ index: Int,
        to target: UnsafeMutablePointer<UInt8>
    ) -> Int {
        // Safe: the caller knows that there is such a text; bounds ascend to the end of the bytes.
        let start = Int(unsafe bounds[unchecked: index])
        let size = Int(unsafe bounds[unchecked: index &+ 1]) &- start
        _ = unsafe bytes.withAddress { source in
            unsafe ShortCopy.copy(source, start, size, of: bytes.count, to: target)
        }
        return size
    }

    /// For each number the next string of that part; each part has as many as are asked for.
    init(_ kinds: [Int64], of parts: [ByteStrings]) {
        // One behind the other, so that each string is one of a single list.
        var all = ByteStrings()
        var next: [Int] = []
        for part in parts {
            next.append(all.count)
            all.append(part)
        }
        precondition(all.count == kinds.count, "each string is asked for once")
        let starts = all.bounds.span
        var places = next.mutableSpan
        // Safe: one bound is written for each string, and one in front of them.
        let bounds = unsafe [UInt32](count: kinds.count + 1) { target in
            unsafe target[0] = 0
            var total: UInt32 = 0
            let kinds = kinds.span
            for index in kinds.indices {
                let kind = Int(unsafe kinds[unchecked: index])
                let place = places[kind]
                total &+= starts[place + 1] &- starts[place]
                places[kind] = place + 1
                unsafe target[index &+ 1] = total
            }
        }
        var writer = ByteStringsWriter(size: all.bytes.count)
        for place in places.indices.reversed() {
            places[place] = place == 0 ? 0 : places[place - 1]
        }
        for kind in kinds {
            let place = places[Int(kind)]
            writer.append(all, place)
            places[Int(kind)] = place + 1
        }
        self.init(bytes: writer.finish(), bounds: bounds)
    }

    /// Strings of `size` bytes each, byte by byte in planes.
    init(planes: Span<UInt8>, count: Int, size: Int) {
        precondition(planes.count == count * size, "there is a plane for each byte")
        // Safe: each byte is written, out of the planes that were counted just now.
        let content = unsafe [UInt8](count: count * size) { target in
            for index in 0..<count {
                for place in 0..<size {
                    unsafe target[index &* size &+ place] =
                        planes[unchecked: place &* count &+ index]
                }
            }
        }
        self.init(bytes: content, bounds: Self.bounds(count, size))
    }

    /// Where strings of one size end.
    static func bounds(_ count: Int, _ size: Int) -> [UInt32] {
        // Safe: each bound is written.
        unsafe [UInt32](count: count + 1) { target in
            for index in 0...count {
                unsafe target[index] = UInt32(truncatingIfNeeded: index &* size)
            }
        }
    }

    /// The texts of origins; the numbers are indices of replicas.
    init(_ replicas: [ReplicaID], _ numbers: [Int64], _ sequences: [Int64]) {
        // The text of each replica is made once, with the line behind it.
        let headSize = 14
        var heads = ByteStrings()
        for replica in replicas {
            let text = OriginText.bytes(Origin(replica: replica, sequence: 1))
            heads.append(text.span.raw.extracting(0..<headSize))
        }
        var writer = ByteStringsWriter(size: numbers.count * OriginText.sizeMax)
        var bounds: [UInt32] = [0]
        bounds.reserveCapacity(numbers.count + 1)
        for index in numbers.indices {
            writer.append(heads, Int(numbers[index]))
            writer.append(decimal: UInt64(bitPattern: sequences[index]))
            bounds.append(UInt32(truncatingIfNeeded: writer.count))
        }
        self.init(bytes: writer.finish(), bounds: bounds)
    }

    /// Strings of pieces: for each so many separators, between one piece more than that.
    ///
    /// Codes are indices of pieces, as many as strings and separators, and `size` is what all
    /// pieces and separators take.
    init(
        joining pieces: ByteStrings,
        _ codes: [UInt32],
        _ separatorCounts: [Int64],
        _ separator: [UInt8],
        size: Int
    ) {
        var bounds: [UInt32] = [0]
        bounds.reserveCapacity(separatorCounts.count + 1)
        // With the separator behind each piece, one copy is enough for both.
        var joined = ByteStrings()
        for index in 0..<pieces.count { joined.append(pieces[index].raw, separator.span.raw) }
        var writer = ByteStringsWriter(size: size + separator.count)
        var next = 0
        for separators in separatorCounts {
            for _ in 0...separators {
                writer.append(joined, Int(codes[next]))
                next += 1
            }
            writer.removeLast(separator.count)
            bounds.append(UInt32(truncatingIfNeeded: writer.count))
        }
        self.init(bytes: writer.finish(), bounds: bounds)
    }
}

/// Writes strings to memory that is taken once.
struct ByteStringsWriter: ~Copyable {
    private var bytes: [UInt8]
    private let size: Int
    private(set) var count = 0

    /// At most `size` bytes will be written.
    init(size: Int) {
        self.size = size
        // Written before it is read, but an array cannot know: these are zeros.
        bytes = [UInt8](repeating: 0, count: size + ShortCopy.slack)
    }

    @inline(__always)
    mutating func append(_ strings: borrowing ByteStrings, _ index: Int) {
        let start = Int(strings.bounds[index])
        let length = Int(strings.bounds[index + 1]) - start
        precondition(length <= size - count, "the sizes were added up before")
        let sourceSize = strings.bytes.count
        precondition(start >= 0 && start + length <= sourceSize, "bounds lie in their bytes")
        let place = count
        // Safe: both ranges were checked just now, and the target has the slack.
        unsafe strings.bytes.withUnsafeBufferPointer { source in
            unsafe bytes.withUnsafeMutableBufferPointer { target in
                guard let from = source.baseAddress, let to = target.baseAddress else { return }
                unsafe ShortCopy.copy(from, start, length, of: sourceSize, to: to + place)
            }
        }
        count += length
    }

    /// The digits of a number, without zeros in front.
    @inline(__always)
    mutating func append(decimal number: UInt64) {
        var digitCount = 1
        var power = number / 10
        while power > 0 {
            digitCount += 1
            power /= 10
        }
        precondition(digitCount <= size - count, "the sizes were added up before")
        var rest = number
        count += digitCount
        var place = count
        var target = bytes.mutableSpan
        for _ in 0..<digitCount {
            place -= 1
            target[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }

    mutating func removeLast(_ size: Int) {
        precondition(size <= count, "no more is taken back than there is")
        count -= size
    }

    consuming func finish() -> [UInt8] {
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}
