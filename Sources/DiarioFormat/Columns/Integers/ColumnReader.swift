import DiarioCore
import DiarioZstd

/// What readers of all blocks of a segment share.
final class ColumnMemory {
    var decompressor: Decompressor

    init() throws(FormatError) {
        do throws(ZstdError) { decompressor = try Decompressor() } catch {
            throw .compression(error)
        }
    }
}

/// Reads the columns of one block one after the other: schema/format/segments.md, section 5.
///
/// Throws on wrong bytes and never traps. Takes no more memory than the block's entry allows: the
/// streams must add up to its expanded size.
struct ColumnReader: ~Escapable {
    let bytes: RawSpan
    var reader: ByteReader
    private let memory: ColumnMemory
    /// Bytes that streams may still have before compression.
    private(set) var expandedRest: Int

    @_lifetime(copy block)
    init(_ block: Span<UInt8>, expandedSize: Int, _ memory: ColumnMemory) {
        bytes = block.raw
        reader = ByteReader(block.raw)
        self.memory = memory
        expandedRest = expandedSize
    }

    var offset: Int { reader.offset }

    @_lifetime(self: copy self)
    mutating func nextByte() throws(FormatError) -> UInt8 { try reader.next(UInt8.self) }

    /// A number in a range.
    @_lifetime(self: copy self)
    mutating func nextCount(_ range: ClosedRange<Int>) throws(FormatError) -> Int {
        let start = offset
        let value = try reader.nextVarint()
        guard value <= UInt64(range.upperBound), value >= UInt64(range.lowerBound) else {
            throw .malformed(.body, at: start)
        }
        return Int(value)
    }

    /// Numbers of blocks or types, ascending, with their count in front.
    @_lifetime(self: copy self)
    mutating func nextNumbers() throws(FormatError) -> [Int] {
        let start = offset
        var numbers: [Int] = []
        for _ in 0..<(try nextCount(0...SegmentLimits.eventCountMax)) {
            let number = try nextCount(0...SegmentLimits.eventCountMax)
            guard numbers.last.map({ $0 < number }) ?? true else {
                throw .malformed(.body, at: start)
            }
            numbers.append(number)
        }
        return numbers
    }

    /// The bytes of `count` streams of `size` bytes each.
    @_lifetime(self: copy self)
    mutating func nextStreams(_ count: Int = 1, size: Int) throws(FormatError) -> [UInt8] {
        guard size <= expandedRest / max(count, 1) else { throw .malformed(.body, at: offset) }
        expandedRest -= count * size
        var content: [UInt8] = []
        content.reserveCapacity(count * size)
        for _ in 0..<count {
            let start = offset
            let code = try reader.nextVarint()
            let storedSize = code >> 1
            guard code & 1 == 1 else {
                guard storedSize == UInt64(size) else { throw .malformed(.body, at: start) }
                content.append(contentsOf: bytes.extracting(try reader.nextRange(count: size)))
                continue
            }
            guard try reader.nextVarint() == UInt64(size), storedSize < UInt64(size) else {
                throw .malformed(.storedBody, at: start)
            }
            let stored = bytes.extracting(try reader.nextRange(count: Int(storedSize)))
            do throws(ZstdError) {
                try memory.decompressor.decompress(Span(stored), size: size, into: &content)
            } catch {
                throw .compression(error)
            }
        }
        return content
    }

    /// Throws unless everything was read.
    func finish() throws(FormatError) {
        guard reader.isAtEnd else { throw .trailingBytes(at: offset) }
        guard expandedRest == 0 else { throw .malformed(.body, at: offset) }
    }
}

extension Span where Element == UInt8 {
    /// The bytes of a raw span.
    @_lifetime(copy raw)
    init(_ raw: RawSpan) {
        self = Span(_bytes: raw)
    }
}
