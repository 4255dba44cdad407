// Makes a Swift file of the packs in a folder:
//
//     DiarioPackTool embed PACKS OUTPUT STAMP     their files, and format/openapi.yaml beside them,
//                                                 for the library Diario
//     DiarioPackTool events PACKS OUTPUT STAMP    a type for each event type
//     DiarioPackTool domain PACK OUTPUT STAMP     types for the commands and views of one pack
//
// STAMP gets a new content every time; the plugin EmbedPacks says why.

import Foundation

func fail(_ lines: [String], code: Int32) -> Never {
    FileHandle.standardError.write(Data(lines.map { $0 + "\n" }.joined().utf8))
    exit(code)
}

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count == 4, let command = arguments.first,
    ["embed", "events", "domain"].contains(command)
else { fail(["use: DiarioPackTool embed|events|domain PACKS OUTPUT STAMP"], code: 64) }

do {
    let urls = arguments.dropFirst().map { URL(filePath: $0) }
    let (folder, output, stamp) = (urls[0], urls[1], urls[2])
    let text: String
    switch command {
    case "embed":
        let openAPI = folder.appending(path: "format/openapi.yaml")
        text = try builtInSource(
            of: PackFolder.all(in: folder),
            openAPI: String(contentsOf: openAPI, encoding: .utf8)
        )
    case "domain":
        text = try DomainSource(try PackFolder(url: folder).checked()).text()
    default: text = try eventSource(of: PackFolder.all(in: folder))
    }
    let source = Data(text.utf8)
    // An unchanged file keeps its time, so that nothing is compiled again.
    if (try? Data(contentsOf: output)) != source {
        try source.write(to: output, options: .atomic)
    }
    try Data(UUID().uuidString.utf8).write(to: stamp)
} catch let failure as Failure {
    fail(failure.lines, code: 1)
} catch {
    fail(["error: the packs cannot be read: \(error)"], code: 1)
}
