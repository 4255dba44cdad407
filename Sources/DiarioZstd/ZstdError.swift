import CZstd

/// An error of compressed bytes, or of the library that makes them.
package enum ZstdError: Error, Hashable, Sendable {
    /// The bytes are not what a compressor wrote; `code` is zstd's own.
    case damaged(code: UInt32)
    /// The bytes are sound but hold another number of bytes than the caller was told.
    case otherSize(expected: Int, found: Int)
    case noMemory
    /// libzstd is older than 1.4; `found` is its version number (10 400 is 1.4.0).
    case tooOld(found: UInt32)

    /// What failed, and the remedy.
    package var message: String {
        switch self {
        case .damaged(let code):
            "Compressed bytes are damaged (\(Self.text(ofCode: code))). Restore them from a copy."
        case .otherSize(let expected, let found):
            "Compressed bytes hold \(found) bytes instead of \(expected). "
                + "They are damaged; restore them from a copy."
        case .noMemory:
            "There is no memory left to compress or decompress. Close other programs."
        case .tooOld(let found):
            "This program needs libzstd 1.4 or later and found \(found / 10_000)."
                + "\(found / 100 % 100). Update it."
        }
    }

    private static func text(ofCode code: UInt32) -> String {
        // Safe: the library gives a constant text for any code.
        unsafe String(cString: ZSTD_getErrorString(ZSTD_ErrorCode(code)))
    }

    /// Nil if `result` of a call is no error.
    init?(result: Int) {
        guard ZSTD_isError(result) != 0 else { return nil }
        let code = ZSTD_getErrorCode(result)
        self = code == ZSTD_error_memory_allocation ? .noMemory : .damaged(code: code.rawValue)
    }

    /// Checks the library that this program found at its start.
    static func checkLibrary() throws(ZstdError) {
        let version = ZSTD_versionNumber()
        guard version >= 10_400 else { throw .tooOld(found: version) }
    }
}
