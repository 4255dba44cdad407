import Diario
import DiarioCore
import DiarioHost
import DiarioLog
import DiarioSchema
import DiarioTestSupport
import Testing

/// Batches that were made for another diary than the one that they are appended to.
@Suite struct OtherDiaryTests {
    private let folder: TemporaryFolder
    private let tasks: Pack
    private let meals: Pack

    init() throws {
        folder = try TemporaryFolder()
        tasks = try TasksPack.make()
        meals = try #require(try PackSource.builtIn().first { $0.name == "meals" })
    }

    private func makeDiary(_ name: String, _ packs: [Pack]) throws -> Diary {
        try Space.create(at: folder.path + "/" + name, packs: packs).close()
        return try Diary(path: folder.path + "/" + name)
    }

    private func batch(for diary: Diary) throws -> EventBatch {
        var batch = diary.makeBatch()
        try batch.add("tasks.task.removed", json: #"{"id":"t1"}"#)
        return batch
    }

    private func checkLog(_ name: String) throws -> [String] {
        let space = try Space.open(at: folder.path + "/" + name, access: .readOnly)
        #expect(try space.verify { _ in }.isOK)
        let lines = try SampleSpace.lines(space).split(separator: UInt8(ascii: "\n"))
        return lines.map { String(decoding: $0, as: UTF8.self) }
            .filter { $0.contains("tasks.task.") }
    }

    /// The event was acknowledged, and neither it nor anything behind it could ever be read.
    @Test func aBatchOfTypesThatAreNotHereIsRefused() async throws {
        let (one, other) = (try makeDiary("one", [tasks]), try makeDiary("other", [meals]))
        let batch = try batch(for: one)
        await #expect {
            try await other.append(batch)
        } throws: { error in
            guard let error = error as? DiarioError else { return false }
            return error.kind == .incompatible && error.message.contains("tasks.task.removed")
                && error.message.contains("makeBatch")
        }
        try await one.close()
        try await other.close()
        #expect(try checkLog("other").isEmpty)
    }

    @Test func aBatchOfTypesThatAreOthersHereIsRefused() async throws {
        let files = tasks.files.map { file in
            let text = String(decoding: file.bytes, as: UTF8.self)
            let other = text.replacing(#""maxLength":40"#, with: #""maxLength":41"#)
            return PackFile(path: file.path, bytes: Array(other.utf8))
        }
        let one = try makeDiary("one", [tasks])
        let other = try makeDiary("other", [try Pack(files: files)])
        let batch = try batch(for: one)
        await #expect {
            try await other.append(batch)
        } throws: {
            ($0 as? DiarioError)?.kind == .incompatible
        }
        try await other.append(self.batch(for: other))
        try await one.close()
        try await other.close()
        #expect(try checkLog("other").count == 1)
    }

    /// What was adopted by another process since is known before a batch is refused.
    @Test func aBatchOfTypesThatWereJustAdoptedIsTaken() async throws {
        let (one, other) = (try makeDiary("one", [tasks]), try makeDiary("other", [meals]))
        var space = try Space.open(at: folder.path + "/other", access: .readWrite)
        _ = try space.adopt([tasks]) { _, _ in }
        try space.close()
        try await other.append(batch(for: one))
        try await one.close()
        try await other.close()
        #expect(try checkLog("other").count == 1)
    }
}
