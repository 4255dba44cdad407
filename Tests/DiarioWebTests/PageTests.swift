import DiarioCore
import DiarioEngine
import DiarioFish
import DiarioHost
import DiarioLog
import DiarioSchema
import DiarioStorage
import DiarioTestSupport
import DiarioWeb
import Synchronization
import Testing

/// What a worker asks of the engine, in the pool of a page; read models are in a folder, where
/// SQLite finds them here.
@Suite struct PageTests {
    private static let weight =
        #"{"type":"meals.weight.recorded","actor":"u1","payload":"#
        + #"{"day":"2026-05-04","weightG":71500,"source":"manual"}}"#

    @Test func aSpaceIsOpenedRecordedToAndAsked() throws {
        let (disk, folder) = (CrashDisk(machineID: "test"), try TemporaryFolder())
        let page = try PageWorld.page(["meals"], on: PageWorld.pool(disk), folder)
        #expect(try PageWorld.call(page, "open").member("replica") != nil)
        let recorded = try PageWorld.call(page, "record", Self.weight + "\n" + Self.weight)
        guard case .array(let origins)? = recorded.member("origins")?.item.value else {
            Issue.record("no origins")
            return
        }
        #expect(origins.count == 2)
        let rows = try PageWorld.work(page, "ask", #"{"sql":"SELECT count(*) AS n FROM weight"}"#)
        #expect(rows.last == "{\"n\":2}\n")
        #expect(rows.first?.contains(#""columns":["n"]"#) == true)
        let exported = try PageWorld.work(page, "export", "{}").joined()
        #expect(exported.split(separator: "\n").count == 2 && exported.contains("71500"))
        #expect(try PageWorld.work(page, "export", #"{"pending":true}"#).isEmpty)
        #expect(try PageWorld.work(page, "verify").last?.contains(#""ok":true"#) == true)
        #expect(try PageWorld.work(page, "rest").isEmpty)
        // What is durable is there after a crash, by another engine.
        _ = try PageWorld.call(page, "close")
        #expect(throws: DiarioError.self) { try PageWorld.call(page, "status") }
        var random = SeededRandom(seed: 1)
        disk.crash(using: &random)
        let again = try PageWorld.page(on: PageWorld.pool(disk), folder)
        _ = try PageWorld.call(again, "open")
        let events = try PageWorld.call(again, "status").member("events")?.item.value
        #expect(events?.asWritten == Array("2".utf8))
    }

    @Test func eventsAreLookedAtTheNewestFirst() throws {
        let (disk, folder) = (CrashDisk(machineID: "test"), try TemporaryFolder())
        let page = try PageWorld.page(["meals"], on: PageWorld.pool(disk), folder)
        _ = try PageWorld.call(page, "open")
        for _ in 0..<5 { _ = try PageWorld.call(page, "record", Self.weight) }
        func positions(_ wanted: String) throws -> [String] {
            try PageWorld.work(page, "events", wanted).joined().split(separator: "\n").map { line in
                let event = try JSON.parse(Array(line.utf8)).value
                let position = event.member("position")?.item.value.asWritten ?? []
                #expect(event.member("eventHash") != nil && event.member("batch") != nil)
                return String(decoding: position, as: UTF8.self)
            }
        }
        let all = try positions("{}")
        #expect(all.count == 5 && all == all.sorted(by: >))
        #expect(try positions(#"{"limit":2}"#) == Array(all.prefix(2)))
        #expect(try positions(#"{"limit":2,"oldestFirst":true}"#) == Array(all.reversed()[..<2]))
        #expect(try positions(#"{"to":"# + all[3] + "}") == Array(all[3...]))
        #expect(try positions(#"{"actor":"u2"}"#).isEmpty)
        #expect(try positions(#"{"type":"meals.weight.recorded","actor":"u1"}"#) == all)
        #expect(try positions(#"{"all":true}"#).last == "1")
        #expect(try positions(#"{"pending":true}"#).isEmpty)
        let one = try PageWorld.call(page, "event", #"{"event":""# + all[0] + "\"}")
        let origin = try #require(one.member("origin")?.item.value.asWritten)
        let same = try page.call("event", Array(#"{"event":"#.utf8) + origin + [0x7d])
        #expect(try JSON.parse(same).value.asWritten == one.asWritten)
        for wrong in [
            #"{"from":3,"to":2}"#, #"{"limit":-1}"#, #"{"replica":"x"}"#,
            #"{"since":"then"}"#, #"{"pending":true,"from":1}"#, #"{"types":[1]}"#,
        ] {
            #expect(throws: DiarioError.self) { try page.begin("events", Array(wrong.utf8)) }
        }
    }

    @Test func aPackIsOneFile() throws {
        let (disk, folder) = (CrashDisk(machineID: "test"), try TemporaryFolder())
        let pool = try PageWorld.pool(disk)
        let page = try PageWorld.page(["fish"], on: pool, folder)
        let fish = try #require(
            try pool.list(LogPaths.packs).first {
                (try? pool.list(LogPaths.packs + "/" + $0)) == nil
            }
        )
        #expect(pool.freeCount > 40)
        let path = LogPaths.packs + "/" + fish
        var bytes = try Files.contents(of: path, in: pool, sizeMax: 1 << 24)
        bytes[bytes.count / 2] ^= 1
        try Files.replace(path, with: bytes, in: pool)
        do {
            _ = try PageWorld.call(page, "open")
            Issue.record("a damaged pack was read")
        } catch let error as DiarioError {
            #expect(error.kind == .corrupt && error.message.contains(fish))
        }
    }

    @Test func commandsAndViewsAreRun() throws {
        let (disk, folder) = (CrashDisk(machineID: "test"), try TemporaryFolder())
        let page = try PageWorld.page(["fish"], on: PageWorld.pool(disk), folder)
        _ = try PageWorld.call(page, "open")
        let call =
            #"{"name":"fish.preference.set","input":{"key":"language","value":"it"},"#
            + #""actor":"u1"}"#
        #expect(try PageWorld.call(page, "run", call).member("events") != nil)
        let wrong =
            #"{"name":"fish.preference.set","input":{"key":"language","value":"xx"},"#
            + #""actor":"u1","language":"en"}"#
        do {
            _ = try PageWorld.call(page, "run", wrong)
            Issue.record("there is no such language")
        } catch let error as DiarioError {
            #expect(error.kind == .rule)
            let json = try JSON.parse(error.json).value
            #expect(json.member("kind")?.item.value.asWritten == Array("\"rule\"".utf8))
            #expect(json.member("remedy") != nil)
        }
        let declared = String(decoding: try page.call("declared", []), as: UTF8.self)
        #expect(declared.contains("fish.report.file") && declared.contains("would-change"))
    }

    /// Nothing that a page passes on makes the engine trap.
    @Test(arguments: [
        ("open", "[]"), ("open", "{"), ("record", "{"), ("record", "\u{0}"), ("run", ""),
        ("run", "{}"), ("run", #"{"name":7}"#), ("run", #"{"name":"fish.nothing"}"#),
        ("run", #"{"name":"","at":"then"}"#), ("permit", #"{"rights":[1]}"#), ("nothing", "{}"),
        ("sync.answer", "{}"), ("sync.failed", "{}"), ("refusal", "{\"status\":\"x\"}"),
        ("refusal", "{\"status\":200,\"server\":\"s\"}"), ("copy.part", "x"),
        ("event", "{}"), ("event", #"{"event":"0"}"#), ("event", #"{"event":"99"}"#),
    ])
    func wrongInputIsAnError(name: String, input: String) throws {
        let (disk, folder) = (CrashDisk(machineID: "test"), try TemporaryFolder())
        let page = try PageWorld.page(["meals"], on: PageWorld.pool(disk), folder)
        if name != "open" { _ = try PageWorld.call(page, "open") }
        #expect(throws: DiarioError.self) { try page.call(name, Array(input.utf8)) }
    }
}
