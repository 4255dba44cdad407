/// Texts that fit into a cell, or a line, of a terminal.
package enum CellText {
    /// The text with control characters escaped, so that no data can steer a terminal.
    package static func oneLine(_ text: some StringProtocol) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return String(text) }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\t": result += "\\t"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case _ where isControl(scalar):
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// JSON with the same characters escaped as JSON does: they occur only within its strings.
    package static func json(_ text: some StringProtocol) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return String(text) }
        var result = ""
        for scalar in text.unicodeScalars {
            if isControl(scalar) {
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// C0 and C1 controls, DEL, and the marks that turn the direction of text around.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7f..<0xa0, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }

    /// The columns that a terminal takes for `text`, as well as can be told.
    package static func width(_ text: some StringProtocol) -> Int {
        let isPlain = text.utf8.allSatisfy { 0x20..<0x7f ~= $0 }
        return isPlain ? text.utf8.count : text.reduce(0) { $0 + width(of: $1) }
    }

    /// The text as lines of at most `width` columns, between words; a longer word has its own.
    package static func lines(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, self.width(last) + 1 + self.width(word) <= width {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }

    /// The text with at most `width` columns; what does not fit is replaced by `...`.
    package static func cut(_ text: String, to width: Int) -> String {
        guard self.width(text) > width else { return text }
        let dots = min(3, width)
        var room = width - dots
        var end = text.startIndex
        while end < text.endIndex {
            room -= self.width(of: text[end])
            if room < 0 { break }
            end = text.index(after: end)
        }
        return text[..<end] + String(repeating: ".", count: dots)
    }

    /// Lines of at most `width` columns, broken between words.
    package static func wrapped(_ text: String, to width: Int) -> [String] {
        var lines: [String] = []
        var (line, used) = ("", 0)
        for word in text.split(separator: " ") {
            let size = self.width(word)
            if used > 0, used + 1 + size > width {
                lines.append(line)
                (line, used) = ("", 0)
            }
            line += used == 0 ? String(word) : " \(word)"
            used += used == 0 ? size : size + 1
        }
        return line.isEmpty ? lines : lines + [line]
    }

    private static func width(of character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        if scalar.value < 0x300 { return 1 }
        switch scalar.value {
        // East Asian wide characters and emoji.
        case 0x1100...0x115f, 0x2e80...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f,
            0xff00...0xff60, 0xffe0...0xffe6, 0x1f300...0x1f64f, 0x1f680...0x1f6ff,
            0x1f900...0x1f9ff, 0x20000...0x3fffd:
            return 2
        default:
            return scalar.properties.generalCategory == .nonspacingMark
                || scalar.properties.generalCategory == .format ? 0 : 1
        }
    }
}
