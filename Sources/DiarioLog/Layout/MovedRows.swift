import DiarioFormat

// Stands for rows as a block does, while the block is in a row file: schema/format/log.md,
// section 8.

/// Consecutive events that lie in a condensed block of a row file.
package struct MovedRows: Hashable, Sendable {
    /// The number of the row file.
    package let file: UInt32
    /// Where the block starts in it, and its bytes.
    package let offset: UInt32
    package let size: UInt32
    /// Events of the block before the first of these.
    package let skip: UInt32
    package let firstPosition: UInt64
    package let count: UInt32

    private static let contentSize = 32
    /// Bytes of a record in a frame.
    package static let recordSize = Record.headerSize + contentSize

    package init(
        file: UInt32,
        offset: UInt32,
        size: UInt32,
        skip: UInt32,
        firstPosition: UInt64,
        count: UInt32
    ) {
        self.file = file
        self.offset = offset
        self.size = size
        self.skip = skip
        self.firstPosition = firstPosition
        self.count = count
    }

    package var lastPosition: UInt64 { firstPosition + UInt64(count) - 1 }

    package func append(to bytes: inout [UInt8]) {
        bytes.append(littleEndian: UInt64(file))
        bytes.append(littleEndian: offset)
        bytes.append(littleEndian: size)
        bytes.append(littleEndian: firstPosition)
        bytes.append(littleEndian: count)
        bytes.append(littleEndian: skip)
    }

    /// Nil unless `bytes` are what `append` writes.
    package init?(_ bytes: Span<UInt8>) {
        guard bytes.count == Self.contentSize,
            let file = UInt32(exactly: bytes.littleEndian(UInt64.self, at: 0))
        else { return nil }
        let offset = bytes.littleEndian(UInt32.self, at: 8)
        let size = bytes.littleEndian(UInt32.self, at: 12)
        let position = bytes.littleEndian(UInt64.self, at: 16)
        let count = bytes.littleEndian(UInt32.self, at: 24)
        let skip = bytes.littleEndian(UInt32.self, at: 28)
        guard file > 0, offset >= UInt32(RowFile.headerSize), size <= UInt32.max - offset,
            LogNumber.isValid(position, count: UInt64(count)), count <= UInt32.max - skip
        else { return nil }
        self.init(
            file: file,
            offset: offset,
            size: size,
            skip: skip,
            firstPosition: position,
            count: count
        )
    }
}
