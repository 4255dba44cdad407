import Diario
import DiarioCore
import DiarioCrypto
import DiarioEngine
import DiarioFormat
import DiarioHTTP
import DiarioLog
import DiarioServer
import DiarioStorage
import DiarioSync
import DiarioTestSupport
import Synchronization
import Testing

/// Two devices that exchange pictures by a server, over HTTP.
struct BlobSyncTests {
    private let world: ServedWorld
    private let server: HTTPServer
    private let token: String

    init() throws {
        world = try ServedWorld(packs: [try BlobPack.make()])
        token = try world.token()
        server = try HTTPServer(
            HTTPServer.Configuration(host: "127.0.0.1", port: 0),
            world.handler
        )
    }

    private var address: String { "http://127.0.0.1:\(server.address.port)/v1/spaces/home" }

    private func transport() throws -> HTTPTransport {
        try HTTPTransport(to: address, token: token)
    }

    /// A replica of the served space, in a folder of its own.
    private func device(_ name: String) async throws -> Diary {
        let path = world.folder.path + "/" + name
        let remote = RemoteServer(address: address, token: token)
        _ = try await SpaceCopy.run(at: path, from: transport(), remembering: remote) { _ in }
        return try Diary(path: path)
    }

    private func put(_ bytes: [UInt8], on diary: Diary) async throws -> BlobPack.Shot {
        let path = world.folder.path + "/picture"
        let directory = try POSIXDirectory(path: world.folder.path, access: .readWrite)
        try Files.replace("picture", with: bytes, in: directory)
        let made = try await diary.blobs.put(fileAt: path)
        let id = Hash32(made.id.span)
        return BlobPack.Shot(id: try #require(id), size: made.size, key: made.key)
    }

    private func record(_ line: String, on diary: Diary) async throws {
        var recorder = LineRecorder(diary.space)
        try recorder.add(Array(line.utf8).span)
        recorder.finish()
        #expect(try recorder.commit().count == 1)
    }

    private func state(_ blob: BlobPack.Shot, on diary: Diary) async throws -> BlobState {
        try await diary.blobs.state(of: blob.id.bytes)
    }

    @Test func aPictureGoesFromOneDeviceToAnother() async throws {
        let (first, second) = (try await device("first"), try await device("second"))
        let bytes = BlobPack.bytes(200_000)
        let blob = try await put(bytes, on: first)
        try await record(BlobPack.line(blob), on: first)
        #expect(try await state(blob, on: first) == .here)
        let sent = try await first.sync(with: transport())
        #expect(sent.pushed == 1 && sent.blobs.sent == 1 && sent.blobs.failure == nil)
        second.blobs.pause()
        #expect(try await second.sync(with: transport()).blobs == BlobReport())
        #expect(try await state(blob, on: second) == .missing)
        second.blobs.resume()
        #expect(try await second.sync(with: transport()).blobs.fetched == 1)
        #expect(try await second.blobs.bytes(of: blob.id.bytes) == bytes)
        #expect(
            try await second.blobs.bytes(of: blob.id.bytes, range: 65_530..<65_540)
                == Array(bytes[65_530..<65_540])
        )
        // Nothing is asked twice.
        let requests = try await first.sync(with: transport()).requests
        #expect(requests == 1)
        try await first.close()
        try await second.close()
    }

    /// The bytes are not sent again, whatever part they were cut at.
    @Test func aTransferIsContinuedAfterEachPart() async throws {
        let (first, second) = (try await device("first"), try await device("second"))
        let blob = try await put(BlobPack.bytes(2_000), on: first)
        try await record(BlobPack.line(blob), on: first)
        first.blobs.pause()
        _ = try await first.sync(with: transport())
        _ = try await second.sync(with: transport())
        for diary in [first, second] {
            var requestCount = 0
            var done = false
            // A new session for each request, as after the end of the program.
            while !done {
                var session = try await session(diary, [blob.id])
                for _ in 0..<2 {
                    guard case .send(let request) = try session.next() else {
                        done = true
                        break
                    }
                    requestCount += 1
                    try session.receive(try await transport().carry(request))
                }
                #expect(requestCount < 40)
            }
            // 2,032 stored bytes in parts of 300, and each time a question.
            #expect(requestCount == 15)
        }
        #expect(try await state(blob, on: second) == .here)
        try await first.close()
        try await second.close()
    }

    private func session(_ diary: Diary, _ ids: [Hash32]) async throws -> BlobSession {
        let space = diary.space
        var session = try BlobSession(
            space.store.blobs,
            space.id,
            BlobSession.Scope(ids.map { ($0, nil) }),
            knowing: nil,
            of: address,
            epoch: 0,
            losses: nil,
            at: space.now
        )
        session.partSize = 300
        return session
    }

    @Test func twoDevicesSendOneBlobAtOnce() async throws {
        let (first, second) = (try await device("first"), try await device("second"))
        let blob = try await put(BlobPack.bytes(100_000), on: first)
        let stored = try #require(try first.space.store.blobs.find(blob.id))
        var bytes: [UInt8] = []
        try stored.read(0..<stored.size, into: &bytes)
        let copy = try second.space.store.blobs.put(isPublic: true, sizeMax: .max)
        try copy.write(bytes.span)
        #expect(try copy.finish().id == blob.id)
        try await record(BlobPack.line(blob), on: first)
        try await record(BlobPack.line(blob), on: second)
        async let one = first.sync(with: transport())
        async let other = second.sync(with: transport())
        let reports = try await [one, other]
        #expect(reports.allSatisfy { $0.blobs.failure == nil && $0.blobs.refused == 0 })
        _ = try await first.sync(with: transport())
        #expect(try world.store.blobs.fault(of: blob.id) == nil)
        #expect(try world.store.blobs.contains(blob.id))
        #expect(try world.store.blobs.parts().isEmpty)
        try await first.close()
        try await second.close()
    }

    /// Over a quota the events go on, and the device says why its picture does not.
    @Test func beyondTheQuotaEventsGoOn() async throws {
        let diary = try await device("first")
        var quota = SpaceQuota()
        quota.blobBytesMax = 1000
        let name = try #require(SpaceName("home"))
        try world.control.setQuota(of: name, quota)
        let (large, small) = (
            try await put(BlobPack.bytes(5000), on: diary),
            try await put(BlobPack.bytes(500, seed: 2), on: diary)
        )
        try await record(BlobPack.line(large), on: diary)
        try await record(BlobPack.line(small), on: diary)
        let report = try await diary.sync(with: transport())
        #expect(report.pushed == 2 && report.blobs.sent == 1 && report.blobs.refused == 1)
        #expect(try await state(large, on: diary) == .refused)
        #expect(try await state(small, on: diary) == .here)
        let reason = try diary.space.blobLookup.refusal(of: large.id)
        #expect(reason?.contains("may have 1000") == true)
        quota.blobBytesMax = nil
        try world.control.setQuota(of: name, quota)
        #expect(try await diary.sync(with: transport()).blobs.sent == 1)
        #expect(try await state(large, on: diary) == .here)
        try await diary.close()
    }

    /// The picture stays on the device, with its event in the inbox.
    @Test func thePhotoOfARefusedEventIsNotSent() async throws {
        let path = world.folder.path + "/first"
        let remote = RemoteServer(address: address, token: token)
        _ = try await SpaceCopy.run(at: path, from: transport(), remembering: remote) { _ in }
        let diary = try Diary(path: path)
        let blob = try await put(BlobPack.bytes(3000), on: diary)
        let line = BlobPack.line(blob).replacing(
            "\"version\":1,",
            with: "\"version\":1,\"subject\":\"a\",\"ifUnchanged\":true,"
        )
        try await record(line, on: diary)
        let other = BlobPack.line(blob, hasKey: false).replacing(
            "\"version\":1,",
            with: "\"version\":1,\"subject\":\"a\","
        )
        let answer = try world.post("/v1/spaces/home/events", token, other)
        #expect(answer.status == 201, "\(answer.text)")
        let report = try await diary.sync(with: transport())
        #expect(report.rejected == 1 && report.blobs.sent == 0)
        #expect(try world.store.blobs.ids().isEmpty)
        #expect(try diary.space.storedBlobSize(blob.id) != nil)
        try await diary.close()
    }

    @Test func damagedBytesAreNeverKeptUnderTheID() async throws {
        let (first, second) = (try await device("first"), try await device("second"))
        let blob = try await put(BlobPack.bytes(3000), on: first)
        try await record(BlobPack.line(blob), on: first)
        _ = try await first.sync(with: transport())
        second.blobs.pause()
        _ = try await second.sync(with: transport())
        second.blobs.resume()
        let spoiling = Spoiling(transport: try transport())
        let report = try await second.blobs.sync(with: spoiling)
        #expect(report.fetched == 0 && report.missing == 1)
        #expect(try await state(blob, on: second) == .coming)
        #expect(try second.space.store.blobs.ids().isEmpty)
        #expect(try await second.sync(with: transport()).blobs.fetched == 1)
        try await first.close()
        try await second.close()
    }

    /// Changes a bit of whatever is fetched.
    private struct Spoiling: BlobCarrier {
        let transport: HTTPTransport
        var blobServer: String { transport.blobServer }
        var blobLosses: String? { transport.blobLosses }

        func carry(_ request: BlobRequest) async throws -> BlobReply {
            let reply = try await transport.carry(request)
            guard case .part(var bytes, let size) = reply, !bytes.isEmpty else { return reply }
            bytes[bytes.count / 2] ^= 4
            return .part(bytes, size: size)
        }
    }

    /// Both sides said that nothing was missing, for a day or for ever.
    @Test func damageHealsWithTheNextSyncOnEitherSide() async throws {
        let diary = try await device("first")
        let bytes = BlobPack.bytes(150_000)
        let blob = try await put(bytes, on: diary)
        try await record(BlobPack.line(blob), on: diary)
        #expect(try await diary.sync(with: transport()).blobs.sent == 1)
        let server = try POSIXDirectory(
            path: world.folder.path + "/" + LogPaths.directoryName,
            access: .readWrite
        )
        let own = try POSIXDirectory(
            path: world.folder.path + "/first/" + LogPaths.directoryName,
            access: .readWrite
        )
        let path = LogPaths.blob(blob.id)
        // Cut here: the size tells.
        try own.open(path, .readWrite).truncate(to: 1000)
        #expect(try await diary.sync(with: transport()).blobs.fetched == 1)
        // A bit here: whoever reads it tells.
        try own.open(path, .readWrite).write([0x55, 0xaa].span, at: 70_000)
        await #expect(throws: DiarioError.self) { try await diary.blobs.bytes(of: blob.id.bytes) }
        #expect(try await state(blob, on: diary) == .coming)
        #expect(try await diary.sync(with: transport()).blobs.fetched == 1)
        #expect(try await diary.blobs.bytes(of: blob.id.bytes) == bytes)
        // A bit there: another device that fetches it tells.
        try server.open(path, .readWrite).write([0x55, 0xaa].span, at: 70_000)
        let second = try await device("second")
        let report = try await second.sync(with: transport())
        #expect(report.blobs.missing == 1 && report.blobs.fetched == 0)
        #expect(try await diary.sync(with: transport()).blobs.sent == 1)
        #expect(try await second.sync(with: transport()).blobs.fetched == 1)
        #expect(try await diary.sync(with: transport()).blobs == BlobReport())
        try await diary.close()
        try await second.close()
    }

    /// Who only reads gets the pictures, and asks nothing that it may not.
    @Test func aReaderFetchesWithoutAsking() async throws {
        let first = try await device("first")
        let blobs = [try await put(BlobPack.bytes(3000), on: first)]
        for blob in blobs { try await record(BlobPack.line(blob), on: first) }
        _ = try await first.sync(with: transport())
        let second = try await device("second")
        let reader = try HTTPTransport(to: address, token: world.token(.read))
        #expect(try await second.blobs.sync(with: reader).fetched == 1)
        #expect(try await state(blobs[0], on: second) == .here)
        try await first.close()
        try await second.close()
    }

    /// In the background a picture follows its event, without being asked for.
    @Test(.waits) func inTheBackgroundPicturesFollow() async throws {
        let (first, second) = (try await device("first"), try await device("second"))
        try await first.connect(with: transport())
        try await second.connect(with: transport())
        let blob = try await put(BlobPack.bytes(3000), on: first)
        try await record(BlobPack.line(blob), on: first)
        for _ in 0..<1200 {
            if try await state(blob, on: second) == .here { break }
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(try await state(blob, on: second) == .here)
        try await first.close()
        try await second.close()
    }
}
