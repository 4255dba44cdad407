import DiarioCore
import DiarioZstd

/// What reading columns needs beside their bytes; kept from block to block.
struct ColumnMemory: ~Copyable {
    var decompressor: Decompressor
    /// Streams before compression, one after the other.
    var expanded: [UInt8] = []
    /// Nil unless they are to be kept.
    var frames: KeptFrames?

    init() throws(FormatError) {
        do throws(ZstdError) { decompressor = try Decompressor() } catch {
            throw .compression(error)
        }
    }
}

/// Compressed streams that were read, to tell what decompressing them alone costs.
package struct KeptFrames: Sendable {
    /// One after the other.
    package private(set) var bytes: [UInt8] = []
    /// Of each in turn how many bytes it has, and how many before compression.
    package private(set) var sizes: [UInt64] = []

    package init() {}

    mutating func keep(_ frame: RawSpan, expandedSize: Int) {
        bytes.append(contentsOf: frame)
        sizes += [UInt64(frame.byteCount), UInt64(expandedSize)]
    }
}

/// Reads the columns of one block one after the other: schema/format/segments.md, section 5.
///
/// Throws on wrong bytes and never traps. Memory is asked for only for what the block's entry
/// allows: the streams must add up to its expanded size.
struct ColumnReader: ~Escapable {
    let bytes: RawSpan
    var reader: ByteReader
    /// Bytes that streams may still have before compression.
    var expandedRest: Int
    /// False if indices of rows that are not wanted are read only once they turn out to be keys.
    var readsAllKeys = true
    /// Indices of which only the wanted ones were read: of fields, by their name as keys, and of
    /// the field at hand.
    var unreadKeys: [(name: Int, codes: UnreadCodes)] = []
    var unreadCodes: UnreadCodes?

    @_lifetime(copy block)
    init(_ block: Span<UInt8>, expandedSize: Int) {
        bytes = block.raw
        reader = ByteReader(block.raw)
        expandedRest = expandedSize
    }

    var offset: Int { reader.offset }

    @_lifetime(self: copy self)
    mutating func nextByte() throws(FormatError) -> UInt8 { try reader.next(UInt8.self) }

    /// A number that is at most `most`.
    @_lifetime(self: copy self)
    mutating func nextCount(_ range: ClosedRange<Int>) throws(FormatError) -> Int {
        let start = offset
        let value = try reader.nextVarint()
        guard value <= UInt64(range.upperBound), value >= UInt64(range.lowerBound) else {
            throw .malformed(.body, at: start)
        }
        return Int(value)
    }

    /// Where a stream of `size` bytes lies: in the block, or in `memory.expanded` behind what
    /// was there.
    @_lifetime(self: copy self)
    mutating func nextStream(
        size: Int,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> StreamPlace {
        let (isCompressed, stored) = try nextStored(size: size)
        guard isCompressed else { return StreamPlace(isExpanded: false, range: stored) }
        memory.frames?.keep(bytes.extracting(stored), expandedSize: size)
        let place = memory.expanded.count
        do throws(ZstdError) {
            try memory.decompressor.decompress(
                Span(bytes.extracting(stored)),
                size: size,
                into: &memory.expanded
            )
        } catch {
            throw .compression(error)
        }
        return StreamPlace(isExpanded: true, range: place..<place + size)
    }

    /// Where the stored bytes of a stream of `size` bytes lie in the block.
    @_lifetime(self: copy self)
    private mutating func nextStored(
        size: Int
    ) throws(FormatError) -> (isCompressed: Bool, place: Range<Int>) {
        let start = offset
        let code = try reader.nextVarint()
        let storedSize = code >> 1
        guard size <= expandedRest else { throw .malformed(.body, at: start) }
        expandedRest -= size
        guard code & 1 == 1 else {
            guard storedSize == UInt64(size) else { throw .malformed(.body, at: start) }
            return (false, try reader.nextRange(count: size))
        }
        guard try reader.nextVarint() == UInt64(size), storedSize < UInt64(size) else {
            throw .malformed(.storedBody, at: start)
        }
        return (true, try reader.nextRange(count: Int(storedSize)))
    }

    /// Goes past a stream of `size` bytes, of which none is wanted.
    @_lifetime(self: copy self)
    mutating func skipStream(size: Int) throws(FormatError) { _ = try nextStored(size: size) }

    /// The `wanted` bytes of a stream as bytes of their own.
    @_lifetime(self: copy self)
    mutating func nextBytes(
        size: Int,
        wanted: Range<Int>? = nil,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> [UInt8] {
        let wanted = wanted ?? 0..<size
        memory.expanded.removeAll(keepingCapacity: true)
        guard !wanted.isEmpty || size == 0 else {
            try skipStream(size: size)
            return []
        }
        let place = try nextStream(size: size, &memory)
        var content: [UInt8] = []
        // Memory that was taken for much more stays where it is.
        if place.isExpanded, wanted.count == size, size >= memory.expanded.capacity / 2 {
            swap(&content, &memory.expanded)
        } else if place.isExpanded {
            content += memory.expanded[wanted]
        } else {
            content.append(contentsOf: bytes.extracting(place.range).extracting(wanted))
        }
        return content
    }

    /// Throws unless everything was read.
    func finish() throws(FormatError) {
        guard reader.isAtEnd else { throw .trailingBytes(at: offset) }
        guard expandedRest == 0 else { throw .malformed(.body, at: offset) }
    }
}

/// Indices that can be read once more, since only some of them were wanted.
struct UnreadCodes {
    /// Where they begin in the block.
    var offset: Int
    /// What streams may have before compression from there on.
    var expandedRest: Int
    var count: Int
    var bound: Int
    /// The rows that have one; nil if all.
    var present: [Int32]?
}

/// Where the bytes of a stream lie.
struct StreamPlace {
    /// False if they lie in the block itself.
    var isExpanded: Bool
    var range: Range<Int>
}

extension Span where Element == UInt8 {
    /// The bytes of a raw span.
    @_lifetime(copy raw)
    init(_ raw: RawSpan) {
        self = Span(_bytes: raw)
    }
}
