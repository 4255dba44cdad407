import CZstd

/// Compresses by zstd at one level, with a context that is kept from call to call.
// Usable from inline, or other modules do not find its `deinit` in Embedded Swift (6.3.1).
@safe @usableFromInline package struct Compressor: ~Copyable {
    // Made by `init`, freed by `deinit`, never passed on.
    private let context: OpaquePointer

    /// A compressor of `level` 1 (fast) to 22.
    package init(level: Int) throws(ZstdError) {
        precondition(1...22 ~= level, "zstd has the levels 1 to 22")
        try ZstdError.checkLibrary()
        guard let context = unsafe ZSTD_createCCtx() else { throw .noMemory }
        let result = unsafe ZSTD_CCtx_setParameter(
            context,
            ZSTD_c_compressionLevel,
            Int32(level)
        )
        if let error = ZstdError(result: result) {
            _ = unsafe ZSTD_freeCCtx(context)
            throw error
        }
        unsafe self.context = context
    }

    deinit { _ = unsafe ZSTD_freeCCtx(context) }

    /// Appends the compressed form of `bytes` to `output`.
    ///
    /// When it throws, `output` is as it was.
    /// With a `prefix`, which is needed to decompress too, bytes that occur in it take little; the
    /// result then has a checksum of `bytes`.
    package mutating func compress(
        _ bytes: Span<UInt8>,
        after prefix: Span<UInt8>? = nil,
        into output: inout [UInt8]
    ) throws(ZstdError) {
        try setChecksum(prefix != nil)
        guard let prefix else { return try compressNext(bytes, into: &output) }
        var error: ZstdError?
        // Safe: the library keeps the address until the next frame is made, which is in here.
        unsafe prefix.withUnsafeBytes { source in
            let result = unsafe ZSTD_CCtx_refPrefix(context, source.baseAddress, source.count)
            error = ZstdError(result: result)
            guard error == nil else { return }
            do throws(ZstdError) { try compressNext(bytes, into: &output) } catch let thrown {
                error = thrown
            }
        }
        if let error { throw error }
    }

    private mutating func setChecksum(_ isWanted: Bool) throws(ZstdError) {
        let result = unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, isWanted ? 1 : 0)
        if let error = ZstdError(result: result) { throw error }
    }

    private mutating func compressNext(
        _ bytes: Span<UInt8>,
        into output: inout [UInt8]
    ) throws(ZstdError) {
        var error: ZstdError?
        output.append(addingCapacity: ZSTD_compressBound(bytes.count)) {
            (space: inout OutputSpan<UInt8>) in
            // Safe: the library writes no more than the space has and says how much that is.
            unsafe space.withUnsafeMutableBufferPointer { (target, count) in
                let result = unsafe bytes.withUnsafeBytes { source in
                    unsafe ZSTD_compress2(
                        context,
                        target.baseAddress,
                        target.count,
                        source.baseAddress,
                        source.count
                    )
                }
                error = ZstdError(result: result)
                if error == nil { count = result }
            }
        }
        if let error { throw error }
    }
}
