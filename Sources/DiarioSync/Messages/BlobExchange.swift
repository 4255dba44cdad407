package import DiarioCrypto

// Requests about blobs. They are no messages of sync: over HTTP each has a form of its own, which
// schema/format/http.md, section 10, specifies.

/// A request of a replica about blobs.
package enum BlobRequest: Hashable, Sendable {
    /// Which of these does the server lack?
    case want([Hash32])
    /// The next stored bytes of a blob of `size` bytes.
    case send(Hash32, offset: Int64, size: Int64, bytes: [UInt8])
    /// Some stored bytes of a blob; fewer if it ends before.
    case fetch(Hash32, Range<Int64>)
}

/// The answer to one.
package enum BlobReply: Hashable, Sendable {
    /// What the server would take, with the bytes that it has of each; and what is whole there,
    /// with its size.
    case wanted(missing: [Hash32: Int64], here: [Hash32: Int64])
    /// It has the bytes up to this one, which are all or not.
    case taken(Int64)
    /// All bytes were there, and were not those of the id: it threw them away.
    case wrong
    /// Some bytes of a blob of `size` bytes.
    case part([UInt8], size: Int64)
    /// It has no such blob, or none for this replica.
    case missing
    /// It does not do this for this blob; others may fare better.
    case refused(String)
    /// It does this for no blob at all, as the token does not give the right.
    case forbidden(String)
}
