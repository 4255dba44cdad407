import DiarioTransport
import Testing

struct SpaceAddressTests {
    @Test(arguments: [
        ("https://example.org/v1/spaces/home", "https://example.org/v1/spaces/home"),
        ("HTTPS://Example.ORG:8443/v1/spaces/home/", "https://example.org:8443/v1/spaces/home"),
        ("http://127.0.0.1:7000/v1/spaces/a.b-c_9", "http://127.0.0.1:7000/v1/spaces/a.b-c_9"),
        ("http://[::1]:7000/v1/spaces/home", "http://[::1]:7000/v1/spaces/home"),
        ("https://example.org/own/path/v1/spaces/x", "https://example.org/own/path/v1/spaces/x"),
    ])
    func whatIsAnAddress(text: String, whole: String) throws {
        #expect(try SpaceAddress(text).text == whole)
    }

    @Test(arguments: [
        "", "example.org/v1/spaces/home", "ftp://example.org/v1/spaces/home",
        "https://example.org", "https://example.org/", "https://example.org/v1/spaces/",
        "https://example.org/v1/spaces/Home", "https://example.org/v2/spaces/home",
        "https://example.org/v1/spaces/home?token=x", "https://example.org/v1/spaces/home#x",
        "https://user:secret@example.org/v1/spaces/home", "https:///v1/spaces/home",
        "https://example.org:0/v1/spaces/home", "https://example.org:70000/v1/spaces/home",
        "https://exa mple.org/v1/spaces/home", "https://example.org/../v1/spaces/home",
        "https://example.org\r\nX: y/v1/spaces/home", "https://example.org/v1/spaces/home/x",
        "https://[::1/v1/spaces/home", "https://example.org:/v1/spaces/home",
    ])
    func whatIsNone(text: String) {
        #expect(throws: TransportError.self) { try SpaceAddress(text) }
    }

    @Test func aPasswordIsNotRepeated() {
        #expect {
            try SpaceAddress("https://user:secret@example.org/v1/spaces/home")
        } throws: {
            !(($0 as? TransportError)?.message.contains("secret") ?? true)
        }
    }

    @Test func theOwnMachineIsKnown() throws {
        #expect(try SpaceAddress("http://localhost/v1/spaces/x").isLoopback)
        #expect(try SpaceAddress("http://[::1]/v1/spaces/x").isLoopback)
        #expect(try !SpaceAddress("http://example.org/v1/spaces/x").isLoopback)
    }
}
