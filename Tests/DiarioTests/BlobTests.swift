import Diario
import DiarioCore
import DiarioCrypto
import DiarioHost
import DiarioSQLite
import DiarioSchema
import DiarioStorage
import DiarioTestSupport
import Testing

/// From bytes to an event, and from the event to the bytes.
@Suite struct BlobTests {
    private static let schema = """
        {"title":"tasks.task.shown","x-diario-version":1,"x-diario-subject":"id","type":"object",
        "additionalProperties":false,"required":["id","photo"],"properties":{
        "id":{"type":"string","maxLength":40},
        "photo":{"type":"object","x-diario-blob":{"maxSize":900000,"types":["image/png"]}}}}
        """
    private let bytes: [UInt8]

    init() {
        var random = SeededRandom(seed: 5)
        bytes = makeBytes(200_000, using: &random)
    }

    private func lane() throws -> LaneSpace {
        try LaneSpace(TasksPack.make(extra: ["events/task.shown.1.json": Self.schema]))
    }

    private func put(_ bytes: [UInt8], in space: Space) throws -> PutBlob {
        let folder = try TemporaryFolder()
        return try space.putBlob(SampleSpace.file(bytes, in: folder), isPublic: false)
    }

    private func payload(_ blob: PutBlob, hasKey: Bool = true) -> String {
        let key = blob.key.map { #","photoKey":"\#(TextEncodings.base64($0))""# } ?? ""
        return #"{"id":"t","photoId":"\#(TextEncodings.base64(blob.id.bytes))","#
            + #""photoSize":\#(blob.size),"photoType":"image/png"\#(hasKey ? key : "")}"#
    }

    private func states(_ models: ReadModels) throws -> [String] {
        let sql = "SELECT blob_state(id) FROM tasks.diario_blob ORDER BY origin"
        let answer = try models.ask(.sql(sql, [:])).answer()
        var states: [String] = []
        while let row = try answer.next() { states += row.texts.compactMap { $0 } }
        return states
    }

    @Test func anEventLeadsToItsBytes() throws {
        var lane = try lane()
        let blob = try put(bytes, in: lane.space)
        try lane.record("tasks.task.shown", payload(blob))
        let models = try ReadModels(lane.space)
        #expect(try states(models) == ["here"])
        let reference = try #require(try models.reference(to: blob.id))
        #expect(reference.size == 200_000 && reference.type == "image/png")
        #expect(reference.key == blob.key && !reference.isPublic)
        let found = try lane.space.blob(
            blob.id,
            isPublic: reference.isPublic,
            key: reference.key,
            size: reference.size
        )
        let content = try #require(found)
        var read: [UInt8] = []
        try content.read(0..<content.size, into: &read)
        #expect(read == bytes)
        #expect(try lane.space.store.verifyBlobs().faults.isEmpty)
        #expect(try lane.space.dropBlob(blob.id))
        #expect(try states(models) == ["missing"])
    }

    /// An event whose key is gone erases its blob, unless another one still has it.
    @Test func withoutAKeyABlobIsErased() throws {
        var lane = try lane()
        let (gone, kept) = (try put([1], in: lane.space), try put([2], in: lane.space))
        try lane.pull("tasks.task.shown", payload(gone, hasKey: false))
        try lane.pull("tasks.task.shown", payload(kept, hasKey: false))
        try lane.record("tasks.task.shown", payload(kept))
        let models = try ReadModels(lane.space)
        #expect(try states(models) == ["erased", "here", "here"])
        let referred = try models.referredBlobs()
        #expect(Set(referred.map { $0.id }) == [gone.id, kept.id])
        #expect(referred.first { $0.id == gone.id }?.isErased == true)
        #expect(referred.first { $0.id == kept.id }?.count == 2)
        #expect(try models.knownBlobs() == referred)
        #expect(try models.reference(to: kept.id)?.key == kept.key)
        let reference = try #require(try models.reference(to: gone.id))
        #expect(reference.key == nil)
        #expect(throws: DiarioError.self) {
            try lane.space.blob(gone.id, isPublic: false, key: reference.key)
        }
    }

    /// What pending events refer to goes when they are undone, and a rebuild gives the same rows.
    @Test func undoneAndRebuiltTheTableIsTheSame() throws {
        var lane = try lane()
        let blobs = try (0..<4).map { try put([UInt8($0)], in: lane.space) }
        let models = try ReadModels(lane.space)
        try lane.pull("tasks.task.shown", payload(blobs[0], hasKey: false))
        try lane.record("tasks.task.shown", payload(blobs[1]))
        try models.update()
        // It comes before the pending one, which is undone for it.
        try lane.pull("tasks.task.shown", payload(blobs[2], hasKey: false), by: 1)
        try models.update()
        try lane.promote(1)
        try lane.record("tasks.task.shown", payload(blobs[3]))
        #expect(try models.referredBlobs().count == 4)
        #expect(try models.compare(models.packs).allSatisfy { $0.table.isEmpty })
    }

    @Test func aQueryIsToldWhatIsNoID() throws {
        let lane = try lane()
        let models = try ReadModels(lane.space)
        try models.update()
        let none = try models.ask(.sql("SELECT blob_state(NULL)", [:])).answer().next()
        #expect(none?.values == [.null])
        for id in ["'a'", "7", "x'00'"] {
            let error = #expect(throws: DiarioError.self) {
                _ = try models.ask(.sql("SELECT blob_state(\(id))", [:])).answer().next()
            }
            #expect(error?.message.contains("32 bytes") == true)
        }
    }
}
