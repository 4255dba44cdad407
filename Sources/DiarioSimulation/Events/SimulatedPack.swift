package import DiarioCrypto
import DiarioFormat
package import DiarioSchema

/// The files of a pack, all drawn from its number.
package struct SimulatedPack: Sendable {
    package let number: Int

    package init(number: Int) { self.number = number }

    package var files: [PackFile] {
        [
            PackFile(path: "events/a.made.1.json", bytes: Array("{ \"n\": \(number) }".utf8)),
            PackFile(path: "events/b.made.1.json", bytes: Array(repeating: 7, count: number * 700)),
            PackFile(path: "pack.json", bytes: Array("{ \"name\": \"a\(number)\" }".utf8)),
        ]
    }

    package var fingerprint: Hash32 { Fingerprint.pack(files) }
}
