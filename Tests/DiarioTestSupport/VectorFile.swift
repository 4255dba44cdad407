import Foundation

/// Golden files of `schema/vectors`, one for each subject and version of its format.
///
/// They never change: another format is another version, with vectors of its own.
package enum VectorFile {
    package static func read<Content: Decodable>(_ name: String) throws -> Content {
        try JSONDecoder().decode(Content.self, from: Data(contentsOf: url(name)))
    }

    private static func url(_ name: String) -> URL {
        URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "schema/vectors/\(name)")
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
