import Diario
import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSchema
import DiarioServer
import DiarioStorage
import DiarioSync
import Testing

/// Whoever may append may send what no replica of ours would: what is taken of it is valid, and
/// all others can go on.
struct LiarTests {
    private static let schemas = [
        """
        { "title": "things.thing.made", "x-diario-version": 1, "type": "object",
          "x-diario-subject": "thingId", "additionalProperties": false,
          "required": ["kind", "size"],
          "properties": {
            "thingId": { "type": "string", "minLength": 1, "maxLength": 64,
              "x-diario-id": "new" },
            "kind": { "enum": ["red", "green", "blue"] },
            "size": { "type": "number", "minimum": 0 },
            "found": { "type": "string", "format": "date-time" },
            "day": { "type": "string", "format": "date" },
            "tag": { "type": "string", "format": "uuid" },
            "parts": { "type": "array", "items": { "type": "integer" }, "maxItems": 4 },
            "owner": { "type": "string", "minLength": 1, "maxLength": 20,
              "x-diario-personal": true },
            "weight": { "type": "integer", "minimum": 0, "x-diario-personal": true } } }
        """,
        """
        { "title": "things.thing.named", "x-diario-version": 1, "type": "object",
          "x-diario-subject": "thingId", "additionalProperties": false,
          "required": ["thingId", "name"],
          "properties": {
            "thingId": { "type": "string", "minLength": 1, "maxLength": 64,
              "x-diario-id": "thing" },
            "name": { "type": "string", "minLength": 1, "maxLength": 40 } } }
        """,
    ]

    @Test(arguments: UInt64(30)..<38) func aLogStaysValidWhateverIsPushed(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var pair = try Pair(seed: seed)
        let space = pair.replica.space
        try Self.adoptThings(in: pair.authorityStore, space)
        try pair.sync()
        try pair.replica.record("honest")
        try pair.sync()
        let victims = [
            try pair.replica.store[space].status().replica,
            try pair.authorityStore[space].status().replica,
        ]
        var acceptedCount = 0
        for round in 0..<8 {
            var replica = try pair.makeReplica()
            try replica.sync(with: pair.authority, at: pair.now)
            try Self.recordThings(12, in: replica, &random)
            let liar = Liar(replica, victims: victims)
            for step in 0..<12 {
                guard let push = try liar.push(to: pair.authorityStore, &random) else { break }
                let head = pair.authorityStore[space].head()
                let answer = try SyncMessage(
                    pair.authority.answer(push.encoded(), from: Pair.anyone).span
                )
                switch answer {
                case .verdicts: break
                case .refusal(let refusal): #expect(refusal.reason == .malformed)
                default: Issue.record("a push is answered by \(answer)")
                }
                guard pair.authorityStore[space].head() > head else { continue }
                acceptedCount += 1
                let faults = try pair.authorityStore.verify(space) { _ in nil }.faults
                guard faults.isEmpty, pair.authorityStore.validate() == [] else {
                    Issue.record("round \(round), step \(step): \(faults)")
                    return
                }
            }
            if round.isMultiple(of: 3) {
                _ = try pair.authorityStore.seal(space, all: true)
                #expect(try pair.authorityStore.verify(space) { _ in nil }.faults == [])
            }
            try pair.replica.record("honest \(round)")
            try pair.sync()
            #expect(try pair.replica.root == pair.authorityRoot)
        }
        #expect(acceptedCount > 10)
        #expect(pair.replica.pendingCount == 0)
        #expect(try pair.replica.inboxCount == 0)
        // All of it can be read, by those who were there and by those who come now.
        _ = try pair.replica.origins
        var other = try pair.makeReplica()
        try other.sync(with: pair.authority, at: pair.now)
        #expect(try other.root == pair.authorityRoot)
        #expect(try other.origins == pair.replica.origins)
        try other.reopen()
        #expect(other.store.validate() == [])
        #expect(try other.store.verify(space) { _ in nil }.faults == [])
    }

    /// An authority can say what it likes of the events of others, and their clocks alone are not
    /// looked at; but nothing of its own is lost, and it can go on with one that is honest.
    @Test(arguments: UInt64(20)..<26) func aReplicaGoesOnWhateverItIsSent(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var pair = try Pair(seed: seed)
        let space = pair.replica.space
        try Self.adoptThings(in: pair.authorityStore, space)
        var other = try pair.makeReplica()
        try pair.sync(&other)
        try pair.sync()
        var recorded: Set<String> = []
        for round in 0..<12 {
            try Self.recordThings(1 + random.below(6), in: other, &random)
            try pair.sync(&other)
            try pair.replica.record("mine \(round)")
            recorded.insert("mine \(round)")
            let authority = pair.authority
            var liesLeft = 4
            try? pair.replica.sync(at: pair.now) { request in
                let answer = authority.answer(request, from: Pair.anyone)
                liesLeft -= 1
                guard liesLeft >= 0 else { return answer }
                do { return try Liar.answer(answer, UInt64(round), &random) } catch {
                    Issue.record(error)
                    return answer
                }
            }
            let replica = pair.replica
            let faults = try replica.store.verify(replica.space) { _ in nil }.faults
            #expect(faults.first?.what.hasSuffix("does not go on") ?? true, "round \(round)")
            #expect(replica.store.validate() == [], "round \(round)")
        }
        try pair.replica.reopen()
        pair.replica.session.rejoin()
        try pair.sync()
        #expect(try pair.replica.root == pair.authorityRoot)
        #expect(pair.replica.pendingCount == 0)
        let replica = pair.replica
        let faults = try replica.store.verify(replica.space) { _ in nil }.faults
        #expect(faults.map(\.message) == [])
        #expect(try recorded.isSubset(of: Set(replica.texts)))
    }

    private static func adoptThings(in store: LogStore, _ space: SpaceID) throws {
        let files = zip(["thing.made", "thing.named"], schemas).map { name, schema in
            PackFile(path: "events/\(name).1.json", bytes: Array(schema.utf8))
        }
        let manifest = PackFile(
            path: "pack.json",
            bytes: Array(#"{"name":"things","version":1}"#.utf8)
        )
        var adopting = try Space(store: store, id: space)
        _ = try adopting.adopt([Pack(files: files + [manifest])]) { _, _ in }
    }

    /// Batches of one to three events, half of them with personal parts.
    private static func recordThings(
        _ count: Int,
        in replica: TestReplica,
        _ random: inout SeededRandom
    ) throws {
        let catalog = try Space(store: replica.store, id: replica.space).catalog
        for number in 0..<count {
            if random.oneIn(4) {
                try replica.record("n\(number)", subject: random.oneIn(2) ? "s" : nil)
                continue
            }
            var batch = DraftBatch()
            for _ in 0...random.below(3) {
                let isNew = random.oneIn(2)
                let name = isNew ? "things.thing.made" : "things.thing.named"
                guard let type = catalog.newest(name) else {
                    preconditionFailure("the replica has the pack")
                }
                var line = EventLine(type: type)
                var reader = PayloadReader()
                let json = isNew ? thing(&random) : #"{"name":"a","thingId":"t\#(number % 3)"}"#
                try reader.read(Array(json.utf8).span, as: type, into: &line.payload)
                line.actor = line.keep(Array("alice".utf8).span)
                line.ifUnchanged = random.oneIn(6)
                try batch.append(line)
            }
            let append = Append(space: replica.space, content: .new([batch]))
            _ = try replica.store.append(append)
        }
    }

    private static func thing(_ random: inout SeededRandom) -> String {
        var fields = [#""kind":"\#(["red", "green", "blue"][random.below(3)])""#]
        fields.append(#""size":\#(random.below(1000)).5"#)
        if random.oneIn(3) { fields.append(#""thingId":"t\#(random.below(4))""#) }
        if random.oneIn(2) { fields.append(#""found":"2026-01-02T03:04:05.006Z""#) }
        if random.oneIn(2) { fields.append(#""day":"2026-01-0\#(1 + random.below(9))""#) }
        if random.oneIn(2) {
            fields.append(#""tag":"00112233-4455-6677-8899-aabbccddeeff""#)
        }
        if random.oneIn(2) { fields.append(#""parts":[1,2,\#(random.below(9))]"#) }
        if random.oneIn(2) { fields.append(#""owner":"o\#(random.below(99))""#) }
        if random.oneIn(2) { fields.append(#""weight":\#(random.below(99))"#) }
        return "{" + fields.joined(separator: ",") + "}"
    }
}
