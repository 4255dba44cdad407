import Diario
import DiarioEngine
import DiarioSchema
import Foundation

// Answers each line on its input with one line on its output. With `--schema DIR` it knows the
// packs of that folder, otherwise those that come with the program.

do {
    let words = CommandLine.arguments.dropFirst()
    let packs =
        words.first == "--schema"
        ? try PackSource.load(folder: words.last ?? "") : try PackSource.builtIn()
    var harness = Harness(catalog: try TypeCatalog([PackSource.engine()] + packs))
    var rest = Data()
    while case let piece = FileHandle.standardInput.availableData, !piece.isEmpty {
        rest.append(piece)
        while let end = rest.firstIndex(of: 0x0a) {
            let answer = harness.answer(Array(rest[..<end])) + [0x0a]
            try FileHandle.standardOutput.write(contentsOf: Data(answer))
            rest.removeSubrange(...end)
        }
    }
} catch {
    FileHandle.standardError.write(Data("DiarioHarness: \(error)\n".utf8))
    exit(1)
}
