import DiarioCore
import DiarioStorage
import DiarioTestSupport
import Foundation
import Testing

/// What only a real directory does.
@Suite struct POSIXDirectoryTests {
    /// A read model is reached by a link, and its files may go before it.
    @Test func aTreeWithALinkThatLeadsNowhereIsRemoved() throws {
        let folder = try TemporaryFolder()
        let directory = try POSIXDirectory(path: folder.path, access: .readWrite)
        try directory.makeDirectory("tree")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/tree/a.sqlite",
            withDestinationPath: "a.7.sqlite"
        )
        try Files.removeTree("tree", in: directory)
        #expect(try !directory.exists("tree"))
        try Files.removeTree("tree", in: directory)
    }

    /// Whoever unpacked the folder of somebody else overwrote files of theirs by its links.
    @Test(arguments: ["link", "folder/x", "wall/file"])
    func noLinkInsideIsFollowed(path: String) throws {
        let elsewhere = try TemporaryFolder()
        try Files.replace("file", with: [7], in: elsewhere.directory())
        try Files.replace("x", with: [7], in: elsewhere.directory())
        let folder = try TemporaryFolder()
        let directory = try folder.directory()
        for (name, target) in [("link", "/file"), ("folder", ""), ("wall", "")] {
            try FileManager.default.createSymbolicLink(
                atPath: folder.path + "/" + name,
                withDestinationPath: elsewhere.path + target
            )
        }
        let expected = path == "link" ? "notFile" : "notDirectory"
        for access in [FileAccess.read, .readWrite, .create] {
            #expect(failure { try directory.open(path, access) } == expected)
        }
        #expect(failure { try directory.lock(path) } == expected)
        #expect(failure { try directory.list(path) } == "notDirectory")
        #expect(failure { try directory.makeDirectory(path) } != nil)
        #expect(failure { try directory.syncDirectory(path) } == "notDirectory")
        guard path != "link" else { return try Files.removeTree("folder", in: directory) }
        #expect(failure { try directory.open(path, .createNew) } == expected)
        #expect(failure { try directory.exists(path) } == expected)
        #expect(failure { try directory.remove(path) } == expected)
        #expect(failure { try directory.rename(path, to: path + "y") } == expected)
        #expect(failure { try directory.exchange(path, with: path + "y") } == expected)
        #expect(failure { try directory.setLink(path, to: "file") } == expected)
        #expect(directory.link(path) == nil)
        #expect(try !directory.addName("new", to: path))
        #expect(try elsewhere.directory().list("") == ["file", "x"])
        #expect(try Files.contents(of: "file", in: elsewhere.directory(), sizeMax: 1) == [7])
    }

    @Test func aPipeIsNoFile() throws {
        let folder = try TemporaryFolder()
        try folder.makePipe("pipe")
        for access in [FileAccess.read, .readWrite, .create] {
            #expect(failure { try folder.directory().open("pipe", access) } == "notFile")
        }
        try folder.directory().remove("pipe")
    }

    @Test func anOpenFileTellsThatItWasRemoved() throws {
        let folder = try TemporaryFolder()
        let directory = try folder.directory()
        let file = try directory.open("file", .createNew)
        #expect(throws: Never.self) { try file.checkName() }
        try directory.rename("file", to: "moved")
        #expect(throws: Never.self) { try file.checkName() }
        try directory.remove("moved")
        #expect(failure { try file.checkName() } == "removed")
        let other = try directory.open("file", .createNew)
        try directory.open("new", .createNew).sync()
        try directory.rename("new", to: "file")
        #expect(failure { try other.checkName() } == "removed")
    }

    @Test func aMissingRootIsMadeOnlyIfAsked() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/a/b//c/"
        #expect(failure { try POSIXDirectory(path: path, access: .readWrite) } == "notFound")
        #expect(failure { try POSIXDirectory(path: path, access: .read) } == "notFound")
        let directory = try POSIXDirectory(path: path, access: .create)
        _ = try directory.open("file", .createNew)
        let again = try POSIXDirectory(path: path, access: .create)
        #expect(try again.list("") == ["file"])
        #expect(FileManager.default.fileExists(atPath: folder.path + "/a/b/c/file"))
    }

    @Test func aFileIsNoRoot() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/file"
        _ = try folder.directory().open("file", .create)
        #expect(failure { try POSIXDirectory(path: path, access: .create) } == "notDirectory")
        #expect(
            failure { try POSIXDirectory(path: path + "/x", access: .create) } == "notDirectory"
        )
    }

    @Test func aLinkToItselfIsNoRoot() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/link"
        try FileManager.default.createSymbolicLink(
            atPath: path,
            withDestinationPath: "link"
        )
        #expect(failure { try POSIXDirectory(path: path, access: .create) } == "notDirectory")
    }

    @Test func aNameMayBeTooLong() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/" + String(repeating: "x", count: 300)
        #expect(failure { try POSIXDirectory(path: path, access: .create) } == "nameTooLong")
    }

    @Test func nothingIsChangedThroughAReadOnlyDirectory() throws {
        let folder = try TemporaryFolder()
        try Files.replace("file", with: [1, 2], in: folder.directory())
        let directory = try POSIXDirectory(path: folder.path, access: .read)
        #expect(directory.isReadOnly)
        #expect(failure { try directory.open("file", .readWrite) } == "readOnly")
        #expect(failure { try directory.open("other", .create) } == "readOnly")
        #expect(failure { try directory.makeDirectory("folder") } == "readOnly")
        #expect(failure { try directory.rename("file", to: "other") } == "readOnly")
        #expect(failure { try directory.remove("file") } == "readOnly")
        #expect(failure { try directory.lock("lock") } == "readOnly")
        #expect(try directory.list("") == ["file"])
        #expect(try Files.contents(of: "file", in: directory, sizeMax: 2) == [1, 2])
        try directory.open("file", .read).sync()
        #expect(try !folder.directory().isReadOnly)
    }

    @Test func aDirectoryMayMoveWhileItIsOpen() throws {
        let folder = try TemporaryFolder()
        let directory = try POSIXDirectory(path: folder.path + "/old", access: .create)
        try FileManager.default.moveItem(
            atPath: folder.path + "/old",
            toPath: folder.path + "/new"
        )
        try Files.replace("file", with: [7], in: directory)
        let moved = try POSIXDirectory(path: folder.path + "/new", access: .readWrite)
        #expect(try Files.contents(of: "file", in: moved, sizeMax: 1) == [7])
    }

    @Test func aCopyHasAnotherIdentity() throws {
        let folder = try TemporaryFolder()
        let directory = try folder.directory()
        try Files.replace("file", with: [7], in: directory)
        try FileManager.default.copyItem(
            atPath: folder.path + "/file",
            toPath: folder.path + "/copy"
        )
        let identity = try directory.identity(of: "file")
        #expect(try directory.open("file", .read).identity == identity)
        #expect(try directory.open("copy", .read).identity != identity)
        #expect(identity.inode != 0)
        #expect(failure { try directory.identity(of: "none") } == "notFound")
    }

    @Test func twoWaysToOneMachineGiveOneID() throws {
        let folder = try TemporaryFolder()
        let id = try folder.directory().machineID
        #expect(try folder.directory().machineID == id)
        #expect(!id.isEmpty)
        #expect(id.allSatisfy { $0 > UInt8(ascii: " ") })
    }

    @Test func aLongReadKeepsWhatWasThere() throws {
        let folder = try TemporaryFolder()
        let file = try folder.directory().open("file", .create)
        var random = SeededRandom(seed: 2)
        let expected = makeBytes(100_000, using: &random)
        try file.write(expected, at: 0)
        var bytes: [UInt8] = []
        while bytes.count < expected.count {
            try file.read(at: Int64(bytes.count), count: 7777, into: &bytes)
        }
        #expect(bytes == expected)
    }

    @Test(.disabled(if: getuid() == 0, "nothing is denied to root"))
    func whatIsNotAllowedIsDenied() throws {
        let folder = try TemporaryFolder()
        let directory = try folder.directory()
        try Files.replace("file", with: [1], in: directory)
        try allow(0o400, for: folder.path + "/file")
        #expect(failure { try directory.open("file", .readWrite) } == "denied")
        #expect(try Files.contents(of: "file", in: directory, sizeMax: 1) == [1])
        try allow(0o500, for: folder.path)
        #expect(failure { try directory.open("other", .create) } == "denied")
        #expect(try folder.directory().isReadOnly)
        try allow(0o700, for: folder.path)
    }

    private func allow(_ permissions: Int, for path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
    }

    @Test(.waits) func writingThroughAReaderTraps() async throws {
        let folder = try TemporaryFolder()
        _ = try folder.directory().open("file", .create)
        await #expect(processExitsWith: .failure) { [path = folder.path as String] in
            attempt {
                let directory = try POSIXDirectory(path: path, access: .readWrite)
                try directory.open("file", .read).write([1], at: 0)
            }
        }
    }

    @Test func readingADirectoryFails() throws {
        let folder = try TemporaryFolder()
        let directory = try folder.directory()
        try directory.makeDirectory("folder")
        #expect(failure { try directory.open("folder", .read) } == "notFile")
        #expect(failure { try directory.open("folder", .readWrite) } == "notFile")
    }

    @Test func everyErrorSaysWhatToDo() {
        let errors: [StorageError] = [
            .notFound("F"), .exists("F"), .full("F"), .readOnly("F"), .denied("F"),
            .locked("F", owner: 17), .locked("F", owner: nil), .notDirectory("F"),
            .notFile("F"), .nameTooLong("F"),
            .tooLarge("F", size: 9), .failed(.makeDirectory, "F", code: 5),
        ]
        for error in errors {
            #expect(error.message.contains("F"))
            #expect(error.message.hasSuffix("."))
        }
        #expect(StorageError.locked("F", owner: 17).message.contains("process 17"))
        let failed = StorageError.failed(.makeDirectory, "F", code: 5).message
        #expect(failed.hasPrefix("Cannot make directory F: Input/output error."))
        #expect(StorageError.tooManyFiles.message.contains("ulimit -n"))
    }

    @Test func theClockAndTheEntropyWork() {
        let clock = SystemClock()
        let first = clock.now
        #expect(first <= clock.now)
        #expect(first.milliseconds > 1_700_000_000_000)
        let entropy = SystemEntropy()
        #expect(Set((0..<100).map { _ in entropy.next() }).count == 100)
    }
}
