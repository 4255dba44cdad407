import Diario
import DiarioCore
import DiarioHTTP
import DiarioHost
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

    private static let report =
        #"{"assessmentId":"a","reportId":"r","origin":"mediterranean","production":"wild_fresh","#
        + #""placeId":"albinia","note":"by the pier","latE7":424242424,"lonE7":112233445}"#

    /// A report of u1, from the start.
    private func file(in world: ServedWorld) throws -> HTTPAnswer {
        let token = try world.token(actor: "u1")
        _ = try call(
            world,
            token,
            "assessment.start",
            #"{"assessmentId":"a","speciesId":"acciuga"}"#
        )
        _ = try call(world, token, "length.enter", #"{"assessmentId":"a","lengthUm":113000}"#)
        _ = try call(world, token, "verdict.issue", #"{"assessmentId":"a"}"#)
        let filed = try call(world, token, "report.file", Self.report)
        #expect(filed.status == 201, "\(filed.text)")
        return filed
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

    // MARK: What others recorded

    /// H1: the id of a report was enough to read it, and to find out which note it has.
    @Test func theIDOfAnotherTellsNothing() throws {
        let world = try Self.world()
        _ = try file(in: world)
        let tokens = [
            try world.token([.append], actor: "u3"), try world.token(actor: "u2"),
            try world.token([.append]),
        ]
        let inputs = [
            #"{"assessmentId":"a","reportId":"r"}"#, Self.report,
            #"{"assessmentId":"a","reportId":"r","note":"another"}"#,
        ]
        for token in tokens.prefix(2) {
            var answers: Set<String> = []
            for input in inputs {
                for more in ["", #","dryRun":true"#] {
                    let answer = try call(world, token, "report.file", input, more)
                    #expect(answer.status == 422)
                    answers.insert(answer.text)
                }
            }
            #expect(answers.count == 1, "all are answered alike")
            #expect(answers.first?.contains(#""rule":"id-taken","value":"r""#) == true)
            #expect(answers.first?.contains("note") == false)
        }
        let nobody = try call(world, tokens[2], "report.file", inputs[0])
        #expect(nobody.status == 422 && nobody.text.contains(#""rule":"actor""#))
    }

    /// The same actor is answered as before: with all of it if the token may read, and otherwise
    /// with the ids.
    @Test func theSameCallAgainIsAnsweredAsFarAsTheTokenReads() throws {
        let world = try Self.world()
        let first = try file(in: world)
        #expect(first.text.contains("by the pier"))
        let again = try call(world, try world.token(actor: "u1"), "report.file", Self.report)
        #expect(again.status == 200)
        #expect(try again.member("events")?.asText == first.member("events")?.asText)
        // Sentences for people are not recorded.
        let result = try #require(try again.member("result")?.asText)
        let before = try #require(try first.member("result")?.asText)
        #expect(before.hasPrefix(result.dropLast()) && before.contains(#""text":["#))
        let device = try world.token([.append], actor: "u1")
        let told = try call(world, device, "report.file", Self.report)
        #expect(told.status == 200)
        #expect(try told.member("result")?.asText == #"{"reportId":"r"}"#)
        let events = try #require(try told.member("events")?.asText)
        #expect(events.contains(#""type":"fish.report.filed""#) && events.contains("origin"))
        #expect(events.contains("position") && !events.contains("payload"), "\(events)")
        let other = Self.report.replacing("pier", with: "quay")
        let refused = try call(world, device, "report.file", other)
        #expect(refused.status == 422 && refused.text.contains(#""rule":"id-taken""#))
        #expect(!refused.text.contains("note"))
    }

    @Test func aTokenThatOnlyAppendsIsToldIDsAndCodes() throws {
        let world = try Self.world()
        let token = try world.token([.append], actor: "u1")
        let started = try call(world, token, "assessment.start", #"{"speciesId":"acciuga"}"#)
        let id = try #require(try started.member("result")?.member("assessmentId")?.item.value)
        #expect(!started.text.contains("payload") && started.status == 201)
        let assessment = #""assessmentId":\#(String(decoding: id.asWritten, as: UTF8.self))"#
        _ = try call(world, token, "length.enter", #"{\#(assessment),"lengthUm":113000}"#)
        let dry = #","dryRun":true"#
        let judged = try call(world, token, "verdict.issue", "{\(assessment)}", dry)
        #expect(judged.status == 200 && !judged.text.contains("113000"), "\(judged.text)")
        #expect(try judged.member("result")?.asText == "{}")
        // What the caller sent is said again; what follows from rows is not.
        let unknown = try call(world, token, "assessment.start", #"{"speciesId":"cod"}"#)
        #expect(unknown.text.contains(#""rule":"unknown-species","value":"cod""#))
        _ = try call(world, token, "verdict.issue", "{\(assessment)}")
        _ = try call(world, token, "length.enter", #"{\#(assessment),"lengthUm":114000}"#)
        let outdated = try call(
            world,
            token,
            "report.file",
            #"{\#(assessment),"origin":"other","production":"farmed","placeId":"albinia"}"#
        )
        #expect(outdated.text.contains(#""rule":"verdict-outdated""#), "\(outdated.text)")
        #expect(!outdated.text.contains(#""value""#))
        // The form of an input is about nothing else.
        let bad = try call(world, token, "length.enter", #"{\#(assessment),"lengthUm":1}"#)
        #expect(bad.text.contains("0.001 mm, which is too little"), "\(bad.text)")
    }
}

extension JSON {
    fileprivate var asText: String { String(decoding: asWritten, as: UTF8.self) }
}
