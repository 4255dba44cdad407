import Diario
import DiarioCore
import DiarioFrames
import DiarioHost
import DiarioLog
import DiarioStorage
import DiarioTestSupport
import Testing

/// A folder with several spaces, as a server has.
///
/// The one with the smallest id was taken, whichever was meant.
@Suite struct SeveralSpacesTests {
    private let folder: TemporaryFolder
    private let directory: POSIXDirectory
    private let ids: [SpaceID]

    init() throws {
        folder = try TemporaryFolder()
        directory = try folder.directory()
        let first = try Space.create(at: folder.path, packs: [TasksPack.make()])
        let second = first.store.drawSpaceID()
        _ = try first.store.makeWholeSpace(second)
        ids = [first.id, second].sorted()
        try first.close()
        var space = try Space.open(at: folder.path, space: second, access: .readWrite)
        _ = try space.adopt([TasksPack.make()]) { _, _ in }
        try space.close()
    }

    private func error(_ body: () throws -> Void) -> DiarioError? {
        #expect(throws: DiarioError.self) { try body() }
    }

    private func seal(_ id: SpaceID) throws {
        let space = try Space.open(at: folder.path, space: id, access: .readWrite)
        _ = try space.store.seal(id, all: true)
        try space.close()
    }

    @Test func theOneThatIsMeantHasToBeSaid() throws {
        for access in [LogStore.Access.readOnly, .readWrite] {
            let error = error { _ = try Space.open(at: folder.path, access: access) }
            #expect(error?.kind == .ambiguous)
            #expect(error?.spaces == ids)
            #expect(error?.message.contains("\(ids[0].text), \(ids[1].text)") == true)
            for id in ids {
                let space = try Space.open(at: folder.path, space: id, access: access)
                #expect(space.id == id)
                try space.close()
            }
        }
        #expect(error { _ = try Diary(path: folder.path) }?.kind == .ambiguous)
        #expect(error { _ = try Diary.open(at: folder.path, packs: []) }?.kind == .ambiguous)
        for id in ids {
            #expect(throws: Never.self) { try Diary(path: folder.path, space: id) }
            #expect(throws: Never.self) { try Diary.open(at: folder.path, packs: [], space: id) }
        }
    }

    @Test func oneThatIsNotThereIsNotMade() throws {
        let id = try #require(SpaceID(rawValue: 1))
        for path in [folder.path, folder.path + "/none"] {
            #expect(error { _ = try Diary(path: path, space: id) }?.kind == .notFound)
            #expect(error { _ = try Diary.open(at: path, packs: [], space: id) }?.kind == .notFound)
        }
        #expect(try directory.list("") == [".diario"])
    }

    @Test func allAreVerifiedWhateverIsWrongWithOne() throws {
        for damaged in ids {
            for id in ids { try seal(id) }
            let path = ".diario/" + LogPaths.segments(damaged)
            let name = try #require(try directory.list(path).first { $0.hasSuffix(".dseg") })
            let file = try directory.open(path + "/" + name, .readWrite)
            var byte: [UInt8] = []
            try file.read(at: 100, count: 1, into: &byte)
            byte[0] ^= 0x10
            try file.write(byte.span, at: 100)
            let opened = try Space.openAll(at: folder.path)
            #expect(opened.entries.map(\.id) == ids)
            for entry in opened.entries {
                let found = try entry.space.get().verify { _ in }
                #expect(found.isOK == (entry.id != damaged))
            }
            try opened.store.close()
            byte[0] ^= 0x10
            try file.write(byte.span, at: 100)
        }
    }

    /// One of which the log has nothing, as if it was put back to before.
    @Test func oneWhoseLogIsGoneIsTold() throws {
        let space = try Space.open(at: folder.path, space: ids[0], access: .readWrite)
        let id = try space.store.makeSpace(isAuthority: true).space
        try space.close()
        for entry in try Space.openAll(at: folder.path).entries {
            switch entry.space {
            case .success(let space): #expect(try space.verify { _ in }.isOK)
            case .failure(let fault):
                #expect(entry.id == id)
                #expect(fault.what.contains("nothing of space \(id.text)"))
            }
        }
    }

    /// The log still has its events, so it was there.
    @Test func oneWhoseFolderIsGoneIsMissed() throws {
        try Files.removeTree(".diario/" + LogPaths.space(ids[0]), in: directory)
        let entries = try Space.openAll(at: folder.path).entries
        #expect(entries.map(\.id) == ids)
        guard case .failure(let fault) = entries[0].space else {
            Issue.record("it is damaged")
            return
        }
        #expect(fault.file == LogPaths.manifest(ids[0]))
        #expect(try entries[1].space.get().verify { _ in }.isOK)
        #expect(
            error { _ = try Space.open(at: folder.path, space: ids[0], access: .readOnly) }?
                .kind == .corrupt
        )
    }

    /// The only one that is left was taken, whichever was meant.
    @Test func theOneThatIsLeftIsNotTakenForAllOthers() throws {
        try Files.removeTree(".diario/" + LogPaths.space(ids[0]), in: directory)
        let error = error { _ = try Space.open(at: folder.path, access: .readOnly) }
        #expect(error?.kind == .ambiguous)
        #expect(error?.spaces == ids)
        try Space.open(at: folder.path, space: ids[1], access: .readOnly).close()
    }

    /// A manifest that was damaged kept all the others from being looked at.
    @Test func aDamagedManifestIsThatOfOneSpace() throws {
        let path = ".diario/" + LogPaths.manifest(ids[0])
        try Files.replace(path, with: [1, 2, 3], in: directory)
        let entries = try Space.openAll(at: folder.path).entries
        #expect(entries.map(\.id) == ids)
        #expect(try entries[1].space.get().verify { _ in }.isOK)
        guard case .failure = entries[0].space else {
            Issue.record("it is damaged")
            return
        }
        try Space.open(at: folder.path, space: ids[1], access: .readOnly).close()
        for (id, access) in [(ids[0], LogStore.Access.readOnly), (ids[1], .readWrite)] {
            let error = error { _ = try Space.open(at: folder.path, space: id, access: access) }
            #expect(error?.kind == .corrupt)
        }
    }

    /// It was said of each space that the log had nothing of it.
    @Test func aDamagedLogIsTheFaultThatIsTold() throws {
        let wal = ".diario/" + FramePaths.folder
        for name in try directory.list(wal) where name.hasSuffix(".dwal") {
            try directory.open(wal + "/" + name, .readWrite).write([7, 7, 7, 7].span, at: 0)
        }
        for entry in try Space.openAll(at: folder.path).entries {
            let faults = try entry.space.get().verify { _ in }.faults
            #expect(faults.first?.file.hasSuffix(".dwal") == true, "\(faults)")
        }
    }

    /// A server knows its spaces by their ids: an import made another one, and nobody found it.
    @Test func anImportIntoAServersSpaceLeavesItsID() throws {
        let source = try SampleSpace.make(folder.path + "/source")
        let lines = try SampleSpace.lines(source)
        try source.close()
        let path = folder.path + "/served"
        let space = try Space.create(at: path, packs: PackSource.builtIn())
        _ = try directory.open("served/.diario/" + LogPaths.control, .create)
        let summary = try space.importEvents(of: SampleSpace.file(lines, in: folder), as: .lines) {
            _,
            _ in
        }
        #expect(summary.space.id == space.id)
        #expect(summary.imported > 0)
        #expect(try space.verify { _ in }.isOK)
        try space.close()
    }

    /// A removed one is not, though the log was read before it went.
    @Test func oneThatIsRemovedMeanwhileIsNotMissed() throws {
        let reader = try Space.openAll(at: folder.path).store
        let writer = try Space.open(at: folder.path, space: ids[0], access: .readWrite)
        try writer.store[ids[1]].remove()
        try writer.close()
        #expect(try reader.missingManifests().isEmpty)
        #expect(try Space.openAll(at: folder.path).entries.map(\.id) == [ids[0]])
    }
}
