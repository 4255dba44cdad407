import DiarioCore
import DiarioCrypto
import DiarioLog
import DiarioSchema
import DiarioSimulation
import DiarioStorage
import Testing

/// Packs that were kept are compared with what was adopted, and taken from the program if need be.
@Suite struct RepairPackTests {
    private let pack = SimulatedPack(number: 2)
    private let other = SimulatedPack(number: 1)

    /// A sample that holds two packs.
    private func sample() throws -> RepairSample {
        let sample = try RepairSample(count: 20)
        let store = try sample.log.open()
        for pack in [pack, other] {
            try store.keep(pack.files, fingerprint: pack.fingerprint)
        }
        try store.close()
        return sample
    }

    private func repair(_ log: RepairSample, knows packs: [SimulatedPack]) -> LogRepair {
        LogRepair(
            log.log.disk,
            time: log.log.clock,
            entropy: log.log.entropy,
            engine: log.log.kinds.engine,
            types: log.log.kinds.types,
            packs: Dictionary(uniqueKeysWithValues: packs.map { ($0.fingerprint, $0.files) }),
            sizes: log.log.sizes
        )
    }

    @Test(arguments: RepairTests.Damage.allCases)
    func aDamagedPackIsReplaced(_ damage: RepairTests.Damage) throws {
        let sample = try sample()
        let folder = LogPaths.pack(pack.fingerprint)
        let paths = try sample.files().filter { $0.hasPrefix(folder + "/") }
        #expect(paths.count == pack.files.count)
        for path in paths {
            let log = sample.copy()
            let before = try log.log.disk.contents(of: path, sizeMax: .max)
            try log.damage(path, damage)
            let rehearsed = try repair(log, knows: [pack]).rehearse()
            #expect(rehearsed.findings.map(\.fault.file) == [folder])
            var mender = repair(log, knows: [pack])
            let report = try mender.run()
            #expect(report.isMended && report.lostCount == 0, "\(path): \(report.findings)")
            #expect(report.findings == rehearsed.findings)
            #expect(try log.log.disk.contents(of: path, sizeMax: .max) == before)
            let store = try log.log.open()
            for pack in [pack, other] {
                #expect(try store.packFiles(pack.fingerprint).count == pack.files.count)
            }
            try store.close()
            // What was there is kept, file by file.
            let kept = try log.files().filter { $0.hasPrefix("set-aside/1/" + folder) }
            #expect(kept.count == ([.delete, .folder].contains(damage) ? 2 : 3), "\(path)")
            var again = repair(log, knows: [pack])
            #expect(try again.run().isClean)
            try log.expectWhole(sample.rows, report, path)
        }
    }

    /// A folder of another kind of damage: a file too many, and the folder that is a file.
    @Test func aFolderThatIsNoneIsReplaced() throws {
        let sample = try sample()
        let folder = LogPaths.pack(pack.fingerprint)
        for isTooMany in [true, false] {
            let log = sample.copy()
            if isTooMany {
                try log.log.disk.makeDirectoryDurably(folder + "/queries")
                try log.log.disk.replace(folder + "/queries/more.sql", with: [1, 2])
            } else {
                try log.log.disk.removeTree(folder)
                try log.log.disk.replace(folder, with: [1, 2, 3])
            }
            var mender = repair(log, knows: [pack])
            let report = try mender.run()
            #expect(report.isMended && report.findings.count == 1, "\(report.findings)")
            let store = try log.log.open()
            #expect(try store.packFiles(pack.fingerprint).count == pack.files.count)
            try store.close()
        }
    }

    /// What the program does not know cannot be mended; that is said, and nothing is changed.
    @Test func anUnknownPackIsNamed() throws {
        let log = try sample().copy()
        let folder = LogPaths.pack(pack.fingerprint)
        try log.damage(folder + "/pack.json", .truncate)
        let before = try log.bytes()
        var mender = repair(log, knows: [other])
        let report = try mender.run()
        #expect(!report.isMended)
        #expect(report.findings.map(\.fault.file) == [folder])
        #expect(report.findings.allSatisfy { $0.remedy == nil })
        #expect(report.setAside == nil && report.remaining == [] && report.losses == [])
        for (path, bytes) in before where path.hasPrefix(folder) {
            #expect(try log.log.disk.contents(of: path, sizeMax: .max) == bytes)
        }
    }

    /// The fingerprint tells which bit changed of a pack that is nowhere else.
    @Test func aBitOfAnUnknownPackIsPutRight() throws {
        let log = try sample().copy()
        let folder = LogPaths.pack(pack.fingerprint)
        let before = try log.bytes().filter { $0.key.hasPrefix(folder) }
        try log.damage(folder + "/pack.json", .flip)
        var mender = repair(log, knows: [other])
        let report = try mender.run()
        #expect(report.isMended && report.losses == [], "\(report.findings)")
        #expect(try log.bytes().filter { $0.key.hasPrefix(folder) } == before)
    }
}
