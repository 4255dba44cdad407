/// Where the bytes of a blob are, as a device knows it: schema/format/models.md, section 2.
@nonexhaustive
public enum BlobState: String, Hashable, Sendable {
    /// All bytes are here.
    case here
    /// The bytes are neither here nor, as far as is known, on the server.
    case missing
    /// The server has the bytes, or some of them are here.
    case coming
    /// The bytes are here, and the server does not take them.
    case refused
    /// Nobody has the key any more.
    case erased
}
