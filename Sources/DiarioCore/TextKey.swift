// Keys of texts. Steps are those of schema/format/text-key.md, section 3.

/// What texts are compared by: those that people take for one text have one key.
///
/// Keys never change: they are made from tables of one version of Unicode, which are our own,
/// without a locale. The standard library's are those of its version, so they have no part in it.
package enum TextKey {
    /// Which differences between texts count.
    package enum Kind: String, CaseIterable, Sendable {
        /// Case, blanks and ways to type a character do not count.
        case same
        /// Nor do accents and other marks.
        case search
    }

    /// The key of a text, at most 11 times its size in UTF-8.
    ///
    /// Complexity: linear, but for runs of marks without a letter between, which are sorted.
    package static func of(_ text: String, _ kind: Kind) -> String {
        var writer = TextKeyWriter(kind)
        for scalar in text.unicodeScalars { writer.fold(scalar) }
        return writer.finish()
    }
}

/// Writes a key scalar by scalar.
private struct TextKeyWriter {
    private let kind: TextKey.Kind
    private var key = String.UnicodeScalarView()
    /// The marks since the last letter, each below its class and its number among them, so that
    /// sorting keeps the order of those with one class.
    private var marks: [UInt64] = []
    private var owesBlank = false

    init(_ kind: TextKey.Kind) { self.kind = kind }

    /// Takes a scalar of the text (step 1).
    mutating func fold(_ scalar: Unicode.Scalar) {
        switch scalar.value {
        case 0x21...0x40, 0x5b...0x5f, 0x61...0x7e: add(scalar)
        case 0x41...0x5a: add(scalar.value + 32)
        case 0xac00...0xd7a3: fold(hangul: scalar.value - 0xac00)
        default:
            switch TextKeyTables.fold(scalar.value) {
            case .unchanged: add(scalar)
            case .dropped: break
            case .scalar(let value): add(value)
            case .text(let index): add(textAt: index)
            }
        }
    }

    /// A syllable is 2 or 3 letters, by its number.
    private mutating func fold(hangul syllable: UInt32) {
        add(0x1100 + syllable / 588)
        add(0x1161 + syllable % 588 / 28)
        if syllable % 28 > 0 { add(0x11a7 + syllable % 28) }
    }

    /// Decodes a text of the tables.
    private mutating func add(textAt start: Int) {
        var (index, value) = (start, UInt32(0))
        var byte = TextKeyTables.byte(at: index)
        while byte > 0 {
            switch byte {
            case ..<0x80: value = UInt32(byte)
            case ..<0xc0: value = value << 6 | UInt32(byte & 0x3f)
            case ..<0xe0: value = UInt32(byte & 0x1f)
            case ..<0xf0: value = UInt32(byte & 0x0f)
            default: value = UInt32(byte & 0x07)
            }
            index += 1
            byte = TextKeyTables.byte(at: index)
            if !(0x80..<0xc0 ~= byte) { add(value) }
        }
    }

    private mutating func add(_ value: UInt32) {
        guard let scalar = Unicode.Scalar(value) else {
            preconditionFailure("the tables hold scalars")
        }
        add(scalar)
    }

    /// Takes a scalar as it is in keys (steps 2 to 5).
    private mutating func add(_ scalar: Unicode.Scalar) {
        if scalar == " " {
            endMarks()
            owesBlank = !key.isEmpty
            return
        }
        let mark = TextKeyTables.mark(scalar.value)
        let isRemoved = mark.isNonspacing && kind == .search && scalar != Self.iotaBelow
        if mark.combiningClass == 0 {
            // Also before one that is removed: marks are put in order first.
            endMarks()
            if !isRemoved { append(scalar) }
        } else if !isRemoved {
            let order = UInt64(mark.combiningClass) << 56 | UInt64(marks.count) << 24
            marks.append(order | UInt64(scalar.value))
        }
    }

    private mutating func endMarks() {
        guard !marks.isEmpty else { return }
        marks.sort()
        for mark in marks {
            guard let scalar = Unicode.Scalar(UInt32(mark & 0xff_ffff)) else { continue }
            append(scalar == Self.iotaBelow ? "\u{3b9}" : scalar)
        }
        marks.removeAll(keepingCapacity: true)
    }

    /// A mark that becomes a letter, once it is in its place among other marks.
    private static let iotaBelow: Unicode.Scalar = "\u{345}"

    private mutating func append(_ scalar: Unicode.Scalar) {
        if owesBlank { key.append(" ") }
        owesBlank = false
        key.append(scalar)
    }

    mutating func finish() -> String {
        endMarks()
        return String(key)
    }
}

/// What the tables say that a scalar becomes.
private enum Fold {
    case unchanged
    case dropped
    case scalar(UInt32)
    /// The text that begins there.
    case text(Int)
}

extension TextKeyTables {
    fileprivate static func fold(_ scalar: UInt32) -> Fold {
        let (size, sought) = (10, Int(scalar))
        guard let start = record(in: folds, size: size, firstDigits: 4, upTo: sought) else {
            return .unchanged
        }
        let distance = sought - number(in: folds, at: start, digits: 4)
        let last = number(in: folds, at: start + 4, digits: 2)
        let value = number(in: folds, at: start + 7, digits: 3)
        switch number(in: folds, at: start + 6, digits: 1) {
        case 0 where distance <= last: return .dropped
        case 1 where distance <= last: return .scalar(UInt32(value + distance))
        case 2 where distance <= 2 * last && distance % 2 == 0:
            return .scalar(UInt32(value + distance))
        case 3 where distance <= last:
            var index = value
            for _ in 0..<distance {
                while byte(at: index) > 0 { index += 1 }
                index += 1
            }
            return .text(index)
        default: return .unchanged
        }
    }

    fileprivate static func mark(
        _ scalar: UInt32
    ) -> (combiningClass: Int, isNonspacing: Bool) {
        let (size, sought) = (7, Int(scalar))
        guard scalar >= 0x300,
            let start = record(in: classes, size: size, firstDigits: 3, upTo: sought)
        else { return (0, false) }
        let distance = sought - number(in: classes, at: start, digits: 3)
        guard distance <= number(in: classes, at: start + 3, digits: 2) else { return (0, false) }
        let value = number(in: classes, at: start + 5, digits: 2)
        return (value & 255, value > 255)
    }

    /// A byte of `texts`.
    fileprivate static func byte(at index: Int) -> UInt8 {
        precondition(0..<texts.utf8CodeUnitCount ~= index, "a text of the tables has its end")
        // Safe: the index was just checked, and the literal is there as long as the program.
        return unsafe texts.utf8Start[index]
    }

    /// Where the last record begins whose first scalar is not above the sought one.
    private static func record(
        in table: StaticString,
        size: Int,
        firstDigits: Int,
        upTo sought: Int
    ) -> Int? {
        let count = (0..<table.utf8CodeUnitCount / size).sortedIndex { index in
            number(in: table, at: index * size, digits: firstDigits) <= sought
        }
        return count > 0 ? (count - 1) * size : nil
    }

    private static func number(in table: StaticString, at start: Int, digits: Int) -> Int {
        let range = start..<start + digits
        precondition(0 <= start && range.upperBound <= table.utf8CodeUnitCount, "in the table")
        // Safe: the range was just checked, and the literal is there as long as the program.
        return range.reduce(0) { unsafe $0 << 6 | Int(table.utf8Start[$1] - 0x30) }
    }
}
