import Diario
import DiarioSchema

extension Command {
    static let harness = Command(
        "harness",
        "answer requests of another implementation's tests",
        on: .nothing,
        details: """
            Reads requests, one JSON object in each line, and answers each with one line.
            {"judge":{...}} checks an event against the packs that come with the program;
            {"row":{...}} gives its canonical row and its hashes; {"segment":{...}} makes a segment
            of rows. Needs no space.
            """,
        examples: [
            "diario harness < requests.jsonl": "answers in the order of the requests"
        ],
        run: { try HarnessCommand.run($0) }
    )
}

/// The command `diario harness`.
enum HarnessCommand {
    static func run(_ call: Invocation) throws {
        let packs = [try PackSource.engine()] + (try PackSource.builtIn())
        let catalog: TypeCatalog
        do throws(PackError) { catalog = try TypeCatalog(packs) } catch {
            throw Failure.failed(DiarioError(error).message)
        }
        var harness = Harness(catalog: catalog)
        var source = LineSource(descriptor: 0, name: "the input")
        while try source.fill() {
            while try source.next({ line, _ in
                try call.output.append {
                    harness.answer(line, to: &$0)
                    $0.append(0x0a)
                }
            }) {}
            // Whoever asks waits for the answer before asking again.
            try call.output.flush()
        }
    }
}
