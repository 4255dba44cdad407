/// The place of a fault in a JSON text, found by reading the text again up to it.
struct FaultPlace {
    /// The keys and indices that lead to the fault.
    private(set) var steps: [Step] = []
    /// The text there, for people: JSON, or a key without its quotes.
    private(set) var value = ""

    enum Step: Equatable {
        case key(String)
        case index(Int)
    }

    private static let valueSizeMax = 60

    init(of offset: Int, in text: Span<UInt8>) {
        var cursor = JSONCursor(text)
        cursor.skipSpace()
        // Each round goes one level deeper, and levels are fewer than bytes.
        while cursor.offset < offset, descend(&cursor, to: offset) {}
        if value.isEmpty { value = Self.value(at: offset, in: text) }
    }

    /// `a.b[3]`, without the first `dropCount` steps; keys are shortened as values are.
    func path(dropping dropCount: Int = 0) -> String {
        var path = ""
        for step in steps.dropFirst(dropCount) {
            switch step {
            case .key(let key):
                let shown = Self.shortened(key)
                path += path.isEmpty ? shown : ".\(shown)"
            case .index(let index): path += "[\(index)]"
            }
        }
        return path
    }

    /// Moves to the member or item that holds `offset`; false if there is none.
    @_lifetime(cursor: copy cursor)
    private mutating func descend(_ cursor: inout JSONCursor, to offset: Int) -> Bool {
        let isObject = cursor.current == 0x7b
        guard isObject || cursor.current == 0x5b else { return false }
        cursor.offset += 1
        var index = 0
        while cursor.offset < cursor.count {
            cursor.skipSpace()
            var step = Step.index(index)
            if isObject {
                let start = cursor.offset
                guard let token = try? cursor.readString() else { return false }
                let key = Self.key(token, from: cursor)
                step = .key(key)
                cursor.skipSpace()
                if offset == start {
                    steps.append(step)
                    value = Self.shortened(key)
                    return false
                }
                guard cursor.take(0x3a) else { return false }
                cursor.skipSpace()
            }
            let start = cursor.offset
            let isComplete = (try? cursor.skipValue()) != nil
            if !isComplete || offset < cursor.offset {
                guard offset >= start else { return false }
                steps.append(step)
                cursor.offset = start
                return true
            }
            cursor.skipSpace()
            guard cursor.take(0x2c) else { return false }
            index += 1
        }
        return false
    }

    private static func key(_ token: StringToken, from cursor: JSONCursor) -> String {
        var bytes: [UInt8] = []
        cursor.appendContent(of: token, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The value that starts at `offset`, or the word there if none does.
    private static func value(at offset: Int, in text: Span<UInt8>) -> String {
        guard offset < text.count else { return "" }
        var cursor = JSONCursor(text, at: offset)
        var end = text.count
        if (try? cursor.skipValue()) != nil {
            end = cursor.offset
        } else if !isDelimiter(text[offset]) {
            end = offset + 1
            while end < text.count, !isDelimiter(text[end]) { end += 1 }
        }
        var bytes: [UInt8] = []
        // A little more than is shown, so that the cut falls between characters.
        JSONWriter.append(text.extracting(offset..<min(end, offset + valueSizeMax * 4)), to: &bytes)
        return shortened(String(decoding: bytes, as: UTF8.self))
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        byte <= 0x20 || ",:\"[]{}".utf8.contains(byte)
    }

    /// At most 60 bytes of `text`, cut between scalars, and an ellipsis; no control characters.
    static func shortened(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var size = 0
        for scalar in text.unicodeScalars {
            let shown = scalar.value < 0x20 || scalar.value == 0x7f ? "\u{fffd}" : scalar
            size += Unicode.UTF8.width(shown)
            guard size <= valueSizeMax else { return String(result) + "..." }
            result.append(shown)
        }
        return String(result)
    }
}
