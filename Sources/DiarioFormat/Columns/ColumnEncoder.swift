/// Writes columns as a plan says, and finds out what is best where the plan says nothing.
struct ColumnEncoder: ~Copyable {
    var writer: ColumnWriter
    var plan: SegmentPlan
    /// What the columns of the block at hand refer to.
    var needs = BlockNeeds()
    /// What of the block at hand goes to a block of heads.
    var heads: SubjectHeads?
    /// How many texts each pool has.
    var poolCounts: [Int] = []

    init(plan: consuming SegmentPlan) throws(FormatError) {
        writer = try ColumnWriter()
        self.plan = plan
    }

    /// What the numbers of a column are, and so which encodings are worth a try.
    enum Nature {
        /// Any numbers.
        case numbers
        /// Few different ones: flags and the like.
        case choices
        /// Indices of texts.
        case indices
        /// Days or times.
        case moments(OffsetColumn)
    }

    /// Numbers as the plan says, or as is found to be smallest; gives what was used.
    mutating func encode(
        _ values: [Int64],
        _ name: ColumnName,
        _ nature: Nature,
        _ scope: ColumnScope,
        start: Int64 = 0
    ) throws(FormatError) -> IntegerMethod {
        try encode([values], name, nature, scope, start: start, tagged: false).method
    }

    /// One of several columns that tell the same, with a byte in front that says which.
    mutating func encode(
        variants: [[Int64]],
        _ name: ColumnName,
        _ nature: Nature,
        _ scope: ColumnScope
    ) throws(FormatError) -> (variant: Int, method: IntegerMethod) {
        try encode(variants, name, nature, scope, start: 0, tagged: true)
    }

    private mutating func encode(
        _ variants: [[Int64]],
        _ name: ColumnName,
        _ nature: Nature,
        _ scope: ColumnScope,
        start: Int64,
        tagged: Bool
    ) throws(FormatError) -> (variant: Int, method: IntegerMethod) {
        let count = variants[0].count
        for (index, values) in variants.enumerated() where Self.isConstant(values) {
            if tagged { writer.put(UInt8(index)) }
            let isWritten = try writer.put(integers: values.span, .simple(.plain), scope)
            precondition(isWritten, "plain numbers need nothing")
            return (index, .simple(.plain))
        }
        let mark = Mark(writer.bytes.count, writer.expandedSize)
        for (place, known) in plan.ways(name).enumerated() where !known.isOutgrown(by: count) {
            guard case .variant(let index, let method) = known.method, index < variants.count else {
                continue
            }
            let values = variants[index]
            if tagged { writer.put(UInt8(index)) }
            if try writer.put(integers: values.span, method, scope, start: start) {
                let size = writer.bytes.count - mark.size
                // A search costs many times what writing costs: not for a little.
                if Double(size) <= known.bytesPerValue * Double(count) * 1.5 + 256 {
                    if place > 0 { plan.prefer(known, for: name) }
                    needs.note(method, scope.keys)
                    return (index, method)
                }
            }
            writer.rewind(to: mark.size, expandedSize: mark.expandedSize)
        }
        plan.searchCount += 1
        var best = Best()
        for (index, values) in variants.enumerated() {
            try search(
                Self.sample(values),
                nature,
                scope,
                start: start,
                tag: tagged ? UInt8(index) : nil
            ) {
                best.offer($0, variant: index, $1, from: mark, $2)
            }
        }
        if count > Self.sampleCount {
            if tagged { writer.put(UInt8(best.variant)) }
            let values = variants[best.variant]
            let isWritten = try writer.put(
                integers: values.span,
                best.method,
                scope,
                start: start
            )
            precondition(isWritten, "what a sample was written by, all values can be")
            best.bytes = Array(writer.bytes[mark.size...])
        } else {
            writer.put(contentsOf: best.bytes)
            writer.expand(by: best.expandedSize)
        }
        let way = ColumnPlan(
            method: .variant(best.variant, best.method),
            bytesPerValue: Double(best.bytes.count) / Double(max(count, 1)),
            valueCount: count
        )
        plan.prefer(way, for: name)
        needs.note(best.method, scope.keys)
        return (best.variant, best.method)
    }

    /// Values that a search tries encodings on: the first ones.
    private static let sampleCount = 4096

    private static func sample(_ values: [Int64]) -> [Int64] {
        values.count > sampleCount ? Array(values[..<sampleCount]) : values
    }

    private static func isConstant(_ values: [Int64]) -> Bool {
        guard let first = values.first else { return true }
        let span = values.span
        for index in span.indices where span[index] != first { return false }
        return true
    }

    private struct Mark {
        var size: Int
        var expandedSize: Int
        init(_ size: Int, _ expandedSize: Int) {
            self.size = size
            self.expandedSize = expandedSize
        }
    }

    /// The smallest encoding so far.
    private struct Best {
        var bytes: [UInt8] = []
        var expandedSize = 0
        var variant = 0
        var method = IntegerMethod.simple(.plain)
        var isEmpty = true

        mutating func offer(
            _ method: IntegerMethod,
            variant: Int,
            _ bytes: [UInt8],
            from mark: Mark,
            _ expandedSize: Int
        ) {
            guard isEmpty || bytes.count - mark.size < self.bytes.count else { return }
            isEmpty = false
            self.bytes = Array(bytes[mark.size...])
            self.expandedSize = expandedSize - mark.expandedSize
            self.variant = variant
            self.method = method
        }
    }

    /// Tries encodings one after the other, and hands over what each gives.
    private mutating func search(
        _ values: [Int64],
        _ nature: Nature,
        _ scope: ColumnScope,
        start: Int64,
        tag: UInt8?,
        _ offer: (IntegerMethod, [UInt8], Int) -> Void
    ) throws(FormatError) {
        var bestKeys: [(size: Int, name: Int)] = []
        let mark = Mark(writer.bytes.count, writer.expandedSize)
        var candidates = Self.methods(nature)
        let names = scope.keys.allNames
        candidates += names.flatMap { Self.methods(nature, keys: [$0]) }
        var hasPairs = false
        while let method = candidates.popLast() {
            if let tag { writer.put(tag) }
            if try writer.put(integers: values.span, method, scope, start: start) {
                offer(method, writer.bytes, writer.expandedSize)
                if let keys = method.keys, keys.count == 1 {
                    bestKeys.append((writer.bytes.count, keys[0]))
                }
            }
            writer.rewind(to: mark.size, expandedSize: mark.expandedSize)
            guard candidates.isEmpty, !hasPairs else { continue }
            hasPairs = true
            candidates = Self.pairs(bestKeys).flatMap { Self.methods(nature, keys: $0) }
        }
    }

    /// Pairs of the keys that did best alone.
    private static func pairs(_ keys: [(size: Int, name: Int)]) -> [[Int]] {
        var names: [Int] = []
        for key in keys.sorted(by: { ($0.size, $0.name) < ($1.size, $1.name) })
        where !names.contains(key.name) && names.count < pairedKeyCount {
            names.append(key.name)
        }
        return names.indices.flatMap { first in
            names[(first + 1)...].map { [min(names[first], $0), max(names[first], $0)] }
        }
    }

    private static let pairedKeyCount = 5

    private static func methods(_ nature: Nature) -> [IntegerMethod] {
        switch nature {
        case .numbers:
            [
                .simple(.plain), .simple(.delta), .runs(.plain), .runs(.delta),
                .distinct(.plain, .plain),
            ]
        case .choices: [.simple(.plain), .runs(.plain)]
        case .indices: [.simple(.plain), .simple(.new), .runs(.new)]
        case .moments(let column):
            [
                .simple(.plain), .simple(.delta), .runs(.delta), .offset(column, .plain),
                .offset(column, .delta),
            ]
        }
    }

    private static func methods(_ nature: Nature, keys: [Int]) -> [IntegerMethod] {
        switch nature {
        case .numbers, .moments: [.same(keys: keys, .plain), .last(keys: keys)]
        case .choices: [.same(keys: keys, .plain)]
        case .indices: [.same(keys: keys, .plain), .same(keys: keys, .new)]
        }
    }
}

extension IntegerMethod {
    var keys: [Int]? {
        switch self {
        case .same(let keys, _), .last(let keys): keys
        case .simple, .runs, .distinct, .offset: nil
        }
    }
}

/// What a block of fields refers to beside itself: schema/format/segments.md, section 8.
struct BlockNeeds: Equatable {
    static let replicas: UInt8 = 1
    static let actors: UInt8 = 2
    static let times: UInt8 = 4
    static let publicFields: UInt8 = 8
    static let heads: UInt8 = 16
    static let shared: UInt8 = 32

    var flags: UInt8 = 0
    /// Numbers of pools, ascending.
    var pools: [Int] = []
    /// Numbers of shared blocks, ascending.
    var sharedBlocks: [Int] = []

    /// Notes what a column is written by, which may be `keys`.
    mutating func note(_ method: IntegerMethod, _ keys: KeyLayer) {
        if case .offset = method { flags |= Self.times }
        for key in method.keys ?? [] {
            switch key {
            case ColumnNumber.type: break
            case ColumnNumber.replica: flags |= Self.replicas
            case ColumnNumber.actor: flags |= Self.actors
            default: if keys.isOuterField(key) { flags |= Self.publicFields }
            }
        }
    }

    mutating func note(pool: Int) {
        guard !pools.contains(pool) else { return }
        pools.append(pool)
        pools.sort()
    }

    mutating func note(shared number: Int) {
        flags |= Self.shared
        guard !sharedBlocks.contains(number) else { return }
        sharedBlocks.append(number)
        sharedBlocks.sort()
    }
}

/// The numbers by which columns are named as keys.
enum ColumnNumber {
    static let type = 0
    static let replica = 1
    static let actor = 2

    static func presence(_ field: Int) -> Int { 16 + 2 * field }
    static func value(_ field: Int) -> Int { 17 + 2 * field }
}
