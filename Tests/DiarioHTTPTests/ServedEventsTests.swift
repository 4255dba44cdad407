import Diario
import DiarioCore
import DiarioHTTP
import DiarioLog
import DiarioSchema
import DiarioServer
import DiarioStorage
import DiarioTestSupport
import Testing

/// Events for people and programs without Diario: schema/format/http.md, section 7.
struct ServedEventsTests {
    private static let path = "/v1/spaces/home/events"

    private func offset(_ text: String) -> [HTTPRequest.Parameter] {
        [HTTPRequest.Parameter("offset", text)]
    }

    @Test func whatIsRecordedIsReadAgain() throws {
        let world = try ServedWorld()
        let token = try world.token()
        let body = "[\(ServedWorld.weight("2026-03-01")),\(ServedWorld.weight("2026-03-02"))]"
        let made = try world.post(Self.path, token, body)
        #expect(made.status == 201, "\(made.text)")
        let head = try #require(try made.member("head"))
        let now = try world.get(Self.path, token, query: offset("now"))
        #expect(now.text == "[]\n")
        #expect(now.header("Stream-Up-To-Date") == "true")
        guard case .integer(let number) = head else { throw ServedWorld.Waiting() }
        #expect(now.header("Stream-Next-Offset")?.hasSuffix("\(number)") ?? false)
        let before = StreamText.offset(UInt64(number) - 2)
        let read = try world.get(Self.path, token, query: offset(before))
        #expect(read.status == 200)
        #expect(try read.list().count == 2)
        #expect(read.text.contains("2026-03-01"))
    }

    @Test func manyEventsComeInParts() throws {
        let world = try ServedWorld(packs: [])
        let token = try world.token()
        let all = try world.get(Self.path, token, query: offset("-1"))
        #expect(all.text == "[]\n")
        let full = try ServedWorld()
        let other = try full.token()
        let lines = (1...28).map { ServedWorld.weight("2026-02-" + StreamText.day($0)) }
        let made = try full.post(
            Self.path,
            other,
            lines.joined(separator: "\n"),
            type: "application/x-ndjson"
        )
        #expect(made.status == 201, "\(made.text)")
        var next = "-1"
        var count = 0
        var parts = 0
        repeat {
            let part = try full.get(
                Self.path,
                other,
                query: offset(next) + [
                    HTTPRequest.Parameter("limit", "10"),
                    HTTPRequest.Parameter("type", "meals.weight.recorded"),
                ]
            )
            count += try part.list().count
            parts += 1
            next = try #require(part.header("Stream-Next-Offset"))
            if part.header("Stream-Up-To-Date") != nil { break }
        } while parts < 10
        #expect(count == 28)
        #expect(parts == 3)
    }

    // The first thousand events that a reader got were species and classes of the packs.
    @Test func whatTheAuthorityWroteIsLeftOutUnlessAskedFor() throws {
        let world = try ServedWorld()
        let token = try world.token()
        #expect(try world.post(Self.path, token, ServedWorld.weight("2026-03-01")).status == 201)
        func read(_ name: String, _ value: String) throws -> HTTPAnswer {
            try world.get(
                Self.path,
                token,
                query: offset("-1") + [HTTPRequest.Parameter(name, value)]
            )
        }
        let people = try world.get(Self.path, token, query: offset("-1"))
        #expect(try people.list().count == 1)
        #expect(people.header("Stream-Up-To-Date") == "true")
        let all = try read("all", "1")
        let end = try #require(all.header("Stream-Next-Offset"))
        #expect(try all.list().count == Int(end) ?? 0)
        #expect(people.header("Stream-Next-Offset") == end)
        #expect(try read("type", "engine.pack.adopted").list().count == 1)
        let allergens = try read("type", "meals.allergen.defined").list().count
        #expect(allergens > 1)
        #expect(try read("type", "meals.").list().count == allergens + 1)
        #expect(try read("all", "0").status == 400)
    }

    @Test func aBadEventIsNamedAndNothingIsRecorded() throws {
        let world = try ServedWorld()
        let token = try world.token()
        let good = ServedWorld.weight("2026-03-01")
        let before = try world.get(Self.path, token, query: offset("now"))
        for (body, type, place) in [
            (
                "[\(good),\n{\"type\":\"meals.weight.recorded\",\"payload\":{}}]", "json",
                "element 2"
            ),
            ("\(good)\n{\"type\":\"none.such\",\"payload\":{}}", "x-ndjson", "line 2"),
            ("[\(good)", "json", "line 1"), ("[]", "json", "no event"),
            ("", "x-ndjson", "no event"),
            ("{\"type\":\"engine.pack.adopted\",\"payload\":{}}", "json", "engine"),
        ] {
            let answer = try world.post(Self.path, token, body, type: "application/\(type)")
            #expect(answer.status == 400)
            #expect(answer.header("Content-Type") == "application/problem+json")
            #expect(answer.text.contains(place), "\(answer.text)")
        }
        let after = try world.get(Self.path, token, query: offset("now"))
        #expect(before.header("Stream-Next-Offset") == after.header("Stream-Next-Offset"))
    }

    @Test func theTokenSaysWhoRecords() throws {
        let world = try ServedWorld()
        let alice = try world.token(actor: "alice")
        let good = ServedWorld.weight("2026-03-01")
        #expect(try world.post(Self.path, alice, good).status == 201)
        let read = try world.get(
            Self.path,
            alice,
            query: [HTTPRequest.Parameter("actor", "alice")]
        )
        #expect(try read.list().count == 1)
        let foreign = good.dropLast() + #","actor":"bob"}"#
        let refused = try world.post(Self.path, alice, String(foreign))
        #expect(refused.status == 403)
        #expect(refused.text.contains("line 1"))
        let relay = try world.token([.append, .relay], actor: "carol")
        #expect(try world.post(Self.path, relay, String(foreign)).status == 201)
        let reader = try world.token([.read])
        #expect(try world.post(Self.path, reader, good).status == 403)
    }

    /// A row that has its own origin as an id that was given can be read by nobody: whoever foresaw
    /// the next origin of a server damaged the log of its space.
    @Test func nobodyGivesTheOriginThatTheServerWritesNextAsAnID() throws {
        let world = try ServedWorld()
        let token = try world.token()
        func add(_ id: String?) throws -> HTTPAnswer {
            let id = id.map { #""allergyId":"\#($0)","# } ?? ""
            let event =
                #"{"type":"meals.allergy.added","payload":{\#(id)"severity":"allergy","#
                + #""note":"since spring"}}"#
            return try world.post(Self.path, token, event)
        }
        let first = try add(nil)
        guard case .array(let origins)? = try first.member("origins"),
            case .string(let text)? = origins.first?.value, let origin = Origin(text: text)
        else { throw ServedWorld.Waiting() }
        let next = Origin(replica: origin.replica, sequence: origin.sequence + 1)
        let refused = try add(next.text)
        #expect(refused.status == 400, "\(refused.text)")
        #expect(try add(nil).status == 201)
        let read = try world.get(
            Self.path,
            token,
            query: [HTTPRequest.Parameter("type", "meals.allergy.")]
        )
        #expect(try read.list().count == 2, "\(read.text)")
    }

    @Test func cloudEventsComeAndGo() throws {
        let world = try ServedWorld()
        let token = try world.token()
        let event = """
            {"specversion":"1.0","id":"1","source":"/scales/7","type":"meals.weight.recorded",
            "datacontenttype":"application/json",
            "data":{"day":"2026-03-01","weightG":70000,"source":"manual"}}
            """
        let made = try world.post(
            Self.path,
            token,
            event,
            type: "application/cloudevents+json; charset=utf-8"
        )
        #expect(made.status == 201, "\(made.text)")
        let read = try world.get(
            Self.path,
            token,
            query: [HTTPRequest.Parameter("type", "meals.weight.")],
            headers: ["accept": "application/cloudevents-batch+json"]
        )
        #expect(read.header("Content-Type") == "application/cloudevents-batch+json")
        #expect(read.text.contains(#""specversion":"1.0""#))
        #expect(try read.list().count == 1)
    }

    @Test func whatDidNotChangeIsNotSentAgain() throws {
        let world = try ServedWorld()
        let token = try world.token()
        let first = try world.get(Self.path, token)
        let tag = try #require(first.header("ETag"))
        let again = try world.get(Self.path, token, headers: ["if-none-match": tag])
        #expect(again.status == 304)
        #expect(try world.post(Self.path, token, ServedWorld.weight("2026-03-01")).status == 201)
        #expect(try world.get(Self.path, token, headers: ["if-none-match": tag]).status == 200)
    }

    @Test func aLongPollWaitsForTheNextEvent() throws {
        let world = try ServedWorld()
        let token = try world.token()
        let query = offset("now") + [HTTPRequest.Parameter("live", "long-poll")]
        _ = try world.get(Self.path, token, query: query, isLast: true)
        let end = try #require(
            try world.get(Self.path, token, query: offset("now")).header("Stream-Next-Offset")
        )
        let waiting = offset(end) + [HTTPRequest.Parameter("live", "long-poll")]
        let request = HTTPRequest(
            "GET",
            Self.path,
            query: waiting,
            headers: ServedWorld.bearing(token)
        )
        guard case .wait(let bell, _, _) = world.reply(request) else {
            Issue.record("it does not wait")
            return
        }
        let counter = RingCounter()
        let id = bell.listen { counter.count() }
        #expect(try world.post(Self.path, token, ServedWorld.weight("2026-03-01")).status == 201)
        #expect(counter.value == 1)
        bell.ignore(id)
        let answer = try world.answer(request)
        #expect(answer.status == 200)
        #expect(try answer.list().count == 1)
        #expect(answer.header("Stream-Cursor") != nil)
        let over = try world.get(
            Self.path,
            token,
            query: offset(try #require(answer.header("Stream-Next-Offset")))
                + [HTTPRequest.Parameter("live", "long-poll")],
            isLast: true
        )
        #expect(over.status == 204)
        #expect(over.header("Stream-Up-To-Date") == "true")
    }

    /// Once what came while it waited was skipped, since `now` was read again at each wake.
    @Test func aLongPollFromNowHasWhatCameWhileItWaited() throws {
        let world = try ServedWorld()
        let token = try world.token()
        var request = HTTPRequest(
            "GET",
            Self.path,
            query: offset("now") + [HTTPRequest.Parameter("live", "long-poll")],
            headers: ServedWorld.bearing(token)
        )
        guard case .wait(_, _, let note) = world.reply(request) else {
            Issue.record("it does not wait")
            return
        }
        #expect(try world.post(Self.path, token, ServedWorld.weight("2026-03-01")).status == 201)
        request.note = note
        #expect(try world.answer(request).list().count == 1)
    }

    @Test func whatAnotherProcessRecordsIsTold() throws {
        let world = try ServedWorld()
        let token = try world.token()
        let now = try world.get(Self.path, token, query: offset("now"))
        let end = try #require(now.header("Stream-Next-Offset"))
        let request = HTTPRequest(
            "GET",
            Self.path,
            query: offset(end) + [HTTPRequest.Parameter("live", "long-poll")],
            headers: ServedWorld.bearing(token)
        )
        guard case .wait(let bell, _, _) = world.reply(request) else {
            Issue.record("it does not wait")
            return
        }
        let (rung, ended) = (Signal(), Signal())
        let id = bell.listen { rung.raise() }
        let handler = world.handler
        _ = WorkerThread(name: "watch") {
            handler.watch()
            ended.raise()
        }
        try world.recordElsewhere(ServedWorld.weight("2026-03-01"))
        rung.wait()
        bell.ignore(id)
        #expect(try world.answer(request).list().count == 1)
        handler.close()
        ended.wait()
    }

    /// It was seen only when the server looked the next time, up to half a second later.
    @Test func whatAnotherProcessRecordsIsSeenByTheNextRequest() throws {
        let world = try ServedWorld()
        let token = try world.token()
        var count = try world.get(Self.path, token).list().count
        for day in 1...3 {
            try world.recordElsewhere(ServedWorld.weight("2026-03-0\(day)"))
            count += 1
            #expect(try world.get(Self.path, token).list().count == count)
        }
        let cursor = offset("now") + [HTTPRequest.Parameter("cursor", "")]
        #expect(try world.get(Self.path, token, query: cursor).status == 200)
    }

    @Test func aStreamTellsEventsAndWhereItIs() throws {
        let world = try ServedWorld()
        let token = try world.token()
        let query = offset("now") + [HTTPRequest.Parameter("live", "sse")]
        let answer = try world.get(
            Self.path,
            token,
            query: query,
            headers: ["accept": "text/event-stream"]
        )
        #expect(answer.header("Content-Type") == "text/event-stream")
        guard case .stream(let stream) = answer.body else {
            Issue.record("it is no stream")
            return
        }
        let start = ContinuousClock.now
        guard case .bytes(let first, _) = stream.next(at: start) else {
            Issue.record("nothing comes at the start")
            return
        }
        #expect(String(decoding: first, as: UTF8.self).contains(#""upToDate":true"#))
        guard case .nothing = stream.next(at: start) else {
            Issue.record("something comes of nothing")
            return
        }
        #expect(try world.post(Self.path, token, ServedWorld.weight("2026-03-01")).status == 201)
        guard case .bytes(let news, _) = stream.next(at: start) else {
            Issue.record("no news come")
            return
        }
        let text = String(decoding: news, as: UTF8.self)
        #expect(text.hasPrefix("event: data\ndata:[{"))
        #expect(text.contains("\n\nevent: control\ndata:{"))
        #expect(text.hasSuffix("}\n\n"))
        guard case .bytes(let comment, _) = stream.next(at: start + .seconds(16)) else {
            Issue.record("no comment keeps it open")
            return
        }
        #expect(String(decoding: comment, as: UTF8.self) == ":\n\n")
        guard case .end = stream.next(at: start + .seconds(61)) else {
            Issue.record("it does not end")
            return
        }
    }

    @Test(arguments: [
        ("offset", "7"), ("offset", "0000000000000000000x"), ("live", "now"), ("limit", "0"),
        ("limit", "1001"), ("limit", "-1"), ("cursor", "x"), ("since", "yesterday"),
        ("last", "0"),
    ])
    func whatCannotBeReadIsNamed(name: String, value: String) throws {
        let world = try ServedWorld()
        let token = try world.token()
        let answer = try world.get(
            Self.path,
            token,
            query: [HTTPRequest.Parameter(name, value)]
        )
        #expect(answer.status == 400)
        #expect(answer.text.contains(name))
    }
}

enum StreamText {
    static func offset(_ position: UInt64) -> String {
        String(repeating: "0", count: 20 - "\(position)".count) + "\(position)"
    }

    static func day(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
