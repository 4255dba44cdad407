import Diario
import DiarioCore
import DiarioEngine
import DiarioHost
import DiarioLog
import DiarioServer
import DiarioStorage
import DiarioSync
import DiarioTestSupport
import Testing

/// A folder of a server that is put back to a backup: schema/format/directory.md, section 5.
struct DataFolderTests {
    private let temporary: TemporaryFolder
    private let folder: DataFolder

    init() throws {
        temporary = try TemporaryFolder()
        folder = Self.open(temporary.path + "/served")
    }

    private static func open(_ path: String) -> DataFolder {
        DataFolder(path, shown: "served", .system, remark: { _ in })
    }

    private func name(_ text: String) throws -> SpaceName { try #require(SpaceName(text)) }

    /// A backup has other files than its source, as one that was put back.
    private func restored() throws -> DataFolder {
        let path = temporary.path + "/backup"
        _ = try folder.back(upTo: path, shown: "backup") { _, _ in }
        return Self.open(path)
    }

    private static func waiting(_ folder: DataFolder) throws -> [String: Bool] {
        Dictionary(
            uniqueKeysWithValues: try folder.authorities().map { ($0.shown, $0.isWaiting) }
        )
    }

    /// It gave the positions of before again, under the same epoch.
    @Test func spacesThatNobodyUsedWaitAfterARestore() throws {
        _ = try folder.makeSpace(try name("home"), [])
        try folder.serve { _, _ in
            // Beside the server, and used by nobody either.
            _ = try folder.makeSpace(try name("later"), [])
        }
        #expect(try Self.waiting(folder) == ["home": false, "later": false])
        let copy = try restored()
        #expect(try Self.waiting(copy) == ["home": true, "later": true])
        try copy.serve { served, _ in
            _ = try copy.makeSpace(try name("new"), [])
            for named in try served.control.spaces() where named.name.text != "new" {
                #expect(throws: Refusal.self) { try served.authority(of: named).prepare() }
            }
            let new = try #require(try served.control.space(try name("new")))
            try served.authority(of: new).prepare()
        }
        #expect(try Self.waiting(copy) == ["home": true, "later": true, "new": false])
        #expect(try copy.authorities().allSatisfy { ($0.epoch > 0) == ($0.shown != "new") })
        #expect(try copy.change(to: .resumed, nil).count == 2)
        try copy.serve { served, _ in
            for named in try served.control.spaces() { try served.authority(of: named).prepare() }
        }
    }

    /// One may make a folder, and copy it to the machine that is to serve it.
    @Test func aFolderThatWasNeverServedDoesNotWaitElsewhere() throws {
        _ = try folder.makeSpace(try name("home"), [])
        let copy = try restored()
        try copy.serve { served, _ in
            for named in try served.control.spaces() { try served.authority(of: named).prepare() }
        }
        #expect(try Self.waiting(copy) == ["home": false])
    }

    @Test func aSpaceThatGetsANameWaitsAfterARestore() throws {
        _ = try folder.makeSpace(try name("home"), [])
        let path = temporary.path + "/served/" + LogPaths.directoryName
        let store = try Space.openStore(
            POSIXDirectory(path: path, access: .readWrite),
            access: .readWrite
        )
        let id = try Space.make(in: store, packs: []).id
        try store.close()
        try folder.serve { _, _ in try folder.name(id, try name("notes")) }
        #expect(try Self.waiting(try restored()) == ["home": true, "notes": true])
    }

    /// A typing error made a folder, and served nothing from it.
    @Test func aFolderThatIsNotThereIsNotMadeByServing() throws {
        #expect(throws: DiarioError.self) { try folder.serve { _, _ in } }
        #expect(throws: StorageError.self) {
            try POSIXDirectory(path: temporary.path + "/served", access: .read)
        }
    }
}
