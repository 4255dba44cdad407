/// How the strings of a pattern are put together, eight characters at a time where that goes.
///
/// For patterns with at most 16 bytes of digits, as random ids have: the bytes of one string are
/// gathered in two words first, and then each character has its place in them.
struct PatternSteps {
    /// A place that digits go to, and where their bits begin in the two words.
    private struct Step {
        var place: Int
        var bit: Int
        var width: Int
    }

    /// Strings for which the tables are worth their making.
    static let countMin = 64
    private static let packedSizeMax = 16

    private let size: Int
    private let packedSize: Int
    /// The bits of the last byte that no digit has.
    private let unusedBits: UInt8
    /// Bits of a digit that may be any.
    private let full: Int
    private var literals: [(place: Int, byte: UInt8)] = []
    private var singles: [Step] = []
    private var pairs: [Step] = []
    private var octets: [Step] = []
    private let characters: [UInt8]
    /// For two digits of full width, their characters, the first one lowest.
    private let twins: [UInt16]

    /// Nil if there are more digits than this is for.
    init?(_ pattern: TextPattern) {
        guard pattern.packedSize <= Self.packedSizeMax, pattern.packedSize > 0 else { return nil }
        size = pattern.marks.count
        packedSize = pattern.packedSize
        unusedBits = UInt8(1) << UInt8(packedSize * 8 - pattern.bitCount) - 1
        let all = pattern.characters
        let full = all.count.trailingZeroBitCount
        self.full = full
        characters = all
        twins = (0..<all.count * all.count).map { code in
            UInt16(all[code >> full]) | UInt16(all[code & (all.count - 1)]) << 8
        }
        var place = 0
        var bit = 0
        while place < size {
            let mark = Int(pattern.marks[place])
            guard mark < 32 else {
                literals.append((place, pattern.marks[place]))
                place += 1
                continue
            }
            let run = pattern.marks[place...].prefix { Int($0) == full }.count
            let count = run >= 8 ? 8 : run >= 2 ? 2 : 1
            let step = Step(place: place, bit: bit, width: count == 1 ? mark : count * full)
            switch count {
            case 8: octets.append(step)
            case 2: pairs.append(step)
            default: singles.append(step)
            }
            place += count
            bit += step.width
        }
    }

    /// The strings; nil if bits are set that no digit has.
    func unpack(_ planes: Span<UInt8>, count: Int) -> ByteStrings? {
        precondition(planes.count == count * packedSize, "there is a plane for each byte")
        precondition(
            literals.count + singles.count + 2 * pairs.count + 8 * octets.count == size,
            "no byte of a string is left out"
        )
        if unusedBits != 0 {
            var unused: UInt8 = 0
            let last = planes.extracting((packedSize - 1) * count..<packedSize * count)
            for index in last.indices { unused |= last[index] }
            guard unused & unusedBits == 0 else { return nil }
        }
        // Safe: the steps together write each byte of a string, as was just checked.
        let bytes = unsafe [UInt8](count: count * size) { target in
            _ = unsafe planes.withAddress { planes in
                var index = 0
                // Safe: each plane has eight bytes from `index` on, and the target eight strings.
                while index + 8 <= count {
                    unsafe writeEight(planes + index, count, to: target + index &* size)
                    index += 8
                }
                while index < count {
                    let first = unsafe Self.word(planes + index, count, min(packedSize, 8))
                    var second: UInt64 = 0
                    if packedSize > 8 {
                        second = unsafe Self.word(
                            planes + 8 &* count + index,
                            count,
                            packedSize &- 8
                        )
                    }
                    unsafe write(first, second, to: target + index &* size)
                    index += 1
                }
            }
        }
        return ByteStrings(bytes: bytes, bounds: ByteStrings.bounds(count, size))
    }

    /// Writes eight strings, whose bytes are `count` apart.
    @unsafe
    @inline(__always)
    private func writeEight(
        _ planes: UnsafePointer<UInt8>,
        _ count: Int,
        to target: UnsafeMutablePointer<UInt8>
    ) {
        // Safe: there are `packedSize` planes, and the target has room for eight strings. The
        // places of a step are those of a string, the loops go through the indices, and there is
        // a character for each digit of `full` bits, and a twin for each two.
        let first = unsafe PlaneWords.highestFirst(planes, count, min(packedSize, 8))
        var second = PlaneWords.Words.zero
        if packedSize > 8 {
            second = unsafe PlaneWords.highestFirst(planes + 8 &* count, count, packedSize &- 8)
        }
        let (literals, singles, pairs) = (literals.span, singles.span, pairs.span)
        let (octets, characters, twins) = (octets.span, characters.span, twins.span)
        for index in literals.indices {
            let literal = unsafe literals[unchecked: index]
            for string in 0..<8 { unsafe target[literal.place &+ string &* size] = literal.byte }
        }
        for index in singles.indices {
            let step = unsafe singles[unchecked: index]
            let digits = Self.bits(step, first, second)
            for string in 0..<8 {
                let digit = Int(truncatingIfNeeded: digits[string])
                unsafe target[step.place &+ string &* size] = characters[unchecked: digit]
            }
        }
        for index in pairs.indices {
            let step = unsafe pairs[unchecked: index]
            let digits = Self.bits(step, first, second)
            for string in 0..<8 {
                let twin = Int(truncatingIfNeeded: digits[string])
                unsafe UnsafeMutableRawPointer(target + step.place + string &* size).storeBytes(
                    of: twins[unchecked: twin].littleEndian,
                    as: UInt16.self
                )
            }
        }
        for index in octets.indices {
            let step = unsafe octets[unchecked: index]
            let digits = Self.bits(step, first, second)
            for string in 0..<8 {
                let text = unsafe Self.text(digits[string], twins, full)
                unsafe UnsafeMutableRawPointer(target + step.place + string &* size).storeBytes(
                    of: text.littleEndian,
                    as: UInt64.self
                )
            }
        }
    }

    /// The characters of eight digits, the first one lowest.
    @unsafe
    @inline(__always)
    private static func text(_ bits: UInt64, _ twins: Span<UInt16>, _ full: Int) -> UInt64 {
        let digits = Int(truncatingIfNeeded: bits)
        let width = 2 &* full
        let mask = 1 &<< width &- 1
        // Safe: there is a twin for each two digits of `full` bits.
        let one = unsafe UInt64(twins[unchecked: digits &>> (3 &* width) & mask])
        let two = unsafe UInt64(twins[unchecked: digits &>> (2 &* width) & mask])
        let three = unsafe UInt64(twins[unchecked: digits &>> width & mask])
        let four = unsafe UInt64(twins[unchecked: digits & mask])
        return one | two &<< 16 | three &<< 32 | four &<< 48
    }

    /// Writes one string, whose bits are those of two words, the first one first.
    @unsafe
    @inline(__always)
    private func write(
        _ first: UInt64,
        _ second: UInt64,
        to target: UnsafeMutablePointer<UInt8>
    ) {
        let (literals, singles, pairs) = (literals.span, singles.span, pairs.span)
        let (octets, characters, twins) = (octets.span, characters.span, twins.span)
        // Safe: the places of a step are those of the string, the loops go through the indices,
        // and there is a character for each digit of `full` bits, and a twin for each two.
        for index in literals.indices {
            let literal = unsafe literals[unchecked: index]
            unsafe target[literal.place] = literal.byte
        }
        for index in singles.indices {
            let step = unsafe singles[unchecked: index]
            let digit = Int(truncatingIfNeeded: Self.bits(step, first, second))
            unsafe target[step.place] = characters[unchecked: digit]
        }
        for index in pairs.indices {
            let step = unsafe pairs[unchecked: index]
            let digits = Int(truncatingIfNeeded: Self.bits(step, first, second))
            unsafe UnsafeMutableRawPointer(target + step.place).storeBytes(
                of: twins[unchecked: digits].littleEndian,
                as: UInt16.self
            )
        }
        for index in octets.indices {
            let step = unsafe octets[unchecked: index]
            let text = unsafe Self.text(Self.bits(step, first, second), twins, full)
            unsafe UnsafeMutableRawPointer(target + step.place).storeBytes(
                of: text.littleEndian,
                as: UInt64.self
            )
        }
    }

    /// The bits of a step in each of eight strings.
    @inline(__always)
    private static func bits(
        _ step: Step,
        _ first: PlaneWords.Words,
        _ second: PlaneWords.Words
    ) -> PlaneWords.Words {
        let start = step.bit
        let rest = PlaneWords.Words(repeating: UInt64(truncatingIfNeeded: 64 &- step.width))
        if start >= 64 {
            let shift = PlaneWords.Words(repeating: UInt64(truncatingIfNeeded: start &- 64))
            return (second &<< shift) &>> rest
        }
        let shift = PlaneWords.Words(repeating: UInt64(truncatingIfNeeded: start))
        guard start &+ step.width > 64 else { return (first &<< shift) &>> rest }
        // Some bits of each; then `start` is not 0.
        let other = PlaneWords.Words(repeating: UInt64(truncatingIfNeeded: 64 &- start))
        return ((first &<< shift) | (second &>> other)) &>> rest
    }

    /// The bits of a step, which are at most 48.
    @inline(__always)
    private static func bits(_ step: Step, _ first: UInt64, _ second: UInt64) -> UInt64 {
        let start = step.bit
        let top: UInt64
        if start >= 64 {
            top = second &<< UInt64(truncatingIfNeeded: start &- 64)
        } else if start &+ step.width <= 64 {
            top = first &<< UInt64(truncatingIfNeeded: start)
        } else {
            // Some bits of each; then `start` is not 0.
            top =
                first &<< UInt64(truncatingIfNeeded: start)
                | second &>> UInt64(truncatingIfNeeded: 64 &- start)
        }
        return top &>> UInt64(truncatingIfNeeded: 64 &- step.width)
    }

    /// Up to eight bytes that are `count` apart, the first one highest.
    @unsafe
    @inline(__always)
    private static func word(
        _ planes: UnsafePointer<UInt8>,
        _ count: Int,
        _ size: Int
    ) -> UInt64 {
        var word: UInt64 = 0
        // Safe: the caller knows that there are so many planes.
        for place in 0..<size { word = word &<< 8 | UInt64(unsafe planes[place &* count]) }
        return word &<< UInt64(64 &- 8 &* size)
    }
}
