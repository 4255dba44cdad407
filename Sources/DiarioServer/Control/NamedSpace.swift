package import DiarioCore

/// A space that has a name: schema/format/control.md, sections 4 and 6.
package struct NamedSpace: Hashable, Sendable {
    package let name: SpaceName
    package let id: SpaceID
    package let created: Timestamp
    package var quota: SpaceQuota
    /// The queries that anybody may ask, without a token.
    package var publicQueries: [QueryPattern]
}

/// The quota of a space.
package struct SpaceQuota: Hashable, Sendable {
    /// Nil for the default.
    package var eventsMax: Int?
    package var bytesMax: Int?
    /// Of the stored bytes of blobs.
    package var blobBytesMax: Int?

    package init(eventsMax: Int? = nil, bytesMax: Int? = nil) {
        self.eventsMax = eventsMax
        self.bytesMax = bytesMax
    }

    package var events: Int { eventsMax ?? Limits.spaceEventCountMax }
    package var blobBytes: Int { blobBytesMax ?? Int(Limits.spaceBlobSizeMax) }
    package var bytes: Int { bytesMax ?? Int(Limits.spaceSizeMax) }
}
