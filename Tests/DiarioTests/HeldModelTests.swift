import Diario
import DiarioFormat
import DiarioHost
import DiarioLog
import DiarioProjection
import DiarioSchema
import DiarioTestSupport
import Testing

/// Read models that were undone, and stay those of an older pack.
@Suite struct HeldModelTests {
    private static let names = ["tasks"]

    /// They were compared with what the pack in use makes, and found wrong.
    @Test func theyAreCheckedByTheirOwnPack() throws {
        let folder = try TemporaryFolder()
        let old = try TasksPack.make()
        var space = try Space.create(at: folder.path, packs: [old])
        try space.record((1...20).map { TasksPack.line("added", TasksPack.added($0, $0)) })
        let models = try ReadModels(space)
        try models.update()
        let new = try TasksPack.makeShifted()
        _ = try space.adopt([new]) { _, _ in }
        try models.update()
        #expect(try models.livePacks(Self.names).map(\.isHeld) == [false])
        #expect(try models.undo("tasks"))
        let live = try models.livePacks(Self.names)
        #expect(live.map(\.isHeld) == [true])
        #expect(live.map { Fingerprint.pack($0.pack.files) } == [Fingerprint.pack(old.files)])
        #expect(try models.compare(live.map(\.pack)).allSatisfy { $0.table.isEmpty })
        // What the pack in use would make is another question.
        #expect(try models.compare(space.packs).map(\.table.changed).max() == 20)
        _ = try models.rebuild()
        #expect(try models.livePacks(Self.names).map(\.isHeld) == [false])
        #expect(try models.compare(space.packs).allSatisfy { $0.table.isEmpty })
        try space.close()
    }
}
