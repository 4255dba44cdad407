import Foundation

/// Golden files of `schema/vectors`: written once, when they do not exist, and never changed.
package enum VectorFile {
    /// The content of the file; with `DIARIO_REWRITE=1`, of a file that is made if it is missing.
    package static func load<Content: Codable>(
        _ name: String,
        make: () throws -> Content
    ) throws -> Content {
        let url = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "schema/vectors/\(name)")
        let mayWrite = ProcessInfo.processInfo.environment["DIARIO_REWRITE"] == "1"
        if mayWrite, !FileManager.default.fileExists(atPath: url.path) {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            var data = try encoder.encode(make())
            data.append(contentsOf: "\n".utf8)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try data.write(to: url)
        }
        return try JSONDecoder().decode(Content.self, from: Data(contentsOf: url))
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
