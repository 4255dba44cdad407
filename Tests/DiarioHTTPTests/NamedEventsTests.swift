import Diario
import DiarioCore
import DiarioHTTP
import DiarioLog
import DiarioSchema
import DiarioServer
import DiarioTestSupport
import Testing

/// Events that a client gives origins to, so that each is recorded once: schema/format/http.md,
/// section 7.
struct NamedEventsTests {
    private static let path = "/v1/spaces/home/events"
    private static let replica = "7zk3m9q2c1f4a"
    private static let other = "7zk3m9q2c1f4b"

    /// An event with an origin; `more` are further members, each with a comma in front.
    private static func event(
        _ sequence: Int,
        _ grams: Int = 70_000,
        of replica: String = replica,
        more: String = ""
    ) -> String {
        String(ServedWorld.weight("2026-03-01", grams).dropLast())
            + #","origin":"\#(replica)-\#(sequence)"\#(more)}"#
    }

    private func post(
        _ world: ServedWorld,
        _ token: String,
        _ events: [String]
    ) throws -> HTTPAnswer {
        try world.post(Self.path, token, "[" + events.joined(separator: ",") + "]")
    }

    private func problem(_ answer: HTTPAnswer) throws -> String {
        String(try text("type", answer).dropFirst("\"urn:diario:problem:".utf8.count).dropLast())
    }

    /// A member of the object that an answer is, as text.
    private func text(_ key: String, _ answer: HTTPAnswer) throws -> String {
        var text: [UInt8] = []
        try answer.member(key)?.appendCanonical(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    private func head(_ world: ServedWorld, _ token: String) throws -> String? {
        let query = [HTTPRequest.Parameter("offset", "now")]
        return try world.get(Self.path, token, query: query).header("Stream-Next-Offset")
    }

    @Test func anEventThatComesTwiceIsRecordedOnceAndAnsweredWithItsPosition() throws {
        let world = try ServedWorld()
        let token = try world.token()
        let first = try post(world, token, [Self.event(1), Self.event(2)])
        #expect(first.status == 201, "\(first.text)")
        let head = try head(world, token)
        let again = try post(world, token, [Self.event(1), Self.event(2)])
        #expect(again.status == 200, "\(again.text)")
        #expect(try text("origins", again) == text("origins", first))
        #expect(try text("positions", again) == text("positions", first))
        #expect(try self.head(world, token) == head)
        #expect(first.text.contains("\"\(Self.replica)-2\""))
        let more = try post(world, token, [Self.event(2), Self.event(3)])
        #expect(more.status == 201, "\(more.text)")
        let read = try world.get(
            Self.path,
            token,
            query: [HTTPRequest.Parameter("type", "meals.weight.")]
        )
        #expect(try read.list().count == 3)
    }

    @Test func anotherEventUnderAKnownOriginIsForked() throws {
        let world = try ServedWorld()
        let token = try world.token()
        let at = #","at":"2026-03-01T08:00:00.000Z""#
        #expect(try post(world, token, [Self.event(1, 70_001, more: at)]).status == 201)
        let same = try post(world, token, [Self.event(1, 70_001)])
        #expect(same.status == 200, "what is not given is not compared: \(same.text)")
        for event in [
            Self.event(1, 70_002),
            Self.event(1, 70_001, more: #","at":"2026-03-01T08:00:00.001Z""#),
            Self.event(1, 70_001, more: #","actor":"bob""#),
            Self.event(1, 70_001, more: #","base":0"#),
            Self.allergy(1),
        ] {
            let answer = try post(world, token, [event])
            #expect(answer.status == 409, "\(event) \(answer.text)")
            #expect(try problem(answer) == "forked", "\(answer.text)")
            #expect(try text("origin", answer) == "\"\(Self.replica)-1\"")
        }
    }

    @Test func aGapNamesTheSequenceThatIsExpectedAndRecordsNothing() throws {
        let world = try ServedWorld()
        let token = try world.token()
        let head = try head(world, token)
        let early = try post(world, token, [Self.event(2)])
        #expect(early.status == 409)
        #expect(try problem(early) == "gap")
        #expect(try text("expected", early) == "1")
        #expect(try post(world, token, [Self.event(1), Self.event(3)]).status == 409)
        #expect(try self.head(world, token) == head)
        #expect(try post(world, token, [Self.event(1)]).status == 201)
        let late = try post(world, token, [Self.event(1), Self.event(2), Self.event(4)])
        #expect(try text("expected", late) == "3", "\(late.text)")
        #expect(try post(world, token, [Self.event(2)]).status == 201)
    }

    @Test func aBatchIsRecordedAsOneAndNotInParts() throws {
        let world = try ServedWorld()
        let token = try world.token()
        let named = #","batch":"a""#
        let made = try post(
            world,
            token,
            [Self.event(1, 70_001, more: named), Self.event(2, 70_002, more: named)]
        )
        #expect(made.status == 201, "\(made.text)")
        #expect(
            try post(world, token, [Self.event(1, 70_001), Self.event(2, 70_002)]).status == 200
        )
        let half = try post(
            world,
            token,
            [Self.event(2, 70_002, more: named), Self.event(3, 70_003, more: named)]
        )
        #expect(half.status == 409, "\(half.text)")
        #expect(try post(world, token, [Self.event(3, 70_003)]).status == 201)
        let read = try world.get(
            Self.path,
            token,
            query: [HTTPRequest.Parameter("type", "meals.")],
            headers: ["accept": "application/cloudevents-batch+json"]
        )
        let batch = #""diariobatch":"\#(Self.replica)-1""#
        #expect(read.text.ranges(of: batch).count == 2, "\(read.text)")
    }

    @Test func aReferenceIntoTheBatchIsTheSameEventAgain() throws {
        let world = try ServedWorld()
        let token = try world.token()
        let events = [
            Self.allergy(1, more: #","batch":"b""#),
            Self.removal(2, of: "#1", more: #","batch":"b""#),
        ]
        let made = try post(world, token, events)
        #expect(made.status == 201, "\(made.text)")
        #expect(try post(world, token, events).status == 200)
        let read = try world.get(
            Self.path,
            token,
            query: [HTTPRequest.Parameter("subject", "\(Self.replica)-1")]
        )
        #expect(try read.list().count == 2, "\(read.text)")
    }

    @Test func aBrokenBaseIsChangedAndItsSequenceIsFree() throws {
        let world = try ServedWorld()
        let token = try world.token()
        #expect(try post(world, token, [Self.subject(1, of: Self.other)]).status == 201)
        let base = try #require(try self.head(world, token))
        let number = Int(base.drop { $0 == "0" }) ?? 0
        #expect(try post(world, token, [Self.subject(2, of: Self.other)]).status == 201)
        let asks = #","ifUnchanged":true,"base":\#(number)"#
        let broken = try post(world, token, [Self.subject(1, of: Self.replica, more: asks)])
        #expect(broken.status == 409, "\(broken.text)")
        #expect(try problem(broken) == "changed")
        #expect(try text("position", broken) == "\(number + 1)")
        let newer = #","ifUnchanged":true,"base":\#(number + 1)"#
        let good = try post(world, token, [Self.subject(1, of: Self.replica, more: newer)])
        #expect(good.status == 201, "\(good.text)")
        #expect(try post(world, token, [Self.subject(3, of: Self.other)]).status == 201)
        let again = try post(world, token, [Self.subject(1, of: Self.replica, more: newer)])
        #expect(again.status == 200, "known events are not judged again: \(again.text)")
    }

    /// An event about a thing, which the replica `other` made first.
    private static func subject(
        _ sequence: Int,
        of replica: String,
        more: String = ""
    ) -> String {
        sequence == 1 && replica == other
            ? allergy(1, of: other)
            : removal(sequence, of: "\(other)-1", by: replica, more: more)
    }

    /// An event with a personal part that makes a thing.
    private static func allergy(
        _ sequence: Int,
        of replica: String = replica,
        more: String = ""
    ) -> String {
        #"{"type":"meals.allergy.added","payload":{"severity":"allergy","note":"since spring"},"#
            + #""origin":"\#(replica)-\#(sequence)"\#(more)}"#
    }

    private static func removal(
        _ sequence: Int,
        of thing: String,
        by replica: String = replica,
        more: String = ""
    ) -> String {
        #"{"type":"meals.allergy.removed","payload":{"allergyId":"\#(thing)"},"#
            + #""origin":"\#(replica)-\#(sequence)"\#(more)}"#
    }

    @Test func aReplicaBelongsToWhoRecordedWithItFirst() throws {
        let world = try ServedWorld()
        let alice = try world.token(actor: "alice")
        let bob = try world.token(actor: "bob")
        #expect(try post(world, alice, [Self.event(1)]).status == 201)
        #expect(try post(world, bob, [Self.event(2)]).status == 403)
        #expect(try post(world, bob, [Self.event(1)]).status == 403)
        let relay = try world.token([.append, .relay], actor: "carol")
        let relayed = try post(world, relay, [Self.event(2, more: #","actor":"alice""#)])
        #expect(relayed.status == 201, "\(relayed.text)")
        let space = try #require(try world.control.spaces().first)
        let own = try world.store[space.id].author().0
        #expect(try post(world, alice, [Self.event(1, of: own.text)]).status == 403)
    }

    @Test func whatRecordsOverHTTPDoesNotSyncAndTheReverse() throws {
        let world = try ServedWorld()
        let token = try world.token(actor: "alice")
        #expect(try post(world, token, [Self.event(1)]).status == 201)
        let space = try #require(try world.control.spaces().first)
        let name = space.name
        let replica = try #require(ReplicaID(text: Self.replica))
        let syncing = try #require(ReplicaID(text: Self.other))
        let owner = try world.control.owner(of: replica, in: name)
        #expect(owner == .holder(.actor("alice"), isNamed: true))
        let bound = try world.control.bind(
            syncing,
            in: name,
            to: .actor("alice"),
            at: world.store.now
        )
        #expect(bound == .actor("alice"))
        let refused = try post(world, token, [Self.event(1, of: Self.other)])
        #expect(refused.status == 403, "\(refused.text)")
        #expect(refused.text.contains("/sync"))
    }

    @Test func aBodyHasEventsOfOneReplicaOrNone() throws {
        let world = try ServedWorld()
        let token = try world.token()
        let plain = ServedWorld.weight("2026-03-01")
        for events in [
            [Self.event(1), plain], [plain, Self.event(1)],
            [Self.event(1), Self.event(2, of: Self.other)], [Self.event(1), Self.event(1)],
            [String(plain.dropLast()) + #","base":0}"#], [Self.event(0)],
            [Self.event(1, more: #","clock":"1-0""#)],
        ] {
            let answer = try post(world, token, events)
            #expect(answer.status == 400, "\(events) \(answer.text)")
        }
    }

    @Test func clocksOfAReplicaIncrease() throws {
        let world = try ServedWorld()
        let token = try world.token()
        for sequence in 1...3 {
            let two = [Self.event(2 * sequence - 1), Self.event(2 * sequence)]
            #expect(try post(world, token, two).status == 201)
        }
        let space = try #require(try world.control.spaces().first)
        let replica = try #require(ReplicaID(text: Self.replica))
        let clocks = try (1...6).map { sequence in
            try #require(
                try world.store[space.id].lastClock(of: replica, through: sequence)
            )
        }
        #expect(zip(clocks, clocks.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test func retriesAtOnceRecordOnce() async throws {
        let world = try ServedWorld()
        let token = try world.token()
        let statuses = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (try? post(world, token, [Self.event(1), Self.event(2)]).status) ?? 0
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.sorted() == [200, 200, 200, 200, 200, 200, 200, 201])
    }

    @Test func eventsAreStillKnownAfterTheyWereSealed() throws {
        let world = try ServedWorld()
        let token = try world.token()
        let events = (1...200).map { Self.event($0, 70_000 + $0) }
        #expect(try post(world, token, events).status == 201)
        let space = try #require(try world.control.spaces().first)
        _ = try world.store.seal(space.id, all: true)
        #expect(try post(world, token, events).status == 200)
        #expect(try post(world, token, [Self.event(7, 80_000)]).status == 409)
    }

    @Test(arguments: ["application/cloudevents+json", "application/cloudevents-batch+json"])
    func aCloudEventIsRecordedOnceForItsSourceAndID(type: String) throws {
        let world = try ServedWorld()
        let token = try world.token(actor: "alice")
        func event(_ id: String) -> String {
            let event = """
                {"specversion":"1.0","id":"\(id)","source":"/scales/7",
                "type":"meals.weight.recorded",
                "data":{"day":"2026-03-01","weightG":70000,"source":"manual"}}
                """
            return type.contains("batch") ? "[\(event)]" : event
        }
        let first = try world.post(Self.path, token, event("1"), type: type)
        #expect(first.status == 201, "\(first.text)")
        let again = try world.post(Self.path, token, event("1"), type: type)
        #expect(again.status == 200, "\(again.text)")
        #expect(try text("positions", again) == text("positions", first))
        #expect(try text("origins", again) == text("origins", first))
        #expect(try world.post(Self.path, token, event("2"), type: type).status == 201)
        let read = try world.get(
            Self.path,
            token,
            query: [HTTPRequest.Parameter("actor", "alice")]
        )
        #expect(try read.list().count == 2)
    }

    @Test func theDescriptionIsServed() throws {
        let world = try ServedWorld()
        let answer = try world.get("/v1/openapi.yaml", nil)
        #expect(answer.status == 200)
        #expect(answer.header("Content-Type") == "application/yaml")
        #expect(answer.text.hasPrefix("openapi: 3.1.0"))
    }
}
