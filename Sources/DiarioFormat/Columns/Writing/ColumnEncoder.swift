/// Writes columns as a plan says, and finds out the best way where the plan says nothing.
struct ColumnEncoder: ~Copyable {
    var writer: ColumnWriter
    var plan: SegmentPlan

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
        /// Indices of texts, of which this one is the first that is new.
        case indices(start: Int64)
    }

    /// Numbers as the plan says, or as is found to be smallest.
    mutating func encode(
        _ values: [Int64],
        _ name: ColumnName,
        _ nature: Nature,
        _ scope: ColumnScope
    ) throws(FormatError) {
        try encode([values], name, nature, scope, isTagged: false)
    }

    /// One of several columns that tell the same, with a byte in front that says which.
    mutating func encode(
        variants: [[Int64]],
        _ name: ColumnName,
        _ nature: Nature,
        _ scope: ColumnScope
    ) throws(FormatError) {
        try encode(variants, name, nature, scope, isTagged: true)
    }

    private mutating func encode(
        _ variants: [[Int64]],
        _ name: ColumnName,
        _ nature: Nature,
        _ scope: ColumnScope,
        isTagged: Bool
    ) throws(FormatError) {
        let count = variants[0].count
        let mark = writer.mark
        func put(
            _ values: [Int64],
            _ variant: Int,
            _ method: IntegerMethod,
            _ writer: inout ColumnWriter
        ) throws(FormatError) -> Int? {
            if isTagged { writer.put(UInt8(variant)) }
            guard try writer.put(integers: values, method, scope, start: nature.start) else {
                writer.rewind(to: mark)
                return nil
            }
            return writer.bytes.count - mark.size
        }
        for (variant, values) in variants.enumerated()
        where values.allSatisfy({ $0 == values[0] }) {
            _ = try put(values, variant, .simple(.plain), &writer)
            return
        }
        for (place, way) in plan.ways(name).enumerated()
        where !way.isOutgrown(by: count) && way.variant < variants.count {
            guard let size = try put(variants[way.variant], way.variant, way.method, &writer)
            else { continue }
            // A search costs many times as much as writing: not for a little.
            if Double(size) <= way.bytesPerValue * Double(count) * 1.5 + 256 {
                if place > 0 { plan.prefer(way, for: name) }
                return
            }
            writer.rewind(to: mark)
        }
        plan.searchCount += 1
        var best = (variant: 0, method: IntegerMethod.simple(.plain), size: Int.max)
        for (variant, values) in variants.enumerated() {
            let sample = Array(values.prefix(Self.sampleCount))
            for method in nature.methods(keys: scope.keys.names) {
                guard let size = try put(sample, variant, method, &writer) else { continue }
                if size < best.size { best = (variant, method, size) }
                writer.rewind(to: mark)
            }
        }
        let size = try put(variants[best.variant], best.variant, best.method, &writer) ?? 0
        let way = ColumnPlan(
            variant: best.variant,
            method: best.method,
            bytesPerValue: Double(size) / Double(count),
            valueCount: count
        )
        plan.prefer(way, for: name)
    }

    /// Values that a search tries encodings on: the first ones.
    private static let sampleCount = 4096
}

extension ColumnEncoder.Nature {
    fileprivate var start: Int64 {
        switch self {
        case .numbers, .choices: 0
        case .indices(let start): start
        }
    }

    /// The methods that a search tries.
    fileprivate func methods(keys: [Int]) -> [IntegerMethod] {
        let (alone, inner): ([SimpleMethod], [SimpleMethod]) =
            switch self {
            case .numbers: ([.plain, .delta], [.plain])
            case .choices: ([.plain], [.plain])
            case .indices: ([.plain, .new], [.plain, .new])
            }
        let same = keys.flatMap { key in inner.map { IntegerMethod.same(key: key, $0) } }
        return alone.map { .simple($0) } + same
    }
}
