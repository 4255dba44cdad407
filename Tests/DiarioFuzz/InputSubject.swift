import Diario
import DiarioFormat
import DiarioSchema
import DiarioSimulation
import DiarioStorage

/// Files of events, as an import reads them.
enum InputSubject {
    /// The lines are what lies between line feeds.
    static func lines(_ bytes: [UInt8]) {
        guard let file = file(bytes) else { return }
        var found: [[UInt8]] = []
        var lines = FileLines(file)
        while let more = try? lines.next({ (line, _) in found.append(array(line)) }), more {}
        var expected = bytes.split(separator: 0x0a, omittingEmptySubsequences: false).map(
            Array.init
        )
        if expected.last == [] { expected.removeLast() }
        precondition(found == expected, "all lines come, as they are")
        precondition(lines.offset == bytes.count, "all of the file is read")
    }

    /// What a CloudEvent tells is written as a CloudEvent that tells the same.
    static func cloudEvents(_ bytes: [UInt8]) {
        guard let catalog = Subject.catalog else {
            preconditionFailure("the schema of the subjects is valid")
        }
        let first = events(bytes, catalog)
        guard !first.isEmpty else { return }
        var text: [UInt8] = []
        var writer = CloudEventWriter()
        for line in first { writer.append(line, to: &text) }
        writer.finish(&text)
        let second = events(text, catalog)
        precondition(first.map(written) == second.map(written), "what is written is read")
    }

    /// The events up to the first that is refused.
    private static func events(_ bytes: [UInt8], _ catalog: TypeCatalog) -> [EventLine] {
        guard let file = file(bytes) else { return [] }
        var reader = EventLineReader(catalog: catalog, options: [.exportKeys])
        var events: [EventLine] = []
        var batch = CloudEventBatch(file, CloudEventReader(catalog, takesForeign: true))
        while true {
            var line = EventLine()
            var isTaken = false
            let more = try? batch.next { (text, _) in
                isTaken = (try? reader.read(text, into: &line)) != nil
            }
            guard more == true, isTaken else { return events }
            events.append(line)
        }
    }

    private static func written(_ line: EventLine) -> [UInt8] {
        var text: [UInt8] = []
        EventLineWriter.append(line, to: &text)
        return text
    }

    private static func array(_ span: Span<UInt8>) -> [UInt8] { span.indices.map { span[$0] } }

    private static func file(_ bytes: [UInt8]) -> (any LogFile)? {
        let disk = CrashDisk(machineID: "fuzz")
        guard let file = try? disk.open("events", .create),
            (try? file.write(bytes.span, at: 0)) != nil
        else { return nil }
        return file
    }
}
