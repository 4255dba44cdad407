import Diario
import DiarioCore
import DiarioLog
import DiarioSync
import Testing

/// Events about what a refused event made: schema/format/sync.md, section 6, the rule `cascade`.
struct CascadeTests {
    private let world: InboxWorld
    private var device: Device

    init() throws {
        world = try InboxWorld()
        device = try world.makeDevice()
    }

    /// Bob may not be named, so that what he bought is refused.
    private func bought(_ tool: String?, by actor: String) -> String {
        let id = tool.map { #""toolId":"\#($0)","# } ?? ""
        return #"{"type":"shed.tool.bought","actor":"\#(actor)","payload":{\#(id)"name":"saw"}}"#
    }

    private func lent(_ tool: String) -> String {
        #"{"type":"shed.tool.lent","actor":"alice","payload":{"toolId":"\#(tool)","to":"eve"}}"#
    }

    private func rules() throws -> [String?] {
        try SpaceInbox(world.space(of: device)).batches().map(\.refusal?.rule)
    }

    /// Whether each verdict is a refusal.
    private func push() throws -> [Bool] {
        try world.push(from: device).map { kind in
            if case .refused = kind { true } else { false }
        }
    }

    @Test mutating func aPushThatWasCutShortEndsAsItWouldHaveAtOnce() throws {
        try world.record([bought("saw-1", by: "bob")], on: device)
        #expect(try push() == [true])
        try world.record([lent("saw-1")], on: device)
        #expect(try push() == [true, true])
        #expect(try push() == [true, true])
        try world.sync(&device)
        #expect(try rules() == ["actor", "cascade"])
    }

    /// An event that makes the same id is about it as well, if that is its subject.
    @Test mutating func anIDIsNotMadeOnceMoreInThePush() throws {
        try world.record([bought("saw-1", by: "bob"), bought("saw-1", by: "alice")], on: device)
        #expect(try push() == [true, true])
        try world.record([lent("saw-1")], on: device)
        #expect(try push() == [true, true, true])
        try world.sync(&device)
        #expect(try rules() == ["actor", "cascade", "cascade"])
    }

    @Test mutating func aGivenIDIsForgottenAfterThePush() throws {
        try world.record([bought("saw-1", by: "bob")], on: device)
        try world.sync(&device)
        try world.record([lent("saw-1")], on: device)
        try world.sync(&device)
        #expect(try rules() == ["actor"])
        #expect(try device.store[world.space(of: device).id].standing().pending.isEmpty)
    }
}
