/// A field of the form `x-diario-blob`, which is recorded as four ordinary fields, three if it is
/// public: schema/README.md, "Blobs".
package struct BlobField: Hashable, Sendable {
    /// As the schema names it: `photo`.
    package let name: String
    /// Of plain bytes.
    package let sizeMax: Int64
    /// Media types, in the order of the schema; the index of one is the value of `typeIndex`.
    package let types: [String]
    // Indices of fields of the type.
    package let idIndex: Int
    package let sizeIndex: Int
    package let typeIndex: Int
    /// Nil if the blob is public.
    package let keyIndex: Int?

    package var isPublic: Bool { keyIndex == nil }
    /// Indices of all of its fields.
    package var partIndices: [Int] {
        [idIndex, sizeIndex, typeIndex] + [keyIndex].compactMap { $0 }
    }

    /// True for a media type in lower case without parameters.
    package static func isMediaType(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: 0x2f, omittingEmptySubsequences: false)
        return text.utf8.count <= 127 && parts.count == 2
            && parts.allSatisfy { part in
                !part.isEmpty
                    && part.allSatisfy {
                        0x61...0x7a ~= $0 || 0x30...0x39 ~= $0 || [0x2b, 0x2d, 0x2e].contains($0)
                    }
            }
    }

    /// The part that a payload lacks while it has another one; the key may be gone.
    func missingPart(in payload: Payload) -> Int? {
        let parts = [idIndex, sizeIndex, typeIndex]
        let isThere = (parts + [keyIndex].compactMap { $0 }).contains { !payload.isAbsent($0) }
        return isThere ? parts.first { payload.isAbsent($0) } : nil
    }
}

extension Payload {
    fileprivate func isAbsent(_ index: Int) -> Bool {
        if case .absent = slots[index] { true } else { false }
    }
}
