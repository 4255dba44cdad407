import Diario
import DiarioHost
import DiarioLog
import DiarioSchema
import DiarioStorage
import DiarioTestSupport
import Testing

/// A write-ahead log that is gone, or an older one, looks whole by itself; what was sealed, or that
/// there is a space at all, tells that it is not.
@Suite struct GoneLogTests {
    private let folder: TemporaryFolder
    private let directory: POSIXDirectory

    init() throws {
        folder = try TemporaryFolder()
        directory = try folder.directory()
        try Space.create(at: folder.path, packs: [TasksPack.make()]).close()
    }

    private func record(_ count: Int) throws {
        let space = try Space.open(at: folder.path, access: .readWrite)
        let line = TasksPack.line("removed", #"{"id":"1"}"#)
        try space.record(Array(repeating: line, count: count))
        try space.close()
    }

    private func seal() throws {
        let space = try Space.open(at: folder.path, access: .readWrite)
        _ = try space.store.seal(space.id, all: true)
        try space.close()
    }

    private func files() throws -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        for name in try directory.list(".diario/wal") {
            found[name] = try Files.contents(
                of: ".diario/wal/" + name,
                in: directory,
                sizeMax: .max
            )
        }
        return found
    }

    /// Whoever opens the space is told, and can record nothing.
    private func expectDamage() throws {
        for access in [LogStore.Access.readOnly, .readWrite] {
            let space = try Space.open(at: folder.path, access: access)
            #expect(space.store.fault?.file == "wal")
            #expect(try !space.verify { _ in }.isOK)
            // It stays said, whatever is read.
            _ = try space.store.refresh()
            #expect(space.store.fault != nil)
        }
        #expect(throws: DiarioError.self) { try record(1) }
    }

    @Test(arguments: [false, true], [false, true])
    func aLogThatIsGoneIsDamage(isSealed: Bool, hasFolder: Bool) throws {
        try record(5)
        if isSealed {
            try seal()
            try record(2)
        }
        try Files.removeTree(".diario/wal", in: directory)
        if hasFolder { try directory.makeDirectory(".diario/wal") }
        try expectDamage()
    }

    /// Events at positions that were sealed were acknowledged, and once dropped.
    @Test func anOlderLogTakesNoEvents() throws {
        try record(3)
        let old = try files()
        try record(5000)
        try seal()
        for name in try files().keys { try directory.remove(".diario/wal/" + name) }
        for (name, bytes) in old {
            try Files.replace(".diario/wal/" + name, with: bytes, in: directory)
        }
        try expectDamage()
    }

    @Test func aMarkThatIsTooLongIsNone() throws {
        try record(5)
        let path = ".diario/wal/synced"
        let bytes = try Files.contents(of: path, in: directory, sizeMax: .max)
        try Files.replace(path, with: bytes + [UInt8](repeating: 0, count: 5000), in: directory)
        try record(1)
        let space = try Space.open(at: folder.path, access: .readOnly)
        #expect(try space.verify { _ in }.isOK)
        #expect(try space.stats().state.events == 6)
    }
}
