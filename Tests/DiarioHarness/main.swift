import Diario
import DiarioEngine
import DiarioHost
import DiarioSchema
import Foundation

// Answers each line on its input with one line on its output: `{"judge":{...}}` asks whether an
// event fits its type, `{"fish":{...}}` for a length or a verdict. With `--schema DIR` it knows the
// packs of that folder, otherwise those that come with the program.

let prefix = #"{"judge":"#

/// The answer to a request, in which what is judged need not be JSON.
func answer(_ request: ArraySlice<UInt8>, _ reader: inout EventLineReader) -> [UInt8] {
    do {
        var line = EventLine()
        let event = Array(request.dropFirst(prefix.utf8.count).dropLast())
        try reader.read(event.span, into: &line)
        return Array(#"{"ok":true}"#.utf8)
    } catch {
        return JSONObjectWriter.object { json in
            json.add("ok", false)
            json.add("message", error.message)
            json.add("field", error.path)
            json.add("rule", error.rule)
        }
    }
}

do {
    let words = CommandLine.arguments.dropFirst()
    let packs =
        words.first == "--schema"
        ? try PackSource.load(folder: words.last ?? "") : try PackSource.builtIn()
    var reader = EventLineReader(
        catalog: try TypeCatalog([PackSource.engine()] + packs),
        options: .batchReferences
    )
    var rest: [UInt8] = []
    while case let piece = FileHandle.standardInput.availableData, !piece.isEmpty {
        rest += piece
        while let end = rest.firstIndex(of: 0x0a) {
            let line = rest[..<end]
            let answer =
                line.starts(with: FishRequest.prefix.utf8)
                ? FishRequest.answer(line) : answer(line, &reader)
            try FileHandle.standardOutput.write(contentsOf: Data(answer + [0x0a]))
            rest.removeSubrange(...end)
        }
    }
} catch {
    FileHandle.standardError.write(Data("DiarioHarness: \(error)\n".utf8))
    exit(1)
}
