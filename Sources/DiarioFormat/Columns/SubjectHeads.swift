/// The first bytes of subjects that are random: schema/format/segments.md, section 9.
///
/// A filter that costs nothing, because these bytes are missing where the others stand.
struct SubjectHeads: Equatable, Sendable {
    /// Bytes of a head.
    static let size = 3
    private static let patternSizeMin = 8
    private static let countMin = 16

    let pattern: TextPattern
    let count: Int
    /// Plane by plane.
    private(set) var planes: [UInt8]

    init(_ pattern: TextPattern, count: Int, planes: [UInt8]) {
        self.pattern = pattern
        self.count = count
        self.planes = planes
    }

    /// The pattern of strings that are given heads; nil if they are few or differ too much.
    static func pattern(of strings: ByteStrings) -> TextPattern? {
        guard strings.count >= countMin, let pattern = TextPattern(strings),
            pattern.packedSize >= patternSizeMin
        else { return nil }
        return pattern
    }

    /// Whether a head is that of the subject.
    func mayContain(_ subject: Span<UInt8>) -> Bool {
        guard subject.count == pattern.marks.count, pattern.matches(subject) else { return false }
        var one = ByteStrings()
        one.append(subject.raw)
        var head: [UInt8] = []
        pattern.pack(one, into: &head)
        for index in 0..<count
        where planes[index] == head[0] && planes[count + index] == head[1]
            && planes[2 * count + index] == head[2]
        {
            return true
        }
        return false
    }

    func write(into writer: inout ColumnWriter) throws(FormatError) {
        writer.put(pattern)
        let planes = planes
        for plane in 0..<Self.size {
            try writer.put(stream: planes.span.extracting(plane * count..<(plane + 1) * count))
        }
    }
}

extension TextPattern {
    /// Whether the text, which has the pattern's size, has its literals and digits that fit.
    func matches(_ text: Span<UInt8>) -> Bool {
        let characters = characters
        for place in marks.indices {
            let mark = marks[place]
            if mark >= 32 {
                guard text[place] == mark else { return false }
            } else {
                let digit = characters.firstIndex(of: text[place])
                guard let digit, digit < 1 << Int(mark) else { return false }
            }
        }
        return true
    }
}

extension ColumnWriter {
    mutating func put(_ pattern: TextPattern) {
        put(varint: pattern.marks.count)
        put(pattern.alphabet)
        put(contentsOf: pattern.marks)
    }

    /// Strings without their heads, which are handed back.
    mutating func put(
        headed pattern: TextPattern,
        _ strings: ByteStrings
    ) throws(FormatError) -> SubjectHeads {
        put(StringForm.headed.rawValue)
        put(pattern)
        var planes: [UInt8] = []
        pattern.pack(strings, into: &planes)
        let headSize = SubjectHeads.size * strings.count
        var start = headSize
        while start < planes.count {
            try put(stream: planes.span.extracting(start..<start + strings.count))
            start += strings.count
        }
        planes.removeSubrange(headSize...)
        return SubjectHeads(pattern, count: strings.count, planes: planes)
    }
}

extension ColumnReader {
    /// The pattern of `count` strings.
    @_lifetime(self: copy self)
    mutating func nextPattern(count: Int) throws(FormatError) -> TextPattern {
        let start = offset
        let size = try nextCount(1...TextPattern.sizeMax)
        let alphabet = try nextByte()
        let marks = try reader.nextRange(count: size)
        let found = TextPattern(alphabet: alphabet, marks: Array(Span(bytes), marks))
        // Beside the digits, memory is taken for what every string has in common.
        guard let found, count * size <= SegmentLimits.blockSizeMax,
            found.marks.allSatisfy({ $0 < 128 })
        else { throw .malformed(.text, at: start) }
        return found
    }

    /// The block of heads of `count` strings.
    @_lifetime(self: copy self)
    mutating func nextHeads(
        _ count: Int,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> SubjectHeads {
        let pattern = try nextPattern(count: count)
        guard pattern.packedSize >= SubjectHeads.size else { throw .malformed(.text, at: 0) }
        try gatherPlanes(SubjectHeads.size, ColumnPart(all: count), &memory)
        return SubjectHeads(pattern, count: count, planes: Array(memory.expanded))
    }

    /// Strings whose heads lie elsewhere.
    @_lifetime(self: copy self)
    mutating func nextHeaded(
        _ part: ColumnPart,
        _ heads: SubjectHeads?,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> ByteStrings {
        let start = offset
        let pattern = try nextPattern(count: part.count)
        guard let heads, heads.count == part.count, heads.pattern == pattern else {
            throw .malformed(.text, at: start)
        }
        let planeCount = pattern.packedSize - SubjectHeads.size
        try gatherPlanes(planeCount, part, &memory, after: heads.planes)
        guard let strings = pattern.unpack(memory.expanded.span, count: part.wanted.count) else {
            throw .malformed(.text, at: start)
        }
        return strings
    }
}
