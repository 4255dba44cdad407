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

extension StoredEvents {
    /// The events of a run, whose block these bytes are; of canonical ones those at `positions`.
    init(
        _ bytes: [UInt8],
        _ run: Run,
        isPending: Bool,
        positions: Range<UInt64>? = nil
    ) throws(LogError) {
        do throws(FormatError) {
            let head = try BlockHead.parse(bytes.span, verifyChecksum: true)
            var rows: [StoredRow] = []
            rows.reserveCapacity(Int(run.count))
            var cursor = RowCursor(bytes.span, head.summary)
            let end = Int(run.skip) + Int(run.count)
            while let row = try cursor.next(), row.index < end {
                guard row.index >= Int(run.skip) else { continue }
                let position = run.first + UInt64(row.index) - UInt64(run.skip)
                if let positions, !positions.contains(position) { continue }
                rows.append(
                    StoredRow(
                        row: row,
                        position: isPending ? nil : position,
                        acceptedAt: run.promotedAt.map { Timestamp(milliseconds: $0) }
                            ?? row.acceptedAt,
                        isAuthority: head.summary.isAuthority
                    )
                )
            }
            self.init(
                bytes: bytes,
                types: head.types,
                rows: rows,
                fileName: run.rowsFile,
                salts: nil
            )
        } catch {
            throw run.fault(error)
        }
    }

    func reversed() -> StoredEvents {
        StoredEvents(
            bytes: bytes,
            types: types,
            rows: rows.reversed(),
            fileName: fileName,
            salts: salts
        )
    }

    /// The envelope of one of the rows.
    func envelope(of row: BlockRow) throws(LogError) -> RowEnvelope {
        do throws(FormatError) { return try PublicPart.parse(bytes.span, row).envelope } catch {
            throw .format(error)
        }
    }
}
