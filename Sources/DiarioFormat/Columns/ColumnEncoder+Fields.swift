import DiarioSchema

/// A part of a type's fields that is written as one block.
struct FieldsPart {
    var entry: TypeEntry
    var gathered: GatheredFields
    /// By the place of the column: how it uses a pool.
    var pools: [Int: TextPools.Use] = [:]
    /// How the subject uses a column that other types have as well.
    var shared: SharedUse?
    /// The field whose texts may have heads in a block of their own, or -1.
    var subjectField = -1
}

extension ColumnEncoder {
    /// Writes the columns of a block of fields, and what it needs in front of them.
    ///
    /// The columns become keys of `scope`, for what is written after them.
    mutating func encode(
        _ part: FieldsPart,
        _ scope: ColumnScope,
        _ replicas: inout ReplicaTable
    ) throws(FormatError) {
        needs = BlockNeeds()
        heads = nil
        writer.removeAll()
        for place in part.gathered.columns.indices {
            let column = part.gathered.columns[place]
            var scope = scope
            try column.checkTexts()
            try encodePresence(column, part.gathered.rowCount, part.entry, scope)
            guard column.valueCount > 0 else { continue }
            let present = column.presentRows(of: part.gathered.rowCount)
            scope.present = present
            let name = ColumnName(place: .field(part.entry, column.field.index))
            let source: KeySource.Codes?
            var distinctCount = 0
            switch column.field.kind {
            case .string where part.shared?.field == column.field.index:
                (source, distinctCount) = encode(part.shared)
            case .string, .nested, .bytes, .uuid:
                (source, distinctCount) = try encode(
                    column.strings,
                    part.pools[place],
                    name,
                    scope,
                    &replicas,
                    isFixed: column.field.kind == .uuid,
                    isSubject: column.field.index == part.subjectField
                )
            case .boolean, .enumeration:
                _ = try encode(column.numbers, name, .choices, scope)
                source = .numbers(column.numbers)
                distinctCount = column.field.kind == .boolean ? 2 : column.field.valueCount
            case .integer, .date, .dateTime:
                (source, distinctCount) = try encode(column, name, scope)
            case .number:
                try encode(numbers: column.numbers, name, scope)
                source = nil
            }
            if let source {
                scope.keys.add(
                    ColumnNumber.value(column.field.index),
                    KeySource(codes: source, present: present, distinctCount: distinctCount)
                )
            }
        }
        writer.putFirst(needs)
    }

    private mutating func encodePresence(
        _ column: GatheredColumn,
        _ rowCount: Int,
        _ entry: TypeEntry,
        _ scope: ColumnScope
    ) throws(FormatError) {
        guard column.valueCount > 0 else { return writer.put(0) }
        guard column.valueCount < rowCount else { return writer.put(1) }
        writer.put(2)
        let presence = column.presence(of: rowCount)
        let name = ColumnName(place: .presence(entry, column.field.index))
        _ = try encode(presence, name, .choices, scope)
        scope.keys.add(
            ColumnNumber.presence(column.field.index),
            KeySource(presence, distinctCount: 2)
        )
    }

    private mutating func encode(
        _ column: GatheredColumn,
        _ name: ColumnName,
        _ scope: ColumnScope
    ) throws(FormatError) -> (KeySource.Codes?, Int) {
        let nature: Nature =
            switch column.field.kind {
            case .date: .moments(.day)
            case .dateTime: .moments(.time)
            default: .numbers
            }
        let method = try encode(column.numbers, name, nature, scope)
        guard case .distinct = method else { return (nil, 0) }
        let found = DistinctNumbers.find(column.numbers.span)
        return (.numbers(found.indices), found.distinct.count)
    }

    /// Floating-point numbers, as decimals where all of them are some.
    private mutating func encode(
        numbers bits: [Int64],
        _ name: ColumnName,
        _ scope: ColumnScope
    ) throws(FormatError) {
        if let (scale, integers) = Decimals.find(bits) {
            writer.put(UInt8(scale))
            _ = try encode(integers, name, .numbers, scope)
        } else {
            writer.put(Decimals.none)
            _ = try encode(bits, name, .numbers, scope)
        }
    }

    /// Texts as the plan says; gives the codes by which they can be keys.
    mutating func encode(
        _ strings: ByteStrings,
        _ use: TextPools.Use?,
        _ name: ColumnName,
        _ scope: ColumnScope,
        _ replicas: inout ReplicaTable,
        isFixed: Bool = false,
        isSubject: Bool = false
    ) throws(FormatError) -> (KeySource.Codes?, Int) {
        if let use {
            needs.note(pool: use.pool)
            writer.put(use.own == nil ? TextMethod.poolTag : TextMethod.mixedTag)
            writer.put(varint: use.pool)
            _ = try encode(use.codes, name, .indices, scope, start: use.start)
            guard let own = use.own else { return (.numbers(use.codes), poolCounts[use.pool]) }
            try put(own, &replicas, isFixed: false, isSubject: isSubject)
            return (nil, 0)
        }
        var table = StringTable()
        var codes = [Int64](repeating: 0, count: strings.count)
        let isPlainPlanned = plan.isPlain(name) && Self.differ(strings)
        if !isPlainPlanned {
            for index in codes.indices { codes[index] = Int64(table.index(adding: strings[index])) }
        }
        // Texts of which most are different gain nothing by a dictionary, and cannot be keys.
        if isPlainPlanned || table.count * 4 > strings.count * 3 {
            plan.setPlain(name)
            writer.put(TextMethod.plainTag)
            try put(strings, &replicas, isFixed: isFixed, isSubject: isSubject)
            return (nil, 0)
        }
        writer.put(TextMethod.dictionaryTag)
        writer.put(varint: table.count)
        try writer.put(strings: table.strings, &replicas, isFixed: isFixed)
        _ = try encode(codes, name, .indices, scope)
        return (.numbers(codes), table.count)
    }
}

extension ColumnEncoder {
    /// Refers to a shared column; gives the codes by which it can be a key.
    private mutating func encode(_ shared: SharedUse?) -> (KeySource.Codes?, Int) {
        guard let shared else { return (nil, 0) }
        writer.put(TextMethod.sharedTag)
        writer.put(varint: shared.number)
        needs.note(shared: shared.number)
        return (.numbers(shared.codes), shared.distinctCount)
    }

    /// Strings that are all different; those of subjects with heads where they have a pattern.
    private mutating func put(
        _ strings: ByteStrings,
        _ replicas: inout ReplicaTable,
        isFixed: Bool,
        isSubject: Bool
    ) throws(FormatError) {
        if isSubject, let pattern = SubjectHeads.pattern(of: strings) {
            needs.flags |= BlockNeeds.heads
            heads = try writer.put(headed: pattern, strings)
        } else {
            try writer.put(strings: strings, &replicas, isFixed: isFixed)
        }
    }
}

extension ColumnEncoder {
    /// Whether most of the first strings are different.
    private static func differ(_ strings: ByteStrings) -> Bool {
        var table = StringTable()
        let count = min(strings.count, 32)
        for index in 0..<count { _ = table.index(adding: strings[index]) }
        return table.count * 4 > count * 3
    }
}

extension SegmentPlan {
    /// Whether the texts of a column are written without looking for equal ones.
    func isPlain(_ name: ColumnName) -> Bool { ways(name).first?.method == .texts(.plain) }

    mutating func setPlain(_ name: ColumnName) {
        guard !isPlain(name) else { return }
        prefer(ColumnPlan(method: .texts(.plain), bytesPerValue: 0, valueCount: 0), for: name)
    }
}

/// Floating-point numbers that are decimals.
enum Decimals {
    /// Stands for numbers that are written by their bits.
    static let none: UInt8 = 255
    static let scaleMax = 18
    /// By the scale: all exact in binary64.
    static let powers: [Double] = (0...scaleMax).map { scale in
        (0..<scale).reduce(1.0) { power, _ in power * 10 }
    }
    /// Above this, integers are not exact.
    private static let integerMax = 9_007_199_254_740_992.0

    /// The scale and the integers of which these numbers are the quotients, bit by bit.
    static func find(_ bits: [Int64]) -> (scale: Int, integers: [Int64])? {
        var scale = 0
        for word in bits {
            let value = Double(bitPattern: UInt64(bitPattern: word))
            while integer(value, scale: scale) == nil {
                scale += 1
                guard scale <= 15 else { return nil }
            }
        }
        var integers: [Int64] = []
        integers.reserveCapacity(bits.count)
        for word in bits {
            let value = Double(bitPattern: UInt64(bitPattern: word))
            guard let integer = integer(value, scale: scale) else { return nil }
            integers.append(integer)
        }
        return (scale, integers)
    }

    private static func integer(_ value: Double, scale: Int) -> Int64? {
        let product = (value * powers[scale]).rounded()
        guard product.magnitude <= integerMax else { return nil }
        let integer = Int64(product)
        guard Self.value(integer, scale: scale).bitPattern == value.bitPattern else { return nil }
        return integer
    }

    @inline(__always)
    static func value(_ integer: Int64, scale: Int) -> Double {
        Double(integer) / powers[scale]
    }
}
