import DiarioCore

/// How a column of texts is written: schema/format/segments.md, section 7.
enum TextMethod: Hashable, Sendable {
    case plain
    case dictionary(IntegerMethod)
    case pool(IntegerMethod)
    case mixed(IntegerMethod)

    static let plainTag: UInt8 = 1
    static let dictionaryTag: UInt8 = 2
    static let poolTag: UInt8 = 3
    static let mixedTag: UInt8 = 4
    static let sharedTag: UInt8 = 5
}

/// How byte strings are written.
enum StringForm: UInt8 {
    case bytes = 1
    case pattern
    case origins
    case fixed
    case parts
    case headed
    case pieces
}

/// The replicas that texts may name by number.
struct ReplicaTable {
    private(set) var replicas: [ReplicaID]
    private var numbers: [ReplicaID: Int] = [:]
    /// How many of them are the segment's own.
    let ownCount: Int
    /// Whether others may be added.
    var mayGrow = true

    init(_ replicas: [ReplicaID]) {
        self.replicas = replicas
        ownCount = replicas.count
        for (index, replica) in replicas.enumerated() { numbers[replica] = index }
    }

    var foreign: ArraySlice<ReplicaID> { replicas[ownCount...] }

    /// The number of a replica; nil if it has none and may get none.
    mutating func number(of replica: ReplicaID) -> Int? {
        if let number = numbers[replica] { return number }
        guard mayGrow else { return nil }
        replicas.append(replica)
        numbers[replica] = replicas.count - 1
        return replicas.count - 1
    }
}

extension ColumnWriter {
    /// Byte strings in the form that fits them.
    mutating func put(
        strings: ByteStrings,
        _ replicas: inout ReplicaTable,
        isFixed: Bool = false
    ) throws(FormatError) {
        guard !strings.isEmpty else { return }
        if isFixed { return try put(fixed: strings) }
        let parts = StringParts(strings, &replicas)
        guard parts.isSplit else {
            if !parts.origins.isEmpty { return try put(origins: parts.origins) }
            return try put(whole: strings, mayHavePattern: !parts.sized.isEmpty)
        }
        put(StringForm.parts.rawValue)
        try put(simple: parts.kinds.span, .plain)
        if !parts.origins.isEmpty { try put(origins: parts.origins) }
        if !parts.sized.isEmpty { try put(whole: parts.sized, mayHavePattern: true) }
        if !parts.others.isEmpty { try put(whole: parts.others, mayHavePattern: false) }
    }

    private mutating func put(
        whole strings: ByteStrings,
        mayHavePattern: Bool
    ) throws(FormatError) {
        guard mayHavePattern, let pattern = TextPattern(strings) else {
            if let pieces = TextPieces.find(strings) { return try put(pieces) }
            return try put(bytesOf: strings)
        }
        let start = (bytes.count, expandedSize)
        try put(pattern: pattern, strings)
        // Where the pattern gains little, zstd may find more.
        guard pattern.packedSize * 4 > pattern.marks.count * 3 || strings.count < 4096 else {
            return
        }
        let patternSize = bytes.count - start.0
        let patternBytes = Array(bytes[start.0...])
        let patternExpandedSize = expandedSize
        rewind(to: start.0, expandedSize: start.1)
        try put(bytesOf: strings)
        guard bytes.count - start.0 >= patternSize else { return }
        rewind(to: start.0, expandedSize: patternExpandedSize)
        put(contentsOf: patternBytes)
    }

    mutating func put(bytesOf strings: ByteStrings) throws(FormatError) {
        put(StringForm.bytes.rawValue)
        var sizes = [Int64](repeating: 0, count: strings.count)
        for index in sizes.indices { sizes[index] = Int64(strings.range(index).count) }
        try put(simple: sizes.span, .plain)
        let content = strings.bytes
        try put(stream: content.span)
    }

    private mutating func put(
        pattern: TextPattern,
        _ strings: ByteStrings
    ) throws(FormatError) {
        put(StringForm.pattern.rawValue)
        put(pattern)
        var planes = scratch
        pattern.pack(strings, into: &planes)
        try put(planes: planes.span, count: strings.count)
        scratch = planes
    }

    private mutating func put(fixed strings: ByteStrings) throws(FormatError) {
        let size = strings.range(0).count
        put(StringForm.fixed.rawValue)
        put(varint: size)
        let count = strings.count
        let content = strings.bytes.span
        var planes = [UInt8](repeating: 0, count: content.count)
        for index in 0..<count {
            for place in 0..<size { planes[place * count + index] = content[index * size + place] }
        }
        try put(planes: planes.span, count: count)
    }

    private mutating func put(planes: Span<UInt8>, count: Int) throws(FormatError) {
        var start = 0
        while start < planes.count {
            try put(stream: planes.extracting(start..<start + count))
            start += count
        }
    }

    private mutating func put(origins: StringParts.Origins) throws(FormatError) {
        put(StringForm.origins.rawValue)
        try put(simple: origins.replicas.span, .plain)
        try put(simple: origins.sequences.span, .plain)
    }
}

/// Byte strings apart by what they look like.
struct StringParts {
    struct Origins {
        var replicas: [Int64] = []
        var sequences: [Int64] = []
        var isEmpty: Bool { replicas.isEmpty }
    }

    /// For each string its part, counting only parts that are not empty.
    private(set) var kinds: [Int64] = []
    private(set) var origins = Origins()
    /// Those of the most frequent size, if they may have a pattern.
    private(set) var sized = ByteStrings()
    private(set) var others = ByteStrings()

    var isSplit: Bool {
        (origins.isEmpty ? 0 : 1) + (sized.isEmpty ? 0 : 1) + (others.isEmpty ? 0 : 1) > 1
    }

    private static let patternCountMin = 4

    init(_ strings: ByteStrings, _ replicas: inout ReplicaTable) {
        var sizeCounts = [Int](repeating: 0, count: TextPattern.sizeMax + 1)
        var found: [Origin?] = []
        var hasOrigins = false
        for index in 0..<strings.count {
            let size = strings.range(index).count
            var origin: Origin?
            if 15...OriginText.sizeMax ~= size { origin = OriginText.parse(strings[index]) }
            if let replica = origin?.replica, replicas.number(of: replica) == nil { origin = nil }
            if origin != nil {
                hasOrigins = true
                if found.isEmpty {
                    found = [Origin?](repeating: nil, count: strings.count)
                }
                found[index] = origin
            } else if size <= TextPattern.sizeMax {
                sizeCounts[size] += 1
            }
        }
        let size = sizeCounts.indices.max { sizeCounts[$0] < sizeCounts[$1] } ?? 0
        let isSized = size >= 4 && sizeCounts[size] >= Self.patternCountMin
        if !hasOrigins, isSized, sizeCounts[size] == strings.count {
            sized = strings
            return
        }
        if !hasOrigins, !isSized || !Self.hasPattern(strings, size) {
            others = strings
            return
        }
        let hasPattern = isSized && Self.hasPattern(strings, size)
        split(strings, found, size: hasPattern ? size : -1, &replicas)
    }

    /// Whether the first strings of this size have a pattern.
    private static func hasPattern(_ strings: ByteStrings, _ size: Int) -> Bool {
        var first = ByteStrings()
        for index in 0..<strings.count where strings.range(index).count == size {
            guard OriginText.parse(strings[index]) == nil else { continue }
            first.append(strings[index].raw)
            if first.count == 256 { break }
        }
        return first.count >= patternCountMin && TextPattern(first) != nil
    }

    private mutating func split(
        _ strings: ByteStrings,
        _ found: [Origin?],
        size: Int,
        _ replicas: inout ReplicaTable
    ) {
        kinds.reserveCapacity(strings.count)
        for index in 0..<strings.count {
            if !found.isEmpty, let origin = found[index],
                let replica = replicas.number(of: origin.replica)
            {
                origins.replicas.append(Int64(replica))
                origins.sequences.append(Int64(bitPattern: origin.sequence))
                kinds.append(0)
            } else if strings.range(index).count == size {
                sized.append(strings[index].raw)
                kinds.append(1)
            } else {
                others.append(strings[index].raw)
                kinds.append(2)
            }
        }
        // Parts count from 0 without gaps.
        let hasOrigins: Int64 = origins.isEmpty ? 0 : 1
        let hasSized: Int64 = sized.isEmpty ? 0 : 1
        for index in kinds.indices {
            switch kinds[index] {
            case 1: kinds[index] = hasOrigins
            case 2: kinds[index] = hasOrigins + hasSized
            default: break
            }
        }
    }
}

extension OriginText {
    /// The origin whose text this is; nil if it is no such text, in its one form.
    static func parse(_ text: Span<UInt8>) -> Origin? {
        guard 15...sizeMax ~= text.count, text[13] == UInt8(ascii: "-"),
            text[14] != UInt8(ascii: "0"),
            let replica = ReplicaID(text: text.extracting(0..<13))
        else { return nil }
        var sequence: UInt64 = 0
        for index in 14..<text.count {
            let digit = text[index] &- UInt8(ascii: "0")
            let (tens, overflows) = sequence.multipliedReportingOverflow(by: 10)
            let (next, isTooLarge) = tens.addingReportingOverflow(UInt64(digit))
            guard digit <= 9, !overflows, !isTooLarge else { return nil }
            sequence = next
        }
        return Origin(replica: replica, sequence: sequence)
    }
}
