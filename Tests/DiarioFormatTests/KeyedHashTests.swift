import DiarioCore
import DiarioFormat
import Testing

/// SipHash-2-4 with a byte in front that names the domain.
struct KeyedHashTests {
    /// The vectors that its authors published: the key is 00 to 0f, the text 00, 01, 02 and so on.
    @Test(
        arguments: [
            (1, 0x74f8_39c5_93dc_67fd), (2, 0x0d6c_8009_d9a9_4f5a), (3, 0x8567_6696_d7fb_7e2d),
            (7, 0xab02_00f5_8b01_d137), (8, 0x93f5_f579_9a93_2462), (9, 0x9e00_82df_0ba9_e4b0),
            (15, 0xa129_ca61_49be_45e5),
        ] as [(UInt8, UInt64)]
    )
    func thePublishedVectorsHold(count: UInt8, expected: UInt64) {
        let hash = KeyedHash(key: (low: 0x0706_0504_0302_0100, high: 0x0f0e_0d0c_0b0a_0908))
        let text = Array(1..<count)
        let found = hash.hash(text.span, domain: 0)
        #expect(found == expected)
    }

    @Test func domainsAndKeysTellTextsApart() {
        let (one, other) = (KeyedHash(key: (low: 1, high: 2)), KeyedHash(key: (low: 2, high: 2)))
        let text = Array("anna".utf8)
        let hashes = [
            one.hash(text.span), one.hash(text.span, domain: 1), one.hash(text.span, domain: 2),
            other.hash(text.span),
        ]
        #expect(Set(hashes).count == 4)
        #expect(one != other)
    }
}
