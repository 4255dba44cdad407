import DiarioCore

/// A pattern as a tree.
indirect enum PatternNode {
    case empty
    case set(ScalarSet)
    case start
    case end
    case sequence([PatternNode])
    case choice([PatternNode])
    /// `countMax` is nil for no bound.
    case repeated(PatternNode, countMin: Int, countMax: Int?)
}

/// Reads the linear-time subset of ECMA-262 regular expressions with the `u` flag.
struct PatternParser {
    private let scalars: [Unicode.Scalar]
    private var index = 0
    private var groupDepth = 0
    private var rangeCount = 0

    private static let groupDepthMax = 32
    private static let syntaxCharacters = Set("^$\\.*+?()[]{}|/".unicodeScalars)

    init(_ text: String) { scalars = Array(text.unicodeScalars) }

    mutating func parse() throws(PatternError) -> PatternNode {
        let node = try parseChoice()
        guard index == scalars.count else {
            throw error("this ) closes no group; write \\) for the character itself")
        }
        return node
    }

    private var next: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

    private func error(_ message: String, at position: Int? = nil) -> PatternError {
        PatternError(position: (position ?? index) + 1, message: message)
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        index += 1
        return true
    }

    private mutating func parseChoice() throws(PatternError) -> PatternNode {
        var branches = [try parseSequence()]
        while take("|") { branches.append(try parseSequence()) }
        return branches.count == 1 ? branches[0] : .choice(branches)
    }

    private mutating func parseSequence() throws(PatternError) -> PatternNode {
        var parts: [PatternNode] = []
        while let scalar = next, scalar != "|", scalar != ")" {
            let start = index
            let part = try parseAtom(scalar)
            parts.append(try parseQuantifiers(of: part, from: start))
        }
        switch parts.count {
        case 0: return .empty
        case 1: return parts[0]
        default: return .sequence(parts)
        }
    }

    private mutating func parseAtom(_ scalar: Unicode.Scalar) throws(PatternError) -> PatternNode {
        switch scalar {
        case "^":
            index += 1
            return .start
        case "$":
            index += 1
            return .end
        case ".":
            index += 1
            return .set(.notLineEnds)
        case "(": return try parseGroup()
        case "[": return .set(try parseClass())
        case "\\": return .set(try parseEscape(inClass: false))
        case "*", "+", "?":
            throw error("there is nothing that \(scalar) could repeat; write \\\(scalar)")
        case "]", "{", "}":
            throw error("a literal \(scalar) is written \\\(scalar)")
        default:
            index += 1
            return .set(ScalarSet([scalar.value...scalar.value]))
        }
    }

    private mutating func parseGroup() throws(PatternError) -> PatternNode {
        let start = index
        index += 1
        if take("?") {
            guard take(":") else {
                throw error(
                    "lookaround, named groups and flags are not supported; use ( ) or (?: )",
                    at: start
                )
            }
        }
        guard groupDepth < Self.groupDepthMax else {
            throw error("groups are nested more than \(Self.groupDepthMax) deep", at: start)
        }
        groupDepth += 1
        let node = try parseChoice()
        groupDepth -= 1
        guard take(")") else { throw error("this ( is never closed", at: start) }
        return node
    }

    private mutating func parseQuantifiers(
        of node: PatternNode,
        from start: Int
    ) throws(PatternError) -> PatternNode {
        guard let scalar = next, "*+?{".unicodeScalars.contains(scalar) else { return node }
        guard scalars[start] != "^", scalars[start] != "$" else {
            throw error("^ and $ cannot be repeated", at: start)
        }
        index += 1
        let result: PatternNode
        switch scalar {
        case "*": result = .repeated(node, countMin: 0, countMax: nil)
        case "+": result = .repeated(node, countMin: 1, countMax: nil)
        case "?": result = .repeated(node, countMin: 0, countMax: 1)
        default: result = try parseCount(of: node, from: index - 1)
        }
        if next == "?" {
            throw error("lazy quantifiers are not supported; leave the second ? out")
        }
        if let scalar = next, "*+{".unicodeScalars.contains(scalar) {
            throw error("a quantifier cannot be repeated; use a group")
        }
        return result
    }

    private mutating func parseCount(
        of node: PatternNode,
        from start: Int
    ) throws(PatternError) -> PatternNode {
        let form = "a count is written {2}, {2,} or {2,5}; a literal { is \\{"
        guard let countMin = parseNumber() else { throw error(form, at: start) }
        if take("}") { return .repeated(node, countMin: countMin, countMax: countMin) }
        guard take(",") else { throw error(form, at: start) }
        if take("}") { return .repeated(node, countMin: countMin, countMax: nil) }
        guard let countMax = parseNumber(), take("}") else { throw error(form, at: start) }
        guard countMin <= countMax else {
            throw error("the count \(countMin) is above \(countMax); swap them", at: start)
        }
        return .repeated(node, countMin: countMin, countMax: countMax)
    }

    /// The digits that come next; numbers beyond any use are cut, and refused by their size later.
    private mutating func parseNumber() -> Int? {
        let start = index
        var number = 0
        while let scalar = next, "0"..."9" ~= scalar {
            number = min(number * 10 + Int(scalar.value) - 0x30, Limits.patternStateCountMax + 1)
            index += 1
        }
        return index > start ? number : nil
    }

    private mutating func parseClass() throws(PatternError) -> ScalarSet {
        let start = index
        index += 1
        let isInverted = take("^")
        var ranges: [ClosedRange<UInt32>] = []
        while !take("]") {
            guard next != nil else { throw error("this [ is never closed", at: start) }
            let first = index
            let low = try parseClassAtom()
            guard next == "-", index + 1 < scalars.count, scalars[index + 1] != "]" else {
                ranges += low.ranges
                continue
            }
            index += 1
            let high = try parseClassAtom()
            guard let lowest = low.single, let highest = high.single else {
                throw error("a range runs between two characters; write \\- for a dash", at: first)
            }
            guard lowest <= highest else {
                throw error("this range runs backwards; swap its ends", at: first)
            }
            ranges.append(lowest...highest)
        }
        rangeCount += ranges.count
        guard rangeCount <= Limits.patternStateCountMax else {
            throw error("the classes hold more than \(Limits.patternStateCountMax) ranges")
        }
        let set = ScalarSet(ranges)
        return isInverted ? set.inverted : set
    }

    private mutating func parseClassAtom() throws(PatternError) -> ScalarSet {
        guard let scalar = next else { throw error("this class is never closed") }
        if scalar == "\\" { return try parseEscape(inClass: true) }
        if scalar == "[" {
            throw error("a [ inside a class is written \\[")
        }
        index += 1
        return ScalarSet([scalar.value...scalar.value])
    }

    private mutating func parseEscape(inClass: Bool) throws(PatternError) -> ScalarSet {
        let start = index
        index += 1
        guard let scalar = next else { throw error("nothing follows this \\", at: start) }
        index += 1
        switch scalar {
        case "d": return .digits
        case "D": return ScalarSet.digits.inverted
        case "w": return .words
        case "W": return ScalarSet.words.inverted
        case "s": return .spaces
        case "S": return ScalarSet.spaces.inverted
        case "t": return ScalarSet([0x09...0x09])
        case "n": return ScalarSet([0x0a...0x0a])
        case "v": return ScalarSet([0x0b...0x0b])
        case "f": return ScalarSet([0x0c...0x0c])
        case "r": return ScalarSet([0x0d...0x0d])
        case "u":
            let value = try parseCodePoint(from: start)
            return ScalarSet([value...value])
        case "0"..."9", "k":
            throw error("references to groups are not supported; spell the text out", at: start)
        case "b", "B":
            throw error("word boundaries are not supported; use ^, $ or classes", at: start)
        case "p", "P":
            throw error("Unicode properties are not supported; list the ranges", at: start)
        default:
            guard Self.syntaxCharacters.contains(scalar) || inClass && scalar == "-" else {
                throw error("\\\(scalar) means nothing; write \(scalar) alone", at: start)
            }
            return ScalarSet([scalar.value...scalar.value])
        }
    }

    /// Reads what follows `\u`: four digits, a surrogate pair of them, or digits in braces.
    private mutating func parseCodePoint(from start: Int) throws(PatternError) -> UInt32 {
        let form = "write \\u with four hexadecimal digits, or \\u{1f41f}"
        if take("{") {
            guard let value = parseHex(countMax: 6), take("}"), Unicode.Scalar(value) != nil else {
                throw error(form, at: start)
            }
            return value
        }
        guard let unit = parseHex(countMax: 4, countMin: 4) else { throw error(form, at: start) }
        if Unicode.Scalar(unit) != nil { return unit }
        guard unit < 0xdc00, take("\\"), take("u"),
            let low = parseHex(countMax: 4, countMin: 4), 0xdc00...0xdfff ~= low
        else { throw error("a lone surrogate is no character; \(form)", at: start) }
        return 0x10000 + (unit - 0xd800) << 10 + (low - 0xdc00)
    }

    private mutating func parseHex(countMax: Int, countMin: Int = 1) -> UInt32? {
        let start = index
        var value: UInt32 = 0
        while index - start < countMax, let scalar = next, scalar.isASCII,
            let digit = hexDigit(UInt8(scalar.value))
        {
            value = value << 4 | UInt32(digit)
            index += 1
        }
        return index - start >= countMin ? value : nil
    }
}

extension ScalarSet {
    /// The scalar of a set that holds exactly one.
    fileprivate var single: UInt32? {
        guard ranges.count == 1, ranges[0].count == 1 else { return nil }
        return ranges[0].lowerBound
    }
}

/// Why a pattern is refused.
package struct PatternError: Error, Equatable {
    /// The character of the pattern, counted from 1.
    package let position: Int
    /// What is wrong there, and what to write instead.
    package let message: String
}
