import Diario
import DiarioCore
import DiarioFormat
import DiarioHost
import DiarioLog
import DiarioSchema
import DiarioStorage
import DiarioTestSupport
import Foundation
import Testing

@Suite struct SpaceTests {
    @Test func aNewSpaceHoldsItsPacksAndReferenceData() throws {
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path + "/diary", packs: PackSource.builtIn())
        let stats = try space.stats()
        #expect(stats.state.events == 0)
        #expect(stats.state.head > 5)
        #expect(try space.adoptedPacks().count == 5)
        #expect(try space.verify { _ in }.isOK)
    }

    /// Without one of them it was said that there is no diary, and that one should be made.
    @Test func aMissingFileIsToldAsDamage() throws {
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path + "/diary", packs: PackSource.builtIn())
        let status = try space.store[space.id].status()
        let pack = try #require(status.adoptions.first).fingerprint
        try space.close()
        let (id, files) = (status.manifest.space, FileManager.default)
        for path in [
            "format", LogPaths.manifest(id), LogPaths.replica(id), LogPaths.pack(pack),
        ] {
            let copy = folder.path + "/copy"
            try? files.removeItem(atPath: copy)
            try files.copyItem(atPath: folder.path + "/diary", toPath: copy)
            try files.removeItem(atPath: copy + "/.diario/" + path)
            let error = #expect(throws: DiarioError.self) {
                try Space.open(at: copy, access: .readOnly)
            }
            #expect(error?.kind == .corrupt && error?.message.contains(path) == true, "\(path)")
            #expect(error?.message.contains("is missing") == true)
            #expect(error?.message.contains("diario salvage") == true)
        }
    }

    /// Packs are read while the log is; what nobody adopted does no harm, what is needed does.
    @Test func aDamagedPackMattersIfItWasAdopted() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/diary"
        let space = try Space.create(at: path, packs: PackSource.builtIn())
        let catalog = space.catalog
        let adoptions = try space.store[space.id].adoptions()
        #expect(try adoptions == space.store[space.id].status().adoptions)
        try space.close()

        let directory = try POSIXDirectory(path: path + "/.diario", access: .readWrite)
        let other = LogPaths.packs + "/" + String(repeating: "ab", count: 32)
        try directory.makeDirectory(other)
        try Files.replace(other + "/pack.json", with: Array("{}".utf8), in: directory)
        try directory.makeDirectory(LogPaths.packs + "/rubbish")
        let again = try Space.open(at: path, access: .readWrite)
        #expect(again.catalog.types.map(\.canonicalSchema) == catalog.types.map(\.canonicalSchema))
        try again.close()

        let pack = LogPaths.pack(try #require(adoptions.last).fingerprint)
        try Files.replace(pack + "/pack.json", with: Array("{}".utf8), in: directory)
        let error = #expect(throws: DiarioError.self) {
            try Space.open(at: path, access: .readOnly)
        }
        #expect(error?.kind == .corrupt)
    }

    @Test func aDiaryGetsNoPackThatNobodyAskedFor() async throws {
        let folder = try TemporaryFolder()
        try await Diary.create(at: folder.path).close()
        let space = try Space.open(at: folder.path, access: .readOnly)
        #expect(space.packs.isEmpty)
        #expect(try space.stats().state.head == 0)
        try space.close()
    }

    /// Whoever records for hours takes up what others adopt meanwhile.
    @Test func aRecorderTakesUpWhatIsAdoptedMeanwhile() throws {
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path, packs: [TasksPack.make()])
        var recorder = LineRecorder(space)
        let old = Array(#"{"type":"tasks.task.removed","payload":{"id":"1"}}"#.utf8)
        let new = Array(#"{"type":"meals.food.removed","payload":{"entryId":"a"}}"#.utf8)
        try recorder.add(old.span)
        #expect(throws: DiarioError.self) { try recorder.add(new.span) }
        var other = try Space.open(at: folder.path, access: .readWrite)
        _ = try other.adopt(PackSource.builtIn()) { _, _ in }
        try recorder.add(old.span)
        try recorder.add(new.span)
        try recorder.add(old.span)
        #expect(try recorder.commit().count == 4)
        #expect(try space.verify { _ in }.isOK)
    }

    /// The second of two that adopted the same packs did not know the types of rows that it read.
    @Test func whatAnotherProcessAdoptedMeanwhileIsAdoptedOnce() throws {
        let folder = try TemporaryFolder()
        var space = try Space.create(at: folder.path, packs: [])
        var other = try Space.open(at: folder.path, access: .readWrite)
        _ = try other.adopt(PackSource.builtIn()) { _, _ in }
        let adopted = try space.adopt(PackSource.builtIn()) { _, _ in }
        #expect(adopted.allSatisfy { !$0.isNew && $0.rowCount == 0 })
        #expect(try space.verify { _ in }.isOK)
    }

    /// Whoever recorded in the folder of somebody else overwrote files of theirs by its links.
    @Test(arguments: ["lock", "wal/synced", "wal/reserve", "sealing", "format", "manifest", "wal"])
    func nothingIsWrittenThroughALink(name: String) throws {
        let folder = try TemporaryFolder()
        let elsewhere = try TemporaryFolder()
        let space = try Space.create(at: folder.path, packs: [])
        var path = name
        if name == "sealing" { path = LogPaths.sealingLock(space.id) }
        if name == "manifest" { path = LogPaths.manifest(space.id) }
        try space.close()
        let (inside, outside) = (folder.path + "/.diario/" + path, elsewhere.path + "/" + name)
        try FileManager.default.createDirectory(
            atPath: elsewhere.path + "/wal",
            withIntermediateDirectories: true
        )
        if FileManager.default.fileExists(atPath: inside) {
            try? FileManager.default.removeItem(atPath: outside)
            try FileManager.default.moveItem(atPath: inside, toPath: outside)
        } else {
            try elsewhere.directory().open(name, .create).write([7], at: 0)
        }
        let before = try contents(elsewhere)
        try FileManager.default.createSymbolicLink(
            atPath: inside,
            withDestinationPath: outside
        )
        func use() throws {
            var space = try Space.open(at: folder.path, access: .readWrite)
            _ = try space.adopt(PackSource.builtIn()) { _, _ in }
            _ = try space.store.seal(space.id, all: true)
            try space.close()
        }
        // A reserve is a help, and what has none is used all the same.
        if name == "wal/reserve" {
            try use()
        } else {
            #expect(throws: (any Error).self, performing: use)
        }
        #expect(try contents(elsewhere) == before)
    }

    private func contents(_ folder: TemporaryFolder) throws -> [String: Data] {
        var found: [String: Data] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            found[path] = FileManager.default.contents(atPath: folder.path + "/" + path)
        }
        return found
    }

    /// A backup copied over what it was made of left the files of that at home, and origins that
    /// others knew were given again.
    @Test func aBackupCopiedOverItsSourceIsACopy() throws {
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path, packs: [])
        let (before, _) = try space.store[space.id].author()
        try space.close()
        let again = try Space.open(at: folder.path, access: .readWrite)
        #expect(try again.store[again.id].author().0 == before)
        try again.close()
        let directory = try POSIXDirectory(path: folder.path + "/.diario", access: .readWrite)
        let mark = BackupFile(at: Timestamp(milliseconds: 1)).encoded()
        try Files.replace(LogPaths.backup, with: mark, in: directory)
        let restored = try Space.open(at: folder.path, access: .readWrite)
        let (after, _) = try restored.store[restored.id].author()
        #expect(after != before)
        try restored.close()
        let last = try Space.open(at: folder.path, access: .readWrite)
        #expect(try last.store[last.id].author().0 == after)
    }

    /// A killed `init` leaves a folder that nobody else removes.
    @Test func whatAKilledInitLeftGoesWithTheNextOne() throws {
        let folder = try TemporaryFolder()
        let disk = try folder.directory()
        try disk.makeDirectory(".diario.new-7zk3m9q2c1f4a/wal")
        try disk.makeDirectory("notes")
        try Space.create(at: folder.path, packs: []).close()
        #expect(try disk.list("") == [".diario", "notes"])
    }

    /// Whoever was first took the folders of the others for remains: they were told that files were
    /// damaged, or missing.
    @Test func ofManyThatMakeOneSpaceAllOpenIt() async throws {
        for _ in 0..<4 {
            let folder = try TemporaryFolder()
            try await withThrowingTaskGroup(of: Diary.self) { group in
                for _ in 0..<6 {
                    group.addTask { try Diary.open(at: folder.path, packs: [Shapes.pack]) }
                }
                for try await diary in group {
                    try await diary.append(Shapes.PageTurned())
                    try await diary.close()
                }
            }
            let space = try Space.open(at: folder.path, access: .readOnly)
            #expect(try space.stats().state.events == 6)
            #expect(try space.verify { _ in }.isOK)
            #expect(try folder.directory().list("") == [".diario"])
            #expect(try !folder.directory().exists(".diario/making"))
        }
    }

    /// The log had nothing of such a space, which is what a log that is gone looks like.
    @Test func aDiaryWithoutPacksIsWhole() async throws {
        let folder = try TemporaryFolder()
        for _ in 0..<2 {
            let diary = try Diary.open(at: folder.path, packs: [])
            try await diary.close()
            let space = try Space.open(at: folder.path, access: .readOnly)
            #expect(try space.verify { _ in }.isOK)
            try space.close()
        }
    }

    @Test func ofManyThatMakeASpaceOneDoes() async throws {
        let folder = try TemporaryFolder()
        let pack = try TasksPack.make()
        let made = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    do {
                        try Space.create(at: folder.path, packs: [pack]).close()
                        return true
                    } catch let error as DiarioError {
                        guard error.kind == .exists else { throw error }
                        #expect(error.message.contains("There is a space in"))
                        return false
                    }
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(made == 1)
    }

    @Test func theFolderOfAnInitThatGoesOnStays() throws {
        let folder = try TemporaryFolder()
        let disk = try folder.directory()
        let name = ".diario.new-7zk3m9q2c1f4a"
        try disk.makeDirectory(name)
        let lock = try disk.lock(name + "/making")
        #expect(try Files.tryAcquire(lock))
        try Space.create(at: folder.path, packs: []).close()
        #expect(try disk.list("") == [".diario", name])
        lock.release()
    }
}
