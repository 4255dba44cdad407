import DiarioCore

/// The form of strings of one size that differ in digits of one alphabet only.
struct TextPattern: Equatable {
    /// The number of the alphabet in the file.
    var alphabet: UInt8
    /// From 32 on the byte itself; below, the bits of the digit that stands there.
    var marks: [UInt8]

    static let sizeMax = 255
    static let alphabetCount: UInt8 = 5
    private static let alphabets: [[UInt8]] = [
        Array("0123456789abcdef".utf8),
        Array("0123456789ABCDEF".utf8),
        Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8),
        Array("0123456789abcdefghjkmnpqrstvwxyz".utf8),
        Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8),
    ]
    /// For each alphabet, the digit of each byte, or `noDigit`.
    private static let digits: [[UInt8]] = alphabets.map { alphabet in
        var digits = [UInt8](repeating: noDigit, count: 256)
        for (digit, byte) in alphabet.enumerated() { digits[Int(byte)] = UInt8(digit) }
        return digits
    }
    private static let noDigit: UInt8 = 255

    /// The bytes by digit.
    var characters: [UInt8] { Self.alphabets[Int(alphabet) - 1] }
    private var digits: [UInt8] { Self.digits[Int(alphabet) - 1] }

    /// Bits of the digits of one string.
    var bitCount: Int { marks.reduce(0) { $0 + ($1 < 32 ? Int($1) : 0) } }
    var packedSize: Int { (bitCount + 7) / 8 }

    /// A pattern that was read; nil if it cannot be one.
    init?(alphabet: UInt8, marks: [UInt8]) {
        guard 1...Self.alphabetCount ~= alphabet else { return nil }
        self.alphabet = alphabet
        self.marks = marks
        let bitsMax = UInt8(characters.count.trailingZeroBitCount)
        guard marks.allSatisfy({ $0 >= 32 || 1...bitsMax ~= $0 }) else { return nil }
    }

    /// The pattern of all these strings; nil if they have none.
    init?(_ strings: ByteStrings) {
        guard strings.count > 0 else { return nil }
        let size = strings.range(0).count
        let total = strings.bytes.count
        guard 1...Self.sizeMax ~= size, total == size * strings.count else { return nil }
        for index in 0..<strings.count where strings.range(index).count != size { return nil }
        let bytes = strings.bytes.span
        let first = Array(strings.bytes[..<size])
        let differences = Self.differences(bytes, first.span)
        let isLiteral = (0..<size).map { differences[$0] == 0 && 32..<127 ~= first[$0] }
        for alphabet in 1...Self.alphabetCount {
            let digits = Self.digits[Int(alphabet) - 1]
            guard let marks = Self.marks(bytes, size: size, isLiteral, digits.span) else {
                continue
            }
            self.alphabet = alphabet
            self.marks = marks
            return
        }
        return nil
    }

    private static func marks(
        _ bytes: Span<UInt8>,
        size: Int,
        _ isLiteral: [Bool],
        _ digits: Span<UInt8>
    ) -> [UInt8]? {
        var used: [UInt8] = []
        // A few strings tell most of the time that this is not the alphabet.
        for count in [min(bytes.count, 16 * size), bytes.count] {
            used = Self.used(bytes.extracting(0..<count), size: size, digits)
            for place in 0..<size where !isLiteral[place] && used[place] == noDigit { return nil }
        }
        var marks: [UInt8] = []
        for place in 0..<size {
            guard !isLiteral[place] else {
                marks.append(bytes[place])
                continue
            }
            marks.append(max(1, UInt8(UInt8.bitWidth - used[place].leadingZeroBitCount)))
        }
        return marks
    }

    /// For each place the bits in which a string differs from the first; string by string, as
    /// they lie in memory.
    private static func differences(_ bytes: Span<UInt8>, _ first: Span<UInt8>) -> [UInt8] {
        let size = first.count
        var differences = [UInt8](repeating: 0, count: size)
        var target = differences.mutableSpan
        precondition(bytes.count % size == 0, "all strings have one size")
        for start in stride(from: 0, to: bytes.count, by: size) {
            for place in 0..<size {
                // Safe: the strings fill the bytes, and there is a place for each of theirs.
                unsafe target[unchecked: place] |=
                    bytes[unchecked: start &+ place] ^ first[unchecked: place]
            }
        }
        return differences
    }

    /// For each place the bits of its digits; those of `noDigit` if a byte is none.
    private static func used(
        _ bytes: Span<UInt8>,
        size: Int,
        _ digits: Span<UInt8>
    ) -> [UInt8] {
        var used = [UInt8](repeating: 0, count: size)
        var target = used.mutableSpan
        precondition(bytes.count % size == 0 && digits.count == 256, "all strings have one size")
        for start in stride(from: 0, to: bytes.count, by: size) {
            for place in 0..<size {
                // Safe: the strings fill the bytes, and each byte has a digit or `noDigit`.
                let byte = Int(unsafe bytes[unchecked: start &+ place])
                unsafe target[unchecked: place] |= digits[unchecked: byte]
            }
        }
        return used
    }

    /// The digits of all strings as planes: byte p of each string, for each p.
    func pack(_ strings: ByteStrings, into planes: inout [UInt8]) {
        let count = strings.count
        planes.removeAll(keepingCapacity: true)
        planes.append(repeating: 0, count: count * packedSize)
        var target = planes.mutableSpan
        let bytes = strings.bytes.span
        let digits = digits.span
        let marks = marks.span
        precondition(bytes.count == count * marks.count, "each string has the size of the pattern")
        precondition(digits.count == 256, "each byte has a digit, or says that it has none")
        var offset = 0
        for index in 0..<count {
            var (bits, bitCount) = (0, 0)
            var place = index
            for position in marks.indices {
                // Safe: `offset` goes through `count` strings of one byte for each mark; a plane
                // is gone to for each eight bits of the marks, which have `packedSize` of them.
                let mark = Int(unsafe marks[unchecked: position])
                if mark < 32 {
                    let byte = Int(unsafe bytes[unchecked: offset])
                    bits = bits &<< mark | Int(unsafe digits[unchecked: byte])
                    bitCount &+= mark
                    if bitCount >= 8 {
                        bitCount &-= 8
                        unsafe target[unchecked: place] = UInt8(
                            truncatingIfNeeded: bits &>> bitCount
                        )
                        place &+= count
                    }
                }
                offset &+= 1
            }
            if bitCount > 0 {
                unsafe target[unchecked: place] = UInt8(
                    truncatingIfNeeded: bits &<< (8 &- bitCount)
                )
            }
        }
    }

    /// The strings that planes of digits stand for; nil if a digit is not one of the alphabet.
    func unpack(_ planes: Span<UInt8>, count: Int) -> ByteStrings? {
        precondition(planes.count == count * packedSize, "there is a plane for each byte")
        if count >= PatternSteps.countMin, let steps = PatternSteps(self) {
            return steps.unpack(planes, count: count)
        }
        let size = marks.count
        var bytes = [UInt8](repeating: 0, count: count * size)
        var target = bytes.mutableSpan
        // One entry for each value of five or six bits, and more than a mark can ask for.
        var characters = characters
        characters.append(repeating: 0, count: 64 - characters.count)
        let digits = characters.span
        let marks = marks.span
        precondition(
            target.count == count * marks.count && planes.count == count * packedSize,
            "each string has its bytes, and a byte in each plane"
        )
        var isWhole = true
        for index in 0..<count {
            var bits: UInt64 = 0
            var bitCount: UInt64 = 0
            var place = index
            let start = index &* size
            for position in 0..<size {
                // Safe: `position` counts the marks; `start + position` is below their product
                // with `count`; a plane is gone to for each eight bits of the pattern, which has
                // `packedSize` of them; digits have 64 entries and at most six bits.
                let mark = unsafe marks[unchecked: position]
                guard mark < 32 else {
                    unsafe target[unchecked: start &+ position] = mark
                    continue
                }
                let width = UInt64(truncatingIfNeeded: mark)
                if bitCount < width {
                    unsafe bits = bits &<< 8 | UInt64(planes[unchecked: place])
                    place &+= count
                    bitCount &+= 8
                }
                bitCount &-= width
                let digit = Int(truncatingIfNeeded: bits &>> bitCount & (1 &<< width &- 1))
                unsafe target[unchecked: start &+ position] = digits[unchecked: digit & 63]
            }
            isWhole = isWhole && bits & (1 &<< bitCount &- 1) == 0
        }
        guard isWhole else { return nil }
        return ByteStrings(bytes: bytes, bounds: ByteStrings.bounds(count, size))
    }
}
