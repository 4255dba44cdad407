import Diario
import DiarioHost
import DiarioLog
import DiarioSchema
import DiarioTestSupport
import Testing

@Suite struct CSVTests {
    private static let schema = ##"""
        {"$schema":"https://json-schema.org/draft/2020-12/schema","title":"test.thing.done",
         "description":"A thing was done.","x-diario-version":VERSION,"type":"object",
         "additionalProperties":false,"required":["zeta"],
         "properties":{PROPERTIES}}
        """##
    private static let first =
        #""zeta":{"type":"string"},"alpha":{"type":"integer"},"gone":{"type":"string"}"#
    private static let second =
        #""zeta":{"type":"string"},"alpha":{"type":"integer"},"#
        + #""share":{"type":"number"},"isGood":{"type":"boolean"},"#
        + #""kind":{"enum":["a,b","=c"]},"day":{"type":"string","format":"date"},"#
        + #""moment":{"type":"string","format":"date-time"},"#
        + #""id":{"type":"string","format":"uuid"},"#
        + #""raw":{"type":"string","contentEncoding":"base64"},"#
        + #""list":{"type":"array","items":{"type":"integer"}},"#
        + #""secret":{"type":"string","x-diario-personal":true}"#

    private func pack() throws -> Pack {
        func schema(_ version: Int, _ properties: String) -> PackFile {
            let text = Self.schema.replacing("VERSION", with: "\(version)")
                .replacing("PROPERTIES", with: properties)
            return PackFile(path: "events/thing.done.\(version).json", bytes: Array(text.utf8))
        }
        let name = #"{"name":"test","version":1}"#
        return try Pack(files: [
            PackFile(path: "pack.json", bytes: Array(name.utf8)), schema(1, Self.first),
            schema(2, Self.second),
        ])
    }

    /// The rows that events of the given payloads make, without their envelopes.
    private func rows(_ events: [String], version: Int?, guardsFormulas: Bool) throws -> [String] {
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path + "/space", packs: [pack()])
        try space.record(events.map { #"{"type":"test.thing.done",\#($0)}"# })
        let types = space.catalog.types.filter {
            $0.name == "test.thing.done" && $0.version == version ?? $0.version
        }
        var table = try CSVTable(types, of: space, guardsFormulas: guardsFormulas)
        var bytes: [UInt8] = []
        table.appendHeader(to: &bytes)
        var reader = try EventReader(space, EventFilter(types: ["test."]))
        while let line = try reader.next() { table.append(line, to: &bytes) }
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.hasSuffix("\r\n"))
        #expect(text.hasPrefix("_position,_origin,_type,_version,_at,_clock,_accepted,_actor,"))
        return text.components(separatedBy: "\r\n").dropLast().map { row in
            let start = row.ranges(of: "_ifUnchanged,").last ?? row.ranges(of: "false,").first
            return start.map { String(row[$0.upperBound...]) } ?? row
        }
    }

    @Test func everyKindOfValueHasItsText() throws {
        let found = try rows(
            [
                #""payload":{"zeta":"plain","alpha":-7,"share":0.1,"isGood":true,"kind":"a,b","#
                    + #""day":"2026-02-28","moment":"2026-02-28T01:02:03.004Z","#
                    + #""id":"00112233-4455-6677-8899-AABBCCDDEEFF","raw":"aGVsbG8=","#
                    + #""list":[1,2],"secret":"s"}"#
            ],
            version: nil,
            guardsFormulas: false
        )
        #expect(
            found == [
                "zeta,alpha,share,isGood,kind,day,moment,id,raw,list,secret,gone",
                #"plain,-7,0.1,true,"a,b",2026-02-28,2026-02-28T01:02:03.004Z,"#
                    + #"00112233-4455-6677-8899-aabbccddeeff,aGVsbG8=,"[1,2]",s,"#,
            ]
        )
    }

    @Test func theColumnsAreThoseOfTheNewestVersionThenOfOlderOnes() throws {
        let events = [
            #""version":1,"payload":{"zeta":"old","gone":"x"}"#, #""payload":{"zeta":"new"}"#,
        ]
        let found = try rows(events, version: nil, guardsFormulas: false)
        #expect(found[1] == "old,,,,,,,,,,,x")
        #expect(found[2] == "new,,,,,,,,,,,")
    }

    @Test func anEmptyTextDiffersFromAnAbsentOne() throws {
        let found = try rows(
            [#""payload":{"zeta":"","alpha":0}"#],
            version: nil,
            guardsFormulas: false
        )
        #expect(found[1] == #""",0,,,,,,,,,,"#)
    }

    @Test(arguments: [
        (#"a\"b"#, #""a""b""#), (#"a\nb"#, "\"a\nb\""), ("a,b", #""a,b""#), (" a ", " a "),
        ("=1+1", "=1+1"), (#"\u00e8"#, "\u{e8}"),
    ])
    func textsAreQuotedWhereTheyMustAndNeverChanged(json: String, cell: String) throws {
        let found = try rows(
            [#""payload":{"zeta":"\#(json)"}"#],
            version: nil,
            guardsFormulas: false
        )
        #expect(found[1] == cell + ",,,,,,,,,,,")
    }

    @Test(arguments: [
        ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@a", "'@a"), (#"\ta"#, "'\ta"),
        ("=a,b", #""'=a,b""#), ("a=1", "a=1"), ("1", "1"),
    ])
    func whatWouldBeAFormulaGetsAnApostropheIfWanted(json: String, cell: String) throws {
        let found = try rows(
            [#""payload":{"zeta":"\#(json)","alpha":-1,"kind":"=c"}"#],
            version: nil,
            guardsFormulas: true
        )
        #expect(found[1] == cell + ",-1,,,'=c,,,,,,,")
    }
}

extension String {
    fileprivate func components(separatedBy separator: String) -> [String] {
        var parts: [String] = []
        var rest = self[...]
        while let range = rest.firstRange(of: separator) {
            parts.append(String(rest[..<range.lowerBound]))
            rest = rest[range.upperBound...]
        }
        return parts + [String(rest)]
    }
}
