import DiarioCore
import DiarioZstd

/// Writes the columns of one block after the other: schema/format/segments.md, section 5.
struct ColumnWriter: ~Copyable {
    /// The block at hand.
    private(set) var bytes: [UInt8] = []
    /// Bytes of its streams before compression.
    private(set) var expandedSize = 0
    var compressor: Compressor
    private var compressed: [UInt8] = []
    /// How often each byte is in a stream.
    private var histogram = [UInt16](repeating: 0, count: 256)

    /// Streams below this size are not worth the try.
    private static let compressedSizeMin = 96
    /// Bytes that compression has to save at least, besides a part of all: a reader takes about a
    /// microsecond to begin with a frame, in which it reads hundreds of them otherwise.
    private static let savingMin = 48

    init(level: Int = 1) throws(FormatError) {
        do throws(ZstdError) { compressor = try Compressor(level: level) } catch {
            throw .compression(error)
        }
    }

    /// Begins another block.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        expandedSize = 0
    }

    /// How much of the block was written.
    struct Mark {
        var size: Int
        var expandedSize: Int
    }

    var mark: Mark { Mark(size: bytes.count, expandedSize: expandedSize) }

    /// Takes back what was written since.
    mutating func rewind(to mark: Mark) {
        bytes.removeSubrange(mark.size...)
        expandedSize = mark.expandedSize
    }

    mutating func put(_ byte: UInt8) { bytes.append(byte) }
    mutating func put(varint value: Int) { bytes.append(varint: UInt64(value)) }
    mutating func put(varint value: UInt64) { bytes.append(varint: value) }
    mutating func put(zigzag value: Int64) { bytes.append(zigzag: value) }
    mutating func put(contentsOf content: [UInt8]) { bytes += content }

    /// Streams of `size` bytes each, one after the other.
    mutating func put(streams content: Span<UInt8>, size: Int) throws(FormatError) {
        for start in stride(from: 0, to: content.count, by: max(size, 1)) {
            try put(stream: content.extracting(start..<start + size))
        }
    }

    /// A stream, compressed if that saves so much that it is worth each reader's time.
    mutating func put(stream content: Span<UInt8>) throws(FormatError) {
        expandedSize += content.count
        if content.count >= Self.compressedSizeMin, mayShrink(content) {
            compressed.removeAll(keepingCapacity: true)
            do throws(ZstdError) {
                try compressor.compress(content, into: &compressed)
            } catch {
                throw .compression(error)
            }
            let size = compressed.count + Varint.size(UInt64(content.count))
            if size + Self.savingMin < content.count - content.count / 24 {
                bytes.append(varint: UInt64(compressed.count) << 1 | 1)
                bytes.append(varint: UInt64(content.count))
                bytes += compressed
                return
            }
        }
        bytes.append(varint: UInt64(content.count) << 1)
        bytes.append(contentsOf: content.raw)
    }

    /// False if bytes are spread so evenly that compression is not worth the try.
    ///
    /// Trying costs some microseconds, which counts where streams are short: many are made of
    /// random digits.
    private mutating func mayShrink(_ content: Span<UInt8>) -> Bool {
        let size = content.count
        guard size <= Self.lookedAtMax else { return true }
        var counts = histogram.mutableSpan
        for index in counts.indices { counts[index] = 0 }
        // Pairs of equal bytes, and how many different ones there are.
        var (pairCount, distinctCount) = (0, 0)
        for index in content.indices {
            let byte = Int(content[index])
            let count = counts[byte]
            pairCount += Int(count)
            distinctCount += count == 0 ? 1 : 0
            counts[byte] = count + 1
        }
        // What codes of the bytes may take if half a byte tells each code.
        let room = size - size / 24 - Self.savingMin - distinctCount / 2
        guard room > 0 else { return false }
        // If one pair in 2^n is equal, a byte has n bits at least. The bits there is room for are
        // rounded up to a half, and the root of 2 to 1.5.
        let halfBits = (16 * room + size - 1) / size
        let pairsForEqual = Double(1 << (halfBits / 2)) * (halfBits & 1 == 1 ? 1.5 : 1)
        return Double(pairCount) * pairsForEqual >= Double(size * (size - 1) / 2)
    }

    /// Longer streams are compressed without a look.
    private static let lookedAtMax = 4095
}
