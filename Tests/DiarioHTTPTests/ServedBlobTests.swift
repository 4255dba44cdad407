import Diario
import DiarioCore
import DiarioCrypto
import DiarioHTTP
import DiarioLog
import DiarioServer
import DiarioStorage
import DiarioTestSupport
import Testing

/// Blobs as a server takes and gives them: schema/format/http.md, section 10.
struct ServedBlobTests {
    private static let path = "/v1/spaces/home"
    private let world: ServedWorld
    private let token: String
    private let bytes = BlobPack.bytes(3000)
    private var id: Hash32 { BlobPack.id(bytes) }

    init() throws {
        world = try ServedWorld(packs: [try BlobPack.make()])
        token = try world.token()
    }

    private func record(_ line: String) throws {
        let answer = try world.post(Self.path + "/events", token, line)
        #expect(answer.status == 201, "\(answer.text)")
    }

    private func get(_ headers: [String: String] = [:]) throws -> HTTPAnswer {
        try world.get(Self.path + "/blobs/" + id.text, token, headers: headers)
    }

    private func stored() throws -> [String] {
        try world.store.blobs.ids().map(\.text)
            + world.store.blobs.parts().map { $0.id.text + ".part" }
    }

    @Test func aBlobComesInPartsAndIsGivenToWhoseEventsReferToIt() throws {
        let missing = try world.want([id], token)
        #expect(missing.text.contains(#""missing":[{"id":"\#(id.text)","offset":0}],"here":[]"#))
        let first = try world.put(Array(bytes[..<1000]), of: id, offset: 0, size: 3000, token)
        #expect(first.status == 204 && first.header("Upload-Offset") == "1000")
        #expect(try world.want([id], token).text.contains(#""offset":1000"#))
        let rest = try world.put(Array(bytes[1000...]), of: id, offset: 1000, size: 3000, token)
        #expect(rest.status == 201 && rest.header("Upload-Offset") == "3000")
        #expect(try world.want([id], token).text.contains(#""here":[{"id":"\#(id.text)""#))
        // No event refers to it yet.
        #expect(try get().status == 404)
        try record(BlobPack.tile(bytes))
        let answer = try get()
        #expect(answer.status == 200 && answer.header("ETag") == "\"\(id.text)\"")
        #expect(answer.header("Cache-Control") == "private, max-age=31536000, immutable")
        guard case .file(let file) = answer.body else { throw ServedWorld.Waiting() }
        #expect(file.count == 3000 && file.path.hasSuffix("/blobs/" + id.text))
        let part = try get(["range": "bytes=1000-1999"])
        #expect(part.status == 206 && part.header("Content-Range") == "bytes 1000-1999/3000")
        #expect(try get(["if-none-match": "\"\(id.text)\""]).status == 304)
        #expect(try get(["range": "bytes=9000-"]).status == 416)
        #expect(try world.put(bytes, of: id, offset: 0, size: 3000, token).status == 200)
    }

    /// Whatever is cut off is continued, at each byte of a small blob.
    @Test func aBlobIsContinuedWhereverItWasCut() throws {
        for cut in [0, 1, 7, 999, 2999, 3000] {
            let bytes = BlobPack.bytes(3000, seed: UInt64(100 + cut))
            let id = BlobPack.id(bytes)
            _ = try world.put(Array(bytes[..<cut]), of: id, offset: 0, size: 3000, token)
            let elsewhere = try world.put([1], of: id, offset: 2998, size: 3000, token)
            if cut < 3000 {
                #expect(elsewhere.status == 409 && elsewhere.text.contains("problem:offset"))
                #expect(elsewhere.header("Upload-Offset") == "\(cut)")
                let rest = Array(bytes[cut...])
                #expect(try world.put(rest, of: id, offset: cut, size: 3000, token).status == 201)
            } else {
                #expect(elsewhere.status == 200)
            }
            #expect(try world.store.blobs.fault(of: id) == nil)
            #expect(try world.store.blobs.contains(id))
        }
        #expect(try world.store.blobs.parts().isEmpty)
    }

    @Test func otherBytesAreRefusedAndThrownAway() throws {
        var wrong = bytes
        wrong[2999] ^= 1
        #expect(
            try world.put(Array(wrong[..<2000]), of: id, offset: 0, size: 3000, token).status == 204
        )
        let answer = try world.put(Array(wrong[2000...]), of: id, offset: 2000, size: 3000, token)
        #expect(answer.status == 422 && answer.text.contains("problem:digest"))
        #expect(try stored().isEmpty)
        #expect(try world.put(bytes, of: id, offset: 0, size: 3000, token).status == 201)
    }

    @Test func whatIsNoPartIsRefusedAsSuch() throws {
        func status(_ offset: String, _ size: String, _ count: Int = 1) throws -> Int {
            try world.answer(
                HTTPRequest(
                    "PUT",
                    Self.path + "/blobs/" + id.text,
                    headers: ServedWorld.bearing(
                        token,
                        ["upload-offset": offset, "upload-length": size]
                    ),
                    body: [UInt8](repeating: 0, count: count)
                )
            ).status
        }
        #expect(try status("0", "2000000000") == 413)
        #expect(try status("-1", "10") == 400)
        #expect(try status("0", "x") == 400)
        #expect(try status("0", "") == 400)
        #expect(try status("8", "10", 3) == 400)
        #expect(try status("99999999999999999999", "10") == 400)
        let path = Self.path + "/blobs/"
        #expect(try world.get(path + "abc", token).status == 400)
        #expect(try world.post(path + "want", token, #"{"ids":["x"]}"#).status == 400)
        #expect(try world.post(path + "want", token, #"{"id":[]}"#).status == 400)
        let many = (0...Limits.blobWantCountMax).map { BlobPack.id([UInt8($0 & 255)]) }
        #expect(try world.want(many, token).status == 413)
        #expect(try stored().isEmpty)
    }

    @Test func rightsAreThoseOfTheSpace() throws {
        let reader = try world.token(.read)
        #expect(try world.want([id], reader).status == 403)
        #expect(try world.put(bytes, of: id, offset: 0, size: 3000, reader).status == 403)
        try record(BlobPack.tile(bytes))
        #expect(try world.put(bytes, of: id, offset: 0, size: 3000, token).status == 201)
        #expect(try world.get(Self.path + "/blobs/" + id.text, reader).status == 200)
        // Another space learns nothing of it, and what it sends is its own.
        let other = try world.token(for: "other")
        let path = "/v1/spaces/other/blobs/"
        #expect(try world.get(path + id.text, other).status == 404)
        let want = try world.post(path + "want", other, #"{"ids":["\#(id.text)"]}"#)
        #expect(want.text.contains(#""offset":0"#))
    }

    @Test func beyondAQuotaABlobAloneIsRefused() throws {
        let name = try #require(SpaceName("home"))
        var quota = SpaceQuota()
        quota.blobBytesMax = 3500
        try world.control.setQuota(of: name, quota)
        #expect(try world.put(bytes, of: id, offset: 0, size: 3000, token).status == 201)
        let (large, small) = (BlobPack.bytes(501, seed: 2), BlobPack.bytes(500, seed: 3))
        let refused = try world.put(
            large,
            of: BlobPack.id(large),
            offset: 0,
            size: 501,
            token
        )
        #expect(refused.status == 507 && refused.text.contains("may have 3500"))
        try record(BlobPack.tile(large))
        let taken = try world.put(small, of: BlobPack.id(small), offset: 0, size: 500, token)
        #expect(taken.status == 201)
        // A size that was not counted is not a way around it.
        let other = BlobPack.id([7])
        quota.blobBytesMax = 3600
        try world.control.setQuota(of: name, quota)
        #expect(try world.put([0], of: other, offset: 0, size: 10, token).status == 204)
        #expect(try world.put([1], of: other, offset: 1, size: 900, token).status == 507)
        var draft = TokenDraft(space: name, rights: [.append])
        draft.blobBytesMax = 5
        let poor = try world.control.makeToken(draft, drawnFrom: SystemEntropy()).key.text
        #expect(try world.put([1], of: BlobPack.id([8]), offset: 0, size: 6, poor).status == 507)
        #expect(try world.put([1], of: BlobPack.id([8]), offset: 0, size: 5, poor).status == 204)
    }

    /// A week after its first part, what no event refers to is removed.
    @Test func whatNoEventRefersToIsKeptForAWeek() throws {
        let (kept, name) = (BlobPack.bytes(10, seed: 4), try #require(SpaceName("home")))
        let space = try #require(try world.control.space(name))
        let bearer = try #require(try world.control.bearer(of: token, at: world.store.now))
        let old = Timestamp(milliseconds: world.store.now.milliseconds - 8 * 86_400_000)
        for bytes in [kept, bytes] {
            let id = BlobPack.id(bytes)
            let size = Int64(bytes.count)
            let sent = SentBlob(size: size, isWhole: true)
            try world.control.noteBlob(id, sent, in: space, with: bearer.token, at: old)
            _ = try world.put(bytes, of: id, offset: 0, size: bytes.count, token)
        }
        let coming = BlobPack.id([9])
        let begun = SentBlob(size: 9, isWhole: false)
        try world.control.noteBlob(coming, begun, in: space, with: bearer.token, at: old)
        _ = try world.put([1], of: coming, offset: 0, size: 9, token)
        let fresh = BlobPack.bytes(20, seed: 5)
        _ = try world.put(fresh, of: BlobPack.id(fresh), offset: 0, size: 20, token)
        try record(BlobPack.tile(kept))
        try world.handler.blobs.removeUnreferred()
        let left = [kept, fresh].map { BlobPack.id($0).text }.sorted()
        #expect(try stored() == left)
        try world.handler.blobs.removeUnreferred()
        #expect(try stored() == left)
    }

    /// What came of it is of no use to anybody, and is neither asked for nor given.
    @Test func anErasedBlobIsNeitherWantedNorGiven() throws {
        let blob = BlobPack.Shot(id: id, size: 2968, key: nil)
        _ = try world.put(bytes, of: id, offset: 0, size: 3000, token)
        try record(BlobPack.line(blob, hasKey: false))
        #expect(try get().status == 404)
        #expect(try world.want([id], token).text == #"{"missing":[],"here":[]}"# + "\n")
    }
}
