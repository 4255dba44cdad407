import COpenSSL

/// AES-256-GCM under one key, with one context for all messages.
///
/// A nonce is used for one message only: two under one nonce give the key of the tags away.
@safe package final class AESGCM {
    package static let keySize = 32
    package static let nonceSize = 12
    package static let tagSize = 16

    // Made by `init`, freed by `deinit`, never passed on.
    private let context: OpaquePointer

    /// A cipher under `key`, which has 32 bytes.
    package init(key: Span<UInt8>) throws(CryptoError) {
        precondition(key.count == Self.keySize, "a key of AES-256 has 32 bytes")
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw .noMemory }
        // Safe: the library copies 32 bytes of the key and keeps no pointer.
        let isReady = unsafe key.withUnsafeBytes { key in
            let key = unsafe key.bindMemory(to: UInt8.self).baseAddress
            return unsafe EVP_CipherInit_ex(context, EVP_aes_256_gcm(), nil, key, nil, 1)
        }
        guard isReady == 1 else {
            unsafe EVP_CIPHER_CTX_free(context)
            throw .noCipher
        }
        unsafe self.context = context
    }

    // Overwrites the key.
    deinit { unsafe EVP_CIPHER_CTX_free(context) }

    /// Appends the encrypted form of `plain` to `output`, then its tag.
    ///
    /// The tag also covers `header`, which is not encrypted. When it throws, `output` is as it was.
    package func seal(
        _ plain: Span<UInt8>,
        nonce: Span<UInt8>,
        header: Span<UInt8>,
        into output: inout [UInt8]
    ) throws(CryptoError) {
        var isDone = begin(nonce: nonce, header: header, encrypting: true)
        output.append(addingCapacity: plain.count + Self.tagSize) {
            (space: inout OutputSpan<UInt8>) in
            // Safe: there is room for as many bytes as `plain` has, and for the tag.
            unsafe space.withUnsafeMutableBufferPointer { target, count in
                let tag = unsafe target.baseAddress.map { unsafe $0 + plain.count }
                isDone =
                    unsafe isDone && update(plain, into: target.baseAddress)
                    && finish(at: tag) && control(EVP_CTRL_AEAD_GET_TAG, tag)
                count = isDone ? plain.count + Self.tagSize : 0
            }
        }
        guard isDone else { throw .noCipher }
    }

    /// Appends what `sealed` is the encrypted form of to `output`, if its tag is right.
    ///
    /// Else it is false, and `output` as it was.
    package func open(
        _ sealed: Span<UInt8>,
        nonce: Span<UInt8>,
        header: Span<UInt8>,
        into output: inout [UInt8]
    ) throws(CryptoError) -> Bool {
        let size = sealed.count - Self.tagSize
        guard size >= 0 else { return false }
        guard begin(nonce: nonce, header: header, encrypting: false) else { throw .noCipher }
        var tag = Array(repeating: UInt8(0), count: Self.tagSize)
        for index in tag.indices { tag[index] = sealed[size + index] }
        var (isRead, isRight) = (false, false)
        output.append(addingCapacity: sealed.count) { (space: inout OutputSpan<UInt8>) in
            // Safe: there is room for more bytes than are decrypted; the tag has its size.
            unsafe space.withUnsafeMutableBufferPointer { target, count in
                let end = unsafe target.baseAddress.map { unsafe $0 + size }
                isRead =
                    unsafe update(sealed.extracting(..<size), into: target.baseAddress)
                    && tag.withUnsafeMutableBufferPointer {
                        unsafe control(EVP_CTRL_AEAD_SET_TAG, $0.baseAddress)
                    }
                isRight = unsafe isRead && finish(at: end)
                count = isRight ? size : 0
            }
        }
        guard isRead else { throw .noCipher }
        return isRight
    }

    private func begin(nonce: Span<UInt8>, header: Span<UInt8>, encrypting: Bool) -> Bool {
        precondition(nonce.count == Self.nonceSize, "a nonce has 12 bytes")
        // Safe: the library copies 12 bytes of the nonce and keeps no pointer.
        let isReady = unsafe nonce.withUnsafeBytes { nonce in
            let nonce = unsafe nonce.bindMemory(to: UInt8.self).baseAddress
            return unsafe EVP_CipherInit_ex(context, nil, nil, nil, nonce, encrypting ? 1 : 0)
        }
        guard isReady == 1 else { return false }
        // Safe: the library writes nothing where there is no target.
        return unsafe update(header, into: nil)
    }

    /// Takes `bytes`, which are not encrypted if there is no `target`; else that has room for them.
    private func update(_ bytes: Span<UInt8>, into target: UnsafeMutablePointer<UInt8>?) -> Bool {
        guard !bytes.isEmpty else { return true }
        var count: Int32 = 0
        // Safe: the library reads `bytes` and writes as many to the target.
        let isDone = unsafe bytes.withUnsafeBytes { bytes in
            let source = unsafe bytes.bindMemory(to: UInt8.self).baseAddress
            return unsafe EVP_CipherUpdate(context, target, &count, source, Int32(bytes.count))
        }
        return isDone == 1
    }

    /// Ends the message; false if it was decrypted and its tag is wrong.
    ///
    /// GCM writes nothing at its end.
    private func finish(at target: UnsafeMutablePointer<UInt8>?) -> Bool {
        var count: Int32 = 0
        return unsafe EVP_CipherFinal_ex(context, target, &count) == 1
    }

    private func control(_ command: Int32, _ tag: UnsafeMutablePointer<UInt8>?) -> Bool {
        unsafe EVP_CIPHER_CTX_ctrl(context, command, Int32(Self.tagSize), tag) == 1
    }
}
