import Foundation

/// Golden files of `schema/vectors`, one for each subject and version of its format.
///
/// Those of a version that was released never change. While version 1 is not, `DIARIO_REWRITE=1`
/// writes them anew; what changed then shows as a difference of one line for each case.
package enum VectorFile {
    /// The content of the file, which `make` makes if it is to be written anew.
    package static func load<Content: Codable>(
        _ name: String,
        make: () throws -> Content
    ) throws -> Content {
        if ProcessInfo.processInfo.environment["DIARIO_REWRITE"] == "1" {
            try lines(of: make()).write(to: url(name), options: .atomic)
        }
        return try read(name)
    }

    /// The content of the file as it is.
    package static func read<Content: Decodable>(_ name: String) throws -> Content {
        try JSONDecoder().decode(Content.self, from: Data(contentsOf: url(name)))
    }

    private static func url(_ name: String) -> URL {
        URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "schema/vectors/\(name)")
    }

    /// An object whose lists have a line for each element.
    private static func lines(of content: some Encodable) throws -> Data {
        let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(content))
        let members = object as? [String: Any] ?? [:]
        let texts = try members.sorted { $0.key < $1.key }.map { name, value in
            guard let list = value as? [Any] else { return try "\"\(name)\": \(text(value))" }
            let lines = try list.map { try "  \(text($0))" }
            return "\"\(name)\": [\n\(lines.joined(separator: ",\n"))\n]"
        }
        return Data("{\n\(texts.joined(separator: ",\n"))\n}\n".utf8)
    }

    private static func text(_ value: Any) throws -> String {
        let options: JSONSerialization.WritingOptions = [
            .sortedKeys, .withoutEscapingSlashes, .fragmentsAllowed,
        ]
        let data = try JSONSerialization.data(withJSONObject: value, options: options)
        return String(decoding: data, as: UTF8.self)
    }
}

/// Bytes as lower-case hexadecimal digits.
package enum Hex {
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef")
        return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    package static func bytes(_ text: String) throws -> [UInt8] {
        let digits = try text.map { character in
            guard let digit = character.hexDigitValue, !character.isUppercase else {
                throw InvalidDigit()
            }
            return UInt8(digit)
        }
        guard digits.count.isMultiple(of: 2) else { throw InvalidDigit() }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    package struct InvalidDigit: Error {}
}
