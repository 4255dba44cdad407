import DiarioCrypto

/// Opens the chunks of a private blob, in any order: schema/format/blobs.md, section 5.
///
/// Bytes in, bytes out: the caller reads the stored bytes where `layout` says. The plain bytes of a
/// public blob are its stored ones.
package final class BlobReader {
    package let layout: BlobLayout
    private let cipher: AESGCM

    /// A reader of the blob of `storedSize` bytes that begins with `header`.
    ///
    /// Without a key, which is personal, the blob is erased. `plainSize` is what its event says.
    package init(
        key: BlobKey?,
        header: Span<UInt8>,
        storedSize: Int64,
        plainSize: Int64? = nil
    ) throws(BlobError) {
        guard let key else { throw .erased }
        layout = try BlobLayout(storedSize: storedSize)
        guard header.count >= BlobLayout.headerSize else { throw .cut(storedSize: storedSize) }
        guard header.littleEndian(UInt32.self, at: 0) == Magic.blob.rawValue else { throw .notBlob }
        guard header[4] == BlobLayout.version else { throw .unknownVersion(header[4]) }
        guard header[5] | header[6] | header[7] == 0 else { throw .damagedHeader }
        guard plainSize ?? layout.plainSize == layout.plainSize else {
            throw .cut(storedSize: storedSize)
        }
        do { cipher = try AESGCM(key: key.bytes.span) } catch { throw .crypto(error) }
    }

    /// Appends the plain bytes of a chunk, of which `stored` are the stored ones, to `output`.
    ///
    /// When it throws, `output` is as it was.
    package func open(
        chunk index: Int64,
        _ stored: Span<UInt8>,
        into output: inout [UInt8]
    ) throws(BlobError) {
        let range = layout.storedRange(of: index)
        guard stored.count == range.count else { throw .damagedChunk(index) }
        let nonce = BlobLayout.nonce(of: index, isLast: index == layout.chunkCount - 1)
        let header = BlobLayout.header
        let isOpen: Bool
        do {
            isOpen = try cipher.open(
                stored,
                nonce: nonce.span,
                header: header.span,
                into: &output
            )
        } catch {
            throw .crypto(error)
        }
        guard isOpen else { throw .damagedChunk(index) }
    }
}
