import Diario
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
        let line = Array(#"{"type":"tasks.task.removed","payload":{"id":"1"}}"#.utf8)
        var recorder = LineRecorder(space)
        for _ in 0..<count {
            try recorder.add(line.span)
            if recorder.isFull { _ = try recorder.commit() }
        }
        recorder.finish()
        _ = try recorder.commit()
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
            found[name] = try directory.contents(of: ".diario/wal/" + name, sizeMax: .max)
        }
        return found
    }

    /// Whoever opens the space is told, and can record nothing.
    private func expectDamage() throws {
        for access in [LogStore.Access.readOnly, .readWrite] {
            let space = try Space.open(at: folder.path, access: access)
            #expect(space.store.report.fault?.file == "wal")
            #expect(try !space.verify { _ in }.isOK)
            // It stays said, whatever is read.
            _ = try space.store.refresh()
            #expect(space.store.report.fault != nil)
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
        try directory.removeTree(".diario/wal")
        if hasFolder { try directory.makeDirectory(".diario/wal") }
        try expectDamage()
        let report = try Space.repair(at: folder.path, isRehearsal: false)
        #expect(report.isMended, "\(report.remaining)")
        #expect(report.events == (isSealed ? 5 : 0))
        #expect(try Space.repair(at: folder.path, isRehearsal: false).isClean)
        guard isSealed else { return }
        try record(1)
        #expect(try Space.open(at: folder.path, access: .readOnly).verify { _ in }.isOK)
    }

    /// Events at positions that were sealed were acknowledged, and dropped by the next repair.
    @Test func anOlderLogTakesNoEvents() throws {
        try record(3)
        let old = try files()
        try record(5000)
        try seal()
        let replica = try replica()
        for name in try files().keys { try directory.remove(".diario/wal/" + name) }
        for (name, bytes) in old { try directory.replace(".diario/wal/" + name, with: bytes) }
        try expectDamage()
        let report = try Space.repair(at: folder.path, isRehearsal: false)
        #expect(report.isMended, "\(report.remaining)")
        #expect(report.events == 5003)
        // What the newer log held under the old id is known to nobody here.
        #expect(try self.replica() != replica)
        #expect(try Space.repair(at: folder.path, isRehearsal: false).isClean)
        try record(1)
        let space = try Space.open(at: folder.path, access: .readOnly)
        #expect(try space.verify { _ in }.isOK)
        #expect(try space.stats().status.events == 5004)
    }

    /// Repair once said that nothing was wrong, and nothing else worked.
    @Test(arguments: ["other", "short", "manifest"])
    func aLogWithNothingOfTheSpaceIsMended(what: String) throws {
        try record(5)
        let other = try TemporaryFolder()
        switch what {
        case "other":
            try Space.create(at: other.path, packs: [TasksPack.make()]).close()
            let wal = try other.directory()
            for name in try wal.list(".diario/wal") {
                let bytes = try wal.contents(of: ".diario/wal/" + name, sizeMax: .max)
                try directory.replace(".diario/wal/" + name, with: bytes)
            }
        case "short":
            try directory.remove(".diario/wal/synced")
            let path = ".diario/wal/0000000000000001.dwal"
            let bytes = try directory.contents(of: path, sizeMax: .max)
            try directory.replace(path, with: Array(bytes[..<443]))
        default:
            for name in try files().keys where name.hasSuffix(".dwal") {
                try directory.remove(".diario/wal/" + name)
            }
            let space = try directory.list(".diario/spaces")[0]
            let path = ".diario/spaces/\(space)/manifest"
            var bytes = try directory.contents(of: path, sizeMax: .max)
            bytes[bytes.count / 2] ^= 1
            try directory.replace(path, with: bytes)
        }
        #expect(try !Space.repair(at: folder.path, isRehearsal: true).isClean)
        let report = try Space.repair(at: folder.path, isRehearsal: false)
        #expect(report.isMended, "\(report.remaining)")
        // Nothing can be recorded without them.
        #expect(report.remarks.contains { $0.contains("diario schema adopt") })
        #expect(try Space.repair(at: folder.path, isRehearsal: false).isClean)
        let spaces = try Space.openAll(at: folder.path).entries
        // The one that the other log is of has come back.
        #expect(spaces.count == (what == "other" ? 2 : 1))
        for entry in spaces { #expect(try entry.space.get().verify { _ in }.isOK) }
    }

    /// The log has all that is needed to make them anew.
    @Test(arguments: [false, true]) func foldersOfSpacesAreMadeOfTheLog(isWhole: Bool) throws {
        try record(5)
        try directory.removeTree(".diario/spaces")
        if isWhole { try directory.makeDirectory(".diario/spaces") }
        let error = #expect(throws: DiarioError.self) {
            _ = try Space.open(at: folder.path, access: .readOnly)
        }
        #expect(error?.message.contains("diario repair") == true)
        let report = try Space.repair(at: folder.path, isRehearsal: false)
        #expect(report.isMended, "\(report.remaining)")
        #expect(report.events == 5)
        #expect(try Space.repair(at: folder.path, isRehearsal: false).isClean)
        try record(1)
        let space = try Space.open(at: folder.path, access: .readOnly)
        #expect(try space.verify { _ in }.isOK)
        #expect(try space.stats().status.events == 6)
    }

    /// What a rehearsal promises is done.
    @Test func theFolderOfPacksIsMadeAnew() throws {
        let other = try TemporaryFolder()
        try Space.create(at: other.path, packs: PackSource.builtIn()).close()
        let disk = try other.directory()
        try disk.removeTree(".diario/packs")
        let promised = try Space.repair(at: other.path, isRehearsal: true)
        #expect(promised.isMended)
        let report = try Space.repair(at: other.path, isRehearsal: false)
        #expect(report.isMended, "\(report.remaining)")
        #expect(try Space.open(at: other.path, access: .readOnly).verify { _ in }.isOK)
    }

    @Test func aMarkThatIsTooLongIsNone() throws {
        try record(5)
        let path = ".diario/wal/synced"
        let bytes = try directory.contents(of: path, sizeMax: .max)
        try directory.replace(path, with: bytes + [UInt8](repeating: 0, count: 5000))
        try record(1)
        let space = try Space.open(at: folder.path, access: .readOnly)
        #expect(try space.verify { _ in }.isOK)
        #expect(try space.stats().status.events == 6)
    }

    /// Rows of reference data that are lost once were taken for events that people recorded.
    @Test func eventsThatAreLeftAreCounted() throws {
        let other = try TemporaryFolder()
        let space = try Space.create(at: other.path, packs: PackSource.builtIn())
        try SampleSpace.fill(space)
        let count = try space.stats().status.events
        try space.close()
        let disk = try other.directory()
        let path = ".diario/wal/0000000000000001.dwal"
        var bytes = try disk.contents(of: path, sizeMax: .max)
        // In the frame with the reference data of the first pack.
        bytes[6000] ^= 1
        try disk.replace(path, with: bytes)
        let report = try Space.repair(at: other.path, isRehearsal: false)
        #expect(report.isMended, "\(report.remaining)")
        #expect(report.events == count)
        for isSealed in [false, true] {
            let repaired = try Space.open(at: other.path, access: .readWrite)
            if isSealed { _ = try repaired.store.seal(repaired.id, all: true) }
            #expect(try repaired.stats().status.events == count)
            try repaired.close()
        }
    }

    private func replica() throws -> String {
        let space = try Space.open(at: folder.path, access: .readOnly)
        return try space.stats().status.replica.text
    }
}
