import Diario
import DiarioSchema

/// `diario harness`
enum HarnessCommand {
    static func run(_ call: Invocation) throws(Failure) {
        let packs = try reporting { () throws(DiarioError) in
            [try PackSource.engine()] + (try PackSource.builtIn())
        }
        let catalog: TypeCatalog
        do throws(PackError) { catalog = try TypeCatalog(packs) } catch {
            throw .failed(DiarioError(error).message)
        }
        var harness = Harness(catalog: catalog)
        var source = LineSource(descriptor: 0, name: "the input")
        while try source.fill() {
            while try source.next({ (line, _) throws(Failure) in
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
