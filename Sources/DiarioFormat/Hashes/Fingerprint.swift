package import DiarioCrypto
package import DiarioSchema

/// Hashes by which schemas and packs are known: schema/format/rows.md, section 5.
package enum Fingerprint {
    /// Equal for two schemas with the same meaning.
    package static func schema(_ type: EventType) -> Hash32 {
        let canonical = type.canonicalSchema
        return SHA256.hash(canonical.span)
    }

    /// Equal for two packs that are the same; examples and README.md do not count.
    package static func pack(_ files: [PackFile]) -> Hash32 {
        var bytes: [UInt8] = []
        let counted = files.filter { $0.isAdopted }
        for file in counted.sorted(by: { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }) {
            bytes.append(text: file.path)
            let content = file.bytes
            bytes.append(counted: content.span.raw)
        }
        return SHA256.hash(bytes.span)
    }
}
