import DiarioSchema
import Testing

@Suite struct TypeCatalogTests {
    private func type(_ name: String, _ version: Int, field: String = "a") throws -> EventType {
        try makeType(
            #"{"title":"\#(name)","x-diario-version":\#(version),"type":"object","#
                + #""additionalProperties":false,"properties":{"\#(field)":{"type":"boolean"}}}"#
        )
    }

    private func pack(_ name: String) throws -> Pack {
        try Pack(files: [
            PackFile(path: "pack.json", bytes: Array(#"{"name":"\#(name)","version":1}"#.utf8))
        ])
    }

    @Test func typesAreFoundByNameAndVersion() throws {
        let types = try (0..<40).flatMap { index in
            try [type("t.n\(index)", 1), type("t.n\(index)", index + 2)]
        }
        let catalog = try TypeCatalog(types.reversed())
        for index in 0..<40 {
            #expect(catalog.newest("t.n\(index)")?.version == index + 2)
            #expect(catalog.type("t.n\(index)", version: 1)?.version == 1)
            #expect(catalog.type("t.n\(index)", version: index + 2)?.version == index + 2)
            #expect(catalog.type("t.n\(index)", version: 1000) == nil)
            let name = Array("t.n\(index)".utf8)
            #expect(catalog.newest(name.span)?.version == index + 2)
        }
        #expect(catalog.newest("t.n40") == nil)
        #expect(catalog.newest("") == nil)
        #expect(catalog.types.count == 80)
    }

    @Test func ofTypesInUseTheNewestThereCounts() throws {
        let types = try ["t.a", "t.b"].flatMap { name in try (1...4).map { try type(name, $0) } }
        let used = types.filter { $0.name == "t.a" && $0.version < 3 }
        let catalog = try TypeCatalog(types, used: used)
        #expect(catalog.newest("t.a")?.version == 2)
        #expect(catalog.type("t.a", version: 4)?.version == 4)
        #expect(catalog.newest("t.b")?.version == 4)
    }

    @Test func anEmptyCatalogKnowsNothing() throws {
        let catalog = try TypeCatalog([EventType]())
        #expect(catalog.newest("a.b") == nil)
    }

    @Test func theSameVersionTwiceIsRefused() throws {
        #expect(throws: PackError.self) {
            try TypeCatalog([type("a.b", 1), type("a.b", 1, field: "c")])
        }
    }

    @Test func theSamePackTwiceIsRefused() throws {
        let packs = [try pack("one"), try pack("two"), try pack("one")]
        do throws(PackError) {
            _ = try TypeCatalog(packs)
            Issue.record("two packs with one name were taken")
        } catch {
            #expect(error.problems.map(\.rule) == ["pack-twice"])
        }
    }

    @Test func changedSchemasAreThoseOfOneVersion() throws {
        let old = try TypeCatalog([type("a.b", 1), type("a.c", 1), type("a.d", 1)])
        let new = try TypeCatalog([
            type("a.b", 1, field: "z"), type("a.c", 1), type("a.c", 2, field: "z"), type("a.e", 1),
        ])
        #expect(new.changedSchemas(against: old).map(\.name) == ["a.b"])
        #expect(old.changedSchemas(against: old).isEmpty)
    }
}
