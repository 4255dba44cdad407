import DiarioFormat

/// The bytes end, or it cannot be told where the next field begins; the fault has its line.
struct InspectStop: Error {}

/// Reads fields one after another, and notes each as a line.
struct FieldReader {
    let bytes: [UInt8]
    /// Added to a place in `bytes`, it gives one in the file.
    let base: Int
    let start: Int
    let end: Int
    var offset: Int
    var depth: Int
    var section: String
    /// True if the rows of blocks are shown.
    let showsRows: Bool
    private(set) var lines: [InspectLine] = []
    /// The values of the numbers that were read, and of the texts, by the names of their fields.
    private(set) var numbers: [String: [UInt64]] = [:]
    private(set) var texts: [String: [String]] = [:]

    init(
        _ bytes: [UInt8],
        _ range: Range<Int>,
        base: Int = 0,
        depth: Int = 0,
        section: String,
        showsRows: Bool = false
    ) {
        self.showsRows = showsRows
        precondition(
            range.lowerBound >= 0 && range.upperBound <= bytes.count,
            "a part lies in its bytes"
        )
        self.bytes = bytes
        self.base = base
        start = range.lowerBound
        offset = start
        end = range.upperBound
        self.depth = depth
        self.section = section
    }

    var remaining: Int { end - offset }

    /// The last number that was read under this name.
    func last(_ name: String) -> UInt64 { numbers[name]?.last ?? 0 }

    /// Takes the lines that were noted so far.
    mutating func takeLines() -> [InspectLine] {
        defer { lines = [] }
        return lines
    }

    /// Takes over the lines of a part that ends at `end`, and goes on there.
    mutating func append(_ part: [InspectLine], through end: Int) {
        lines += part
        offset = end
    }

    /// Notes a line about a part, or a field of its own kind.
    mutating func note(
        _ name: String,
        _ value: String = "",
        at place: Int,
        size: Int,
        check: InspectLine.Check = .none
    ) {
        let line = InspectLine(
            offset: base + place,
            size: size,
            depth: depth,
            name: name,
            value: value,
            section: section,
            check: check
        )
        lines.append(line)
    }

    /// Notes what follows the last field, if something does.
    mutating func noteRest(_ reason: String) {
        guard remaining > 0 else { return }
        note("rest", at: offset, size: remaining, check: .bad(reason))
        offset = end
    }

    /// Reads the fields of a table.
    mutating func read(_ fields: [Field]) throws(InspectStop) {
        for field in fields { try read(field) }
    }

    private mutating func read(_ field: Field) throws(InspectStop) {
        let place = offset
        switch field.kind {
        case .number(let size):
            let bytes = try take(size, field)
            finish(field, bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }, from: place)
        case .varint: finish(field, try varint(field), from: place)
        case .zigzag(let sums):
            let raw = try varint(field)
            let value = UInt64(
                bitPattern: Int64(bitPattern: raw >> 1) ^ -Int64(bitPattern: raw & 1)
            )
            finish(field, sums ? last(field.name) &+ value : value, from: place)
        case .text:
            let count = try varint(field)
            guard count <= UInt64(remaining) else { throw stop(field.name, at: place) }
            let range = offset..<offset + Int(count)
            offset = range.upperBound
            let isText = Text.isValid(bytes.span.raw, range)
            let text = String(decoding: bytes[range], as: UTF8.self)
            texts[field.name, default: []].append(text)
            let check: InspectLine.Check = isText ? .none : .bad("is not UTF-8, or holds U+0000")
            note(field.name, CellText.oneLine(text), at: place, size: offset - place, check: check)
        case .bytes(let count, let isSecret):
            let bytes = try take(count, field)
            let value = isSecret ? "\(count) secret bytes" : Show.hexadecimal(bytes)
            note(field.name, value, at: place, size: count)
        case .block: BlockInspector(showsRows: showsRows).inspect(&self)
        case .rest(let partSize):
            let value = Show.hexadecimal(bytes[offset..<end])
            let isWhole = remaining.isMultiple(of: partSize)
            let check: InspectLine.Check =
                partSize == 1 ? .none : isWhole ? .good : .bad("the last one is cut off")
            note(field.name, value, at: place, size: remaining, check: check)
            offset = end
        case .zeros(let count):
            let isRight = try take(count ?? remaining, field).allSatisfy { $0 == 0 }
            note(
                "zeros",
                at: place,
                size: offset - place,
                check: isRight ? .good : .bad("not zero")
            )
        case .magic:
            let found = try take(4, field)
            let isRight = found.elementsEqual(field.name.utf8)
            let value = isRight ? field.name : Show.hexadecimal(found)
            let isOld = found.elementsEqual(field.name.uppercased().utf8)
            let fault =
                isOld ? FormatError.beforeFirstRelease.message : "is not \(field.name)"
            let check: InspectLine.Check = isRight ? .good : .bad(fault)
            note("magic", value, at: place, size: 4, check: check)
        case .checksum(let ofBefore, let ofAfter):
            _ = try take(4, field)
            let before = ofBefore ? start..<place : 0..<0
            checksum(field.name, at: place, of: before, ofAfter ? offset..<end : 0..<0)
        case .list(let name, let countsBits, let entry):
            let count = last(name)
            for _ in 0..<(countsBits ? UInt64(count.nonzeroBitCount) : count) {
                try read(entry[0])
                depth += 1
                defer { depth -= 1 }
                for field in entry.dropFirst() { try read(field) }
            }
        case .ifBit(let name, let mask, let fields):
            if last(name) & mask != 0 { try read(fields) }
        case .ifZero(let name, let isZero, let fields):
            if (last(name) == 0) == isZero { try read(fields) }
        }
    }

    private mutating func finish(_ field: Field, _ value: UInt64, from place: Int) {
        var check = InspectLine.Check.none
        if let fault = field.fault { check = fault(value, self).map { .bad($0) } ?? .good }
        let text = field.show(value, self)
        note(field.name, text, at: place, size: offset - place, check: check)
        numbers[field.name, default: []].append(value)
    }

    /// Notes a stored CRC32C of two ranges, one after the other.
    mutating func checksum(
        _ name: String,
        at place: Int,
        of first: Range<Int>,
        _ second: Range<Int> = 0..<0
    ) {
        let stored = UInt32(Self.littleEndian(bytes, at: place, size: 4))
        let computed = Checksum.crc32c(
            bytes.span.raw.extracting(second),
            continuing: Checksum.crc32c(bytes.span.raw.extracting(first))
        )
        let check: InspectLine.Check =
            stored == computed ? .good : .bad("computed \(Show.word(computed))")
        note(name, Show.word(stored), at: place, size: 4, check: check)
    }

    private mutating func take(
        _ count: Int,
        _ field: Field
    ) throws(InspectStop) -> ArraySlice<UInt8> {
        guard remaining >= count else { throw stop(field.name, at: offset) }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }

    private mutating func varint(_ field: Field) throws(InspectStop) -> UInt64 {
        do throws(FormatError) {
            var reader = ByteReader(bytes.span.raw, range: offset..<end)
            let value = try reader.nextVarint()
            offset = reader.offset
            return value
        } catch {
            throw stop(field.name, at: offset, "is no number in its shortest form, or cut off")
        }
    }

    mutating func stop(
        _ name: String,
        at place: Int,
        _ reason: String = "the bytes end here"
    ) -> InspectStop {
        note(name, at: place, size: max(0, end - place), check: .bad(reason))
        return InspectStop()
    }

    static func littleEndian(_ bytes: [UInt8], at offset: Int, size: Int) -> UInt64 {
        bytes[offset..<offset + size].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
