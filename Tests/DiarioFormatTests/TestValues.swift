import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioTestSupport
import Testing

extension Hash32 {
    init(hex: String) throws { self = try #require(Hash32(text: hex)) }
}

extension Salt {
    init(hex: String) throws {
        let bytes = try Hex.bytes(hex)
        var reader = ByteReader(bytes.span.raw)
        self = try Salt(&reader)
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(into: &bytes)
        return bytes
    }
}
