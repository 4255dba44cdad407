/// How the strings of a pattern are put together, two characters at a time.
///
/// For patterns with at most 16 bytes of digits, as random ids have: the bytes of one string are
/// gathered in words first, and then each character has its place in them.
struct PatternSteps {
    /// A place that digits go to, and where their bits are in the words.
    private struct Step {
        var place: Int
        var word: Int
        var shift: UInt64
        var mask: UInt64
    }

    /// Strings for which the tables are worth their making.
    static let countMin = 64
    private static let packedSizeMax = 16

    private let size: Int
    private let packedSize: Int
    /// The bits of the last byte that no digit has.
    private let unusedBits: UInt8
    private var literals: [(place: Int, byte: UInt8)] = []
    private var singles: [Step] = []
    private var pairs: [Step] = []
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
        characters = all
        twins = (0..<all.count * all.count).map { code in
            UInt16(all[code >> full]) | UInt16(all[code & (all.count - 1)]) << 8
        }
        var place = 0
        var bit = 0
        while place < size {
            let mark = Int(pattern.marks[place])
            if mark >= 32 {
                literals.append((place, pattern.marks[place]))
                place += 1
            } else if mark == full, place + 1 < size, Int(pattern.marks[place + 1]) == full {
                pairs.append(Self.step(place, bit: bit, width: 2 * full))
                place += 2
                bit += 2 * full
            } else {
                singles.append(Self.step(place, bit: bit, width: mark))
                place += 1
                bit += mark
            }
        }
    }

    /// Word w has the bytes from 4 * w on, the first one highest; so each two digits lie in one.
    private static func step(_ place: Int, bit: Int, width: Int) -> Step {
        let word = min(bit / 32, 2)
        return Step(
            place: place,
            word: word,
            shift: UInt64(64 - (bit - 32 * word) - width),
            mask: 1 << UInt64(width) - 1
        )
    }

    /// The strings; nil if bits are set that no digit has.
    func unpack(_ planes: Span<UInt8>, count: Int) -> ByteStrings? {
        precondition(planes.count == count * packedSize, "there is a plane for each byte")
        precondition(
            literals.count + singles.count + 2 * pairs.count == size,
            "no byte of a string is left out"
        )
        var unused: UInt8 = 0
        // Safe: the steps together write each byte of a string, as was just checked.
        let bytes = unsafe [UInt8](count: count * size) { target in
            _ = unsafe planes.withAddress { planes in
                for index in 0..<count {
                    unsafe write(planes + index, count, to: target + index &* size, &unused)
                }
            }
        }
        guard unused == 0 else { return nil }
        return ByteStrings(bytes: bytes, bounds: ByteStrings.bounds(count, size))
    }

    /// Writes one string, whose bytes are `count` apart.
    @unsafe
    @inline(__always)
    private func write(
        _ planes: UnsafePointer<UInt8>,
        _ count: Int,
        to target: UnsafeMutablePointer<UInt8>,
        _ unused: inout UInt8
    ) {
        // Safe: there are `packedSize` planes.
        let first = unsafe Self.word(planes, count, min(packedSize, 8))
        var second: UInt64 = 0
        if packedSize > 8 {
            second = unsafe Self.word(planes + 8 &* count, count, packedSize &- 8)
        }
        unused |= unsafe planes[(packedSize &- 1) &* count] & unusedBits
        let middle = first &<< 32 | second &>> 32
        let (literals, singles, pairs) = (literals.span, singles.span, pairs.span)
        let (characters, twins) = (characters.span, twins.span)
        for index in literals.indices {
            let literal = unsafe literals[unchecked: index]
            unsafe target[literal.place] = literal.byte
        }
        for index in singles.indices {
            let step = unsafe singles[unchecked: index]
            let word = step.word == 0 ? first : step.word == 1 ? middle : second
            // Safe: a mark has no more bits than characters have numbers.
            let digit = Int(truncatingIfNeeded: word &>> step.shift & step.mask)
            unsafe target[step.place] = characters[unchecked: digit]
        }
        for index in pairs.indices {
            let step = unsafe pairs[unchecked: index]
            let word = step.word == 0 ? first : step.word == 1 ? middle : second
            let digits = Int(truncatingIfNeeded: word &>> step.shift & step.mask)
            // Safe: there is an entry for each two digits; both places are those of the string.
            unsafe UnsafeMutableRawPointer(target + step.place).storeBytes(
                of: twins[unchecked: digits].littleEndian,
                as: UInt16.self
            )
        }
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
