import DiarioCore
import DiarioCrypto
import DiarioSchema

/// An event whose personal part is gone.
struct Erasure: Equatable, Sendable {
    var event: Int
    var commitment: Hash32
}

extension SegmentReader {
    /// The public columns of a type: all of its rows, by block.
    package mutating func fields(ofType type: Int) throws(SegmentError) -> [FieldColumns] {
        var found: [FieldColumns] = []
        for block in index.fieldBlocks(ofType: type) { found.append(try fields(inBlock: block)) }
        return found
    }

    /// The public columns of a block of fields, for the wanted rows.
    package mutating func fields(inBlock number: Int) throws(SegmentError) -> FieldColumns {
        // Personal columns that come next may be predicted from these.
        guard let own = personalBlock(of: number), try needsPublicFields(own, of: number) else {
            return try fields(inBlock: number, nil, readsAllKeys: false)
        }
        let columns = try fields(inBlock: number, nil, readsAllKeys: true)
        cache.publicKeys[number] = columns.keys
        return columns
    }

    /// The block of the personal fields of the rows of a block of fields.
    private func personalBlock(of number: Int) -> Int? {
        let block = index.blocks[number]
        return sidecarBlocks.place(
            SidecarBlockKind.personalFields.rawValue,
            block.key,
            block.firstRow
        )
    }

    /// Whether the wanted rows of a block of personal fields may need all keys among the public
    /// columns.
    private mutating func needsPublicFields(
        _ own: Int,
        of number: Int
    ) throws(SegmentError) -> Bool {
        // All of them are read anyway.
        guard let wanted = try wantedRows(inBlock: number) else { return true }
        guard try !personalRows(inBlock: number).places(of: wanted).isEmpty else { return false }
        let bytes = try contents(own, of: .sidecar)
        let needs = try readNeeds(bytes, own, .sidecar)
        cache.personalContents = (own, bytes)
        return needs.flags & BlockNeeds.publicFields != 0
    }

    /// The same; of fields that are left out no values are made.
    mutating func fields(
        inBlock number: Int,
        _ selection: FieldSelection
    ) throws(SegmentError) -> FieldColumns {
        try fields(inBlock: number, selection, readsAllKeys: false)
    }

    /// The same; `readsAllKeys` if personal columns may be predicted from these.
    private mutating func fields(
        inBlock number: Int,
        _ selection: FieldSelection?,
        readsAllKeys: Bool
    ) throws(SegmentError) -> FieldColumns {
        let block = index.blocks[number]
        let type = try eventType(block.key)
        guard block.rowCount * (type.fields.count + 1) <= SegmentLimits.cellCountMax else {
            throw fault(.body, block: number)
        }
        let bytes = try contents(number)
        let needs = try readNeeds(bytes, number, .segment)
        try load(needs, for: number)
        let plan = try plan(block.key)
        let rows = try wantedRows(inBlock: number)
        var scope = ColumnScope(keys: KeyLayer(rowCount: block.rowCount))
        if needs.isOfEnvelope {
            let events = try events(ofType: block.key, block.rows)
            scope.keys = KeyLayer(in: keys, rows: events)
            if needs.flags & BlockNeeds.times != 0 { try addTimes(of: events, rows, to: &scope) }
        } else {
            scope.keys.addConstant(ColumnNumber.type)
        }
        let heads = needs.flags & BlockNeeds.heads != 0 ? try heads(ofBlock: number) : nil
        return try decode(
            bytes,
            number,
            .segment,
            plan.publicFields,
            scope,
            block.key,
            wanted: rows,
            selection: selection,
            readsAllKeys: readsAllKeys,
            heads: heads
        )
    }

    /// Adds when the events of the wanted rows happened.
    private mutating func addTimes(
        of events: [Int32],
        _ rows: Range<Int>?,
        to scope: inout ColumnScope
    ) throws(SegmentError) {
        let first = rows?.lowerBound ?? 0
        let own = rows.map { Array(events[$0]) } ?? events
        scope.times = Self.picked(try numbers(.times), own, from: wanted.lowerBound)
        scope.firstTime = first
    }

    /// The personal columns of the rows of a block of fields; nil if no row has any left.
    ///
    /// Rows count those with a personal part that is not erased, in order.
    package mutating func personalFields(
        inBlock number: Int,
        publicColumns: FieldColumns? = nil,
        _ selection: FieldSelection? = nil
    ) throws(SegmentError) -> FieldColumns? {
        let kept = cache.publicKeys.removeValue(forKey: number)
        let block = index.blocks[number]
        let rows = try personalRows(inBlock: number)
        guard sidecarHeader != nil || rows.isEmpty else { throw .noSidecar }
        guard let own = personalBlock(of: number) else {
            guard rows.isEmpty else { throw fault(.personalPart, block: number) }
            return nil
        }
        guard sidecarBlocks[own].rowCount == rows.count, !rows.isEmpty else {
            throw fault(.personalPart, block: own, of: .sidecar)
        }
        let bytes = try personalContents(own)
        let needs = try readNeeds(bytes, own, .sidecar)
        guard needs.pools.isEmpty, needs.flags & (BlockNeeds.heads | BlockNeeds.shared) == 0 else {
            throw fault(.body, block: own, of: .sidecar)
        }
        try load(needs, for: number)
        let events = try events(ofType: block.key, block.rows)
        let wantedPart = try wantedRows(inBlock: number).map { rows.places(of: $0) }
        var outer = KeyLayer(in: keys, rows: events)
        if needs.flags & BlockNeeds.publicFields != 0 {
            let inner: KeyLayer
            if let known = wantsAll ? publicColumns?.keys ?? kept : kept {
                inner = known
            } else {
                // Of the others the values of keys alone are needed.
                let none = selection.map { _ in FieldSelection() }
                inner = try fields(inBlock: number, none, readsAllKeys: true).keys
            }
            outer = KeyLayer(merging: inner, in: keys, rows: events)
        }
        var scope = ColumnScope(keys: KeyLayer(in: outer, rows: rows))
        if needs.flags & BlockNeeds.times != 0 {
            try addTimes(of: rows.map { events[Int($0)] }, wantedPart, to: &scope)
        }
        return try decode(
            bytes,
            own,
            .sidecar,
            try plan(block.key).personalFields,
            scope,
            block.key,
            wanted: wantedPart,
            selection: selection
        )
    }

    /// The stored bytes of a block of the sidecar, which may just have been looked at.
    private mutating func personalContents(_ own: Int) throws(SegmentError) -> [UInt8] {
        if let (number, bytes) = cache.personalContents, number == own {
            cache.personalContents = nil
            return bytes
        }
        return try contents(own, of: .sidecar)
    }

    /// The rows of a block of fields that have a personal part, counted from its first.
    mutating func personalRows(inBlock number: Int) throws(SegmentError) -> [Int32] {
        let block = index.blocks[number]
        let erased = try erasures()
        let flags = try flags()
        let events = try events(ofType: block.key)
        // Most types have personal parts always or never.
        switch try personalCounts()[block.key] {
        case 0: return []
        case events.count where erased.isEmpty:
            // Safe: each row is written.
            return unsafe [Int32](count: block.rowCount) { target in
                for row in 0..<block.rowCount {
                    unsafe target[row] = Int32(truncatingIfNeeded: row)
                }
            }
        default: break
        }
        let eventsOfRows = events.span.extracting(block.rows)
        let marks = flags.span
        if erased.isEmpty { return Self.rows(eventsOfRows, marks) }
        var rows: [Int32] = []
        var nextErasure = 0
        let bit = RowFlags.personal.rawValue
        for row in eventsOfRows.indices where marks[Int(eventsOfRows[row])] & bit != 0 {
            let event = Int(eventsOfRows[row])
            while nextErasure < erased.count, erased[nextErasure].event < event {
                nextErasure += 1
            }
            guard nextErasure == erased.count || erased[nextErasure].event != event else {
                continue
            }
            rows.append(Int32(truncatingIfNeeded: row))
        }
        return rows
    }

    /// The rows of `events` that have the flag personal.
    private static func rows(_ events: Span<Int32>, _ flags: Span<UInt8>) -> [Int32] {
        let shift = UInt8(RowFlags.personal.rawValue.trailingZeroBitCount)
        // Safe: `count` is of rows before the one at hand, and what lies before it was written.
        return unsafe [Int32](unsafeUninitializedCapacity: events.count) { target, count in
            count = 0
            guard let target = target.baseAddress else { return }
            for row in events.indices {
                // Written always and kept if the bit is set: chance has no branch here.
                unsafe target[count] = Int32(truncatingIfNeeded: row)
                count &+= Int(flags[Int(unsafe events[unchecked: row])] &>> shift & 1)
            }
        }
    }

    /// For each type how many of its events have, or had, a personal part.
    private mutating func personalCounts() throws(SegmentError) -> [Int] {
        if let known = cache.personalCounts { return known }
        let types = try typeIndices()
        let flags = try flags()
        var counts = [Int](repeating: 0, count: index.types.count)
        Self.count(types.span, flags.span, into: &counts)
        cache.personalCounts = counts
        return counts
    }

    private static func count(
        _ types: Span<UInt32>,
        _ flags: Span<UInt8>,
        into counts: inout [Int]
    ) {
        precondition(types.count == flags.count, "each event has a type and flags")
        let shift = UInt8(RowFlags.personal.rawValue.trailingZeroBitCount)
        var target = counts.mutableSpan
        for event in types.indices {
            // Safe: the loop goes through the indices of both, and types are below their count, as
            // was checked when they were read.
            let mark = unsafe flags[unchecked: event] &>> shift & 1
            unsafe target[unchecked: Int(types[unchecked: event])] &+= Int(mark)
        }
    }

    /// The numbers of some events, of which the first one is that of the event `start`.
    private static func picked(
        _ numbers: [Int64],
        _ events: [Int32],
        from start: Int
    ) -> [Int64] {
        let (source, places) = (numbers.span, events.span)
        // Safe: each number is written; the source checks the event.
        return unsafe [Int64](count: places.count) { target in
            for index in places.indices {
                unsafe target[index] = source[Int(places[unchecked: index]) &- start]
            }
        }
    }

    /// The events whose personal part is gone; none without a sidecar.
    mutating func erasures() throws(SegmentError) -> [Erasure] {
        if let known = cache.erasures { return known }
        var found: [Erasure] = []
        let kind = SidecarBlockKind.erased.rawValue
        if let number = sidecarBlocks.firstIndex(where: { $0.kind == kind }) {
            let count = sidecarBlocks[number].rowCount
            let flags = try flags()
            found = try decode(number, of: .sidecar) { (reader, memory) throws(FormatError) in
                let events = try reader.nextSimple(count, &memory)
                let size = count * Hash32.size
                let bytes = try reader.nextBytes(size: size, &memory)
                var hashes = ByteReader(bytes.span.raw)
                var found: [Erasure] = []
                var last: Int64 = -1
                for event in events {
                    guard event > last, event < flags.count,
                        flags[Int(event)] & RowFlags.personal.rawValue != 0
                    else { throw .malformed(.personalPart, at: 0) }
                    last = event
                    let commitment = try hashes.nextHash()
                    found.append(Erasure(event: Int(event), commitment: commitment))
                }
                return found
            }
        }
        cache.erasures = found
        return found
    }

    /// The nodes from which salts of the events come, in the order in which they were given.
    package mutating func saltNodes() throws(SegmentError) -> [SaltNode] {
        let kind = SidecarBlockKind.salts.rawValue
        guard let number = sidecarBlocks.firstIndex(where: { $0.kind == kind }) else { return [] }
        let count = sidecarBlocks[number].rowCount
        let replicas = index.replicas.map(\.replica)
        return try decode(number, of: .sidecar) { (reader, memory) throws(FormatError) in
            let numbers = try reader.nextSimple(count, &memory)
            let groups = try reader.nextSimple(count, &memory)
            let levels = try reader.nextSimple(count, &memory)
            let indices = try reader.nextSimple(count, &memory)
            let bytes = try reader.nextBytes(size: count * Salt.size, &memory)
            var values = ByteReader(bytes.span.raw)
            var nodes: [SaltNode] = []
            for place in 0..<count {
                guard replicas.indices ~= Int(clamping: numbers[place]),
                    UInt64(bitPattern: groups[place]) <= SaltNode.groupMax,
                    0...Int64(SaltNode.levelMax) ~= levels[place],
                    0..<Int64(1) << levels[place] ~= indices[place]
                else { throw .malformed(.saltNode, at: 0) }
                nodes.append(
                    SaltNode(
                        replica: replicas[Int(numbers[place])],
                        group: UInt64(bitPattern: groups[place]),
                        level: Int(levels[place]),
                        index: Int(indices[place]),
                        value: try Salt(&values)
                    )
                )
            }
            return nodes
        }
    }
}
