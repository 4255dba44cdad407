import DiarioCore
import DiarioSchema

extension SegmentReader {
    /// What a block of fields says that it needs, from its start.
    func readNeeds(
        _ bytes: [UInt8],
        _ number: Int,
        _ file: SegmentFile
    ) throws(SegmentError) -> BlockNeeds {
        let block = file == .segment ? index.blocks[number] : sidecarBlocks[number]
        return try Self.checked(file, block: number, at: block.offset) { () throws(FormatError) in
            var reader = ColumnReader(bytes.span, expandedSize: 0)
            return try reader.nextNeeds()
        }
    }

    /// Reads the envelope columns and pools that a block needs.
    mutating func load(_ needs: BlockNeeds, for block: Int) throws(SegmentError) {
        if needs.flags & BlockNeeds.replicas != 0 { _ = try replicaIndices() }
        if needs.flags & BlockNeeds.actors != 0 { _ = try actors() }
        if needs.flags & BlockNeeds.times != 0 { _ = try numbers(.times) }
        if needs.isOfEnvelope { _ = try typeIndices() }
        for pool in needs.pools { try readPool(pool, for: block) }
        for number in needs.sharedBlocks { try readShared(number, for: block) }
        try readSchemas()
    }

    /// The columns of some fields from the bytes of their block; of the `wanted` rows only, or of
    /// all.
    ///
    /// With `selection`, fields that are left out come without values.
    mutating func decode(
        _ bytes: [UInt8],
        _ number: Int,
        _ file: SegmentFile,
        _ fields: [PlannedField],
        _ scope: ColumnScope,
        _ type: Int,
        wanted: Range<Int>? = nil,
        selection: FieldSelection? = nil,
        readsAllKeys: Bool = false,
        heads: SubjectHeads? = nil
    ) throws(SegmentError) -> FieldColumns {
        let block = file == .segment ? index.blocks[number] : sidecarBlocks[number]
        let texts = cache.texts
        do throws(FormatError) {
            var reader = ColumnReader(bytes.span, expandedSize: block.expandedSize)
            reader.readsAllKeys = readsAllKeys
            let needs = try reader.nextNeeds()
            var own = TextScope()
            own.heads = heads
            own.replicas = texts.replicas
            for pool in needs.pools { own.pools[pool] = texts.pools[pool] }
            for number in needs.sharedBlocks {
                own.shared[number] = cache.shared[number]?.values(ofType: type, block.rows)
            }
            var found = FieldColumns(
                type: type,
                rowCount: block.rowCount,
                columns: [],
                keys: scope.keys
            )
            let rows = ColumnPart(count: block.rowCount, wanted: wanted ?? 0..<block.rowCount)
            let none = ColumnPart(count: block.rowCount, wanted: 0..<0)
            for field in fields {
                let start = reader.offset
                var column = try reader.nextField(
                    field,
                    selection?.contains(field.index) == false ? none : rows,
                    scope,
                    own,
                    &memory
                )
                column.storedSize = reader.offset - start
                found.columns.append(column)
            }
            try reader.finish()
            return found
        } catch {
            throw .fault(
                SegmentFault(
                    file: file,
                    block: number,
                    offset: block.offset + error.offset,
                    reason: error
                )
            )
        }
    }
}

extension BlockNeeds {
    /// Whether the rows' events have to be known.
    var isOfEnvelope: Bool { flags & (Self.replicas | Self.actors | Self.times) != 0 }
}

extension ColumnReader {
    @_lifetime(self: copy self)
    mutating func nextNeeds() throws(FormatError) -> BlockNeeds {
        var needs = BlockNeeds()
        needs.flags = try nextByte()
        guard needs.flags < 64 else { throw .malformed(.body, at: 0) }
        needs.pools = try nextNumbers(least: 0)
        if needs.flags & BlockNeeds.shared != 0 { needs.sharedBlocks = try nextNumbers(least: 1) }
        return needs
    }

    /// Numbers of blocks or types, ascending, with their count in front.
    @_lifetime(self: copy self)
    mutating func nextNumbers(least: Int) throws(FormatError) -> [Int] {
        let start = offset
        let count = try nextCount(least...SegmentLimits.eventCountMax)
        var numbers: [Int] = []
        for _ in 0..<count {
            let number = try nextCount(0...SegmentLimits.eventCountMax)
            guard numbers.last.map({ $0 < number }) ?? true else {
                throw .malformed(.body, at: start)
            }
            numbers.append(number)
        }
        return numbers
    }

    /// Presence and the wanted values of one field, or all if they may be keys and these are not
    /// read later; what was read whole becomes a key of `scope`.
    @_lifetime(self: copy self)
    mutating func nextField(
        _ field: PlannedField,
        _ rows: ColumnPart,
        _ outer: ColumnScope,
        _ texts: TextScope,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> FieldColumn {
        var scope = outer
        var part = rows
        let start = offset
        let mode = try nextByte()
        guard mode <= 2 else { throw .malformed(.presence, at: start) }
        guard mode > 0 else { return FieldColumn(field: field.index, present: [], values: .none) }
        if mode == 2 {
            let all = ColumnPart(all: rows.count)
            let presence = try nextCodes(all, below: 2, as: .presence, scope, &memory)
            let present = Self.rows(presence)
            // There is one form for all and for none.
            guard !present.isEmpty, present.count < rows.count else {
                throw .malformed(.presence, at: start)
            }
            part = ColumnPart(count: present.count, wanted: present.places(of: rows.wanted))
            scope.present = present
            scope.keys.add(
                ColumnNumber.presence(field.index),
                KeySource(codes: .indices(presence), present: nil, distinctCount: 2)
            )
        }
        unreadCodes = nil
        let (values, source) = try nextValues(field, part, scope, texts, &memory)
        if let unread = unreadCodes {
            unreadKeys.append((ColumnNumber.value(field.index), unread))
        }
        if let source {
            scope.keys.add(
                ColumnNumber.value(field.index),
                KeySource(
                    codes: source.codes,
                    present: scope.present,
                    distinctCount: source.distinctCount
                )
            )
        }
        var column = FieldColumn(field: field.index, present: scope.present, values: values)
        column.firstValue = values.count == part.count ? 0 : part.first
        return column
    }

    /// The rows with a 1, where the others have a 0.
    private static func rows(_ presence: [UInt32]) -> [Int32] {
        let source = presence.span
        // Safe: `next` counts rows before the one at hand, and what lies before it was written.
        return unsafe [Int32](unsafeUninitializedCapacity: source.count) { target, next in
            next = 0
            guard let target = target.baseAddress else { return }
            for row in source.indices {
                // Written always and kept if there is a value: chance has no branch here.
                unsafe target[next] = Int32(truncatingIfNeeded: row)
                next &+= Int(unsafe source[unchecked: row])
            }
        }
    }

    @_lifetime(self: copy self)
    private mutating func nextValues(
        _ field: PlannedField,
        _ part: ColumnPart,
        _ scope: ColumnScope,
        _ texts: TextScope,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> (ColumnValues, (codes: KeySource.Codes, distinctCount: Int)?) {
        let start = offset
        switch field.kind {
        case .string, .nested, .bytes, .uuid:
            let isText = field.kind == .string || field.kind == .nested
            let values = try nextTexts(
                part,
                isText: isText,
                mayBeShared: field.kind == .string,
                scope,
                texts,
                &memory
            )
            if field.kind == .uuid {
                for index in 0..<values.strings.count where values.strings.range(index).count != 16
                {
                    throw .malformed(.identifier, at: start)
                }
            }
            guard let codes = values.codes, codes.count == part.count else {
                return (.texts(values), nil)
            }
            return (.texts(values), (.indices(codes), values.strings.count))
        case .number:
            let scale = try nextByte()
            let integers = try nextIntegers(part, scope, &memory).values
            return (.numbers(try Self.numbers(integers, scale: scale, at: start)), nil)
        case .integer:
            let column = try nextIntegers(part, scope, &memory)
            return (.integers(column.values), column.source)
        case .boolean, .enumeration:
            let bound = field.kind == .boolean ? 2 : field.valueCount
            let codes = try nextKeyCodes(part, below: bound, as: .enumIndex, scope, &memory)
            return (.codes(codes), codes.count == part.count ? (.indices(codes), bound) : nil)
        case .date:
            let column = try nextIntegers(part, scope, &memory)
            guard Self.isWithin(CivilTime.daysMin...CivilTime.daysMax, column.values) else {
                throw .malformed(.date, at: start)
            }
            return (.integers(column.values), column.source)
        case .dateTime:
            let column = try nextIntegers(part, scope, &memory)
            let range = CivilTime.millisecondsMin...CivilTime.millisecondsMax
            guard Self.isWithin(range, column.values) else {
                throw .malformed(.dateTime, at: start)
            }
            return (.integers(column.values), column.source)
        }
    }

    private static func numbers(
        _ integers: [Int64],
        scale: UInt8,
        at offset: Int
    ) throws(FormatError) -> [Double] {
        guard scale <= Decimals.scaleMax || scale == Decimals.none else {
            throw .malformed(.number, at: offset)
        }
        let source = integers.span
        let power = Decimals.powers[scale == Decimals.none ? 0 : Int(scale)]
        var isWhole = true
        // Safe: each number is written, out of the integers that are there.
        let numbers = unsafe [Double](count: source.count) { target in
            if scale == Decimals.none {
                for index in source.indices {
                    let bits = UInt64(bitPattern: unsafe source[unchecked: index])
                    let value = Double(bitPattern: bits)
                    isWhole = isWhole && value.isFinite && (value != 0 || value.sign == .plus)
                    unsafe target[index] = value
                }
            } else {
                // A quotient of an integer is finite, and zero has no sign.
                for index in source.indices {
                    unsafe target[index] = Double(source[unchecked: index]) / power
                }
            }
        }
        guard isWhole else { throw .malformed(.number, at: offset) }
        return numbers
    }
}

extension IntegerColumn {
    /// The codes by which the column can be a key.
    var source: (codes: KeySource.Codes, distinctCount: Int)? {
        indices.map { (.indices($0.codes), $0.count) }
    }
}
