// Writes the packs of a folder into one Swift file: DiarioPackTool SCHEMA OUTPUT STAMP
//
// STAMP gets a new content every time; the plugin EmbedPacks says why.

import Foundation

guard CommandLine.arguments.count == 4 else {
    FileHandle.standardError.write(Data("use: DiarioPackTool SCHEMA OUTPUT STAMP\n".utf8))
    exit(64)
}

do {
    let urls = CommandLine.arguments.dropFirst().map { URL(filePath: $0) }
    let (schema, output, stamp) = (urls[0], urls[1], urls[2])
    let source = Data(swiftSource(of: try packFiles(in: schema)).utf8)
    // An unchanged file keeps its time, so that nothing is compiled again.
    if (try? Data(contentsOf: output)) != source {
        try source.write(to: output, options: .atomic)
    }
    try Data(UUID().uuidString.utf8).write(to: stamp)
} catch {
    FileHandle.standardError.write(Data("error: the packs cannot be embedded: \(error)\n".utf8))
    exit(1)
}
