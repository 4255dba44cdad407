import Diario
import DiarioHost
import DiarioLog
import DiarioProjection
import DiarioSchema
import DiarioTestSupport
import Testing

/// Live read models that are compared with what the log says, while others go on.
@Suite struct ComparedModelTests {
    private static func record(_ id: Int, in space: Space) throws {
        try space.record([TasksPack.line("added", TasksPack.added(id, id))])
    }

    /// Both sides were read at different events, and the rows between them were found wrong.
    ///
    /// An undone generation and one of another pack are compared at one event as well.
    @Test(arguments: [false, true]) func whatOthersRecordMeanwhileIsNoDifference(
        isApplied: Bool
    ) throws {
        let folder = try TemporaryFolder()
        let other = try Space.create(at: folder.path, packs: [TasksPack.make()])
        for id in 1...5 { try Self.record(id, in: other) }
        let otherModels = try ReadModels(other)
        try otherModels.update()
        let space = try Space.open(at: folder.path, access: .readOnly)
        let models = try ReadModels(space)
        for (id, isShifted) in [(6, false), (7, true)] {
            let packs = isShifted ? [try TasksPack.makeShifted()] : models.packs
            var next: Int? = id
            var fault: (any Error)?
            let found = try models.compare(packs) { _, _, _ in
                guard next != nil else { return }
                next = nil
                do {
                    try Self.record(id, in: other)
                    if isApplied { try otherModels.update() }
                } catch {
                    fault = error
                }
            }
            #expect(fault == nil && next == nil)
            #expect(found.allSatisfy { $0.table.added + $0.table.removed == 0 }, "\(found)")
            let changed = found.map(\.table.changed).max()
            #expect(changed == (isShifted ? 7 : 0))
        }
        try space.close()
        try other.close()
    }
}
