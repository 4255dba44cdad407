package import DiarioCore
package import DiarioCrypto

/// Why bytes are no blob, or not this one: schema/format/blobs.md, section 5.
package enum BlobError: Error, Equatable {
    /// The key is gone, and the picture with it.
    case erased
    /// So many stored bytes are not all of a blob, or not of this one.
    case cut(storedSize: Int64)
    /// There are more plain bytes than a blob may have.
    case tooLarge(sizeMax: Int64)
    /// The bytes do not begin as a private blob does.
    case notBlob
    /// Written in a version of the format that this program does not know.
    case unknownVersion(UInt8)
    /// SHA-256 of all stored bytes is not the id.
    case damaged
    /// The header has bytes that no version 1 has.
    case damagedHeader
    /// The chunk does not open: it is damaged, or the key is another blob's.
    case damagedChunk(Int64)
    case crypto(CryptoError)

    /// One sentence for a person; says what and where, not which blob.
    package var message: String {
        switch self {
        case .erased: "the key was erased, and nothing opens the blob any more"
        case .cut(let size):
            "\(size) stored bytes are not all of the blob; \(Self.remedy)"
        case .tooLarge(let sizeMax):
            "it has more bytes than the \(sizeMax) that are allowed: make it smaller"
        case .notBlob:
            "these are not the bytes of a private blob: they may be a public one, which has no key"
        case .unknownVersion(let version):
            "version \(version) of a blob is unknown: a newer program wrote this; update this one"
        case .damaged: "the bytes are damaged; \(Self.remedy)"
        case .damagedHeader: "the first 8 bytes of the blob are damaged; \(Self.remedy)"
        case .damagedChunk(let index):
            "chunk \(index) does not open: if the blob's SHA-256 is its id, the key is another "
                + "blob's, else bytes are damaged; \(Self.remedy)"
        case .crypto(let error): error.message
        }
    }

    /// Sync brings a blob again whose damage was found.
    private static let remedy = "get it again: diario verify --blobs, and then diario sync"
}

/// The key of one private blob: 32 secret bytes.
package struct BlobKey: Hashable, Sendable {
    package static let size = AESGCM.keySize

    package let bytes: [UInt8]

    /// The key that `bytes` are; nil unless there are 32.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }

    /// A new key, for one blob only.
    package init(drawnFrom entropy: any EntropySource) {
        var bytes: [UInt8] = []
        while bytes.count < Self.size { bytes.append(littleEndian: entropy.next()) }
        self.bytes = bytes
    }
}
