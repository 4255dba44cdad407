import Diario
import DiarioCore
import DiarioHTTP
import DiarioLog
import DiarioSchema
import DiarioServer
import Testing

/// Commands over HTTP: schema/format/http.md, section 9.
@Suite struct CallTests {
    private static let fish = Result { try PackSource.load(names: ["fish"], folders: []) }
    private static let events = "/v1/spaces/home/events"

    private static func world() throws -> ServedWorld { try ServedWorld(packs: try fish.get()) }

    private func call(
        _ world: ServedWorld,
        _ token: String,
        _ command: String,
        _ input: String,
        _ more: String = ""
    ) throws -> HTTPAnswer {
        try world.post(
            "/v1/spaces/home/commands/fish.\(command)",
            token,
            #"{"input":\#(input)\#(more)}"#
        )
    }

    // MARK: Times

    /// K1: one such request ended the server, also as a dry run.
    @Test(arguments: [
        "9223372036854775807", "-9223372036854775808", "-1", #""1969-12-31T23:59:59Z""#,
        #""2999-01-01T00:00:00Z""#, #""9999-12-31T23:59:59.999Z""#,
    ])
    func aCommandBeyondAllTimesIsMalformed(at: String) throws {
        let world = try Self.world()
        let token = try world.token([.append], actor: "u1")
        for more in ["", #","dryRun":true"#] {
            let answer = try call(
                world,
                token,
                "assessment.start",
                #"{"speciesId":"acciuga"}"#,
                #","at":\#(at)\#(more)"#
            )
            #expect(answer.status == 400 && answer.text.contains("problem:malformed"))
            #expect(answer.text.contains(#""field":"at""#), "\(answer.text)")
        }
    }

    @Test func aCommandAtTheEndsOfTimeIsTaken() throws {
        let world = try Self.world()
        let token = try world.token([.append], actor: "u1")
        let year = world.store.now.milliseconds + Limits.eventLeadMillisecondsMax
        for at in [0, year] {
            let input = #"{"speciesId":"acciuga","startedOn":"1970-01-01"}"#
            let answer = try call(world, token, "assessment.start", input, #","at":\#(at)"#)
            #expect(answer.status == 201, "\(answer.text)")
        }
    }

    /// K1 at the door for events, in each of their forms.
    @Test(arguments: [
        ("application/json", ""), ("application/x-ndjson", ""),
        ("application/json", #","origin":"7zk3m9q2c1f4a-1""#),
    ])
    func anEventBeyondAllTimesIsMalformed(type: String, more: String) throws {
        let world = try ServedWorld()
        let token = try world.token()
        for at in ["-1", #""2999-01-01T00:00:00Z""#] {
            let event = ServedWorld.weight("2026-03-01").dropLast() + #","at":\#(at)\#(more)}"#
            let answer = try world.post(Self.events, token, String(event), type: type)
            #expect(answer.status == 400 && answer.text.contains("line 1: `at` is"))
        }
        let good = ServedWorld.weight("2026-03-01").dropLast() + #","at":0\#(more)}"#
        #expect(try world.post(Self.events, token, String(good), type: type).status == 201)
    }

    @Test func aCloudEventBeyondAllTimesIsMalformed() throws {
        let world = try ServedWorld()
        let token = try world.token()
        for (time, status) in [("2999-01-01T00:00:00Z", 400), ("2026-03-01T00:00:00Z", 201)] {
            let event =
                #"{"specversion":"1.0","id":"1","source":"/scales","type":"meals.weight.recorded","#
                + #""time":"\#(time)","#
                + #""data":{"day":"2026-03-01","weightG":70000,"source":"manual"}}"#
            let answer = try world.post(
                Self.events,
                token,
                event,
                type: "application/cloudevents+json"
            )
            #expect(answer.status == status, "\(answer.text)")
        }
    }
}
