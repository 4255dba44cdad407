/// The Swift file that gives the program its packs.
///
/// One literal holds one file: it ends up in the program's read-only data and costs nothing when
/// the program starts. The type is written out, so that the compiler has nothing to infer.
func swiftSource(of files: [PackFile]) -> String {
    let entries = files.map { "        (\(literal($0.path)), \(literal($0.text))),\n" }.joined()
    return """
        // Made from schema/ by DiarioPackTool.

        /// The packs that are part of the program.
        package enum BuiltInPacks {
            /// Each file of each pack: `<pack>/...` in byte order of the paths, and its content.
            package static let files: [(path: String, text: String)] = [
        \(entries)    ]
        }

        """
}

/// A literal on one line, with escapes for what a literal would change or could not hold.
private func literal(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\"", "\\":
            result.unicodeScalars.append("\\")
            result.unicodeScalars.append(scalar)
        case "\n": result += "\\n"
        case " "..."~": result.unicodeScalars.append(scalar)
        default: result += "\\u{\(String(scalar.value, radix: 16))}"
        }
    }
    return result + "\""
}
