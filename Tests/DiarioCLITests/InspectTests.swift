import Diario
import DiarioCLI
import DiarioCore
import DiarioLog
import DiarioTestSupport
import Foundation
import Testing

@Suite struct InspectTests {
    /// The files below `.diario` of a space with a few events, by path.
    private static func files() throws -> [String: [UInt8]] {
        let folder = try TemporaryFolder()
        let path = folder.path + "/space"
        let space = try Space.create(at: path, packs: [])
        try space.close()
        var files: [String: [UInt8]] = [:]
        let root = path + "/.diario"
        for name in try FileManager.default.subpathsOfDirectory(atPath: root) {
            // A folder has no contents, and is passed over.
            guard let data = FileManager.default.contents(atPath: "\(root)/\(name)") else {
                continue
            }
            files[name] = Array(data)
        }
        return files
    }

    private func lines(_ bytes: [UInt8], _ name: String) -> [InspectLine] {
        var lines: [InspectLine] = []
        let inspector = FileInspector(bytes, name: name, showsRows: true)
        do { try inspector.inspect { lines += $0 } } catch { Issue.record(error) }
        return lines
    }

    private func faults(_ lines: [InspectLine]) -> [InspectLine] {
        lines.filter { if case .bad = $0.check { true } else { false } }
    }

    private func name(_ path: String) -> String {
        String(path.split(separator: "/").last ?? "")
    }

    @Test func everyFileOfANewSpaceVerifies() throws {
        let files = try Self.files()
        #expect(files.keys.contains("format"))
        for (path, bytes) in files where !path.hasPrefix("packs/") {
            let inspector = FileInspector(bytes, name: name(path), showsRows: true)
            #expect(inspector.kind != nil, "\(path)")
            #expect(faults(lines(bytes, name(path))) == [], "\(path)")
        }
    }

    @Test(arguments: ["remote", "last-sync", "backup"])
    func filesOfLinesAreShownWithoutTheirSecrets(name: String) {
        let bytes: [UInt8] =
            switch name {
            case "remote":
                RemoteFile(address: "https://a.example/v1/spaces/b", token: "k").encoded()
            case "last-sync":
                LastSyncFile(.init(at: Timestamp(milliseconds: 0), head: 7)).encoded()
            default: BackupFile(at: Timestamp(milliseconds: 0)).encoded()
            }
        let found = lines(bytes, name)
        #expect(found.reduce(0) { $0 + $1.size } == bytes.count)
        #expect(faults(found) == [])
        #expect(found.last?.check == .good)
        #expect(found.contains { $0.value == "1970-01-01T00:00:00.000Z" } == (name != "remote"))
        #expect(found.first { $0.name == "token" }?.value == (name == "remote" ? "not shown" : nil))
        var changed = bytes
        changed[20] ^= 1
        #expect(faults(lines(changed, name)).count == 1)
        #expect(faults(lines([], name)).count == 1)
        #expect(faults(lines(Array(bytes.dropLast(15)), name)).count == 1)
        #expect(faults(lines([UInt8](repeating: 0x0a, count: 20_000), name)).count == 1)
    }

    /// The leaves of the tree of fields cover the files that are one structure without a gap.
    @Test func theFieldsOfASmallFileCoverIt() throws {
        for (path, bytes) in try Self.files()
        where ["manifest", "replica", "synced"].contains(name(path)) {
            let lines = lines(bytes, name(path))
            var end = 0
            for line in lines {
                #expect(line.offset == end)
                end += line.size
            }
            #expect(end == bytes.count)
        }
    }

    @Test(arguments: UInt64(0)..<8)
    func aFlippedBitInASmallFileIsSeen(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for (path, bytes) in try Self.files()
        where ["manifest", "replica", "synced"].contains(name(path)) {
            var damaged = bytes
            damaged[random.below(bytes.count)] ^= 1 << UInt8(random.below(8))
            #expect(faults(lines(damaged, name(path))) != [], "\(path)")
            let cut = Array(bytes[..<random.below(bytes.count)])
            #expect(faults(lines(cut, name(path))) != [], "\(path)")
        }
    }

    /// Any bytes give lines, and all lie in the file.
    @Test(arguments: UInt64(0)..<32)
    func damageIsToldAndNeverTraps(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let sample = InspectSample.logFile()
        var damaged = sample
        for _ in 0..<1 + random.below(6) {
            damaged[random.below(damaged.count)] = UInt8(truncatingIfNeeded: random.next())
        }
        if random.oneIn(3) { damaged.removeLast(random.below(damaged.count)) }
        for line in lines(damaged, "0000000000000001.dwal") {
            #expect(line.offset >= 0 && line.offset + line.size <= max(damaged.count, 4096))
        }
    }

    /// Kind 8 was shown with its name, and as unknown: the names decide now.
    @Test(arguments: UInt8(0)...9) func everyKindOfRecordIsKnown(kind: UInt8) {
        var bytes = InspectSample.logFile()
        bytes[4096 + 40] = kind
        let shown = lines(bytes, "0000000000000001.dwal").first {
            $0.offset == 4096 + 40 && $0.name == "kind"
        }
        let isWrong = faults(shown.map { [$0] } ?? []).count == 1
        #expect(shown != nil)
        #expect(isWrong == !(1...6 ~= kind))
    }

    @Test func framesBehindDamageAreShown() {
        var bytes = InspectSample.logFile()
        let frameSize = InspectSample.frameSize
        let before = lines(bytes, "0000000000000001.dwal")
        #expect(faults(before) == [])
        #expect(before.count { $0.name == "frame" } == 3)
        bytes[4096 + frameSize + 45] ^= 1
        let after = lines(bytes, "0000000000000001.dwal")
        #expect(after.filter { $0.name == "frame" }.map(\.value) == ["1", "2", "3"])
        #expect(!faults(after).isEmpty)
        bytes[4096 + frameSize] ^= 1
        let lost = lines(bytes, "0000000000000001.dwal")
        #expect(lost.filter { $0.name == "frame" }.map(\.value) == ["1", "3"])
        #expect(lost.contains { $0.name == "damage" && $0.size == frameSize })
    }

    @Test func aCutFrameHasTheOffsetsOfItsFile() {
        let frame = Array(InspectSample.logFile()[4096..<4096 + InspectSample.frameSize])
        let lines = lines(frame, "cut-0000000000000001-8192")
        #expect(lines.first?.offset == 8192)
    }

    /// As `diario inbox retry` and `diario import` leave them when a crash comes in between.
    @Test(arguments: ["dbox", "dnew", "dimp"])
    func filesAboutOwnEventsAreKnown(suffix: String) throws {
        let (name, bytes) = try InspectSample.inboxFile(suffix)
        let inspector = FileInspector(bytes, name: name, showsRows: true)
        #expect(inspector.kind != nil)
        let whole = lines(bytes, name)
        #expect(faults(whole) == [])
        #expect(whole.first?.value.contains("1 event from ") == true)
        // The name says which batch it is.
        #expect(faults(lines(bytes, "x." + suffix)).count == 1)
        for offset in bytes.indices {
            var damaged = bytes
            damaged[offset] ^= 1
            #expect(faults(lines(damaged, name)) != [], "byte \(offset)")
            #expect(faults(lines(Array(bytes[..<offset]), name)) != [], "\(offset) bytes")
        }
        #expect(faults(lines(bytes + [0], name)) != [])
    }

    @Test func otherFilesAreNoneOfOurs() {
        #expect(FileInspector(Array("{}".utf8), name: "pack.json", showsRows: false).kind == nil)
        #expect(FileInspector([], name: "x", showsRows: false).kind == nil)
    }
}
