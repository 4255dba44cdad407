package import DiarioCore

/// What a log keeps in memory of a block, if it is as plain as most: one run of one replica,
/// accepted at one time, and not an authority's.
package struct PlainRows: Sendable {
    package let run: BlockRun
    package let clock: HybridTime
    /// Of the first row, and when the last was accepted; nil if they are pending.
    package let position: UInt64?
    package let acceptedAt: Int64?

    package init(run: BlockRun, clock: HybridTime, position: UInt64?, acceptedAt: Int64?) {
        self.run = run
        self.clock = clock
        self.position = position
        self.acceptedAt = acceptedAt
    }
}

extension PlainRows {
    /// Reads what is needed of a block in a frame.
    ///
    /// Nil if it is another kind of block than this type stands for: those are parsed as a whole.
    /// What lies behind the runs is not looked at: the frame's checksum is right, and who reads the
    /// rows checks them.
    package init?(_ block: Span<UInt8>) {
        var reader = ByteReader(block.raw)
        do throws(FormatError) {
            guard try reader.next(UInt32.self) == BlockHeader.magic,
                try reader.next(UInt16.self) == UInt16(BlockHeader.version),
                try reader.next(UInt16.self) == BlockFlags.positioned.rawValue
            else { return nil }
            let count = UInt64(try reader.next(UInt32.self))
            let bodySize = try reader.next(UInt32.self)
            guard try reader.next(UInt32.self) == bodySize,
                Int(bodySize) == block.count - BlockHeader.size
            else { return nil }
            _ = try reader.next(UInt32.self)
            let clock = try reader.next(UInt64.self)
            let position = try reader.nextVarint()
            // One time, one replica, one run: as most blocks have.
            guard try reader.nextVarint() == 1, try reader.nextVarint() == count else { return nil }
            let acceptedAt = try reader.nextZigzag()
            guard try reader.nextVarint() == 1,
                let replica = ReplicaID(rawValue: try reader.next(UInt64.self)),
                try reader.nextVarint() == 1, try reader.nextVarint() == 0
            else { return nil }
            let run = BlockRun(
                replica: replica,
                firstSequence: try reader.nextVarint(),
                count: try reader.nextVarint()
            )
            guard run.count == count, 1...UInt64(Limits.blockCountMax) ~= count,
                run.firstSequence >= 1, run.firstSequence <= UInt64.max - count,
                position >= 1, position <= UInt64.max - count, clock >> 63 == 0
            else { return nil }
            self.run = run
            self.clock = HybridTime(rawValue: clock)
            self.position = position
            self.acceptedAt = acceptedAt
        } catch {
            return nil
        }
    }
}
