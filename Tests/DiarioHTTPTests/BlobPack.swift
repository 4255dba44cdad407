import Diario
import DiarioCore
import DiarioCrypto
import DiarioHTTP
import DiarioSchema
import DiarioServer
import DiarioStorage
import DiarioTestSupport

/// A small pack with a private and a public blob.
enum BlobPack {
    private static let schema = """
        {"title":"shots.photo.taken","x-diario-version":1,"type":"object",
        "additionalProperties":false,"required":["name"],"properties":{
        "name":{"type":"string","maxLength":40},
        "photo":{"type":"object","x-diario-blob":{"maxSize":90000000,"types":["image/png"]}},
        "tile":{"type":"object","x-diario-blob":{"maxSize":90000000,"types":["image/png"],
        "public":true}}}}
        """

    static func make() throws -> Pack {
        try Pack(files: [
            PackFile(path: "events/photo.taken.1.json", bytes: Array(schema.utf8)),
            PackFile(path: "pack.json", bytes: Array(#"{"name":"shots","version":1}"#.utf8)),
        ])
    }

    /// A blob as an event refers to it.
    struct Shot {
        let id: Hash32
        let size: Int64
        let key: [UInt8]?
    }

    static func id(_ bytes: [UInt8]) -> Hash32 { SHA256.hash(bytes.span) }

    /// An event that refers to a blob; without a key the blob is erased.
    static func line(_ blob: Shot, hasKey: Bool = true) -> String {
        var fields = #""name":"a","photoId":"\#(TextEncodings.base64(blob.id.bytes))","#
        fields += #""photoSize":\#(blob.size),"photoType":"image/png""#
        if hasKey, let key = blob.key {
            fields += #","photoKey":"\#(TextEncodings.base64(key))""#
        }
        return #"{"type":"shots.photo.taken","version":1,"payload":{\#(fields)}}"#
    }

    /// The same for a public blob of these bytes.
    static func tile(_ bytes: [UInt8]) -> String {
        let id = TextEncodings.base64(SHA256.hash(bytes.span).bytes)
        return #"{"type":"shots.photo.taken","version":1,"payload":{"name":"a","tileId":"\#(id)","#
            + #""tileSize":\#(bytes.count),"tileType":"image/png"}}"#
    }

    static func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var random = SeededRandom(seed: seed)
        return makeBytes(count, using: &random)
    }
}

extension ServedWorld {
    /// Sends a part of a blob.
    func put(
        _ bytes: [UInt8],
        of id: Hash32,
        offset: Int,
        size: Int,
        _ token: String
    ) throws -> HTTPAnswer {
        try answer(
            HTTPRequest(
                "PUT",
                "/v1/spaces/home/blobs/" + id.text,
                headers: Self.bearing(
                    token,
                    ["upload-offset": "\(offset)", "upload-length": "\(size)"]
                ),
                body: bytes
            )
        )
    }

    func want(_ ids: [Hash32], _ token: String) throws -> HTTPAnswer {
        let list = ids.map { "\"\($0.text)\"" }.joined(separator: ",")
        return try post("/v1/spaces/home/blobs/want", token, "{\"ids\":[\(list)]}")
    }
}
