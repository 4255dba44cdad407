import DiarioSchema

/// The Swift file that gives the program its packs, and the description of what it serves.
///
/// One literal holds one file: it ends up in the program's read-only data and costs nothing when
/// the program starts. The type is written out, so that the compiler has nothing to infer.
func builtInSource(of packs: [PackFolder], openAPI: String) throws(Failure) -> String {
    var entries = ""
    for pack in packs {
        for file in pack.files {
            let path = Literal.line("\(pack.name)/\(file.path)")
            entries += "        (\(path), \(Literal.line(try file.text()))),\n"
        }
    }
    return """
        // Made from schema/ by DiarioPackTool.

        /// The packs that are part of the program.
        package enum BuiltInPacks {
            /// Each file of each pack: `<pack>/...` in byte order of the paths, and its content.
            package static let files: [(path: String, text: String)] = [
        \(entries)    ]

            /// The HTTP interface, as OpenAPI in YAML.
            package static let openAPI: String = \(Literal.line(openAPI))
        }

        """
}
