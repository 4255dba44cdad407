import DiarioCore
import DiarioStorage
import DiarioTestSupport
import Testing

/// What a power cut leaves on a `CrashDisk`, and what it does not.
@Suite struct CrashDiskTests {
    private static let seeds = Array(UInt64(0)..<100)

    /// A disk with a durably named, empty file "file".
    private func makeDisk() throws -> (CrashDisk, any LogFile) {
        let disk = CrashDisk(machineID: "test")
        let file = try disk.open("file", .createNew)
        try disk.syncDirectory("")
        return (disk, file)
    }

    /// What a crash under that seed leaves of the file that `prepare` worked on.
    private func survivors(
        seed: UInt64,
        _ prepare: (CrashDisk, any LogFile) throws -> Void
    ) throws -> [UInt8] {
        var random = SeededRandom(seed: seed)
        let (disk, file) = try makeDisk()
        try prepare(disk, file)
        disk.crash(using: &random)
        return try disk.open("file", .read).allBytes()
    }

    @Test(arguments: seeds) func syncedBytesSurviveACrash(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let (disk, first) = try makeDisk()
        var file = first
        // What must be there; nil where an unsynced write went since.
        var expected: [UInt8?] = []
        for _ in 0..<60 {
            switch random.below(8) {
            case 0:
                try file.sync()
                expected = try file.allBytes()
            case 1:
                disk.crash(using: &random)
                #expect(throws: StorageError.cut) { try file.size() }
                file = try disk.open("file", .readWrite)
                let bytes = try file.allBytes()
                // The length is that of a write since the sync, never less than what was synced.
                #expect(bytes.count >= expected.count)
                let isKept = zip(bytes, expected).allSatisfy { $1 == nil || $0 == $1 }
                #expect(isKept)
                expected = bytes
            default:
                let offset = random.below(3000)
                let bytes = makeBytes(1 + random.below(1500), using: &random)
                try file.write(bytes, at: Int64(offset))
                let end = min(offset + bytes.count, expected.count)
                for index in min(offset, end)..<end { expected[index] = nil }
            }
        }
    }

    @Test(arguments: seeds) func aSectorHoldsSomeOfItsWritesInOrder(seed: UInt64) throws {
        // Ten writes to one sector; each sets one more byte.
        let bytes = try survivors(seed: seed) { _, file in
            try file.write([UInt8](repeating: 0, count: 10), at: 0)
            try file.sync()
            for index in 0..<10 { try file.write([1], at: Int64(index)) }
        }
        #expect(bytes.count == 10)
        #expect(bytes == bytes.sorted(by: >))
    }

    @Test func unsyncedBytesAreLostKeptAndTorn() throws {
        var lostCount = 0
        var keptCount = 0
        var tornCount = 0
        var laterWithoutEarlierCount = 0
        var gapCount = 0
        for seed in Self.seeds {
            let bytes = try survivors(seed: seed) { _, file in
                try file.write([UInt8](repeating: 1, count: 1024), at: 0)
                try file.write([UInt8](repeating: 2, count: 1024), at: 1024)
            }
            let sectors = stride(from: 0, to: bytes.count, by: 512).map { bytes[$0] }
            #expect(bytes.count.isMultiple(of: 512))
            #expect(bytes.prefix(1024).allSatisfy { $0 <= 1 })
            #expect(bytes.dropFirst(1024).allSatisfy { $0 == 0 || $0 == 2 })
            if sectors.isEmpty { lostCount += 1 }
            if sectors == [1, 1, 2, 2] { keptCount += 1 }
            if sectors.contains(1), sectors.prefix(2).contains(0) { tornCount += 1 }
            if sectors.contains(2), !sectors.contains(1) { laterWithoutEarlierCount += 1 }
            if sectors.last == 0 { gapCount += 1 }
        }
        #expect(lostCount > 20)
        #expect(keptCount > 20)
        #expect(tornCount > 3)
        #expect(laterWithoutEarlierCount > 1)
        #expect(gapCount > 3)
    }

    @Test func aLostCutBringsTheOldBytesBack() throws {
        var outcomes: Set<[UInt8]> = []
        for seed in Self.seeds {
            outcomes.insert(
                try survivors(seed: seed) { _, file in
                    try file.write([1, 2, 3, 4], at: 0)
                    try file.sync()
                    try file.truncate(to: 2)
                    try file.write([9], at: 3)
                }
            )
        }
        // Never the new byte beside old ones that were cut off.
        #expect(outcomes == [[1, 2, 3, 4], [1, 2], [1, 2, 0, 0], [1, 2, 0, 9]])
    }

    @Test func aSyncedCutIsNotUndone() throws {
        for seed in Self.seeds {
            let bytes = try survivors(seed: seed) { _, file in
                try file.write([1, 2, 3, 4], at: 0)
                try file.sync()
                try file.truncate(to: 2)
                try file.truncate(to: 6)
                try file.sync()
            }
            #expect(bytes == [1, 2, 0, 0, 0, 0])
        }
    }

    @Test func namesAreLostWithoutASyncOfTheirDirectory() throws {
        var outcomes: Set<[String]> = []
        for seed in Self.seeds {
            var random = SeededRandom(seed: seed)
            let disk = CrashDisk(machineID: "test")
            try Files.makeDirectoryDurably("a", in: disk)
            try disk.open("a/one", .create).sync()
            try disk.open("a/two", .create).sync()
            try disk.rename("a/one", to: "a/three")
            try disk.remove("a/two")
            try disk.makeDirectory("a/b")
            disk.crash(using: &random)
            outcomes.insert(try disk.list("a"))
        }
        #expect(
            outcomes == [
                [], ["one"], ["one", "two"], ["three", "two"], ["three"], ["b", "three"],
            ]
        )
    }

    @Test(arguments: seeds) func syncedNamesSurvive(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let disk = CrashDisk(machineID: "test")
        try Files.makeDirectoryDurably("a/b", in: disk)
        let file = try disk.open("a/b/file", .create)
        try file.write([1], at: 0)
        try file.sync()
        try disk.syncDirectory("a/b")
        disk.crash(using: &random)
        #expect(try Files.contents(of: "a/b/file", in: disk, sizeMax: 1) == [1])
    }

    @Test func aReplacedFileIsOldOrNew() throws {
        let old = [UInt8](repeating: 1, count: 2000)
        let new = [UInt8](repeating: 2, count: 3000)
        var outcomes: Set<[UInt8]> = []
        let count = try countOperations { try Files.replace("file", with: new, in: $0) }
        for operation in 1...count {
            for moment in CrashDisk.CutMoment.allCases {
                for seed in UInt64(0)..<20 {
                    var random = SeededRandom(seed: seed)
                    let disk = CrashDisk(machineID: "test")
                    try Files.replace("file", with: old, in: disk)
                    disk.cutAfter(operations: operation, moment)
                    #expect(throws: StorageError.cut) {
                        try Files.replace("file", with: new, in: disk)
                    }
                    disk.crash(using: &random)
                    outcomes.insert(try Files.contents(of: "file", in: disk, sizeMax: 3000))
                    try Files.replace("file", with: [3], in: disk)
                    #expect(try Files.contents(of: "file", in: disk, sizeMax: 1) == [3])
                }
            }
        }
        #expect(outcomes == [old, new])
    }

    /// How many operations `body` is, on a disk with a file "file".
    private func countOperations(_ body: (CrashDisk) throws -> Void) throws -> Int {
        let disk = CrashDisk(machineID: "test")
        try Files.replace("file", with: [1], in: disk)
        let count = disk.operationCount
        try body(disk)
        return disk.operationCount - count
    }

    @Test func aSeedRepeatsItsCrash() throws {
        for seed in Self.seeds.prefix(20) {
            let outcomes = try (0..<2).map { _ in
                try survivors(seed: seed) { _, file in
                    var random = SeededRandom(seed: 99)
                    for _ in 0..<20 {
                        let bytes = makeBytes(random.below(2000), using: &random)
                        try file.write(bytes, at: Int64(random.below(9000)))
                    }
                }
            }
            #expect(outcomes[0] == outcomes[1])
        }
    }
}
