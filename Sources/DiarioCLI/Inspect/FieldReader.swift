import DiarioCore
import DiarioFormat

/// The bytes end, or what they say makes it impossible to read on.
struct InspectStop: Error {}

/// Reads fields one after another, and notes each as a line.
struct FieldReader {
    let bytes: [UInt8]
    /// What is added to a place in `bytes` to give one in the file.
    let base: Int
    let end: Int
    var offset: Int
    var depth = 0
    var section: String
    private(set) var lines: [InspectLine] = []

    init(_ bytes: [UInt8], range: Range<Int>, base: Int = 0, section: String) {
        precondition(
            range.lowerBound >= 0 && range.upperBound <= bytes.count,
            "a part lies in its bytes"
        )
        self.bytes = bytes
        self.base = base
        offset = range.lowerBound
        end = range.upperBound
        self.section = section
    }

    var remaining: Int { end - offset }

    /// Takes the lines that were noted so far.
    mutating func takeLines() -> [InspectLine] {
        defer { lines.removeAll() }
        return lines
    }

    /// Takes over the lines of a part that ends at `end`, and goes on there.
    mutating func append(_ part: [InspectLine], through end: Int) {
        lines += part
        offset = end
    }

    /// Notes a line of one's own.
    mutating func note(
        _ name: String,
        _ value: String = "",
        at place: Int,
        size: Int,
        check: InspectLine.Check = .none
    ) {
        lines.append(
            InspectLine(
                offset: base + place,
                size: size,
                depth: depth,
                name: name,
                value: value,
                section: section,
                check: check
            )
        )
    }

    /// Notes a heading at the current place, and what follows as parts of it.
    mutating func heading(_ name: String, _ value: String = "", size: Int = 0) {
        note(name, value, at: offset, size: size)
        depth += 1
    }

    /// An integer of 1 to 8 bytes; `problem` says what is wrong with it, if something is.
    @discardableResult
    mutating func number(
        _ name: String,
        size: Int,
        show: (UInt64) -> String = Show.decimal,
        problem: ((UInt64) -> String?)? = nil
    ) throws(InspectStop) -> UInt64 {
        let start = try skip(name, size)
        let value = Self.littleEndian(bytes, at: start, size: size)
        note(
            name,
            show(value),
            at: start,
            size: size,
            check: Self.check(value, problem)
        )
        return value
    }

    /// Four letters that say what the bytes are.
    mutating func magic(_ expected: String) throws(InspectStop) {
        let start = try skip("magic", 4)
        let found = Array(bytes[start..<start + 4])
        let isRight = found == Array(expected.utf8)
        note(
            "magic",
            isRight ? expected : Show.hexadecimal(found[...]),
            at: start,
            size: 4,
            check: isRight ? .good : .bad("is not \(expected)")
        )
    }

    /// Bytes that must be zero.
    mutating func zeros(_ count: Int) throws(InspectStop) {
        let start = try skip("zeros", count)
        let isRight = bytes[start..<start + count].allSatisfy { $0 == 0 }
        note("zeros", at: start, size: count, check: isRight ? .good : .bad("not zero"))
    }

    /// A CRC32C of `ranges`, one after the other.
    mutating func checksum(of ranges: Range<Int>...) throws(InspectStop) {
        let start = try skip("CRC32C", 4)
        let stored = UInt32(Self.littleEndian(bytes, at: start, size: 4))
        let computed = ranges.reduce(0) {
            Checksum.crc32c(bytes.span.raw.extracting($1), continuing: $0)
        }
        note(
            "CRC32C",
            Show.word(stored),
            at: start,
            size: 4,
            check: stored == computed ? .good : .bad("computed \(Show.word(computed))")
        )
    }

    @discardableResult
    mutating func raw(
        _ name: String,
        count: Int,
        show: (ArraySlice<UInt8>) -> String = Show.hexadecimal
    ) throws(InspectStop) -> ArraySlice<UInt8> {
        let start = try skip(name, count)
        note(name, show(bytes[start..<start + count]), at: start, size: count)
        return bytes[start..<start + count]
    }

    /// Bytes of which the caller notes what they are.
    mutating func slice(_ name: String, count: Int) throws(InspectStop) -> ArraySlice<UInt8> {
        let start = try skip(name, count)
        return bytes[start..<start + count]
    }

    @discardableResult
    mutating func varint(
        _ name: String,
        show: (UInt64) -> String = Show.decimal,
        problem: ((UInt64) -> String?)? = nil
    ) throws(InspectStop) -> UInt64 {
        let (value, place) = try plainVarint(name)
        note(
            name,
            show(value),
            at: place.lowerBound,
            size: place.count,
            check: Self.check(value, problem)
        )
        return value
    }

    @discardableResult
    mutating func zigzag(
        _ name: String,
        show: (Int64) -> String = { "\($0)" }
    ) throws(InspectStop) -> Int64 {
        let (raw, place) = try plainVarint(name)
        let value = Int64(bitPattern: raw >> 1) ^ -Int64(bitPattern: raw & 1)
        note(name, show(value), at: place.lowerBound, size: place.count)
        return value
    }

    /// A text with its length in front.
    @discardableResult
    mutating func text(_ name: String) throws(InspectStop) -> String {
        let start = offset
        let (count, _) = try plainVarint(name)
        guard count <= UInt64(remaining) else { throw stop(name, at: start) }
        let content = offset..<offset + Int(count)
        offset = content.upperBound
        let isText = Text.isValid(bytes.span.raw, content)
        let text = String(decoding: bytes[content], as: UTF8.self)
        note(
            name,
            CellText.oneLine(text),
            at: start,
            size: offset - start,
            check: isText ? .none : .bad("is not UTF-8, or holds U+0000")
        )
        return text
    }

    /// Moves on by `count` bytes and gives where they start.
    private mutating func skip(_ name: String, _ count: Int) throws(InspectStop) -> Int {
        guard count >= 0, remaining >= count else { throw stop(name, at: offset) }
        defer { offset += count }
        return offset
    }

    private mutating func plainVarint(
        _ name: String
    ) throws(InspectStop) -> (UInt64, Range<Int>) {
        let start = offset
        do throws(FormatError) {
            var reader = ByteReader(bytes.span.raw, range: offset..<end)
            let value = try reader.nextVarint()
            offset = reader.offset
            return (value, start..<offset)
        } catch {
            throw stop(name, at: start, "is no number in its shortest form, or cut off")
        }
    }

    private mutating func stop(
        _ name: String,
        at place: Int,
        _ reason: String = "the bytes end here"
    ) -> InspectStop {
        note(name, at: place, size: max(0, end - place), check: .bad(reason))
        return InspectStop()
    }

    private static func check(
        _ value: UInt64,
        _ problem: ((UInt64) -> String?)?
    ) -> InspectLine.Check {
        guard let problem else { return .none }
        return problem(value).map { .bad($0) } ?? .good
    }

    static func littleEndian(_ bytes: [UInt8], at offset: Int, size: Int) -> UInt64 {
        bytes[offset..<offset + size].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
