import DiarioCore
import DiarioEngine
import DiarioSchema
import DiarioServer
import DiarioSync
import Testing

/// Who may record what, by every door: schema/format/sync.md, section 6, rule `who`.
struct WhoTests {
    /// The rule, said once more.
    private struct Model {
        private var authors: [String: String] = [:]

        /// True if an event is taken; `origin` is the one that it would have.
        mutating func takes(
            _ deed: Deed,
            _ actor: String?,
            _ bearer: Bearer,
            _ own: OwnOrigins,
            _ origin: String?
        ) -> Bool {
            let key = deed.what.prefix { $0 != "." } + ":" + (deed.id ?? origin ?? "")
            let author = authors[key]
            let mayMake = deed.id.map { own.mayMake(Array($0.utf8)[...]) } ?? true
            let isNamed = bearer.actor != nil && actor != nil
            let isOwn = isNamed && author == actor
            let isTaken =
                switch deed.what {
                case "tool.bought": mayMake
                case "tool.lent": isOwn
                case "tool.scrapped": isOwn || isNamed && bearer.isKeeper
                case "list.set": isNamed && bearer.isKeeper
                case "note.edited": isOwn || isNamed && author == nil && mayMake
                default: true
                }
            guard isTaken || bearer.mayVouch else { return false }
            let makes = ["tool.bought", "note.left", "note.edited"].contains(deed.what)
            if makes, mayMake || deed.what == "tool.bought", author == nil || deed.id == nil {
                authors[key] = actor ?? ""
            }
            return true
        }
    }

    @Test(arguments: UInt64(0)..<5) func everyDoorAsksTheSame(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let world = try WhoWorld()
        let bearers = [
            try world.bearer("anna"), try world.bearer("bert"),
            try world.bearer("carla", isKeeper: true), try world.bearer(nil),
            try world.bearer(nil, isKeeper: true),
            try world.bearer("rita", rights: [.read, .append, .relay]),
        ]
        var model = Model()
        var things = (0..<6).map { "thing-\($0)" }
        let whats = [
            "tool.bought", "tool.bought", "tool.lent", "tool.lent", "tool.scrapped", "list.set",
            "note.left", "note.edited",
        ]
        var counts: [Bool: Int] = [:]
        for round in 0..<2_000 {
            if round % 400 == 399 { world.restart() }
            let bearer = bearers[random.below(bearers.count)]
            let door = Door.allCases[random.below(Door.allCases.count)]
            let own = try world.own(door, bearer)
            var deed = Deed(what: whats[random.below(whats.count)])
            if deed.what.hasPrefix("tool.b") || deed.what.hasPrefix("tool.l") {
                deed.version = door == .command ? 2 : 1 + random.below(2)
            }
            deed.id = things[random.below(things.count)]
            if deed.what == "tool.bought" {
                // Also none, and those that come next somewhere.
                let other = try world.own(Door.allCases[random.below(5)], bearers[random.below(6)])
                var sequence = max(1, other.through + UInt64(random.below(4)))
                // Not the origin of the event itself: that is no id to give.
                let itself = own.through + ([.json, .command].contains(door) ? 1 : 0)
                if other.replica == own.replica, sequence == itself { sequence += 1 }
                let next = Origin(replica: other.replica, sequence: sequence)
                deed.id = [deed.id, nil, nil, next.text][random.below(4)]
            }
            // A bearer with an actor records in that one's name, or in none.
            deed.actor = [bearer.actor, bearer.actor, nil][random.below(3)]
            if bearer.actor == nil, door != .command {
                deed.actor = ["anna", nil][random.below(2)]
            }
            let actor = door == .sync ? deed.actor : deed.actor ?? bearer.actor
            let origin = try world.record(deed, door, bearer)
            let isTaken = model.takes(deed, actor, bearer, own, origin)
            try #require(
                isTaken == (origin != nil),
                "round \(round): \(deed) by \(door) of \(bearer.actor ?? "nobody")"
            )
            counts[isTaken, default: 0] += 1
            if let origin, deed.what == "tool.bought", deed.id == nil { things.append(origin) }
        }
        // Neither is rare.
        #expect(counts[true, default: 0] > 400 && counts[false, default: 0] > 400, "\(counts)")
    }

    /// What a refused batch makes is not made, and later events of a batch know the earlier ones.
    @Test func aBatchIsRefusedWithWhatItMakes() throws {
        let world = try WhoWorld()
        let (anna, bert) = (try world.bearer("anna"), try world.bearer("bert"))
        let buys = Deed(what: "tool.bought", id: "saw", actor: "anna")
        let lends = Deed(what: "tool.lent", id: "saw", actor: "anna")
        let sets = Deed(what: "list.set", id: "list", actor: "anna")
        #expect(try world.push([buys, lends, sets], anna) == nil)
        #expect(try world.record(lends, .json, anna) == nil, "nobody made it")
        #expect(try world.push([buys, lends], anna)?.count == 2)
        var other = lends
        other.actor = "bert"
        #expect(try world.push([other], bert) == nil)
        #expect(try world.record(lends, .command, anna) != nil)
    }

    /// Whoever foresees the ids that a replica makes next does not become their author.
    @Test func idsThatComeNextCannotBeTaken() throws {
        let world = try WhoWorld()
        let (anna, bert) = (try world.bearer("anna"), try world.bearer("bert"))
        let own = try world.own(.sync, anna)
        for ahead in [0, 1, 2, 500, 1000] as [UInt64] {
            let id = Origin(replica: own.replica, sequence: own.through + ahead).text
            for door in Door.allCases {
                let deed = Deed(what: "tool.bought", id: id, actor: "bert")
                #expect(try world.record(deed, door, bert) == nil, "\(id) by \(door)")
            }
        }
        let origin = try #require(
            try world.record(Deed(what: "tool.bought", actor: "anna"), .sync, anna)
        )
        let lends = Deed(what: "tool.lent", id: origin, actor: "anna")
        #expect(try world.record(lends, .json, anna) != nil)
        #expect(
            try world.record(Deed(what: "tool.lent", id: origin, actor: "bert"), .json, bert) == nil
        )
    }

    /// An event makes its own origin, also if one before it in the same push has taken that.
    @Test func anOriginTakenInThePushIsItsOwnEvents() throws {
        let world = try WhoWorld()
        let (anna, bert) = (try world.bearer("anna"), try world.bearer("bert"))
        let rita = try world.bearer("rita", rights: [.read, .append, .relay])
        let own = try world.own(.sync, rita)
        let next = Origin(replica: own.replica, sequence: own.through + 1).text
        let buys = Deed(what: "tool.bought", actor: "anna")
        let origins = try world.push(
            [Deed(what: "tool.bought", id: next, actor: "bert"), buys],
            rita
        )
        #expect(origins?.last == next)
        let lends = Deed(what: "tool.lent", id: next, actor: "bert")
        #expect(try world.record(lends, .json, bert) == nil)
        #expect(
            try world.record(Deed(what: "tool.lent", id: next, actor: "anna"), .json, anna) != nil
        )
    }

    /// A program before roles hears that it is too old, and a newer one goes on in its folder.
    @Test func aProgramThatCannotReadThePackIsTold() throws {
        let world = try WhoWorld()
        let anna = try world.bearer("anna")
        world.packFormat = 1
        let refusal = #expect(throws: Refusal.self) { _ = try world.own(.sync, anna) }
        #expect(refusal?.reason == .version)
        #expect(refusal?.message.contains("newer version") == true)
        world.packFormat = Pack.formatMax
        #expect(try world.sync(anna) == [])
        #expect(
            try world.record(Deed(what: "tool.bought", actor: "anna"), .sync, anna) != nil
        )
    }
}
