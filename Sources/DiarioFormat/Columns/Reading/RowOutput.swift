import DiarioCore
import DiarioCrypto

/// Where rows are put together: bytes that are written once, one after the other.
///
/// Memory of its own, since an array looks at each byte that is written whether it is shared.
@safe struct RowOutput: ~Copyable {
    private var memory: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private(set) var count = 0

    private static let capacityMin = 64 * 1024

    init() {
        capacity = Self.capacityMin
        // Safe: nobody else knows the memory, and `deinit` frees it.
        unsafe memory = .allocate(capacity: capacity)
    }

    deinit {
        // Safe: it was allocated here, and is freed once.
        unsafe memory.deallocate()
    }

    /// The bytes that were written.
    consuming func take() -> [UInt8] {
        // Safe: the first `count` bytes were written.
        unsafe Array(UnsafeBufferPointer(start: memory, count: count))
    }

    @inline(__always)
    private mutating func reserve(_ size: Int) {
        if capacity - count < size { grow(size) }
    }

    private mutating func grow(_ size: Int) {
        let larger = capacity + max(capacity, size)
        // Safe: the new memory has more room than what was written, and the old one is let go.
        let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        unsafe moved.update(from: memory, count: count)
        unsafe memory.deallocate()
        unsafe memory = moved
        capacity = larger
    }

    /// Sets a bit of a bitmap that was written.
    mutating func setBit(_ bit: Int, at start: Int) {
        let place = start + bit >> 3
        precondition(0..<count ~= place, "the bitmap was written")
        // Safe: the place was written, as was just checked.
        unsafe memory[place] |= 1 << UInt8(bit & 7)
    }

    /// Whether a bitmap that was written has a bit.
    func hasBits(of size: Int, at start: Int) -> Bool {
        precondition(start >= 0 && size >= 0 && start + size <= count, "the bitmap was written")
        // Safe: the places were written, as was just checked.
        for place in start..<start + size where unsafe memory[place] != 0 { return true }
        return false
    }

    mutating func append(zeros size: Int) {
        reserve(size)
        // Safe: the room was reserved.
        for place in count..<count + size { unsafe memory[place] = 0 }
        count += size
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        reserve(1)
        // Safe: the room was reserved.
        unsafe memory[count] = byte
        count &+= 1
    }

    @inline(__always)
    mutating func append(varint value: UInt64) {
        reserve(Varint.sizeMax)
        var rest = value
        while rest >= 0x80 {
            // Safe: room for the longest varint was reserved.
            unsafe memory[count] = UInt8(truncatingIfNeeded: rest) | 0x80
            rest &>>= 7
            count &+= 1
        }
        // Safe: room for the longest varint was reserved.
        unsafe memory[count] = UInt8(truncatingIfNeeded: rest)
        count &+= 1
    }

    @inline(__always)
    mutating func append(littleEndian word: UInt64) {
        reserve(8)
        // Safe: the room was reserved.
        unsafe UnsafeMutableRawPointer(memory + count).storeBytes(
            of: word.littleEndian,
            as: UInt64.self
        )
        count &+= 8
    }

    @inline(__always)
    mutating func append(_ source: Span<UInt8>, _ range: Range<Int>) {
        reserve(range.count)
        let part = source.extracting(range)
        // Safe: the room was reserved, and the part was checked when it was taken out.
        unsafe part.withUnsafeBufferPointer { part in
            guard let from = part.baseAddress else { return }
            unsafe (memory + count).update(from: from, count: part.count)
        }
        count &+= range.count
    }

    /// Appends value `index` of some texts, with its length in front.
    mutating func append(counted texts: borrowing TextValues, _ index: Int) {
        let range = texts.range(index)
        append(varint: UInt64(range.count))
        append(texts.strings.bytes.span, range)
    }
}
