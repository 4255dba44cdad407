import CZstd

/// Decompresses what `Compressor` made, with a context that is kept from call to call.
// Usable from inline, or other modules do not find its `deinit` in Embedded Swift (6.3.1).
@safe @usableFromInline package struct Decompressor: ~Copyable {
    // Made by `init`, freed by `deinit`, never passed on.
    private let context: OpaquePointer

    package init() throws(ZstdError) {
        try ZstdError.checkLibrary()
        guard let context = unsafe ZSTD_createDCtx() else { throw .noMemory }
        unsafe self.context = context
    }

    deinit { _ = unsafe ZSTD_freeDCtx(context) }

    /// Appends the `size` bytes that `bytes` are the compressed form of to `output`.
    ///
    /// No more memory than for `size` bytes is taken, whatever `bytes` say; the caller has checked
    /// that `size` is bearable. When it throws, `output` is as it was.
    /// `prefix` is what the compressor had as such.
    package mutating func decompress(
        _ bytes: Span<UInt8>,
        size: Int,
        after prefix: Span<UInt8>? = nil,
        into output: inout [UInt8]
    ) throws(ZstdError) {
        guard let prefix else { return try decompressNext(bytes, size: size, into: &output) }
        var error: ZstdError?
        // Safe: the library keeps the address until the next frame is read, which is in here.
        unsafe prefix.withUnsafeBytes { source in
            let result = unsafe ZSTD_DCtx_refPrefix(context, source.baseAddress, source.count)
            error = ZstdError(result: result)
            guard error == nil else { return }
            do throws(ZstdError) {
                try decompressNext(bytes, size: size, into: &output)
            } catch let thrown {
                error = thrown
            }
        }
        if let error { throw error }
    }

    private mutating func decompressNext(
        _ bytes: Span<UInt8>,
        size: Int,
        into output: inout [UInt8]
    ) throws(ZstdError) {
        precondition(size >= 0, "a size is not negative")
        var error: ZstdError?
        output.append(addingCapacity: size) { (space: inout OutputSpan<UInt8>) in
            // Safe: the library writes no more than `size` bytes and says how many.
            unsafe space.withUnsafeMutableBufferPointer { (target, count) in
                let result = unsafe bytes.withUnsafeBytes { source in
                    unsafe ZSTD_decompressDCtx(
                        context,
                        target.baseAddress,
                        size,
                        source.baseAddress,
                        source.count
                    )
                }
                error = ZstdError(result: result)
                if error == nil, result != size {
                    error = .otherSize(expected: size, found: result)
                }
                if error == nil { count = size }
            }
        }
        if let error { throw error }
    }
}
