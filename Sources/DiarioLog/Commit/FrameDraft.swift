import DiarioCore
import DiarioFormat
import DiarioFrames

/// The frame under construction: its records, and the block whose rows are gathered for the next.
///
/// Rows of one space that follow each other share a block, within the limits.
struct FrameDraft: Sendable {
    /// Room for the header of the frame, then records.
    var bytes: [UInt8] = []
    private(set) var recordCount = 0
    private var builder = BlockBuilder()
    /// The block under construction, whose rows `builder` has.
    private var open: OpenBlock?
    /// When its rows were accepted; empty if they are pending, or if there are none.
    private var times: [AcceptedRun] = []
    /// The rows of the frame, as long as it holds nothing else.
    private(set) var ownRows: [OwnRows] = []

    /// What all rows of a block have in common.
    struct BlockKey: Equatable {
        let space: SpaceID
        let isAuthority: Bool
        /// Who wrote, if the rows are pending; nil if they have positions.
        let laneReplica: ReplicaID?
        /// True if they came from elsewhere: their clocks may be out of all measure.
        var isReceived = false
    }

    private struct OpenBlock {
        let key: BlockKey
        /// Of the first row; nil if the rows are pending.
        let position: UInt64?
    }

    /// Begins a frame.
    mutating func begin() {
        precondition(builder.isEmpty, "the last frame took all rows")
        bytes.removeAll(keepingCapacity: true)
        bytes.append(repeating: 0, count: FrameHeader.size)
        recordCount = 0
        ownRows.removeAll(keepingCapacity: true)
    }

    /// Bytes that it takes so far.
    var size: Int { bytes.count + builder.size }

    /// Whether it holds nothing but `ownRows`.
    var isPlain: Bool { ownRows.count == recordCount }

    // MARK: Blocks

    /// Makes sure that a block is open that takes the rows of `batch` next.
    ///
    /// `frill` are the bytes that the rows take besides what the batch reckons with.
    mutating func openBlock(
        for batch: DraftBatch,
        _ key: BlockKey,
        position: UInt64,
        frill: Int = 0
    ) {
        if open?.key == key {
            let timesSize = times.count * BlockBuilder.acceptedRunSizeMax
            if builder.hasRoom(for: batch, frill: timesSize + frill) { return }
        }
        flushRows()
        open = OpenBlock(key: key, position: key.laneReplica == nil ? position : nil)
    }

    /// Makes sure that a block is open that takes these rows next.
    mutating func openBlock(for rows: ReceivedRows, _ key: BlockKey, position: UInt64) {
        if open?.key == key {
            let timesSize = times.count * BlockBuilder.acceptedRunSizeMax
            let size = timesSize + rows.sizeMax
            // A lane may have gaps, and a block of it has none.
            let follows =
                key.laneReplica == nil
                || builder.onlyRun.map { $0.lastSequence + 1 }
                    == rows.head.runs.first?.firstSequence
            if follows, builder.hasRoom(for: size, rows.count, rows.head.types) { return }
        }
        flushRows()
        open = OpenBlock(key: key, position: key.laneReplica == nil ? position : nil)
    }

    /// Notes that `count` rows were added which were accepted at one time.
    mutating func note(count: Int, acceptedAt: Int64) {
        guard open?.position != nil else { return }
        let time = Timestamp(milliseconds: acceptedAt)
        if let last = times.indices.last, times[last].acceptedAt == time {
            times[last].count += count
        } else {
            times.append(AcceptedRun(count: count, acceptedAt: time))
        }
    }

    /// Closes the open block and puts it into the frame.
    mutating func flushRows() {
        guard let block = open, !builder.isEmpty else { return }
        let start = Record.begin(in: &bytes)
        builder.write(
            into: &bytes,
            position: block.position,
            times: times,
            isAuthority: block.key.isAuthority
        )
        Record.end(.rows, block.key.space, from: start, in: &bytes)
        recordCount += 1
        if let run = builder.onlyRun, !block.key.isAuthority {
            ownRows.append(
                OwnRows(
                    space: block.key.space,
                    offset: start + Record.headerSize,
                    size: bytes.count - start - Record.headerSize,
                    rows: PlainRows(
                        run: run,
                        clock: builder.highestClock,
                        position: block.position,
                        acceptedAt: times.last?.acceptedAt.milliseconds
                    )
                )
            )
        }
        closeBlock()
    }

    /// Forgets the open block and its rows, and keeps their memory.
    private mutating func closeBlock() {
        builder.removeAll()
        times.removeAll(keepingCapacity: true)
        open = nil
    }

    // MARK: Rows

    /// Adds a batch to the open block.
    mutating func append(
        _ batch: DraftBatch,
        by replica: ReplicaID,
        from sequence: UInt64,
        clock: HybridTime,
        base: UInt64
    ) {
        builder.append(
            batch,
            replica: replica,
            firstSequence: sequence,
            clock: clock,
            base: base
        )
    }

    /// Adds one event of a batch to the open block.
    mutating func append(event index: Int, of batch: DraftBatch, envelope: RowEnvelope) {
        builder.append(event: index, of: batch, envelope: envelope)
    }

    /// Adds all rows of a block, which was checked, to the open one.
    mutating func append(_ rows: ReceivedRows) {
        do throws(FormatError) {
            try builder.append(rows.block.span, rows.head)
        } catch {
            preconditionFailure("a block is checked before its rows are staged: \(error.message)")
        }
    }

    /// Adds some rows of a block as a block of their own; nothing is added when this throws.
    mutating func append(
        _ rows: Range<Int>,
        of block: Span<UInt8>,
        _ key: BlockKey,
        position: UInt64?,
        acceptedAt: Int64?
    ) throws(FormatError) {
        open = OpenBlock(key: key, position: position)
        do throws(FormatError) {
            let head = try BlockHead.parse(block, verifyChecksum: true)
            var cursor = RowCursor(block, head.summary)
            while let row = try cursor.next(), row.index < rows.upperBound {
                guard rows.contains(row.index) else { continue }
                try builder.append(row, of: block, type: head.types[row.typeIndex])
                if let time = acceptedAt ?? row.acceptedAt?.milliseconds {
                    note(count: 1, acceptedAt: time)
                }
            }
        } catch {
            closeBlock()
            throw error
        }
        flushRows()
    }

    // MARK: Records

    /// Adds a record in front of the open block; after it, if that is flushed first.
    mutating func append(
        _ kind: RecordKind,
        of space: SpaceID,
        _ write: (inout [UInt8]) -> Void
    ) {
        Record.append(kind, space, to: &bytes, write)
        recordCount += 1
    }

    mutating func append(_ seed: SaltSeed, of space: SpaceID) {
        append(.seed, of: space) { bytes in
            bytes.append(littleEndian: seed.replica.rawValue)
            bytes.append(littleEndian: seed.group)
            seed.root.write(into: &bytes)
        }
    }
}
