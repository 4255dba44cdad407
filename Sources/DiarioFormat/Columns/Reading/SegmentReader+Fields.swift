import DiarioCore
import DiarioCrypto
import DiarioSchema

/// An event whose personal part is gone.
struct Erasure: Equatable, Sendable {
    var event: Int
    var commitment: Hash32
}

extension SegmentReader {
    /// The public columns of a block of fields.
    package mutating func fields(inBlock number: Int) throws(SegmentError) -> FieldColumns {
        let block = index.blocks[number]
        let type = try eventType(block.key)
        guard block.rowCount * (type.fields.count + 1) <= SegmentLimits.cellCountMax else {
            throw fault(.body, block: number)
        }
        let fields = try plan(block.key).publicFields
        let texts = try textScope(ofType: block.key, block.rows)
        return try decode(number) { (reader) throws(FormatError) in
            try reader.nextFields(fields, ofType: block.key, block.rowCount, texts)
        }
    }

    /// The personal columns of the rows of a block of fields; nil if no row has any left.
    ///
    /// Rows count those with a personal part that is not erased, in order.
    package mutating func personalFields(
        inBlock number: Int
    ) throws(SegmentError) -> FieldColumns? {
        let block = index.blocks[number]
        let rows = try personalRows(inBlock: number)
        guard sidecarHeader != nil || rows.isEmpty else { throw .noSidecar }
        let kind = SidecarBlockKind.personalFields.rawValue
        guard let own = sidecarBlocks.place(kind, block.key, block.firstRow) else {
            guard rows.isEmpty else { throw fault(.personalPart, block: number) }
            return nil
        }
        guard sidecarBlocks[own].rowCount == rows.count, !rows.isEmpty else {
            throw fault(.personalPart, block: own, of: .sidecar)
        }
        let fields = try plan(block.key).personalFields
        // No pools: the segment may not depend on what personal fields mention.
        let texts = TextScope(replicas: try textReplicas())
        return try decode(own, of: .sidecar) { (reader) throws(FormatError) in
            try reader.nextFields(fields, ofType: block.key, rows.count, texts)
        }
    }

    /// The events that are some rows of a type, in order.
    mutating func events(
        ofType type: Int,
        _ rows: Range<Int>
    ) throws(SegmentError) -> [Int32] {
        let all = try events(ofType: type)
        return rows == all.indices ? all : Array(all[rows])
    }

    /// The rows of a block of fields that have a personal part, counted from its first.
    mutating func personalRows(inBlock number: Int) throws(SegmentError) -> [Int32] {
        let block = index.blocks[number]
        guard try !eventType(block.key).personalFieldIndices.isEmpty else { return [] }
        let (erased, flags) = (try erasures(), try flags())
        var nextErasure = 0
        var rows: [Int32] = []
        for (row, event) in try events(ofType: block.key, block.rows).enumerated()
        where flags[Int(event)] & RowFlags.personal.rawValue != 0 {
            while nextErasure < erased.count, erased[nextErasure].event < event { nextErasure += 1 }
            if nextErasure < erased.count, erased[nextErasure].event == event { continue }
            rows.append(Int32(truncatingIfNeeded: row))
        }
        return rows
    }

    /// The events whose personal part is gone; none without a sidecar.
    mutating func erasures() throws(SegmentError) -> [Erasure] {
        if let known = cache.erasures { return known }
        var found: [Erasure] = []
        if let number = sidecarBlocks.place(SidecarBlockKind.erased.rawValue, 0, 0) {
            let count = sidecarBlocks[number].rowCount
            let flags = try flags()
            found = try decode(number, of: .sidecar) { (reader) throws(FormatError) in
                let events = try reader.nextSimple(count)
                let bytes = try reader.nextStreams(size: count * Hash32.size)
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
        guard let number = sidecarBlocks.place(SidecarBlockKind.salts.rawValue, 0, 0) else {
            return []
        }
        let count = sidecarBlocks[number].rowCount
        let replicas = index.replicas.map { $0.replica }
        return try decode(number, of: .sidecar) { (reader) throws(FormatError) in
            let numbers = try reader.nextSimple(count)
            let groups = try reader.nextSimple(count)
            let levels = try reader.nextSimple(count)
            let indices = try reader.nextSimple(count)
            let bytes = try reader.nextStreams(size: count * Salt.size)
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
