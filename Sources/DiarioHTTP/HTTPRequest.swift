/// A request as it came: whole, and within the bounds of schema/format/http.md.
package struct HTTPRequest: Sendable {
    /// In capitals, as `GET`.
    package var method: String
    /// Without the query, as it was sent: percent signs are not undone.
    package var path: String
    /// In the order of the address, with percent signs undone; a name without `=` has no value.
    package var query: [Parameter]
    /// By name in lower case; several of one name are one, with commas between.
    package var headers: [String: String]
    package var body: [UInt8]
    /// Who asks; nil if nobody knows.
    package var peer: Peer?
    /// The handler's note of when it made the request wait; nil at the first turn.
    package var note: UInt64?

    package struct Parameter: Hashable, Sendable {
        package var name: String
        package var value: String?

        package init(_ name: String, _ value: String?) {
            self.name = name
            self.value = value
        }
    }

    package init(
        _ method: String,
        _ path: String,
        query: [Parameter] = [],
        headers: [String: String] = [:],
        body: [UInt8] = []
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
    }

    /// The address that a request comes from.
    package struct Peer: Hashable, Sendable {
        /// The network: all of an IPv4 address, the first half of an IPv6 address.
        package var network: UInt64
        /// True if it is this machine.
        package var isLoopback: Bool

        package init(network: UInt64, isLoopback: Bool) {
            self.network = network
            self.isLoopback = isLoopback
        }
    }
}
