import Diario
import DiarioCore
import DiarioHost
import DiarioLog
import DiarioSchema
import DiarioTestSupport
import Testing

/// Events of programs without a replica, each recorded once: schema/format/http.md, section 7.
struct OnceTests {
    private let folder: TemporaryFolder
    private static let policy = ActorPolicy(own: nil, mayNameOthers: true)

    init() throws { folder = try TemporaryFolder() }

    /// A pack whose one type has one or two versions.
    private static func pack(_ version: Int) throws -> Pack {
        func schema(_ version: Int, _ more: String) -> String {
            #"{"$schema":"https://json-schema.org/draft/2020-12/schema","#
                + #""title":"notes.note.made","x-diario-version":\#(version),"type":"object","#
                + #""additionalProperties":false,"required":["text"],"#
                + #""properties":{"text":{"type":"string","maxLength":40}\#(more)}}"#
        }
        var files = [
            "pack.json": #"{"name":"notes","version":\#(version)}"#,
            "events/note.made.1.json": schema(1, ""),
        ]
        if version == 2 {
            files["events/note.made.2.json"] = schema(
                2,
                #","amount":{"type":"integer","minimum":0}"#
            )
            files["events/note.made.1-2.sql"] = "SELECT :text AS text, NULL AS amount;"
        }
        return try Pack(
            files: files.sorted { $0.key < $1.key }.map {
                PackFile(path: $0.key, bytes: Array($0.value.utf8))
            }
        )
    }

    private static func note(_ sequence: Int, _ more: String = "") -> String {
        #"{"type":"notes.note.made","payload":{"text":"one"},"#
            + #""origin":"7zk3m9q2c1f4a-\#(sequence)"\#(more)}"#
    }

    private func named(_ text: String, _ space: Space) throws -> NamedEvents {
        let body = try EventBody(Array(text.utf8), .lines, by: Self.policy, to: space)
        return try #require(body.named)
    }

    @Test func anEventIsTheSameAfterANewerVersionOfItsTypeWasAdopted() throws {
        var space = try Space.create(at: folder.path, packs: [Self.pack(1)])
        var events = try named(Self.note(1), space)
        #expect(try events.conflict(through: 0) == nil)
        let head = space.store[space.id].head()
        _ = try events.append(after: 0, behind: head, space.store[space.id].clock())
        _ = try space.adopt([Self.pack(2)]) { _, _ in }
        for (more, isSame) in [
            ("", true), (#","version":1"#, true), (#","version":2"#, false),
        ] {
            var again = try named(Self.note(1, more), space)
            #expect((try again.conflict(through: 1) == nil) == isSame, "\(more)")
        }
    }

    /// What others record between the look and the append is looked at again.
    @Test func nothingIsAppendedBehindWhatWasNotLookedAt() throws {
        let space = try Space.create(at: folder.path, packs: [Self.pack(1)])
        var events = try named(Self.note(1), space)
        let head = space.store[space.id].head()
        try space.record([#"{"type":"notes.note.made","payload":{"text":"x"}}"#])
        #expect(throws: LogError.self) {
            try events.append(after: 0, behind: head, space.store[space.id].clock())
        }
        #expect(space.store[space.id].head() == head + 1)
    }
}
