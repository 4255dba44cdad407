import Diario
import DiarioCore
import DiarioTestSupport
import Testing

/// Events as values of Swift types, which the plugin made of the pack in Packs/shapes.
@Suite struct TypedEventTests {
    private let folder: TemporaryFolder
    private let diary: Diary

    init() throws {
        folder = try TemporaryFolder()
        diary = try Diary.open(at: folder.path, packs: [Shapes.pack])
    }

    private func shape() throws -> Shapes.ShapeDrawn {
        Shapes.ShapeDrawn(
            corners: 4,
            name: "Square",
            isFilled: true,
            kind: .halfCircle,
            day: try #require(CivilDay(year: 2026, month: 5, day: 4)),
            key: UniqueID(high: 1, low: 2),
            color: [1, 2, 3],
            points: #"[{ "y": 2, "x": 1.0 }]"#,
            owner: "Ada"
        )
    }

    private func events(
        _ filter: EventFilter = EventFilter(types: ["shapes."])
    ) async throws
        -> [RecordedEvent]
    {
        var events: [RecordedEvent] = []
        for try await event in diary.events(filter) { events.append(event) }
        return events
    }

    @Test func anEventIsReadAsItWasRecorded() async throws {
        var shape = try shape()
        let origin = try await diary.append(shape, actor: "user-17")
        let event = try #require(try await events().first)
        #expect(event.origin == origin)
        #expect(event.type == "shapes.shape.drawn")
        #expect(event.actor == "user-17")
        #expect(event.subject == origin.text)
        shape.shapeId = ThingID(origin)
        shape.points = #"[{"x":1,"y":2}]"#
        #expect(try event.decode(as: Shapes.ShapeDrawn.self) == shape)
        #expect(try event.decode(as: Shapes.PageTurned.self) == nil)
        try await diary.close()
    }

    /// Whatever the values, what is written is what the same payload as JSON would be.
    @Test(arguments: UInt64(0)..<32) func valuesAreWrittenAsJSONWouldBe(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        var batch = diary.makeBatch()
        let count = 20
        var shapes: [Shapes.ShapeDrawn] = []
        for _ in 0..<count {
            shapes.append(try randomShape(&random))
            try batch.add(shapes[shapes.count - 1])
        }
        try await diary.append(batch)
        let typed = try await events()
        var other = diary.makeBatch()
        for event in typed {
            try other.add(event.type, version: event.version, json: try #require(event.json))
        }
        try await diary.append(other)
        let all = try await events()
        #expect(all.count == 2 * count)
        #expect(all.prefix(count).map(\.json) == all.suffix(count).map(\.json))
        for (event, shape) in zip(all, shapes) {
            #expect(try event.decode(as: Shapes.ShapeDrawn.self) == shape)
        }
        try await diary.close()
    }

    private func randomShape(_ random: inout SeededRandom) throws -> Shapes.ShapeDrawn {
        func maybe<Value>(_ value: Value) -> Value? { random.below(2) == 0 ? value : nil }
        let days = Int(random.below(2_000_000)) - 600_000
        let letters = ["A", "\u{e4}", " ", "\u{1f331}", "\"", "\\"]
        let rest = (0...random.below(10)).map { _ in letters[Int(random.below(6))] }
        var shape = try shape()
        shape.shapeId = ThingID("s\(random.next())")
        shape.corners = Int(random.below(101))
        shape.offset = maybe(Int(truncatingIfNeeded: random.next()))
        shape.area = maybe(Double(random.below(4000)) / 4)
        shape.angle = maybe(Double(Int64(truncatingIfNeeded: random.next())) * 1e-3)
        shape.name = "B" + rest.joined()
        shape.isFilled = random.below(2) == 0
        shape.isClosed = maybe(random.below(2) == 0)
        shape.kind = Shapes.ShapeDrawn.Kind.allCases[Int(random.below(6))]
        shape.type = maybe(.b)
        shape.day = try #require(CivilDay(daysSince1970: days))
        shape.until = maybe(shape.day)
        shape.at = maybe(Timestamp(milliseconds: Int64(days) * 86_400_000 + 123))
        shape.key = UniqueID(high: random.next(), low: random.next())
        shape.otherKey = maybe(shape.key)
        shape.color = makeBytes(Int(random.below(6)) + 1, using: &random)
        shape.points = JSONText(#"[{"x":\#(random.below(9)),"y":-1}]"#)
        shape.parentId = maybe("p1")
        shape.owner = "o"
        shape.in = maybe(-3)
        return shape
    }

    @Test func valuesOutsideTheirBoundsAreRefused() throws {
        let wrong: [(String, String, (inout Shapes.ShapeDrawn) -> Void)] = [
            ("corners", "minimum", { $0.corners = -1 }),
            ("corners", "maximum", { $0.corners = 101 }),
            ("area", "maximum", { $0.area = 1000.75 }),
            ("angle", "binary64", { $0.angle = .nan }),
            ("name", "min-length", { $0.name = "A" }),
            ("name", "max-length", { $0.name = "A" + String(repeating: "\u{e4}", count: 12) }),
            ("name", "pattern", { $0.name = "a square" }),
            ("name", "zero-character", { $0.name = "A\0B" }),
            ("at", "date-time", { $0.at = Timestamp(milliseconds: .max) }),
            ("color", "min-length", { $0.color = [] }),
            ("color", "max-length", { $0.color = [UInt8](repeating: 1, count: 7) }),
            ("points", "min-items", { $0.points = "[]" }),
            ("points[0].x", "minimum", { $0.points = #"[{"x":-1,"y":0}]"# }),
            ("points[0].y", "required", { $0.points = #"[{"x":1}]"# }),
            ("points", "syntax", { $0.points = "here" }),
            ("shapeId", "subject", { $0.shapeId = "" }),
            ("owner", "required", { $0.owner = nil }),
        ]
        var batch = diary.makeBatch()
        for (field, rule, change) in wrong {
            var event = try shape()
            change(&event)
            let error = #expect(throws: DiarioError.self) { try batch.add(event) }
            #expect(error?.field == field, "\(rule)")
            #expect(error?.rule == rule, "\(field)")
            #expect(error?.message.hasPrefix("shapes.shape.drawn: field \(field): ") == true)
        }
        #expect(batch.isEmpty)
        try batch.add(try shape())
        #expect(batch.count == 1)
    }

    @Test func eventsOfABatchReferToOneAnother() async throws {
        var batch = diary.makeBatch()
        let first = try batch.add(try shape())
        #expect(first.text == nil)
        var second = try shape()
        second.parentId = first
        let given: ThingID = "mine"
        #expect("\(given)" == "mine")
        second.shapeId = given
        let id = try batch.add(second)
        var third = try shape()
        third.parentId = id
        try batch.add(third)
        let origins = try await diary.append(batch)
        let read = try await events().map { try $0.decode(as: Shapes.ShapeDrawn.self) }
        #expect(read.map { $0?.parentId } == [nil, ThingID(origins[0]), given])

        var other = diary.makeBatch()
        third.parentId = first
        let error = #expect(throws: DiarioError.self) { try other.add(third) }
        #expect(error?.rule == "batch-reference")
        #expect(other.isEmpty)
        try await diary.close()
    }

    /// The first batches of two diaries had one number, so an id of one was taken in the other.
    @Test func anIDOfABatchOfAnotherDiaryIsRefused() async throws {
        let second = try Diary.open(at: folder.path + "/second", packs: [Shapes.pack])
        var (batch, other) = (diary.makeBatch(), second.makeBatch())
        var shape = try shape()
        let id = try batch.add(shape)
        try other.add(shape)
        shape.parentId = id
        let error = #expect(throws: DiarioError.self) { try other.add(shape) }
        #expect(error?.rule == "batch-reference")
        try await second.close()
        try await diary.close()
    }

    @Test func everyVersionHasATypeOfItsOwn() async throws {
        let old = Shapes.ShapeMovedV1(shape: 7)
        let new = Shapes.ShapeMoved(key: UniqueID(high: 3, low: 4), distance: 1.5)
        let page = Shapes.PageTurned()
        var batch = diary.makeBatch()
        try batch.add(old)
        try batch.add(new)
        try batch.add(page, subject: "book")
        try await diary.append(batch)
        let events = try await events()
        #expect(events.map(\.version) == [1, 2, 1])
        #expect(
            events.map(\.subject) == ["7", "00000000-0000-0003-0000-000000000004", "book"]
        )
        #expect(try events[0].decode(as: Shapes.ShapeMovedV1.self) == old)
        #expect(try events[0].decode(as: Shapes.ShapeMoved.self) == nil)
        #expect(try events[1].decode(as: Shapes.ShapeMoved.self) == new)
        #expect(try events[2].decode(as: Shapes.PageTurned.self) == page)
        #expect(old.subject == "7")
        try await diary.close()
    }

    @Test func anotherSchemaIsNotTakenForTheSame() async throws {
        let error = await #expect(throws: DiarioError.self) {
            try await diary.append(ChangedPage())
        }
        #expect(error?.kind == .incompatible)
        try await diary.append(Shapes.PageTurned())
        let event = try #require(try await events().first)
        #expect(throws: DiarioError.self) { try event.decode(as: ChangedPage.self) }
        try await diary.close()
    }

    @Test func aDiaryWithoutThePackTakesNoneOfItsEvents() async throws {
        let other = try Diary.create(at: folder.path + "/other")
        let error = await #expect(throws: DiarioError.self) {
            try await other.append(Shapes.PageTurned())
        }
        #expect(error?.kind == .notFound)
        try await other.close()
    }

    @Test func aDiaryIsOpenedAgainWithTheSamePacks() async throws {
        try await diary.append(Shapes.PageTurned())
        try await diary.close()
        let again = try Diary.open(at: folder.path, packs: [Shapes.pack])
        try await again.append(Shapes.PageTurned())
        var count = 0
        for try await event in again.events() {
            count += event.type == "shapes.page.turned" ? 1 : 0
        }
        #expect(count == 2)
        var adoptions = 0
        for try await _ in again.events(EventFilter(types: ["engine.pack.adopted"])) {
            adoptions += 1
        }
        #expect(adoptions == 1)
        try await again.close()
    }

    /// A pack that got a type more is adopted; one whose type changed is refused.
    @Test func aNewerPackIsAdopted() async throws {
        let page = #"{"title":"pages.turned","x-diario-version":1,"type":"object","#
        let rest = #""additionalProperties":false,"properties":{"number":{"type":"integer"}}}"#
        let first = EmbeddedPack(
            files: [
                ("pack.json", #"{"name":"pages","version":1}"#),
                ("events/turned.1.json", page + rest),
            ]
        )
        let second = EmbeddedPack(
            files: [
                ("pack.json", #"{"name":"pages","version":2}"#),
                ("events/turned.1.json", page + rest),
                ("events/torn.1.json", (page + rest).replacing("turned", with: "torn")),
            ]
        )
        let changed = EmbeddedPack(
            files: [
                ("pack.json", #"{"name":"pages","version":3}"#),
                ("events/turned.1.json", (page + rest).replacing("number", with: "page")),
            ]
        )
        let path = folder.path + "/pages"
        try await Diary.open(at: path, packs: [first]).close()
        let diary = try Diary.open(at: path, packs: [second])
        var batch = diary.makeBatch()
        try batch.add("pages.torn", json: #"{"number":3}"#)
        try await diary.append(batch)
        try await diary.close()
        let error = #expect(throws: DiarioError.self) {
            try Diary.open(at: path, packs: [changed])
        }
        #expect(error?.rule == "changed-schema")
    }
}

/// What a program made from another schema would have.
private struct ChangedPage: TypedEvent {
    init() {}
    init(from fields: EventFields) throws {}
    func encode(into fields: inout EventFields) throws {}

    static var schema: EventSchema {
        EventSchema(name: "shapes.page.turned", version: 1, text: "{}")
    }
}
