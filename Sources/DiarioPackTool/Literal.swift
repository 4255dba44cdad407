/// Texts as literals of Swift, with escapes for what a literal would change or could not hold.
enum Literal {
    /// On one line, in ASCII.
    static func line(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\n": result += "\\n"
            case " "..."~": result.unicodeScalars.append(scalar)
            default: result += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return result + "\""
    }

    /// On several lines, as `text` has them; those that are longer than `width` are broken.
    ///
    /// `fence` is the signs beside the quotes.
    static func block(_ text: String, width: Int) -> (fence: String, lines: [String]) {
        var fence = "#"
        while text.contains("\\" + fence) || text.contains("\"\"\"" + fence) { fence += "#" }
        var lines: [String] = []
        var line = ""
        for scalar in text.unicodeScalars {
            if scalar == "\n" {
                lines.append(line)
                line = ""
                continue
            }
            if isShown(scalar) {
                line.unicodeScalars.append(scalar)
            } else {
                line += "\\\(fence)u{\(String(scalar.value, radix: 16))}"
            }
            let rest = width - fence.utf8.count - 1 - line.unicodeScalars.count
            if rest <= 1 || rest < 20 && (scalar == "," || scalar == " ") {
                lines.append(line + "\\" + fence)
                line = ""
            }
        }
        return (fence, lines + [line])
    }

    /// True if it can stand in a literal as it is, and be seen there.
    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate,
            .unassigned:
            false
        case .spaceSeparator: scalar == " "
        default: true
        }
    }
}
