import DiarioCore
import DiarioCrypto
import DiarioEngine
import DiarioFormat
import DiarioSchema
import DiarioStorage
import DiarioTestSupport
import DiarioWeb
import Testing

/// Blobs as a worker puts, reads and exchanges them; it encrypts as the engine does.
@Suite struct PageBlobTests {
    private static func pack() throws -> Pack {
        let schema = """
            {"title":"shots.photo.taken","x-diario-version":1,"type":"object",
            "additionalProperties":false,"required":["name"],"properties":{
            "name":{"type":"string","maxLength":40},
            "photo":{"type":"object","x-diario-blob":{"maxSize":900000,"types":["image/png"]}}}}
            """
        return try Pack(files: [
            PackFile(path: "events/photo.taken.1.json", bytes: Array(schema.utf8)),
            PackFile(path: "pack.json", bytes: Array(#"{"name":"shots","version":1}"#.utf8)),
        ])
    }

    /// A picture, and what is stored of it.
    private struct Picture {
        let key: BlobKey
        let plain: [UInt8]
        let stored: [UInt8]
        let id: Hash32

        init(_ size: Int) throws {
            var random = SeededRandom(seed: UInt64(size))
            let plain = makeBytes(size, using: &random)
            let key = BlobKey(makeBytes(32, using: &random))
            self.key = try #require(key)
            let writer = try BlobWriter(key: key, sizeMax: Limits.blobSizeMax)
            var stored: [UInt8] = []
            try writer.write(plain.span, into: &stored)
            id = try writer.finish(into: &stored).id
            (self.plain, self.stored) = (plain, stored)
        }

        var event: String {
            let (id, key) = (TextEncodings.base64(id.bytes), TextEncodings.base64(key.bytes))
            return #"{"type":"shots.photo.taken","payload":{"name":"a","photoId":"\#(id)","#
                + #""photoSize":\#(plain.count),"photoType":"image/png","photoKey":"\#(key)"}}"#
        }

        var input: String { #"{"id":"\#(TextEncodings.base64(id.bytes))"}"# }
    }

    private static func put(_ picture: Picture, _ page: Page) throws {
        _ = try PageWorld.call(page, "blobs.begin")
        for start in stride(from: 0, to: picture.stored.count, by: 50_000) {
            let end = min(start + 50_000, picture.stored.count)
            _ = try page.call("blobs.write", Array(picture.stored[start..<end]))
        }
        let id = try PageWorld.call(page, "blobs.finish").member("id")?.item.value.text
        #expect(id == TextEncodings.base64(picture.id.bytes))
    }

    private static func answer(
        _ page: Page,
        _ status: Int,
        _ headers: String,
        _ body: [UInt8] = []
    ) throws {
        let head = #"{"status":\#(status),"headers":{\#(headers)},"server":"s"}"#
        _ = try page.call("blobs.answer", Array(head.utf8) + [0] + body)
    }

    private static let address = #"{"server":"https://s/v1/spaces/home"}"#

    @Test func whatIsPutIsReadAndSent() throws {
        let (disk, folder) = (CrashDisk(machineID: "test"), try TemporaryFolder())
        let page = try PageWorld.page([], own: [Self.pack()], on: PageWorld.pool(disk), folder)
        _ = try PageWorld.call(page, "open")
        let picture = try Picture(100_000)
        try Self.put(picture, page)
        _ = try PageWorld.call(page, "record", picture.event)
        // After a crash as well.
        var random = SeededRandom(seed: 1)
        disk.crash(using: &random)
        let again = try PageWorld.page(on: PageWorld.pool(disk), folder)
        _ = try PageWorld.call(again, "open")
        let known = try PageWorld.call(again, "blobs.reference", picture.input)
        #expect(known.member("key")?.item.value.text == TextEncodings.base64(picture.key.bytes))
        #expect(known.member("stored")?.item.value.position == UInt64(picture.stored.count))
        #expect(try again.call("blobs.read", Array(picture.input.utf8)) == picture.stored)
        // The server lacks it, and takes it.
        let begun = try PageWorld.call(again, "blobs.exchange", Self.address)
        #expect(begun.member("action")?.item.value.text == "begin")
        let wanted = try PageWorld.call(again, "blobs.next")
        #expect(wanted.member("path")?.item.value.text == "/blobs/want")
        let missing = #"{"missing":[{"id":"\#(picture.id.text)","offset":0}],"here":[]}"#
        let json = #""content-type":"application/json""#
        try Self.answer(again, 200, json, Array(missing.utf8))
        let sent = try PageWorld.call(again, "blobs.next")
        #expect(sent.member("method")?.item.value.text == "PUT")
        #expect(try again.call("blobs.body", []) == picture.stored)
        try Self.answer(again, 201, #""upload-offset":"\#(picture.stored.count)""#)
        #expect(try PageWorld.call(again, "blobs.next").member("action")?.item.value.text == "end")
        let report = try PageWorld.call(again, "blobs.end")
        #expect(report.member("sent")?.item.value.position == 1)
        let rest = try PageWorld.call(again, "blobs.exchange", Self.address)
        #expect(rest.member("action")?.item.value.text == "rest")
    }

    @Test func whatIsElsewhereIsFetched() throws {
        let (disk, folder) = (CrashDisk(machineID: "test"), try TemporaryFolder())
        let page = try PageWorld.page([], own: [Self.pack()], on: PageWorld.pool(disk), folder)
        _ = try PageWorld.call(page, "open")
        let picture = try Picture(70_000)
        _ = try PageWorld.call(page, "record", picture.event)
        _ = try PageWorld.call(page, "blobs.exchange", Self.address)
        _ = try PageWorld.call(page, "blobs.next")
        let size = picture.stored.count
        let here = #"{"missing":[],"here":[{"id":"\#(picture.id.text)","size":\#(size)}]}"#
        try Self.answer(page, 200, #""content-type":"application/json""#, Array(here.utf8))
        let asked = try PageWorld.call(page, "blobs.next")
        #expect(asked.member("method")?.item.value.text == "GET")
        let range = #""content-range":"bytes 0-\#(size - 1)/\#(size)""#
        // Other bytes first: they are thrown away, and asked for again.
        try Self.answer(page, 206, range, Array(repeating: 7, count: size))
        _ = try PageWorld.call(page, "blobs.next")
        try Self.answer(page, 206, range, picture.stored)
        #expect(try PageWorld.call(page, "blobs.next").member("action")?.item.value.text == "end")
        _ = try PageWorld.call(page, "blobs.end")
        #expect(try page.call("blobs.read", Array(picture.input.utf8)) == picture.stored)
        let listed = String(decoding: try page.call("blobs.list", []), as: UTF8.self)
        #expect(listed.contains(#""state":"here""#))
    }

    @Test(arguments: [
        ("blobs.write", "x"), ("blobs.finish", ""), ("blobs.read", #"{"id":"x"}"#),
        ("blobs.exchange", "{}"), ("blobs.answer", #"{"status":200,"server":"s"}"#),
        ("blobs.reference", "{}"), ("blobs.nothing", ""),
    ])
    func wrongInputIsAnError(name: String, input: String) throws {
        let (disk, folder) = (CrashDisk(machineID: "test"), try TemporaryFolder())
        let page = try PageWorld.page([], own: [Self.pack()], on: PageWorld.pool(disk), folder)
        #expect(throws: DiarioError.self) { try page.call(name, Array(input.utf8)) }
        _ = try PageWorld.call(page, "open")
        #expect(throws: DiarioError.self) { try page.call(name, Array(input.utf8)) }
    }
}
