import Diario
import DiarioCore
import DiarioEngine
import DiarioFish
import DiarioHost
import DiarioSchema
import DiarioTestSupport
import Testing

/// The examples of the pack fish under the rules of its commands.
@Suite struct FishExampleTests {
    /// Each event that a command could record is one that the command would have recorded then.
    @Test(arguments: [
        "catalogue", "marks", "others", "photo", "ruler",
    ])
    func everyExampleKeepsTheRules(name: String) throws {
        let pack = try #require(try PackSource.builtIn().first { $0.name == "fish" })
        let file = try #require(
            BuiltInPacks.files.first { $0.path == "fish/examples/\(name).jsonl" }
        )
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path, packs: [pack])
        let models = try ReadModels(space)
        var batch: (name: String?, lines: [String]) = (nil, [])
        for (index, line) in file.text.split(separator: "\n").enumerated() {
            let event = try JSON.parse(Array(line.utf8)).value
            let name = Self.text(event, "batch")
            if name == nil || name != batch.name {
                try space.record(batch.lines)
                batch = (name, [])
            }
            batch.lines.append(String(line))
            // Of a batch, what comes later rests on what is not recorded yet.
            guard batch.lines.count == 1, let call = Self.call(for: event, of: pack) else {
                continue
            }
            do { _ = try models.call(call, of: [Fish.domain]) } catch {
                Issue.record("\(name ?? ""), line \(index + 1): \(call.name): \(error)")
            }
        }
        try space.record(batch.lines)
        try space.close()
    }

    /// The command for an event, as a dry run with what of the payload is in its input.
    ///
    /// Nil for what no command records: an old version, a report of the old app or of a file, and
    /// an event that refers to another one of its batch.
    private static func call(for event: JSON, of pack: Pack) -> Call? {
        guard let type = text(event, "type"), event.member("version") == nil,
            let declaration = pack.declarations.first(where: {
                $0.events == [type] && !$0.name.hasPrefix("fish.old.")
            }),
            let body = event.member("payload")?.item.value, case .object(let payload) = body,
            ["app", nil].contains(text(body, "source"))
        else { return nil }
        var input = CommandValues()
        for member in payload where declaration.input.fieldIndex(member.key) != nil {
            input.set(member.key, to: member.item.value)
        }
        if declaration.input.fieldIndex("months") != nil,
            case .integer(let mask)? = body.member("seasonMask")?.item.value
        {
            let months = (1...12).filter { mask >> ($0 - 1) & 1 == 1 }
            let list = months.map { "\($0)" }.joined(separator: ",")
            input.set("months", months.isEmpty ? "none" : list)
        }
        var call = Call(declaration.name, input.json)
        guard !String(decoding: call.input, as: UTF8.self).contains("\"#") else { return nil }
        call.isDryRun = true
        call.actor = text(event, "actor") ?? "nobody"
        call.at = text(event, "at").flatMap { CivilTime.parseDateTime(Array($0.utf8).span) }
        return call
    }

    private static func text(_ value: JSON, _ key: String) -> String? {
        if case .string(let text)? = value.member(key)?.item.value { text } else { nil }
    }
}
