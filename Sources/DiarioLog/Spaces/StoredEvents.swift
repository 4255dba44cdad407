package import DiarioCore
package import DiarioFormat

/// Events that were read together: those of a block, or a piece of a segment.
package struct StoredEvents: Sendable {
    /// Holds the parts of the rows, whose places count from its start.
    package let bytes: [UInt8]
    /// The types that `typeIndex` of the rows counts in.
    package let types: [TypeEntry]
    /// The rows that were asked for, in order.
    package let rows: [StoredRow]
    let fileName: FileName?
    /// The source of their salts, if not the write-ahead log.
    let salts: SaltNodes?

    /// The file they were read from, relative to the data directory.
    package var file: String { fileName?.path ?? "" }
}

/// A row, with the current position of its event.
package struct StoredRow: Sendable {
    package let row: BlockRow
    /// Nil while the event is pending.
    package let position: UInt64?
    /// Nil while the event is pending.
    package let acceptedAt: Timestamp?
    /// True if an authority wrote the event.
    package let isAuthority: Bool
}

extension StoredRow {
    init(_ row: SegmentRow) {
        self.init(
            row: BlockRow(row),
            position: row.position,
            acceptedAt: row.event.acceptedAt,
            isAuthority: row.event.isAuthority
        )
    }
}
