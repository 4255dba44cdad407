import Diario
import DiarioCore
import DiarioEngine
import DiarioHost
import DiarioSchema
import DiarioTestSupport
import Synchronization
import Testing

/// Commands and views of packs: schema/README.md.
@Suite struct CommandTests {
    private static func make(
        _ folder: borrowing TemporaryFolder,
        stock: Int,
        _ changes: [String: String] = [:]
    ) throws -> Space {
        let space = try Space.create(at: folder.path, packs: [TillPack.make(changes)])
        try space.record([stocked("tea", stock)])
        return space
    }

    private static func stocked(_ item: String, _ count: Int) -> String {
        #"{"type":"till.item.stocked","payload":{"itemId":"\#(item)","count":\#(count)}}"#
    }

    private static func take(_ input: String, actor: String? = "u1") -> Call {
        var call = Call("till.item.take", Array(input.utf8))
        call.actor = actor
        return call
    }

    private static func text(_ bytes: [UInt8]?) -> String {
        String(decoding: bytes ?? [], as: UTF8.self)
    }

    @Test func aCommandRecordsWhatItsRulesAllow() throws {
        let folder = try TemporaryFolder()
        let space = try Self.make(folder, stock: 2)
        let models = try ReadModels(space)
        let answer = try models.call(Self.take(#"{"itemId":"tea"}"#), of: [TillPack.domain()])
        #expect(answer.isNew && answer.events.count == 1)
        let event = try #require(answer.events.first)
        let origin = try #require(event.origin)
        #expect(event.position == answer.head)
        #expect(
            Self.text(event.payload) == #"{"itemId":"tea","left":1,"takingId":"\#(origin.text)"}"#
        )
        #expect(Self.text(answer.result) == #"{"left":1,"takingId":"\#(origin.text)"}"#)
        let stored = try #require(try space.event(EventName(origin.text) ?? .position(0)))
        #expect(stored.0.actor.map { Self.text(Array(stored.0.arena[$0])) } == "u1")
    }

    @Test func aBrokenRuleRecordsNothingInEitherLanguage() throws {
        let folder = try TemporaryFolder()
        let space = try Self.make(folder, stock: 0)
        let (models, head) = (try ReadModels(space), space.head)
        for language in [Language.english, .italian] {
            var call = Self.take(#"{"itemId":"tea"}"#)
            call.language = language
            let error = #expect(throws: DiarioError.self) {
                try models.call(call, of: [TillPack.domain()])
            }
            #expect(error?.kind == .rule && error?.rule == "out-of-stock")
            #expect(error?.field == "itemId" && error?.value == "tea")
            let isEnglish = language == .english
            #expect(error?.message == (isEnglish ? "None is left." : "Non ne resta nessuno."))
            #expect(error?.remedy == (isEnglish ? "Take another thing." : "Prendi altro."))
        }
        #expect(space.head == head)
    }

    @Test func theSameIdAgainAnswersAsBefore() throws {
        let folder = try TemporaryFolder()
        let models = try ReadModels(try Self.make(folder, stock: 9))
        let input = #"{"takingId":"t1","itemId":"tea","note":"black"}"#
        let first = try models.call(Self.take(input), of: [TillPack.domain()])
        let again = try models.call(Self.take(input), of: [TillPack.domain()])
        #expect(!again.isNew && again.head == first.head)
        #expect(Self.text(again.result) == Self.text(first.result))
        #expect(again.events.map(\.origin) == first.events.map(\.origin))
        #expect(again.events.map(\.position) == first.events.map(\.position))
        #expect(Self.text(again.events[0].payload) == Self.text(first.events[0].payload))
        // Without the note, nothing that is given differs.
        let less = Self.take(#"{"takingId":"t1","itemId":"tea"}"#)
        #expect(try models.call(less, of: [TillPack.domain()]).isNew == false)
        let other = Self.take(#"{"takingId":"t1","itemId":"tea","note":"green"}"#)
        let error = #expect(throws: DiarioError.self) {
            try models.call(other, of: [TillPack.domain()])
        }
        #expect(error?.rule == "id-taken" && error?.value == "t1")
        #expect(models.space.head == first.head)
    }

    /// H1: the same id is the same call for the same actor alone.
    @Test func theIDOfAnotherActorIsTaken() throws {
        let folder = try TemporaryFolder()
        let models = try ReadModels(try Self.make(folder, stock: 9))
        let input = #"{"takingId":"t1","itemId":"tea","note":"black"}"#
        let first = try models.call(Self.take(input), of: [TillPack.domain()])
        for note in ["black", "green"] {
            let other = Self.take(input.replacing("black", with: note), actor: "u2")
            let error = #expect(throws: DiarioError.self) {
                try models.call(other, of: [TillPack.domain()])
            }
            #expect(error?.rule == "id-taken" && error?.field == "takingId")
            #expect(error?.message == "There is another t1 already.")
        }
        #expect(models.space.head == first.head)
    }

    /// K1: arithmetic on such a time ended the program.
    @Test(arguments: [Int64.min, -1, 32_503_680_000_000, .max])
    func aTimeBeyondAllBoundsIsRefusedFirst(milliseconds: Int64) throws {
        let folder = try TemporaryFolder()
        let models = try ReadModels(try Self.make(folder, stock: 9))
        let head = models.space.head
        var call = Self.take(#"{"itemId":"tea"}"#)
        call.at = Timestamp(milliseconds: milliseconds)
        for isDryRun in [true, false] {
            call.isDryRun = isDryRun
            let error = #expect(throws: DiarioError.self) {
                try models.call(call, of: [TillPack.domain { preconditionFailure("it ran") }])
            }
            #expect(error?.kind == .invalid && error?.rule == "event-time")
        }
        #expect(models.space.head == head)
    }

    /// K2: a query without the column that a rule reads ended the program.
    @Test(arguments: [
        ("SELECT count AS left_over FROM stock", "should have a column count"),
        ("SELECT 'many' AS count FROM stock", "reads an integer"),
        ("SELECT count + 0.5 AS count FROM stock", "reads an integer"),
    ])
    func aQueryThatLacksWhatARuleReadsIsNamed(select: String, what: String) throws {
        let folder = try TemporaryFolder()
        let query = "-- query stock(item TEXT): how many\n\(select) WHERE itemId = :item;"
        let space = try Self.make(folder, stock: 9, ["queries/stock.sql": query])
        let (models, head) = (try ReadModels(space), space.head)
        for name in ["till.item.take", "till.item.left"] {
            var call = Self.take(#"{"itemId":"tea"}"#)
            call.name = name
            let error = #expect(throws: DiarioError.self) {
                try models.call(call, of: [TillPack.domain()])
            }
            #expect(error?.kind == .incompatible && error?.field == "stock.count")
            #expect(error?.message.contains("query stock of the pack till") == true)
            #expect(error?.message.contains(what) == true, "\(error?.message ?? "")")
            #expect(error?.message.contains("diario schema adopt --pack till") == true)
        }
        #expect(space.head == head)
    }

    @Test func aDryRunComputesAndRecordsNothing() throws {
        let folder = try TemporaryFolder()
        let models = try ReadModels(try Self.make(folder, stock: 9))
        let head = models.space.head
        var call = Self.take(#"{"itemId":"tea"}"#)
        call.isDryRun = true
        let answer = try models.call(call, of: [TillPack.domain()])
        #expect(!answer.isNew && answer.events[0].origin == nil && answer.head == head)
        #expect(Self.text(answer.result) == #"{"left":8}"#)
        #expect(models.space.head == head)
    }

    @Test func whatBelongsToAPersonNeedsAnActor() throws {
        let folder = try TemporaryFolder()
        let models = try ReadModels(try Self.make(folder, stock: 9))
        let error = #expect(throws: DiarioError.self) {
            try models.call(Self.take(#"{"itemId":"tea"}"#, actor: nil), of: [TillPack.domain()])
        }
        #expect(error?.rule == "actor" && error?.remedy?.contains("diario actor set") == true)
    }

    @Test(arguments: [
        (#"{}"#, "required", "itemId"), (#"{"itemId":7}"#, "type", "itemId"),
        (#"{"itemId":"tea","much":1}"#, "unknown-field", "much"),
        (#"{"itemId":"tea","note":"123456789012345678901"}"#, "max-length", "note"),
    ])
    func aBadInputNamesItsFieldAndRule(input: String, rule: String, field: String) throws {
        let folder = try TemporaryFolder()
        let models = try ReadModels(try Self.make(folder, stock: 9))
        let head = models.space.head
        let error = #expect(throws: DiarioError.self) {
            try models.call(Self.take(input), of: [TillPack.domain()])
        }
        #expect(error?.kind == .rule && error?.rule == rule && error?.field == field)
        #expect(models.space.head == head)
    }

    @Test func eachSideSaysWhichOneToUpdate() throws {
        let folder = try TemporaryFolder()
        let other = ["commands/item.take.1.json": TillPack.take(noteMax: 21)]
        let models = try ReadModels(try Self.make(folder, stock: 9, other))
        let call = Self.take(#"{"itemId":"tea"}"#)
        var error = #expect(throws: DiarioError.self) {
            try models.call(call, of: [TillPack.domain()])
        }
        #expect(error?.kind == .incompatible)
        #expect(error?.message.contains("Update the pack") == true)
        error = #expect(throws: DiarioError.self) { try models.call(call, of: []) }
        #expect(error?.message.contains("Install a newer program") == true)
        error = #expect(throws: DiarioError.self) {
            try models.call(Call("till.item.give", []), of: [TillPack.domain()])
        }
        #expect(error?.kind == .notFound)
    }

    @Test func aViewAnswersFromWhatIsRecorded() throws {
        let folder = try TemporaryFolder()
        let models = try ReadModels(try Self.make(folder, stock: 7))
        let call = Call("till.item.left", Array(#"{"itemId":"tea","weightMg":5}"#.utf8))
        let answer = try models.call(call, of: [TillPack.domain()])
        #expect(Self.text(answer.result) == #"{"count":7,"weightMg":5}"#)
        #expect(answer.events.isEmpty && !answer.isNew)
    }

    /// Somebody else takes the last one after the command has looked.
    @Test func whatIsRecordedMeanwhileIsSeen() throws {
        let folder = try TemporaryFolder()
        let space = try Self.make(folder, stock: 1)
        let other = try Space.open(at: folder.path)
        let count = Mutex(0)
        let domain = TillPack.domain {
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            guard isFirst else { return }
            let line = #"{"type":"till.item.taken","payload":{"itemId":"tea","left":0}}"#
            _ = try? other.record([line])
        }
        let error = #expect(throws: DiarioError.self) {
            try ReadModels(space).call(Self.take(#"{"itemId":"tea"}"#), of: [domain])
        }
        #expect(error?.rule == "out-of-stock" && count.withLock { $0 } == 2)
        try other.close()
    }

    @Test func aCommandGivesUpWhenOthersNeverStop() throws {
        let folder = try TemporaryFolder()
        let space = try Self.make(folder, stock: 9)
        let other = try Space.open(at: folder.path)
        let domain = TillPack.domain { _ = try? other.record([Self.stocked("milk", 1)]) }
        let error = #expect(throws: DiarioError.self) {
            try ReadModels(space).call(Self.take(#"{"itemId":"tea"}"#), of: [domain])
        }
        #expect(error?.kind == .busy)
        try other.close()
    }

    /// Several processes, each with files of its own, take all there are and not one more.
    @Test func nothingIsDecidedOnAnOldState() async throws {
        let folder = try TemporaryFolder()
        try Self.make(folder, stock: 60).close()
        let path = folder.path
        let taken = await withTaskGroup(of: Int.self) { group in
            for actor in 0..<4 {
                group.addTask {
                    guard let space = try? Space.open(at: path),
                        let models = try? ReadModels(space)
                    else { return 0 }
                    var count = 0
                    for _ in 0..<40 {
                        let call = Self.take(#"{"itemId":"tea"}"#, actor: "u\(actor)")
                        if (try? models.call(call, of: [TillPack.domain()]))?.isNew == true {
                            count += 1
                        }
                    }
                    try? space.close()
                    return count
                }
            }
            return await group.reduce(0, +)
        }
        let space = try Space.open(at: folder.path)
        let models = try ReadModels(space)
        try models.update()
        let left = try models.rows("SELECT count FROM stock")[0][0]
        #expect(taken <= 60 && left == .integer(Int64(60 - taken)))
        #expect(taken > 20)
        try space.close()
    }
}
