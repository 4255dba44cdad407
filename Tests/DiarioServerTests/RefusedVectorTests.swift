import Diario
import DiarioCore
import DiarioCrypto
import DiarioFrames
import DiarioLog
import DiarioStorage
import DiarioTestSupport
import Testing

/// The data directory of schema/vectors in which events were refused; the second implementation
/// reads it too.
struct RefusedVectorTests {
    private struct Vector: Codable {
        var comment: String
        /// Paths in the data directory, and the bytes of each file; behind them there were zeros.
        var files: [String: String]
        var head: Int
        var root: String
        /// Origins.
        var pending: [String]
        /// First origins of batches, and the rules that they broke.
        var inbox: [[String]]
    }

    @Test func aDirectoryWithRefusedEventsIsReadAsItWas() throws {
        let vector = try VectorFile.load("refused-1.json") {
            let world = try InboxWorld()
            let device = try Self.device(in: world)
            let opened = try world.open(device.disk.copy(machineID: "device"))
            let files = try Self.files(of: device.disk)
            return try Self.describe(opened, in: world, files: files)
        }
        let world = try InboxWorld()
        let disk = CrashDisk(machineID: "device")
        for path in vector.files.keys.sorted() {
            let bytes = try Hex.bytes(vector.files[path] ?? "")
            try Self.write(bytes, to: path, on: disk)
        }
        let opened = try world.open(disk)
        #expect(opened.store.fault == nil)
        let found = try Self.describe(opened, in: world, files: vector.files)
        #expect(found.head == vector.head)
        #expect(found.root == vector.root)
        #expect(found.pending == vector.pending)
        #expect(found.inbox == vector.inbox)
        let verified = try world.space(of: opened).verify { _ in }
        #expect(verified.isOK)
        #expect(vector.inbox.count == 2)
    }

    /// Sequences 1 and 3 were accepted, 2 and 4 refused, and 5 is pending.
    private static func device(in world: InboxWorld) throws -> Device {
        var device = try world.makeDevice()
        for round in 0..<2 {
            try world.record([note("a \(round)"), note("b", by: "bob")], on: device)
            let space = try world.space(of: device)
            _ = try space.store.seal(space.id, all: true)
            try world.sync(&device)
        }
        let space = try world.space(of: device)
        _ = try space.store.seal(space.id, all: true)
        try world.record([note("e")], on: device)
        try device.store.close()
        return device
    }

    private static func note(_ text: String, by actor: String = "alice") -> String {
        #"{"type":"shed.note.made","actor":"\#(actor)","payload":{"text":"\#(text)"}}"#
    }

    private static func describe(
        _ device: Device,
        in world: InboxWorld,
        files: [String: String]
    ) throws -> Vector {
        let space = try world.space(of: device)
        let standing = device.store.standing(of: space.id)
        return Vector(
            comment: "A data directory in which two batches were refused: frames.md and sync.md.",
            files: files,
            head: Int(standing.head),
            root: try space.stats().root.text,
            pending: standing.pending.flatMap { pending in
                pending.sequences.map { Origin(replica: pending.replica, sequence: $0).text }
            },
            inbox: try space.inbox().map { [$0.origin.text, $0.refusal?.rule ?? ""] }
        )
    }

    /// All files without the zeros at their ends, but for those that are made again.
    private static func files(of disk: CrashDisk) throws -> [String: String] {
        var found: [String: String] = [:]
        var folders = [""]
        while let folder = folders.popLast() {
            for name in try disk.list(folder) {
                let path = folder.isEmpty ? name : folder + "/" + name
                if isFolder(path, on: disk) {
                    folders.append(path)
                } else if path != FramePaths.reserve, !path.hasSuffix("lock") {
                    found[path] = try content(of: path, on: disk)
                }
            }
        }
        return found
    }

    private static func write(_ bytes: [UInt8], to path: String, on disk: CrashDisk) throws {
        let folder = LogPaths.parent(of: path)
        if !folder.isEmpty { try disk.makeDirectory(folder) }
        let file = try disk.open(path, .create)
        try file.write(bytes.span, at: 0)
        try file.sync()
    }

    private static func isFolder(_ path: String, on disk: CrashDisk) -> Bool {
        do throws(StorageError) {
            _ = try disk.list(path)
            return true
        } catch {
            return false
        }
    }

    private static func content(of path: String, on disk: CrashDisk) throws -> String {
        let bytes = try Files.contents(of: path, in: disk, sizeMax: Limits.logFileSizeMax)
        guard path.hasSuffix(".dwal") else { return Hex.text(bytes) }
        let end = (bytes.lastIndex { $0 != 0 } ?? 0) + 1
        return Hex.text(bytes[..<min(bytes.count, (end + 4095) / 4096 * 4096)])
    }
}
