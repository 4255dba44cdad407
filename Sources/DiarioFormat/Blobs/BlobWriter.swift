import DiarioCore
package import DiarioCrypto

/// A blob that was written whole.
package struct WrittenBlob: Hashable, Sendable {
    /// SHA-256 of the stored bytes.
    package let id: Hash32
    package let plainSize: Int64
    package let storedSize: Int64
}

/// Makes the stored bytes of one blob from its plain bytes as they come: schema/format/blobs.md.
///
/// Bytes in, bytes out; it holds one chunk. After an error the blob is begun again under a new key.
package final class BlobWriter {
    private let cipher: AESGCM?
    private let hash = SHA256Stream()
    /// Plain bytes of the chunk that is not full, or of which it is not known yet that another one
    /// follows.
    private var chunk: [UInt8] = []
    private var chunkIndex: Int64 = 0
    private var plainSize: Int64 = 0
    private var storedSize: Int64 = 0
    private let sizeMax: Int64

    /// A writer of a private blob under `key`, which no blob had before; without a key, of a public
    /// one.
    package init(
        key: BlobKey?,
        sizeMax: Int64 = Limits.blobSizeMax
    ) throws(BlobError) {
        guard let key else {
            cipher = nil
            self.sizeMax = sizeMax
            return
        }
        self.sizeMax = min(sizeMax, Limits.blobSizeMax)
        do { cipher = try AESGCM(key: key.bytes.span) } catch { throw .crypto(error) }
    }

    /// Takes the next plain bytes, and appends the stored bytes that they complete to `output`.
    package func write(
        _ bytes: Span<UInt8>,
        into output: inout [UInt8]
    ) throws(BlobError) {
        guard plainSize <= sizeMax - Int64(bytes.count) else { throw .tooLarge(sizeMax: sizeMax) }
        plainSize += Int64(bytes.count)
        guard cipher != nil else {
            hash.update(bytes)
            storedSize += Int64(bytes.count)
            output.append(contentsOf: bytes.raw)
            return
        }
        var offset = 0
        while offset < bytes.count {
            if chunk.count == BlobLayout.chunkSize { try seal(isLast: false, into: &output) }
            let end = min(bytes.count, offset + BlobLayout.chunkSize - chunk.count)
            chunk.append(contentsOf: bytes.extracting(offset..<end).raw)
            offset = end
        }
    }

    /// Appends the rest of the stored bytes to `output`, and ends the blob.
    package func finish(into output: inout [UInt8]) throws(BlobError) -> WrittenBlob {
        if cipher != nil { try seal(isLast: true, into: &output) }
        return WrittenBlob(id: hash.finalize(), plainSize: plainSize, storedSize: storedSize)
    }

    private func seal(isLast: Bool, into output: inout [UInt8]) throws(BlobError) {
        let start = output.count
        let header = BlobLayout.header
        if chunkIndex == 0 { output += header }
        let nonce = BlobLayout.nonce(of: chunkIndex, isLast: isLast)
        var plain: [UInt8] = []
        swap(&plain, &chunk)
        do {
            try cipher?.seal(plain.span, nonce: nonce.span, header: header.span, into: &output)
        } catch {
            throw .crypto(error)
        }
        hash.update(output.span.extracting(start..<output.count))
        storedSize += Int64(output.count - start)
        chunkIndex += 1
        plain.removeAll(keepingCapacity: true)
        swap(&plain, &chunk)
    }
}
