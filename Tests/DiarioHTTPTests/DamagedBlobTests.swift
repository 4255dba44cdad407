import Diario
import DiarioCore
import DiarioCrypto
import DiarioHTTP
import DiarioLog
import DiarioSQLite
import DiarioServer
import DiarioStorage
import DiarioSync
import DiarioTestSupport
import Testing

/// Damaged blobs of a server count as missing, and what one space sends tells another nothing:
/// schema/format/http.md, section 10.
struct DamagedBlobTests {
    private static let path = "/v1/spaces/home"
    private let world: ServedWorld
    private let token: String
    private let bytes = BlobPack.bytes(3000)
    private var id: Hash32 { BlobPack.id(bytes) }

    init() throws {
        world = try ServedWorld(packs: [try BlobPack.make()])
        token = try world.token()
    }

    private func record(_ bytes: [UInt8]) throws {
        let answer = try world.post(Self.path + "/events", token, BlobPack.tile(bytes))
        #expect(answer.status == 201, "\(answer.text)")
    }

    private func put(_ bytes: [UInt8]) throws -> Int {
        try world.put(bytes, of: BlobPack.id(bytes), offset: 0, size: bytes.count, token).status
    }

    private func get(_ headers: [String: String] = [:]) throws -> HTTPAnswer {
        try world.get(Self.path + "/blobs/" + id.text, token, headers: headers)
    }

    private func isHere() throws -> Bool {
        try world.want([id], token).text.contains(#""here":[{"id":"\#(id.text)""#)
    }

    enum Harm: CaseIterable { case flip, cut, lengthen }

    /// As a disk does it, where the file lies.
    private func harm(_ harm: Harm) throws {
        let directory = try POSIXDirectory(
            path: world.folder.path + "/" + LogPaths.directoryName,
            access: .readWrite
        )
        let file = try directory.open(LogPaths.blob(id), .readWrite)
        switch harm {
        case .flip: try file.write([bytes[1500] ^ 8].span, at: 1500)
        case .cut: try file.truncate(to: 100)
        case .lengthen: try file.truncate(to: 3001)
        }
    }

    /// Wrong bytes were given with 200 and `immutable`, and right ones were taken for known.
    @Test(arguments: Harm.allCases) func damagedBytesAreNotGivenAndComeAgain(harm: Harm) throws {
        try record(bytes)
        #expect(try put(bytes) == 201)
        try self.harm(harm)
        for headers in [[:], ["range": "bytes=0-9"], ["if-none-match": "\"\(id.text)\""]] {
            let answer = try get(headers)
            #expect(answer.status == 404 && answer.text.contains("problem:damaged"))
        }
        #expect(try !isHere())
        #expect(try put(bytes) == 201)
        #expect(try get().status == 200)
        #expect(try isHere() && put(bytes) == 200)
        #expect(try !world.store.blobs.isDamaged(id) && world.store.blobs.damaged().isEmpty)
    }

    /// The bytes that were compared once are compared again after somebody wrote the file.
    @Test func whatWasGivenBeforeIsLookedAtAgain() throws {
        try record(bytes)
        #expect(try put(bytes) == 201)
        #expect(try get().status == 200)
        try harm(.cut)
        #expect(try get(["range": "bytes=0-9"]).status == 404)
    }

    /// Each of these looks at the blob before anybody asked for it.
    @Test func damageCountsAsMissingWhereverItIsSeen() throws {
        try record(bytes)
        #expect(try put(bytes) == 201)
        try harm(.cut)
        #expect(try !isHere())
        #expect(try put(bytes) == 201)
        try harm(.flip)
        #expect(try put(bytes) == 201)
        #expect(try put(bytes) == 200)
    }

    /// An event that gives another size than that of the bytes makes nothing of them damaged.
    @Test func aWrongSizeInAnEventDoesNoHarm() throws {
        let line = BlobPack.tile(bytes).replacing("\"tileSize\":3000", with: "\"tileSize\":4000")
        #expect(try world.post(Self.path + "/events", token, line).status == 201)
        let put = try world.store.blobs.put(isPublic: true, sizeMax: .max)
        try put.write(bytes.span)
        _ = try put.finish()
        #expect(try isHere())
        #expect(try get().status == 200)
    }

    /// Whoever syncs learns once that it has to ask again.
    @Test func aLossIsTold() throws {
        func mark() throws -> String? {
            try world.get(Self.path + "/head", token).header("Diario-Blobs-Lost")
        }
        try record(bytes)
        #expect(try put(bytes) == 201)
        #expect(try mark() == nil)
        try harm(.flip)
        #expect(try get().status == 404)
        let first = try #require(try mark())
        #expect(try put(bytes) == 201)
        #expect(try mark() == first)
        try harm(.cut)
        #expect(try get().status == 404)
        #expect(try mark() != first)
    }

    // MARK: Other spaces

    private func put(
        _ bytes: [UInt8],
        offset: Int,
        size: Int,
        toOther token: String
    ) throws -> Int {
        try world.answer(
            HTTPRequest(
                "PUT",
                "/v1/spaces/other/blobs/" + id.text,
                headers: ServedWorld.bearing(
                    token,
                    ["upload-offset": "\(offset)", "upload-length": "\(size)"]
                ),
                body: bytes
            )
        ).status
    }

    /// Who sends anything but the bytes does not learn that another space has them.
    @Test func aProbeTellsNothingOfOtherSpaces() throws {
        try record(bytes)
        #expect(try put(bytes) == 201)
        let other = try world.token(for: "other")
        let name = try #require(SpaceName("other"))
        func learns() throws -> Bool {
            let path = "/v1/spaces/other/blobs/want"
            let want = try world.post(path, other, #"{"ids":["\#(id.text)"]}"#)
            return !want.text.contains(#""offset":0}],"here":[]"#)
        }
        #expect(try put([], offset: 0, size: 7, toOther: other) == 204)
        #expect(try put([1], offset: 3, size: 7, toOther: other) == 409)
        #expect(try put([1, 2], offset: 0, size: 2, toOther: other) == 422)
        #expect(try put([], offset: 0, size: 0, toOther: other) == 422)
        #expect(try world.control.sentBlobs(among: [id], to: name).isEmpty)
        #expect(try !learns())
        // What has begun is noted, and tells of itself alone.
        #expect(try put([bytes[0]], offset: 0, size: 3000, toOther: other) == 204)
        #expect(try world.control.sentBlobs(among: [id], to: name)[id]?.isWhole == false)
        let path = "/v1/spaces/other/blobs/want"
        let want = try world.post(path, other, #"{"ids":["\#(id.text)"]}"#)
        #expect(want.text.contains(#""offset":1}],"here":[]"#))
        var wrong = Array(bytes[1...])
        wrong[7] ^= 1
        #expect(try put(wrong, offset: 1, size: 3000, toOther: other) == 422)
        #expect(try !learns())
        #expect(try world.control.sentBlobs(among: [id], to: name).isEmpty)
        #expect(try put(Array(bytes[..<9]), offset: 0, size: 3000, toOther: other) == 204)
        #expect(try put(Array(bytes[9...]), offset: 9, size: 3000, toOther: other) == 201)
        #expect(try learns())
    }

    // MARK: Bounds

    @Test func aSpaceAndATokenHaveBoundsInNumber() throws {
        let plain = try Connection(
            path: world.folder.path + "/\(LogPaths.directoryName)/\(ControlFile.name)",
            .readWrite
        )
        let name = try #require(SpaceName("home"))
        let bearer = try #require(try world.control.bearer(of: token, at: world.store.now))
        func fill(_ count: Int64, _ token: String) throws {
            try plain.execute(
                """
                DELETE FROM blob;
                WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < \(count))
                INSERT INTO blob (space, id, token, size, began)
                SELECT '\(name.text)', printf('%064x', n), '\(token)', 0, 0 FROM n;
                """
            )
        }
        for (count, owner) in [
            (Limits.tokenBlobCountMax, bearer.token.id.text), (Limits.spaceBlobCountMax, "else"),
        ] {
            try fill(count - 1, owner)
            let (last, more) = (BlobPack.bytes(10, seed: 8), BlobPack.bytes(10, seed: 9))
            #expect(try put(last) == 201)
            let answer = try world.put(more, of: BlobPack.id(more), offset: 0, size: 10, token)
            #expect(answer.status == 507 && answer.text.contains("\(count) blobs"))
            // The first part of one leaves nothing either.
            let part = try world.put([more[0]], of: BlobPack.id(more), offset: 0, size: 10, token)
            #expect(part.status == 507)
            #expect(try world.store.blobs.parts().isEmpty)
            #expect(try world.control.sentBlobs(among: [BlobPack.id(more)], to: name).isEmpty)
            _ = try world.store.blobs.drop(BlobPack.id(last))
        }
    }

    /// It was said with the name of the file, as a server that cannot be reached.
    @Test func aFullDiskIsFullForTheControlFileToo() throws {
        let small = try Connection(path: world.folder.path + "/small", .create)
        try small.execute("CREATE TABLE t (a BLOB); PRAGMA max_page_count = 2;")
        do {
            try small.execute("INSERT INTO t VALUES (zeroblob(100000));")
            Issue.record("there is no room for it")
        } catch {
            let refusal = Refusal(ControlError.sqlite(error))
            #expect(refusal.reason == .full && !refusal.message.contains("sqlite"))
        }
    }
}
