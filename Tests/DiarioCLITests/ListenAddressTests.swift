import DiarioCLI
import Testing

struct ListenAddressTests {
    @Test(arguments: [
        ("127.0.0.1:8080", "127.0.0.1", UInt16(8080)), ("[::1]:0", "::1", 0),
        ("localhost:65535", "localhost", 65535), ("0.0.0.0:1", "0.0.0.0", 1),
    ])
    func itIsTakenApart(text: String, host: String, port: UInt16) throws {
        let address = try #require(ListenAddress(text))
        #expect(address.host == host)
        #expect(address.port == port)
    }

    @Test(arguments: [
        "", ":", "8080", "host", "host:", ":8080", "host:65536", "host:+1", "host:-1", "host:1x",
        "::1:8080", "[::1]", "[::1]:", "[]:1", "[host]:1", "ho st:1", "h\u{e9}:1", "host:\u{661}",
    ])
    func whatIsNoneIsRefused(text: String) {
        #expect(ListenAddress(text) == nil)
    }
}
