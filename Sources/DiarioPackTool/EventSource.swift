import DiarioSchema

/// The Swift file with a type for each event type of some packs.
func eventSource(of folders: [PackFolder]) throws(Failure) -> String {
    guard !folders.isEmpty else {
        throw Failure(
            lines: [
                "error: there is no pack in the folder Packs of the target; put one there, as a "
                    + "folder with a pack.json"
            ]
        )
    }
    var packs: [(folder: PackFolder, pack: Pack)] = []
    var lines: [String] = []
    for folder in folders {
        do throws(Failure) { packs.append((folder, try folder.checked())) } catch {
            lines += error.lines
        }
    }
    guard lines.isEmpty else { throw Failure(lines: lines) }
    let names = SwiftNames.distinct(packs.map { SwiftNames.type($0.pack.name, suffix: "Pack") })
    var text = SwiftText()
    text.line("// Made by the plugin DiarioEvents from the packs in the folder Packs. What is")
    text.line("// changed here is lost with the next build: change the packs.")
    text.line()
    text.line("public import Diario")
    for (index, (folder, pack)) in packs.enumerated() {
        try appendPack(pack, folder, name: names[index], to: &text)
    }
    return text.text
}

private func appendPack(
    _ pack: Pack,
    _ folder: PackFolder,
    name: String,
    to text: inout SwiftText
) throws(Failure) {
    text.line()
    text.line("// Packs/\(folder.name)")
    text.line()
    text.comment(Comment.paragraphs(pack.title ?? "The events of \(pack.name)", pack.description))
    text.line("public enum \(name) {}")
    for named in pack.named.types {
        guard case .array(let items)? = named.schema.member("enum")?.item.value else { continue }
        let values = items.compactMap { item in
            if case .string(let value) = item.value { value } else { nil }
        }
        text.line()
        text.block("extension \(name)") { text in
            text.comment(Comment.paragraphs(nil, named.description))
            ChoiceSource(name: named.name, values: values, hasCodes: true).append(to: &text)
        }
    }
    for source in EventTypeSource.all(of: pack) {
        text.line()
        text.line("// Packs/\(folder.name)/\(source.path)")
        text.line()
        text.block("extension \(name)") { source.append(to: &$0) }
    }
    var files: [(path: String, text: String)] = []
    for file in pack.fingerprintFiles { files.append((file.path, try file.text())) }
    text.line()
    text.block("extension \(name)") { text in
        text.line("/// The pack as part of the program, to open a diary with.")
        text.line("public static let pack = EmbeddedPack(")
        text.indented { text in
            text.line("files: [")
            text.indented { text in
                for file in files {
                    text.line("(")
                    text.indented { text in
                        text.line("\(Literal.line(file.path)),")
                        text.literal(file.text)
                    }
                    text.line("),")
                }
            }
            text.line("]")
        }
        text.line(")")
    }
}

/// Documentation comments.
enum Comment {
    /// The first sentence by itself, then the rest.
    static func paragraphs(
        _ title: String?,
        _ description: String?,
        _ rest: String? = nil
    ) -> [String] {
        var paragraphs: [String] = []
        if let title { paragraphs.append(sentence(title)) }
        if let description {
            let words = description.split(whereSeparator: \.isWhitespace)
            let end = words.firstIndex { $0.hasSuffix(".") } ?? words.count - 1
            if paragraphs.isEmpty, end + 1 < words.count {
                paragraphs.append(words[...end].joined(separator: " "))
                paragraphs.append(sentence(words[(end + 1)...].joined(separator: " ")))
            } else {
                paragraphs.append(sentence(description))
            }
        }
        if let rest { paragraphs.append(rest) }
        return paragraphs.filter { !$0.isEmpty }
    }

    private static func sentence(_ text: String) -> String {
        text.isEmpty || text.hasSuffix(".") ? text : text + "."
    }
}
