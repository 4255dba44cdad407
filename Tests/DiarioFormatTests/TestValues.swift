import DiarioCore
import DiarioCrypto
import DiarioFormat

extension Hash32 {
    init(hex: String) throws {
        let bytes = try Hex.bytes(hex)
        var reader = ByteReader(bytes.span.raw)
        self = try reader.nextHash()
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(self)
        return bytes
    }

    var text: String { Hex.text(bytes) }
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
