import Diario
import DiarioCore
import DiarioHost
import DiarioLog
import DiarioSchema
import DiarioStorage
import DiarioTestSupport
import Testing

@Suite struct CloudEventTests {
    @Test func anExportIntoAUsedSpaceIsRecordedOnceInEitherForm() throws {
        let folder = try TemporaryFolder()
        let source = try SampleSpace.make(folder.path + "/source")
        let target = try SampleSpace.make(folder.path + "/target")
        let count = try source.stats().state.events
        let first = try importing(SampleSpace.cloudEvents(source), into: target, folder)
        #expect((first.imported, first.known) == (count, 0))
        let second = try importing(SampleSpace.cloudEvents(source), into: target, folder)
        #expect((second.imported, second.known) == (0, count))
        let lines = try importing(SampleSpace.lines(source), into: target, folder)
        #expect((lines.imported, lines.known) == (0, count))
        #expect(try target.stats().state.events == 2 * count)
        #expect(try target.verify { _ in }.isOK)
    }

    @Test func noEventsAreAnEmptyArray() {
        var writer = CloudEventWriter()
        var output: [UInt8] = []
        writer.finish(&output)
        #expect(String(decoding: output, as: UTF8.self) == "[]\n")
    }

    @Test func foreignEventsAreRecordedOnceEachInAnEmptySpaceToo() throws {
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path + "/space", packs: PackSource.builtIn())
        let text =
            "[\(foreign(id: "a-1")),\(foreign(id: "a-2", #""traceparent":"00-1","note":null"#))]"
        for imported in [2, 0] {
            let summary = try importing(Array(text.utf8), into: space, folder)
            #expect((summary.imported, summary.known) == (imported, 2 - imported))
            #expect(summary.ignoredNames == ["traceparent"])
        }
        var reader = try EventReader(space, EventFilter(types: ["meals."]))
        var times: [Int64?] = []
        while let line = try reader.next() {
            if line.type.name == "meals.weight.recorded" { times.append(line.at?.milliseconds) }
        }
        #expect(times == [1_772_521_200_123, 1_772_521_200_123])
    }

    /// schema/format/cloudevents.md, section 4, has this origin too.
    @Test func theOriginOfAForeignEventIsMadeOfItsSourceAndID() throws {
        let folder = try TemporaryFolder()
        let space = try SampleSpace.make(folder.path + "/space")
        _ = try importing(Array("[\(foreign(id: "a-1"))]".utf8), into: space, folder)
        let lines = String(decoding: try SampleSpace.lines(space), as: UTF8.self)
        let note = try #require(lines.split(separator: "\n").last)
        #expect(note.contains("engine.events.imported"))
        #expect(note.contains(#""replica":"7xnbrqn84h589""#), "\(note)")
        #expect(note.contains(#""first":729071754300589756,"#), "\(note)")
    }

    @Test func anActorOrSubjectThatIsNoStringOfCloudEventsComesBack() throws {
        let folder = try TemporaryFolder()
        let source = try Space.create(at: folder.path + "/source", packs: PackSource.builtIn())
        let line =
            #"{"type":"meals.weight.recorded","payload":{"day":"2026-01-01","source":"manual"},"#
            + #""actor":"a\u0001b%20\u007f\ufffe%"}"#
        try source.record([line])
        let text = try SampleSpace.cloudEvents(source)
        let shown = String(decoding: text, as: UTF8.self)
        #expect(shown.contains(#""diarioactorpct":"a%01b%2520%7F%EF%BF%BE%25""#))
        let target = try Space.create(at: folder.path + "/target", packs: PackSource.builtIn())
        let summary = try importing(text, into: target, folder)
        #expect(try SampleSpace.cloudEvents(summary.space) == text)
    }

    /// Whatever bytes come, an import ends with an error that has a place, or records events.
    @Test(arguments: UInt64(0)..<4) func noBytesAreTooMuch(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path + "/space", packs: PackSource.builtIn())
        let second = foreign(id: "a-2", #""subject":null"#)
        let good = Array("[\(foreign(id: "a-1")),\n\(second)]".utf8)
        let pieces = [
            #"""#, "{", "}", "[", "]", ",", ":", "\\", "null", "\u{0}", "diario", "1e999",
        ]
        for _ in 0..<60 {
            var bytes = good
            for _ in 0...random.below(3) {
                let start = random.below(bytes.count)
                let end = min(bytes.count, start + random.below(12))
                let piece = Array(pieces[random.below(pieces.count)].utf8)
                bytes.replaceSubrange(start..<end, with: random.below(4) == 0 ? [] : piece)
            }
            do {
                let summary = try importing(bytes, into: space, folder)
                #expect(summary.imported + summary.known <= 3)
            } catch let error as DiarioError {
                #expect(error.message.contains("line "), "\(error.message)")
            }
        }
        #expect(try space.verify { _ in }.isOK)
    }

    /// All in one test, because making a space for each would take most of the time.
    @Test(arguments: [false, true])
    func whatIsRefusedIsNamedWithItsPlaceAndLeavesNothing(isUsed: Bool) throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/target"
        let space =
            isUsed
            ? try SampleSpace.make(path)
            : try Space.create(at: path, packs: PackSource.builtIn())
        let before = try SampleSpace.lines(space)
        for refusal in CloudEventRefusal.all {
            let text = Array("[\(foreign(id: "a-1")),\n \(refusal.element)".utf8)
            let error = #expect(throws: DiarioError.self, "\(refusal.named)") {
                try importing(text, into: space, folder)
            }
            let message = error?.message ?? ""
            #expect(message.contains(refusal.named), "\(message)")
            #expect(message.contains("element 2 (line 2, byte "), "\(message)")
            #expect(try SampleSpace.lines(space) == before, "\(refusal.named)")
        }
    }

    @Test func whatIsNoArrayIsRefused() throws {
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path + "/space", packs: PackSource.builtIn())
        for (text, named) in [
            ("[", "ends"), ("[{}", "specversion"), ("[] []", "something follows"),
            ("[,]", "no JSON object"), ("[1]", "no JSON object"), ("[{", "ends inside"),
            ("[{\"a\":\"\\", "ends inside"), ("{}", "specversion"), ("", "one JSON array"),
            ("1", "one JSON array"), ("{", "ends inside"), ("{},{}", "specversion"),
        ] {
            let file = try SampleSpace.file(Array(text.utf8), in: folder)
            let error = #expect(throws: DiarioError.self, "\(text)") {
                try space.importEvents(of: file, as: .cloudEvents) { _, _ in }
            }
            #expect(error?.message.contains(named) == true, "\(error?.message ?? "")")
        }
    }

    /// As programs hand over one event, or write one in each line.
    @Test(arguments: ["", "\n", " ", "\n\n"])
    func eventsMayFollowOneAnotherWithoutAnArray(between: String) throws {
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path + "/space", packs: PackSource.builtIn())
        let events = ["a-1", "a-2", "a-3"].map { foreign(id: $0) }
        var text = events[0]
        var known = 0
        for (count, next) in [events[1], events[2]].enumerated() {
            let summary = try importing(Array((text + between).utf8), into: space, folder)
            #expect((summary.imported, summary.known) == (1, known))
            known = count + 1
            text += between + next
        }
        let error = #expect(throws: DiarioError.self) {
            _ = try importing(Array((text + ",\(events[0])").utf8), into: space, folder)
        }
        #expect(error?.message.contains("element 4") == true, "\(error?.message ?? "")")
    }

    @Test func theFormIsToldByTheFirstObject() throws {
        let folder = try TemporaryFolder()
        let long = String(repeating: "x", count: 9000)
        let cases: [(String, EventForm)] = [
            ("", .lines), ("  ", .lines), ("1", .lines), ("[", .cloudEvents),
            (" \n[", .cloudEvents),
            (#"{"type":"a"}"#, .lines), (#"{"specversion" : "1.0"}"#, .cloudEvents),
            (#"{"data":{"specversion":1},"type":"a"}"#, .lines),
            (#"{"type":"specversion","a":1}"#, .lines),
            (#"{"data":["\#(long)",{}],"specversion":"1.0"}"#, .cloudEvents),
            (#"{"data":"\\\"","specversion":"1.0"}"#, .cloudEvents),
            (#"{"type":"a"}{"specversion":"1.0"}"#, .lines), (#"{"type":"a"#, .lines),
        ]
        for (text, form) in cases {
            let file = try SampleSpace.file(Array(text.utf8), in: folder)
            #expect(try EventForm.detected(in: file) == form, "\(text.prefix(40))")
        }
    }

    @Test func anElementAboveTheLimitIsRefusedBeforeItsEnd() throws {
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path + "/space", packs: PackSource.builtIn())
        let text = "[{\"a\":\"" + String(repeating: "x", count: 3 << 20)
        let error = #expect(throws: DiarioError.self) {
            try importing(Array(text.utf8), into: space, folder)
        }
        #expect(error?.kind == .tooLarge)
    }

    /// Wherever chunks of the file end, the events are the same.
    @Test func elementsDoNotDependOnChunks() throws {
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path + "/space", packs: PackSource.builtIn())
        let actor = String(repeating: "\\\"}]", count: 25)
        for blanks in 262_000..<262_144 where blanks % 9 == 0 {
            var text = "[" + String(repeating: " ", count: blanks)
            text += foreign(id: "b-\(blanks)", "\"diarioactor\":\"\(actor)\"") + ","
            text += foreign(id: "c-\(blanks)") + "]"
            let summary = try importing(Array(text.utf8), into: space, folder)
            #expect(summary.imported == 2, "\(blanks)")
        }
    }

    private func foreign(id: String, _ more: String = "") -> String {
        CloudEventRefusal.event(id: id, more)
    }

    private func importing(
        _ bytes: [UInt8],
        into space: Space,
        _ folder: borrowing TemporaryFolder
    ) throws -> ImportSummary {
        let file = try SampleSpace.file(bytes, in: folder)
        return try space.importEvents(of: file, as: .detected(in: file)) { _, _ in }
    }
}

/// An element that no space takes.
struct CloudEventRefusal: Sendable {
    /// With what follows it.
    let element: String
    let named: String

    static let source = "https://example.org/scale"
    static let data = #"{"day":"2026-03-02","weightG":78400,"source":"manual"}"#

    /// A CloudEvent of another program with more members.
    static func event(id: String = "a-2", _ more: String = "", data: String = Self.data) -> String {
        let rest = more.isEmpty ? "" : "," + more
        return #"{"specversion":"1.0","id":"\#(id)","source":"\#(source)","#
            + #""type":"meals.weight.recorded","time":"2026-03-03T08:00:00.123456+01:00"\#(rest),"#
            + #""data":\#(data)}"#
    }

    private static func replacing(_ old: String, _ new: String) -> String {
        event().replacing(old, with: new)
    }

    private init(_ element: String, _ named: String) {
        self.element = element.hasSuffix("\0") ? String(element.dropLast()) : element + "]"
        self.named = named
    }

    static let all: [CloudEventRefusal] = [
        Self("1", "no JSON object"),
        Self(event() + " x", "a comma or a closing bracket"),
        Self(event() + "\0", "the file ends here"),
        Self(#"{"specversion":"1.0","# + "\0", "the file ends inside of it"),
        Self(replacing("\"1.0\"", "\"0.3\""), "specversion"),
        Self(replacing("\"1.0\"", "1.0"), "specversion"),
        Self(replacing("\"id\":\"a-2\",", ""), "attribute id: it is missing"),
        Self(replacing("\"a-2\"", "\"\""), "attribute id"),
        Self(
            replacing("\"source\":\"https", "\"origin\":\"https"),
            "attribute source: it is missing"
        ),
        Self(replacing("https://example.org/scale", "diario:replica/7zk3m9q2c1f4a"), "source"),
        Self(replacing("meals.weight.recorded", "meals.weight"), "meals.weight"),
        Self(replacing("meals.weight.recorded", "engine.pack.adopted"), "engine alone"),
        Self(event(#""datacontenttype":"text/xml""#), "datacontenttype"),
        Self(event(#""datacontenttype":"application/jsonx""#), "datacontenttype"),
        Self(event(#""data_base64":"e30=""#), "data_base64"),
        Self(event(#""time":"x""#), "comes twice"),
        Self(replacing("2026-03-03T", "2026-02-30T"), "attribute time"),
        Self(event(data: "[]"), "attribute data: it is an array"),
        Self(event(data: "\"text\""), "attribute data: it is a string"),
        Self(event(data: #"{"day":"2026-02-30","source":"manual"}"#), "field day"),
        Self(event(data: "{}"), "day"),
        Self(event(#""diarioposition":"1""#), "diarioposition"),
        Self(event(#""diariobatch":"x""#), "diariobatch"),
        Self(event(#""diarioverison":1"#), "there is none of that name"),
        Self(event(#""traceParent":"x""#), "lower-case letters and digits"),
        Self(event(#""diarioversion":9"#), "diarioversion"),
        Self(event(#""diarioversion":"1""#), "diarioversion"),
        Self(event(#""diarioifunchanged":"yes""#), "diarioifunchanged"),
        Self(event(#""diarioactor":7"#), "diarioactor"),
        Self(event(#""subject":"me""#), "attribute subject"),
        Self(event(#""dataschema":"diario:schema/meals.weight.recorded/1/00""#), "differs"),
        Self(event(#""dataschema":"diario:schema/meals.weight.recorded/x/00""#), "dataschema"),
        Self(event(#""dataschema":"diario:other""#), "dataschema"),
    ]
}
