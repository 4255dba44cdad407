import Diario
import DiarioCore
import DiarioCrypto
import DiarioLog
import DiarioSchema
import DiarioServer
import DiarioStorage
import Testing

/// Own events that the authority refused, and what can be done about them: schema/format/sync.md,
/// section 8.
struct InboxTests {
    private let world: InboxWorld
    private var device: Device

    init() throws {
        world = try InboxWorld()
        device = try world.makeDevice()
    }

    private func bought(_ name: String, by actor: String, batch: String? = nil) -> String {
        let suffix = batch.map { #","batch":"\#($0)""# } ?? ""
        return #"{"type":"shed.tool.bought","actor":"\#(actor)","payload":{"name":"\#(name)"}"#
            + suffix + "}"
    }

    private func lent(
        _ tool: String,
        to name: String,
        by actor: String = "alice",
        batch: String? = nil,
        ifUnchanged: Bool = false
    ) -> String {
        let suffix = batch.map { #","batch":"\#($0)""# } ?? ""
        let flag = ifUnchanged ? #","ifUnchanged":true"# : ""
        return #"{"type":"shed.tool.lent","actor":"\#(actor)","#
            + #""payload":{"toolId":"\#(tool)","to":"\#(name)"}\#(flag)\#(suffix)}"#
    }

    private func note(_ text: String, by actor: String, at time: String? = nil) -> String {
        let suffix = time.map { #","at":"\#($0)""# } ?? ""
        return #"{"type":"shed.note.made","actor":"\#(actor)","payload":{"text":"\#(text)"}"#
            + suffix + "}"
    }

    private func payloads(_ device: Device) throws -> [String] {
        var reader = try EventReader(try world.space(of: device), .everything)
        var found: [String] = []
        while let line = try reader.next() {
            if let event = RecordedEvent(line), event.type.hasPrefix("shed.") {
                found.append(event.json ?? "-")
            }
        }
        return found
    }

    @Test mutating func aBatchSaysWhyItWasRefused() throws {
        let origins = try world.record([note("mine", by: "bob")], on: device)
        try world.sync(&device)
        let inbox = try SpaceInbox(world.space(of: device)).batches()
        #expect(inbox.map(\.origin) == origins)
        #expect(inbox[0].sequences == 1...1)
        #expect(inbox[0].isRefusalKnown)
        #expect(inbox[0].refusal?.rule == "actor")
        #expect(inbox[0].refusal?.position == 2)
        #expect(inbox[0].refusal?.origin == origins[0])
        #expect(inbox[0].events.map(\.type) == ["shed.note.made"])
        #expect(inbox[0].events.map(\.json) == [#"{"text":"mine"}"#])
        #expect(inbox[0].events.map(\.actor) == ["bob"])
        #expect(inbox[0].events[0].position == nil)
        #expect(inbox[0].recordedAgain == nil)
        #expect(try world.space(of: device).stats().inboxCount == 1)
    }

    @Test mutating func idsThatTheEventsMakeAreNewAndReferencesFollow() throws {
        let batch = try world.record(
            [bought("saw", by: "bob", batch: "a"), lent("#1", to: "eve", batch: "a")],
            on: device
        )
        let later = try world.record([lent(batch[0].text, to: "dan")], on: device)
        try world.sync(&device)
        let space = try world.space(of: device)
        #expect(try SpaceInbox(space).batches().map(\.refusal?.rule) == ["actor", "cascade"])
        // What is about a thing of the inbox has to wait for it.
        #expect(throws: DiarioError.self) {
            try SpaceInbox(space).retry(later[0], evenIfChanged: false)
        }
        // The actor is not allowed yet: it goes out and comes back.
        let first = try SpaceInbox(space).retry(batch[1], evenIfChanged: false)
        #expect(first.old == batch[0])
        #expect(first.count == 2)
        let second = try SpaceInbox(space).retry(later[0], evenIfChanged: false)
        let made = first.new.text
        #expect(
            try payloads(device) == [
                #"{"name":"saw","toolId":"\#(made)"}"#,
                #"{"to":"eve","toolId":"\#(made)"}"#,
                #"{"to":"dan","toolId":"\#(made)"}"#,
            ]
        )
        #expect(second.new.sequence == first.new.sequence + 2)
        #expect(try SpaceInbox(space).batches().isEmpty)
        #expect(try space.store.directory.list(LogPaths.inbox(space.id)) == ["lock"])
    }

    @Test mutating func timesAndActorsStayAndTheBaseIsTheHead() throws {
        try world.record([note("mine", by: "bob", at: "2023-03-02T08:00:00Z")], on: device)
        try world.sync(&device)
        let space = try world.space(of: device)
        let old = try #require(try SpaceInbox(space).batches().first?.events.first)
        #expect(old.base == 1)
        let retried = try SpaceInbox(space).retry(old.origin, evenIfChanged: false)
        var reader = try EventReader(space, EventFilter(types: ["shed."]))
        let line = try #require(try reader.next())
        let new = try #require(RecordedEvent(line))
        #expect(new.origin == retried.new)
        #expect(new.at == old.at)
        #expect(new.actor == old.actor)
        #expect(new.json == old.json)
        #expect(new.base == 2)
    }

    /// Two events that are alike in everything are two events, however often it crashes.
    @Test(arguments: [false, true]) func whereverARetryIsCutOffEachEventIsRecordedOnce(
        isReversed: Bool
    ) throws {
        let line = note("twice", by: "bob", at: "2023-03-02T08:00:00Z")
        for cut in 1..<100 {
            let world = try InboxWorld()
            var random = SeededRandom(seed: UInt64(cut))
            var device = try world.makeDevice()
            let origins = try world.record([line, line], on: device)
            try world.sync(&device)
            #expect(try SpaceInbox(world.space(of: device)).batches().count == 2)
            device.disk.cutAfter(operations: cut, .before)
            let retried = try? SpaceInbox(world.space(of: device)).retry(
                origins[0],
                evenIfChanged: false
            )
            device.disk.crash(using: &random)
            device = try world.reopen(device)
            let space = try world.space(of: device)
            let left = try SpaceInbox(space).batches()
            for batch in isReversed ? left.reversed() : left {
                _ = try SpaceInbox(space).retry(batch.origin, evenIfChanged: false)
            }
            #expect(try SpaceInbox(space).batches().isEmpty)
            var reader = try EventReader(space, EventFilter(types: ["shed."]))
            var count = 0
            while try reader.next() != nil { count += 1 }
            #expect(count == 2, "cut off after \(cut) operations")
            if retried != nil { return }
        }
        Issue.record("a retry ends")
    }

    @Test mutating func aDamagedFileIsNamedAndHidesNoOther() throws {
        let origins = try world.record(
            [note("one", by: "bob"), note("two", by: "bob")],
            on: device
        )
        try world.sync(&device)
        let space = try world.space(of: device)
        let path = LogPaths.inboxEntry(origins[0].replica, origins[0].sequence, of: space.id)
        try device.disk.flipBit(3, at: 40, of: path)
        let (batches, fault) = try SpaceInbox(space).read()
        #expect(batches.map(\.origin) == [origins[1]])
        #expect(fault?.kind == .corrupt)
        #expect(fault?.message.contains(path) == true)
        #expect(throws: DiarioError.self) { try SpaceInbox(space).batches() }
        _ = try SpaceInbox(space).retry(origins[1], evenIfChanged: false)
        #expect(throws: DiarioError.self) {
            try SpaceInbox(space).retry(origins[0], evenIfChanged: false)
        }
    }

    /// Such as a replica that was copied finds when the other copy was quicker.
    @Test mutating func aBatchWithoutAKnownRefusalIsRecordedAgainOnlyOnDemand() throws {
        let other = try world.makeDevice()
        let origins = try world.record([note("mine", by: "alice")], on: other)
        let space = try world.space(of: device)
        let pending = try #require(other.store[space.id].standing().pending.first)
        let (blocks, _) = try other.store[space.id].pendingBlocks(pending)
        let entry = InboxEntry(
            replica: pending.replica,
            sequences: pending.sequences,
            writtenAt: world.clock.now,
            block: blocks[0]
        )
        try space.store[space.id].inbox.keep([entry])
        let batch = try #require(try SpaceInbox(space).batches().first)
        #expect(!batch.isRefusalKnown)
        #expect(batch.origin == origins[0])
        #expect(throws: DiarioError.self) {
            try SpaceInbox(space).retry(origins[0], evenIfChanged: false)
        }
        _ = try SpaceInbox(space).retry(origins[0], evenIfChanged: true)
        #expect(try payloads(device) == [#"{"text":"mine"}"#])
        #expect(try SpaceInbox(space).batches().isEmpty)
    }
}
