import COpenSSL

/// A fault of the library, or too little memory for it.
package enum CryptoError: Error, Hashable, Sendable {
    /// libcrypto is older than 3.0; `found` is what it says of itself.
    case tooOld(found: String)
    /// libcrypto does not compute SHA-256 as it should.
    case wrongResult
    /// libcrypto has no AES-256-GCM, or fails at it.
    case noCipher
    /// There is no memory for a cipher.
    case noMemory

    /// What failed, and the remedy.
    package var message: String {
        switch self {
        case .tooOld(let found):
            "This program needs OpenSSL's libcrypto 3.0 or later and found \(found). Update it."
        case .wrongResult:
            "OpenSSL's libcrypto computes a wrong SHA-256. Install it again."
        case .noCipher: "OpenSSL's libcrypto fails at AES-256-GCM. Install it again."
        case .noMemory: "There is no memory for a cipher. End other programs, and try again."
        }
    }
}

/// The library of this module: OpenSSL's libcrypto.
package enum CryptoLibrary {
    /// Checks the library; called before the first hash that anyone relies on.
    package static func check() throws(CryptoError) {
        guard OpenSSL_version_num() >= 0x3000_0000 else {
            // Safe: the library gives a constant text.
            let found = unsafe OpenSSL_version(OPENSSL_VERSION).map { unsafe String(cString: $0) }
            throw .tooOld(found: found ?? "another library")
        }
        let abc: [UInt8] = [0x61, 0x62, 0x63]
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        guard SHA256.hash(abc.span).text == expected else { throw .wrongResult }
    }
}
