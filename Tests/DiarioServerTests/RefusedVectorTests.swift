import Diario
import DiarioCore
import DiarioCrypto
import DiarioLog
import DiarioStorage
import DiarioTestSupport
import Testing

/// The data directory of schema/vectors in which events were refused; the second implementation
/// reads it too.
struct RefusedVectorTests {
    private struct Vector: Decodable {
        /// Paths in the data directory, and the bytes of each file; behind them there were zeros.
        var files: [String: String]
        var head: UInt64
        var root: String
        /// Origins.
        var pending: [String]
        /// First origins of batches, and the rules that they broke.
        var inbox: [[String]]
    }

    /// Sequences 1 and 3 were accepted, 2 and 4 refused, and 5 is pending.
    @Test func aDirectoryWithRefusedEventsIsReadAsItWas() throws {
        let vector: Vector = try VectorFile.read("refused-1.json")
        let disk = CrashDisk(machineID: "device")
        for (path, bytes) in vector.files {
            try disk.makeDirectory(LogPaths.parent(of: path))
            let (file, content) = (try disk.open(path, .create), try Hex.bytes(bytes))
            try file.write(content.span, at: 0)
        }
        let world = try InboxWorld()
        let opened = try world.open(disk)
        #expect(opened.store.fault == nil)
        let space = try world.space(of: opened)
        let standing = opened.store[space.id].standing()
        #expect(standing.head == vector.head)
        #expect(try space.stats().root.text == vector.root)
        let pending = standing.pending.flatMap { events in
            events.sequences.map { Origin(replica: events.replica, sequence: $0).text }
        }
        #expect(pending == vector.pending)
        let inbox = try SpaceInbox(space).batches().map {
            [$0.origin.text, $0.refusal?.rule ?? ""]
        }
        #expect(inbox == vector.inbox)
        #expect(vector.inbox.count == 2)
        #expect(try space.verify { _ in }.isOK)
    }
}
