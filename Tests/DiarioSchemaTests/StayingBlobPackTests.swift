import DiarioSchema
import DiarioTestSupport
import Testing

/// `stays` of `pack.json`: schema/README.md, "Blobs".
@Suite struct StayingBlobPackTests {
    private static let schema = """
        {"title":"shots.photo.taken","x-diario-version":1,"type":"object",
        "additionalProperties":false,"required":[],"properties":{
        "photo":{"type":"object","x-diario-blob":{"maxSize":9,"types":["image/png"]}},
        "tile":{"type":"object","x-diario-blob":{"maxSize":9,"types":["a/b"],"public":true}}}}
        """

    private func pack(_ members: String, model: String? = nil) throws -> Pack {
        let manifest = #"{"name":"shots","version":1\#(members)}"#
        var files = [
            PackFile(path: "events/photo.taken.1.json", bytes: Array(Self.schema.utf8)),
            PackFile(path: "pack.json", bytes: Array(manifest.utf8)),
        ]
        if let model {
            files.append(PackFile(path: "readmodel/shared.sql", bytes: Array(model.utf8)))
        }
        return try Pack(files: files)
    }

    private func rules(_ members: String, model: String? = nil) -> [String] {
        do {
            _ = try pack(members, model: model)
            return []
        } catch {
            return (error as? PackError)?.problems.map(\.rule) ?? ["\(error)"]
        }
    }

    private static func model(_ columns: String) -> String {
        """
        -- readmodel shared version 1: who shares what
        CREATE TABLE shared (photoId BLOB NOT NULL PRIMARY KEY, actor TEXT NOT NULL) STRICT;
        CREATE VIEW released_blob AS SELECT \(columns) FROM shared;
        -- on shots.photo.taken
        INSERT INTO shared SELECT :photoId, coalesce(:_actor, '-') WHERE :photoId IS NOT NULL
        ON CONFLICT (photoId) DO NOTHING;
        """
    }

    private static let stays = #","stays":["shots.photo.taken.photo"]"#

    @Test func aPackThatUsesItNeedsANewerProgram() throws {
        let plain = try pack("")
        #expect(plain.stays.isEmpty && plain.format == 1 && !plain.hasReleasedView)
        let staying = try pack(Self.stays, model: Self.model("photoId AS id, actor"))
        #expect(staying.stays == ["shots.photo.taken.photo"])
        #expect(staying.format == 5 && staying.hasReleasedView)
    }

    @Test func onlyPrivateBlobsStay() {
        #expect(rules(#","stays":[]"#) == ["stays"])
        #expect(rules(#","stays":{"a":1}"#) == ["stays"])
        #expect(rules(#","stays":[1]"#) == ["stays"])
        for name in ["shots.photo.taken.tile", "shots.photo.taken", "shots.photo.seen.photo", ""] {
            #expect(rules(#","stays":["\#(name)"]"#) == ["stays-blob"])
        }
    }

    @Test func theViewIsForPacksThatUseIt() {
        #expect(rules("", model: Self.model("photoId AS id, actor")) == ["stays-view"])
    }
}
