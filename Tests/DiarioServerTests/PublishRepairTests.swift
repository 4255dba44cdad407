import Diario
import DiarioCore
import DiarioCrypto
import DiarioLog
import DiarioStorage
import DiarioSync
import Testing

/// Attempts to publish of which the file is damaged: schema/format/log.md, section 14.
struct PublishRepairTests {
    private let world: PublishWorld
    private let path: String

    init() throws {
        world = try PublishWorld()
        path = LogPaths.publishing(world.space)
    }

    /// The other side heard of an attempt, and has none of the events yet.
    private func begin() throws -> PublishingFile {
        var session = world.session()
        guard case .send(let request) = try session.next(at: world.clock.now) else {
            throw Failure.noRequest
        }
        _ = world.answer(request)
        try world.record()
        return try #require(try world.device.publishing(of: world.space))
    }

    private enum Failure: Error {
        case noRequest
    }

    private func expectMended(by remedy: String) throws {
        #expect(try world.deviceFaults() == [path])
        let report = try world.repairDevice()
        #expect(report.findings.map(\.fault.file) == [path])
        #expect(report.findings.first?.remedy?.contains(remedy) == true)
        #expect(report.isMended)
        #expect(try world.deviceFaults() == [])
        #expect(try world.repairDevice().isClean)
    }

    @Test(arguments: [0, 5, 20, 30, 50, 79]) func anAttemptIsBegunAnew(offset: Int) throws {
        let before = try begin()
        try world.deviceDisk.flipBit(3, at: offset, of: path)
        #expect(throws: LogError.self) { try world.device.publishing(of: world.space) }
        try expectMended(by: "begun anew")
        let after = try #require(try world.device.publishing(of: world.space))
        #expect(after.attempt != before.attempt)
        #expect((after.size, after.root) == (before.size, before.root))
        #expect(after.acceptedAt == before.acceptedAt)
        #expect(try world.publish() == .published)
        try world.checkPublished()
    }

    /// Only the other side's word gives the authority back, as ever.
    @Test func whatWasTakenOverMeanwhileIsFollowed() throws {
        var session = world.session()
        var request: [UInt8] = []
        while case .send(let next) = try session.next(at: world.clock.now) {
            request = next
            let answer = world.answer(request)
            guard case .publication(let publication) = try SyncMessage(answer.span),
                case .goesOn = publication.outcome
            else { break }
            try session.receive(answer, at: world.clock.now)
        }
        // The last answer is lost, and then the file.
        try world.deviceDisk.flipBit(1, at: 12, of: path)
        try expectMended(by: "begun anew")
        #expect(try world.publish(.abandoning) == .published)
        try world.checkPublished()
    }

    @Test func aFileThatSpeaksOfOtherEventsIsNoneOfThisLog() throws {
        let file = try begin()
        let other = PublishingFile(
            attempt: file.attempt,
            size: file.size - 1,
            root: file.root,
            acceptedAt: file.acceptedAt
        )
        try world.deviceDisk.replace(path, with: other.encoded())
        try expectMended(by: "begun anew")
        #expect(try world.publish() == .published)
        try world.checkPublished()
    }

    @Test func besideAnAuthorityItIsRemoved() throws {
        try world.deviceDisk.replace(path, with: [1, 2, 3])
        try expectMended(by: "removed")
        #expect(try !world.deviceDisk.exists(path))
        try world.checkKept()
    }

    /// A manifest that is made anew does not give the authority back either.
    @Test func withoutItsManifestTheAttemptIsBegunAnew() throws {
        let before = try begin()
        try world.deviceDisk.flipBit(2, at: 20, of: LogPaths.manifest(world.space))
        let report = try world.repairDevice()
        #expect(report.isMended)
        #expect(try world.device.status(of: world.space).manifest.authority == nil)
        let after = try #require(try world.device.publishing(of: world.space))
        #expect(after.attempt != before.attempt)
        #expect(try world.publish() == .published)
        try world.checkPublished()
    }
}
