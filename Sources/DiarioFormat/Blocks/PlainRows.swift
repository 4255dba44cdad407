package import DiarioCore

/// The part of a block that a log keeps in memory, if the block is as plain as most: one run of one
/// replica, accepted at one time, and not an authority's.
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
    /// Reads the head of a block in a frame.
    ///
    /// Nil if the block is not plain, or very small: such blocks are parsed as a whole. Bytes after
    /// the runs are not checked: the checksum of the frame is right, and readers check the rows.
    package init?(_ block: Span<UInt8>) {
        guard block.count >= HeadReader.readSizeMax else { return nil }
        var reader = HeadReader(block.raw)
        // Magic, version, no compression, and flags.
        guard reader.word() == Self.start else { return nil }
        let counts = reader.word()
        let count = counts & 0xffff_ffff
        let bodySize = counts >> 32
        // The stored size, and the checksum.
        guard reader.word() & 0xffff_ffff == bodySize,
            bodySize == UInt64(block.count - BlockHeader.size)
        else { return nil }
        let clock = reader.word()
        let position = reader.varint()
        // One time, one replica, one run: as most blocks have.
        guard reader.varint() == 1, reader.varint() == count else { return nil }
        let acceptedAt = reader.varint()
        guard reader.varint() == 1, let replica = ReplicaID(rawValue: reader.word()),
            reader.varint() == 1, reader.varint() == 0
        else { return nil }
        let run = BlockRun(
            replica: replica,
            firstSequence: reader.varint(),
            count: reader.varint()
        )
        guard !reader.isWrong, run.count == count, 1...UInt64(Limits.blockCountMax) ~= count,
            run.firstSequence >= 1, position >= 1, clock >> 63 == 0
        else { return nil }
        let time = Int64(bitPattern: acceptedAt >> 1) ^ -Int64(bitPattern: acceptedAt & 1)
        guard CivilTime.contains(time) else { return nil }
        self.run = run
        self.clock = HybridTime(rawValue: clock)
        self.position = position
        self.acceptedAt = time
    }

    /// The first eight bytes of such a block.
    private static let start =
        UInt64(Magic.block.rawValue) | UInt64(BlockHeader.version) << 32
        | UInt64(BlockFlags.positioned.rawValue) << 48
}

/// Reads the start of a block without looking where it ends: there are bytes enough.
///
/// A long log has a million blocks, and all are read when it is opened.
private struct HeadReader: ~Escapable {
    private let bytes: RawSpan
    private var offset = 0
    /// True once a number was not in its shortest form, or as long as hardly any is.
    private(set) var isWrong = false

    /// The most that five words and nine numbers take, and one more word that is read with them.
    static let readSizeMax = (5 + 9 + 1) * 8

    @_lifetime(copy bytes)
    init(_ bytes: RawSpan) {
        precondition(bytes.byteCount >= Self.readSizeMax, "the start of a block is there")
        self.bytes = bytes
    }

    @inline(__always)
    private var next: UInt64 {
        // Safe: each step moves on by eight bytes at most, and there are bytes for all steps.
        UInt64(
            littleEndian: unsafe bytes.unsafeLoadUnaligned(
                fromUncheckedByteOffset: offset,
                as: UInt64.self
            )
        )
    }

    @inline(__always)
    @_lifetime(self: copy self)
    mutating func word() -> UInt64 {
        defer { offset += 8 }
        return next
    }

    /// A number of at most 56 bits.
    @inline(__always)
    @_lifetime(self: copy self)
    mutating func varint() -> UInt64 {
        let word = next
        if word & 0x80 == 0 {
            offset += 1
            return word & 0x7f
        }
        let size = (~word & 0x8080_8080_8080_8080).trailingZeroBitCount / 8 + 1
        // A last byte of zero says nothing: the number had a shorter form.
        guard size <= 8, word >> UInt64(8 * size - 8) & 0xff != 0 else {
            isWrong = true
            return 0
        }
        offset += size
        return ByteReader.gather(word & UInt64.max >> UInt64(64 - 8 * size))
    }
}
