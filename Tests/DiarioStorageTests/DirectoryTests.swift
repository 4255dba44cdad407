import DiarioCore
import DiarioStorage
import DiarioTestSupport
import DiarioWeb
import Foundation
import Testing

/// What holds for every data directory: on a real disk, on a simulated one, and in a page.
@Suite struct DirectoryTests {
    enum Kind: CaseIterable {
        case posix, crash, crashProcess, pool

        /// A slot of a pool is many files, one after the other.
        static let withIdentities: [Kind] = [.posix, .crash, .crashProcess]
    }

    /// Calls `body` with an empty directory of that kind.
    private func withDirectory(_ kind: Kind, _ body: (any LogDirectory) throws -> Void) throws {
        switch kind {
        case .posix:
            let folder = try TemporaryFolder()
            try withExtendedLifetime(folder) { try body(folder.directory()) }
        case .crash: try body(CrashDisk(machineID: "test"))
        case .crashProcess: try body(CrashDisk(machineID: "test").process(7))
        case .pool:
            let disk = CrashDisk(machineID: "test")
            try body(PooledDirectory((0..<64).map { try disk.open("\($0)", .create) }))
        }
    }

    @Test(arguments: Kind.allCases) func bytesComeBackFromWhereTheyWereWritten(_ kind: Kind) throws
    {
        try withDirectory(kind) { directory in
            let file = try directory.open("file", .create)
            var random = SeededRandom(seed: 1)
            var expected = [UInt8](repeating: 0, count: 5000)
            try file.truncate(to: 5000)
            for _ in 0..<100 {
                let bytes = makeBytes(random.below(600), using: &random)
                let offset = random.below(5000 - bytes.count)
                expected.replaceSubrange(offset..<offset + bytes.count, with: bytes)
                try file.write(bytes, at: Int64(offset))
            }
            #expect(try file.allBytes() == expected)
            #expect(try file.size() == 5000)
        }
    }

    @Test(arguments: Kind.allCases) func aReadAppendsAndStopsAtTheEnd(_ kind: Kind) throws {
        try withDirectory(kind) { directory in
            let file = try directory.open("file", .createNew)
            try file.write([1, 2, 3, 4, 5], at: 0)
            var bytes: [UInt8] = [9]
            try file.read(at: 1, count: 2, into: &bytes)
            #expect(bytes == [9, 2, 3])
            try file.read(at: 3, count: 100, into: &bytes)
            #expect(bytes == [9, 2, 3, 4, 5])
            try file.read(at: 77, count: 3, into: &bytes)
            #expect(bytes == [9, 2, 3, 4, 5])
        }
    }

    @Test(arguments: Kind.allCases) func gapsAndGrowthReadAsZeros(_ kind: Kind) throws {
        try withDirectory(kind) { directory in
            let file = try directory.open("file", .create)
            try file.write([1, 2], at: 3)
            #expect(try file.allBytes() == [0, 0, 0, 1, 2])
            try file.truncate(to: 4)
            try file.truncate(to: 6)
            #expect(try file.allBytes() == [0, 0, 0, 1, 0, 0])
            try file.write([], at: 50)
            #expect(try file.size() == 6)
        }
    }

    @Test(arguments: Kind.allCases) func twoHandlesSeeOneFile(_ kind: Kind) throws {
        try withDirectory(kind) { directory in
            let writer = try directory.open("file", .create)
            let reader = try directory.open("file", .read)
            try writer.write([1, 2, 3], at: 0)
            try reader.sync()
            #expect(try reader.allBytes() == [1, 2, 3])
            #expect(try reader.identity == writer.identity)
        }
    }

    @Test(arguments: Kind.allCases) func accessDecidesWhatMustBeThere(_ kind: Kind) throws {
        try withDirectory(kind) { directory in
            #expect(failure { try directory.open("file", .read) } == "notFound")
            #expect(failure { try directory.open("file", .readWrite) } == "notFound")
            let first = try directory.open("file", .createNew)
            try first.write([1], at: 0)
            #expect(failure { try directory.open("file", .createNew) } == "exists")
            #expect(try directory.open("file", .create).allBytes() == [1])
            #expect(try directory.open("file", .readWrite).allBytes() == [1])
        }
    }

    @Test(arguments: Kind.allCases) func namesAreListedInTheOrderOfTheirBytes(_ kind: Kind) throws {
        try withDirectory(kind) { directory in
            let names = ["b", "a", "B", "a-", "a.x", "z\u{e9}", "zz", "10", "9"]
            try directory.makeDirectory("spaces/one")
            for name in names { _ = try directory.open("spaces/one/\(name)", .createNew) }
            let sorted = ["10", "9", "B", "a", "a-", "a.x", "b", "zz", "z\u{e9}"]
            #expect(try directory.list("spaces/one") == sorted)
            #expect(try directory.list("spaces") == ["one"])
            #expect(try directory.list("") == ["spaces"])
        }
    }

    @Test(arguments: Kind.allCases) func directoriesAreMadeWithTheirParents(_ kind: Kind) throws {
        try withDirectory(kind) { directory in
            try directory.makeDirectory("a/b/c")
            try directory.makeDirectory("a/b/c")
            try Files.makeDirectoryDurably("a/b/d", in: directory)
            #expect(try directory.list("a/b") == ["c", "d"])
            #expect(try directory.exists("a/b/c"))
            #expect(try directory.exists(""))
            #expect(try !directory.exists("a/x"))
            #expect(try !directory.exists("x/y"))
            _ = try directory.open("file", .create)
            #expect(failure { try directory.makeDirectory("file") } == "notDirectory")
            #expect(failure { try directory.makeDirectory("file/x") } == "notDirectory")
            #expect(failure { try directory.open("x/y", .create) } == "notFound")
            #expect(failure { try directory.list("file") } == "notDirectory")
        }
    }

    @Test(arguments: Kind.allCases) func aRenameReplacesAndKeepsHandles(_ kind: Kind) throws {
        try withDirectory(kind) { directory in
            let old = try directory.open("old", .create)
            let replaced = try directory.open("new", .create)
            try old.write([1], at: 0)
            try replaced.write([2], at: 0)
            try directory.rename("old", to: "new")
            try directory.syncDirectory("")
            #expect(try directory.list("") == ["new"])
            #expect(try directory.open("new", .read).allBytes() == [1])
            #expect(try old.allBytes() == [1])
            #expect(try replaced.allBytes() == [2])
            #expect(failure { try directory.rename("old", to: "x") } == "notFound")
        }
    }

    @Test(arguments: Kind.allCases) func removingTakesFilesAndEmptyDirectories(_ kind: Kind) throws
    {
        try withDirectory(kind) { directory in
            try directory.makeDirectory("a")
            _ = try directory.open("a/file", .create)
            #expect(failure { try directory.remove("a") } == "failed")
            try directory.remove("a/file")
            try directory.remove("a")
            #expect(try directory.list("") == [])
            #expect(failure { try directory.remove("a") } == "notFound")
        }
    }

    @Test(arguments: Kind.allCases) func replacingLeavesTheNewBytesAndNoOtherFile(
        _ kind: Kind
    ) throws {
        try withDirectory(kind) { directory in
            try Files.replace("file", with: [1, 2, 3], in: directory)
            try Files.replace("file", with: [4], in: directory)
            #expect(try Files.contents(of: "file", in: directory, sizeMax: 1) == [4])
            #expect(try directory.list("") == ["file"])
            #expect(
                failure { try Files.contents(of: "file", in: directory, sizeMax: 0) } == "tooLarge"
            )
        }
    }

    @Test(arguments: Kind.withIdentities) func everyFileHasAnIdentityOfItsOwn(_ kind: Kind) throws {
        try withDirectory(kind) { directory in
            let first = try directory.open("a", .create)
            let second = try directory.open("b", .create)
            let identity = try first.identity
            #expect(try second.identity != identity)
            try directory.rename("a", to: "c")
            #expect(try directory.open("c", .read).identity == identity)
        }
    }

    /// As long as a file is open, its name tells whether it was replaced.
    @Test(arguments: Kind.withIdentities) func aNameLeadsToAnotherFileOnceThatIsReplaced(
        _ kind: Kind
    ) throws {
        try withDirectory(kind) { directory in
            try directory.makeDirectory("a")
            try Files.replace("a/file", with: [0], in: directory)
            for number in UInt8(1)...20 {
                let file = try directory.open("a/file", .read)
                #expect(try directory.open("a/file", .read).identity == file.identity)
                try Files.replace("a/file", with: [number], in: directory)
                try Files.replace("a/file", with: [number], in: directory)
                #expect(try directory.open("a/file", .read).identity != file.identity)
            }
        }
    }

    /// Whoever makes a diary may die after the folder got its name and before that is on disk.
    @Test func theNameOfTheDirectoryItselfIsSynced() throws {
        let folder = try TemporaryFolder()
        try withExtendedLifetime(folder) { try folder.directory().syncDirectory("") }
    }

    @Test(.waits) func pathsThatLeadOutwardsTrap() async {
        await #expect(processExitsWith: .failure) {
            attempt { _ = try CrashDisk(machineID: "").open("a/../b", .create) }
        }
        await #expect(processExitsWith: .failure) {
            attempt { _ = try CrashDisk(machineID: "").exists("/etc") }
        }
        await #expect(processExitsWith: .failure) {
            attempt { try CrashDisk(machineID: "").rename("a/b", to: "b") }
        }
    }
}

/// Runs what is expected to trap; an error is none, so that the test notices.
func attempt(_ body: () throws -> Void) { try? body() }

/// The case of the error that `body` throws, without its facts; nil if it throws none.
func failure<Result>(_ body: () throws -> Result) -> String? {
    do {
        _ = try body()
        return nil
    } catch {
        return String("\(error)".prefix { $0 != "(" })
    }
}
