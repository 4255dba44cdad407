/// Strings as rows of pieces with a separator between them: what people write again and again.
///
/// schema/format/segments.md, section 7, form 7.
struct TextPieces {
    let separator: [UInt8]
    /// For each string how many separators it has.
    private(set) var separatorCounts: [Int64] = []
    private(set) var table = StringTable()
    /// For each piece its index among the distinct ones.
    private(set) var codes: [Int64] = []

    static let separatorSizeMax = 4
    private static let separators: [[UInt8]] = [Array(", ".utf8), Array(" ".utf8)]
    private static let sizeMin = 1024

    /// Strings taken apart at the first separator that makes pieces come again and again.
    static func find(_ strings: ByteStrings) -> TextPieces? {
        guard strings.bytes.count >= max(sizeMin, 8 * strings.count) else { return nil }
        for separator in separators {
            let separatorCount = count(separator, in: strings)
            guard separatorCount > 0 else { continue }
            // Each distinct piece has to pay for itself.
            let distinctMax = (strings.count + separatorCount - 1) / 4
            if let pieces = TextPieces(strings, separator, distinctMax: distinctMax) {
                return pieces
            }
        }
        return nil
    }

    private static func count(_ separator: [UInt8], in strings: ByteStrings) -> Int {
        let bytes = strings.bytes.span
        let mark = separator.span
        var count = 0
        for index in 0..<strings.count {
            let range = strings.range(index)
            var place = range.lowerBound
            while place + mark.count <= range.upperBound {
                let isThere = matches(bytes, place, mark)
                count += isThere ? 1 : 0
                place += isThere ? mark.count : 1
            }
        }
        return count
    }

    /// Nil if there are more distinct pieces than so many.
    private init?(_ strings: ByteStrings, _ separator: [UInt8], distinctMax: Int) {
        self.separator = separator
        let bytes = strings.bytes.span
        let mark = separator.span
        for index in 0..<strings.count {
            let range = strings.range(index)
            var start = range.lowerBound
            var place = start
            var count: Int64 = 0
            while place + mark.count <= range.upperBound {
                guard Self.matches(bytes, place, mark) else {
                    place += 1
                    continue
                }
                codes.append(Int64(table.index(adding: bytes.extracting(start..<place))))
                count += 1
                place += mark.count
                start = place
            }
            codes.append(Int64(table.index(adding: bytes.extracting(start..<range.upperBound))))
            separatorCounts.append(count)
            guard table.count <= distinctMax else { return nil }
        }
    }

    @inline(__always)
    private static func matches(_ bytes: Span<UInt8>, _ place: Int, _ mark: Span<UInt8>) -> Bool {
        guard bytes[place] == mark[0] else { return false }
        for index in 1..<max(1, mark.count) where bytes[place + index] != mark[index] {
            return false
        }
        return true
    }
}

extension ColumnWriter {
    mutating func put(_ pieces: TextPieces) throws(FormatError) {
        put(StringForm.pieces.rawValue)
        put(varint: pieces.separator.count)
        put(contentsOf: pieces.separator)
        let (counts, codes) = (pieces.separatorCounts, pieces.codes)
        try put(simple: counts.span, .plain)
        put(varint: pieces.table.count)
        try put(bytesOf: pieces.table.strings)
        try put(simple: codes.span, .plain)
    }
}

extension ColumnReader {
    /// Strings put together from pieces.
    @_lifetime(self: copy self)
    mutating func nextPieces(
        _ part: ColumnPart,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> (strings: ByteStrings, areTexts: Bool) {
        let start = offset
        let separatorSize = try nextCount(1...TextPieces.separatorSizeMax)
        let separator = Array(Span(bytes), try reader.nextRange(count: separatorSize))
        let counts = try nextSimple(part.count, &memory)
        var total = part.count
        var wanted = 0..<part.count
        for (index, separators) in counts.enumerated() {
            guard separators >= 0, separators <= Int64(SegmentLimits.blockSizeMax - total) else {
                throw .malformed(.text, at: start)
            }
            total += Int(separators)
            // Behind this string: its own piece is counted with all strings.
            let behind = total - part.count + index + 1
            if index + 1 == part.first { wanted = behind..<max(behind, wanted.upperBound) }
            if index + 1 == part.end { wanted = wanted.lowerBound..<behind }
        }
        if part.end == 0 { wanted = 0..<0 }
        let distinctCount = try nextCount(1...total)
        let tag = try nextByte()
        guard tag == StringForm.bytes.rawValue else { throw .malformed(.text, at: start) }
        let pieces = try nextPlain(ColumnPart(all: distinctCount), &memory)
        let wantedPieces = ColumnPart(count: total, wanted: wanted)
        guard let codes = try nextSimpleCodes(wantedPieces, distinctCount, &memory) else {
            throw .malformed(.text, at: start)
        }
        let wantedCounts = part.isWhole ? counts : Array(counts[part.wanted])
        // The size first, so that memory is asked for once, and not for too much.
        let size = Self.size(of: codes, pieces) + separatorSize * (wanted.count - part.wanted.count)
        guard size <= SegmentLimits.blockSizeMax else { throw .malformed(.text, at: start) }
        // Texts with texts between them are some; others may still be, with a scalar in two.
        let areTexts = pieces.areTexts && Text.isValid(separator.span.raw, 0..<separatorSize)
        let strings = ByteStrings(joining: pieces, codes, wantedCounts, separator, size: size)
        return (strings, areTexts)
    }
    /// What the strings that codes stand for take; too little to overflow, in a block.
    private static func size(of codes: [UInt32], _ strings: ByteStrings) -> Int {
        let bounds = strings.bounds.span
        var size = 0
        for code in codes { size &+= Int(bounds[Int(code) + 1] &- bounds[Int(code)]) }
        return size
    }
}
