import Diario
import DiarioCore
import DiarioCrypto
import DiarioEngine
import DiarioHTTP
import DiarioLog
import DiarioSchema
import DiarioServer
import DiarioStorage
import DiarioTestSupport
import Testing

/// Blobs that stay on the device that recorded them: schema/format/models.md, section 2.
struct StayingBlobTests {
    private static let blob = """
        "photo":{"type":"object","x-diario-blob":{"maxSize":900000,"types":["image/png"]}}
        """

    private static func schema(_ type: String, _ fields: String) -> PackFile {
        let text = """
            {"title":"shots.\(type)","x-diario-version":1,"type":"object",
            "additionalProperties":false,"required":[],"properties":{\(fields)}}
            """
        return PackFile(path: "events/\(type).1.json", bytes: Array(text.utf8))
    }

    /// The view says who released a picture, until it is hidden again.
    private static let view = """
        -- readmodel sharing version 1: which pictures are shared
        CREATE TABLE sharing (
            photoId BLOB NOT NULL, actor TEXT NOT NULL, isHidden INT NOT NULL,
            PRIMARY KEY (photoId, actor)
        ) STRICT, WITHOUT ROWID;
        CREATE VIEW released_blob AS
        SELECT photoId AS id, actor FROM sharing WHERE isHidden = 0;
        -- on shots.photo.shared
        INSERT INTO sharing
        SELECT :photoId, coalesce(:_actor, '-'), 0 WHERE :photoId IS NOT NULL
        ON CONFLICT (photoId, actor) DO NOTHING;
        -- on shots.photo.hidden
        UPDATE sharing SET isHidden = 1
        WHERE photoId = :shownId AND actor = coalesce(:_actor, '-');
        """

    private static func pack(hasView: Bool) throws -> Pack {
        let manifest = #"{"name":"shots","version":1,"stays":["shots.photo.taken.photo"]}"#
        let shown = #""shownId":{"type":"string","contentEncoding":"base64","maxLength":44}"#
        let files = [
            PackFile(path: "pack.json", bytes: Array(manifest.utf8)),
            schema("photo.taken", blob), schema("photo.shared", blob),
            schema("photo.hidden", shown),
        ]
        let model = PackFile(path: "readmodel/sharing.sql", bytes: Array(view.utf8))
        return try Pack(files: hasView ? files + [model] : files)
    }

    // MARK: A world

    private let world: ServedWorld
    private let server: HTTPServer

    private init(hasView: Bool) throws {
        world = try ServedWorld(packs: [try Self.pack(hasView: hasView)])
        server = try HTTPServer(
            HTTPServer.Configuration(host: "127.0.0.1", port: 0),
            world.handler
        )
    }

    init() throws { try self.init(hasView: true) }

    private var address: String { "http://127.0.0.1:\(server.address.port)/v1/spaces/home" }

    private struct Device {
        let diary: Diary
        let actor: String
        let transport: HTTPTransport

        func sync() async throws -> BlobReport {
            try await diary.sync(with: transport).blobs
        }

        func state(_ blob: BlobPack.Shot) async throws -> BlobState {
            try await diary.blobs.state(of: blob.id.bytes)
        }
    }

    private func device(_ actor: String, _ name: String) async throws -> Device {
        let path = world.folder.path + "/" + name
        let token = try world.token(actor: actor)
        let transport = try HTTPTransport(to: address, token: token)
        let remote = RemoteServer(address: address, token: token)
        _ = try await SpaceCopy.run(at: path, from: transport, remembering: remote) { _ in }
        let diary = try Diary(path: path)
        try diary.space.setDefaultActor(actor)
        return Device(diary: diary, actor: actor, transport: transport)
    }

    private func put(_ bytes: [UInt8], on device: Device) async throws -> BlobPack.Shot {
        let directory = try POSIXDirectory(path: world.folder.path, access: .readWrite)
        try Files.replace("picture", with: bytes, in: directory)
        let made = try await device.diary.blobs.put(fileAt: world.folder.path + "/picture")
        let id = Hash32(made.id.span)
        return BlobPack.Shot(id: try #require(id), size: made.size, key: made.key)
    }

    private func record(_ type: String, _ blob: BlobPack.Shot, on device: Device) throws {
        let id = TextEncodings.base64(blob.id.bytes)
        let key = TextEncodings.base64(try #require(blob.key))
        let payload =
            type == "hidden"
            ? #"{"shownId":"\#(id)"}"#
            : #"{"photoId":"\#(id)","photoSize":\#(blob.size),"photoType":"image/png","#
                + #""photoKey":"\#(key)"}"#
        let line =
            #"{"type":"shots.photo.\#(type)","version":1,"actor":"\#(device.actor)","#
            + #""payload":\#(payload)}"#
        var recorder = LineRecorder(device.diary.space)
        try recorder.add(Array(line.utf8).span)
        recorder.finish()
        #expect(try recorder.commit().count == 1)
    }

    private func isOnServer(_ blob: BlobPack.Shot) throws -> Bool {
        try world.store.blobs.contains(blob.id)
    }

    // MARK: Tests

    @Test(arguments: [false, true])
    func itGoesNowhereUntilItsActorReleasesIt(hasView: Bool) async throws {
        let tests = try StayingBlobTests(hasView: hasView)
        let anna = try await tests.device("anna", "one")
        let other = try await tests.device("bruno", "other")
        other.diary.blobs.fetchAll()
        let blob = try await tests.put(BlobPack.bytes(70_000), on: anna)
        try tests.record("taken", blob, on: anna)
        #expect(try await anna.sync() == BlobReport())
        #expect(try await other.sync() == BlobReport())
        #expect(try !tests.isOnServer(blob))
        // Nobody else releases it, also not beside a picture of their own that is the same.
        try tests.record("shared", blob, on: other)
        try tests.record("taken", blob, on: other)
        #expect(try await other.sync() == BlobReport())
        #expect(try await anna.sync() == BlobReport())
        #expect(try !tests.isOnServer(blob))
        #expect(try await other.state(blob) == .missing)
        let token = try tests.world.token([.read, .append])
        #expect(try !tests.world.want([blob.id], token).text.contains(blob.id.text))
        try tests.record("shared", blob, on: anna)
        #expect(try await anna.sync().sent == 1)
        #expect(try tests.isOnServer(blob))
        #expect(try await other.sync().fetched == 1)
        #expect(try await other.state(blob) == .here)
        try await anna.diary.close()
        try await other.diary.close()
    }

    /// Who refers to another one's picture takes nothing away by it.
    @Test func nobodyElseKeepsItBack() async throws {
        let anna = try await device("anna", "one")
        let other = try await device("bruno", "other")
        let blob = try await put(BlobPack.bytes(9_000), on: anna)
        try record("taken", blob, on: anna)
        try record("shared", blob, on: anna)
        #expect(try await anna.sync().sent == 1)
        _ = try await other.sync()
        try record("taken", blob, on: other)
        _ = try await other.sync()
        try world.handler.blobs.removeStaying()
        #expect(try await anna.sync() == BlobReport())
        #expect(try isOnServer(blob))
        #expect(try await other.state(blob) == .here)
        try await anna.diary.close()
        try await other.diary.close()
    }

    @Test func itIsRemovedWhereItCameWhenItStaysAgain() async throws {
        let anna = try await device("anna", "one")
        let tablet = try await device("anna", "two")
        let other = try await device("bruno", "other")
        let quiet = try await device("carla", "quiet")
        other.diary.blobs.fetchAll()
        let blob = try await put(BlobPack.bytes(70_000), on: anna)
        try record("taken", blob, on: anna)
        try record("shared", blob, on: anna)
        #expect(try await anna.sync().sent == 1)
        #expect(try await tablet.sync().fetched == 1)
        #expect(try await other.sync().fetched == 1)
        #expect(try await quiet.sync() == BlobReport())
        try record("hidden", blob, on: other)
        _ = try await other.sync()
        _ = try await anna.sync()
        #expect(try isOnServer(blob))
        try record("hidden", blob, on: tablet)
        _ = try await tablet.sync()
        #expect(try await tablet.state(blob) == .missing)
        _ = try await anna.sync()
        #expect(try !isOnServer(blob))
        _ = try await other.sync()
        #expect(try await other.state(blob) == .missing)
        #expect(try await anna.state(blob) == .here)
        // It does not come back, whoever syncs.
        for device in [anna, tablet, other] { #expect(try await device.sync() == BlobReport()) }
        #expect(try !isOnServer(blob))
        for device in [anna, tablet, other, quiet] { try await device.diary.close() }
    }

    /// Nobody asks about it, as when it was hidden by a request.
    @Test func theServerRemovesItByItself() async throws {
        let anna = try await device("anna", "one")
        let blob = try await put(BlobPack.bytes(5_000), on: anna)
        try record("taken", blob, on: anna)
        try record("shared", blob, on: anna)
        _ = try await anna.sync()
        #expect(try isOnServer(blob))
        let id = TextEncodings.base64(blob.id.bytes)
        let line = #"{"type":"shots.photo.hidden","version":1,"payload":{"shownId":"\#(id)"}}"#
        let token = try world.token(actor: "anna")
        #expect(try world.post("/v1/spaces/home/events", token, line).status == 201)
        let reply = try world.get("/v1/spaces/home/blobs/" + blob.id.text, token)
        #expect(reply.status == 404)
        try world.handler.blobs.removeStaying()
        #expect(try !isOnServer(blob))
        #expect(try await anna.state(blob) == .here)
        try await anna.diary.close()
    }

    /// A crash after the bytes came does not make them own ones.
    @Test func whatCameIsKnownAlsoAfterACrash() async throws {
        let anna = try await device("anna", "one")
        let other = try await device("bruno", "other")
        let blob = try await put(BlobPack.bytes(3_000), on: anna)
        try record("taken", blob, on: anna)
        try record("shared", blob, on: anna)
        _ = try await anna.sync()
        other.diary.blobs.fetchAll()
        #expect(try await other.sync().fetched == 1)
        let space = other.diary.space
        var notes = try #require(try space.store[space.id].blobNotes())
        notes.notes[blob.id] = .coming
        try space.store[space.id].setBlobNotes(notes)
        _ = try await other.sync()
        #expect(try space.blobLookup.isFetched(blob.id))
        try await anna.diary.close()
        try await other.diary.close()
    }

    @Test func oneOfAnotherIsFetchedAlone() async throws {
        let anna = try await device("anna", "one")
        let other = try await device("bruno", "other")
        var blobs: [BlobPack.Shot] = []
        for seed in 1...2 {
            let blob = try await put(BlobPack.bytes(3_000, seed: UInt64(seed)), on: anna)
            try record("taken", blob, on: anna)
            try record("shared", blob, on: anna)
            blobs.append(blob)
        }
        #expect(try await anna.sync().sent == 2)
        #expect(try await other.sync() == BlobReport())
        let report = try await other.diary.blobs.fetch(blobs[0].id.bytes, with: other.transport)
        #expect(report.fetched == 1)
        #expect(try await other.state(blobs[0]) == .here)
        #expect(try await other.state(blobs[1]) == .missing)
        #expect(try other.diary.space.blobLookup.isFetched(blobs[0].id))
        // What is here stays here, and nothing is asked about the other one.
        #expect(try await other.sync() == BlobReport())
        try await anna.diary.close()
        try await other.diary.close()
    }
}
