import DiarioCore
import DiarioCrypto
import DiarioSchema
import DiarioZstd

extension SegmentBuilder {
    /// Seals what was gathered, which is at least one event.
    ///
    /// `plan` says how, and learns from this segment for the next one. When this throws, it has
    /// forgotten everything, unless a payload was none of its type.
    package consuming func finish(
        _ plan: inout SegmentPlan
    ) throws(FormatError) -> SealedSegment {
        precondition(!isEmpty, "a segment has at least one event")
        precondition(
            firstPosition != nil || replicas.count == 1,
            "pending events are those of one replica"
        )
        try makeColumns()
        // Taken out, since what is held twice is copied when it changes.
        var taken = SegmentPlan()
        swap(&taken, &plan)
        var encoder = try ColumnEncoder(plan: consume taken)
        var segment = SegmentFileWriter()
        var sidecar = SegmentFileWriter()
        var table = ReplicaTable(indexedReplicas.map(\.replica))
        let scope = ColumnScope(keys: KeyLayer(rowCount: eventCount))
        try writeEnvelope(&encoder, scope, &table, into: &segment)
        let shared = try writeShared(&encoder, &table, into: &segment)
        let uses = try writePools(&encoder, shared, &table, into: &segment)
        for index in types.indices {
            var subjects = SubjectChecksums()
            try writeFields(
                &encoder,
                index,
                uses,
                shared[index],
                scope,
                &table,
                into: &segment,
                &sidecar,
                &subjects
            )
            try writeFilter(&encoder, index, subjects, into: &segment)
        }
        try writeSchemas(&encoder, table, into: &segment)
        try writeSidecar(&encoder, into: &sidecar)
        plan = encoder.plan
        return try files(segment, sidecar, &encoder.writer.compressor)
    }

    /// How the columns of texts use pools, by type, chunk and place.
    typealias PoolUses = [[[Int: TextPools.Use]]]

    private func writePools(
        _ encoder: inout ColumnEncoder,
        _ shared: [SharedUse?],
        _ table: inout ReplicaTable,
        into file: inout SegmentFileWriter
    ) throws(FormatError) -> PoolUses {
        var pools = TextPools()
        var uses: PoolUses = types.map { $0.chunks.map { _ in [:] } }
        // First the columns that mention things, then those of the things themselves. Each is
        // looked at where it is: to copy a gathered type counts references to all it holds.
        for isMention in [true, false] {
            for index in types.indices {
                let places = pooledColumns(of: index, shared[index], isMention: isMention)
                let pack = types[index].type.pack
                for number in types[index].chunks.indices {
                    for (place, kind) in places {
                        let strings = publicFields[index][number].strings(at: place)
                        guard !strings.isEmpty else { continue }
                        uses[index][number][place] =
                            if let kind {
                                pools.add(strings, kind: kind, pack: pack)
                            } else {
                                pools.find(strings, pack: pack)
                            }
                    }
                }
            }
        }
        for (number, pool) in pools.tables.enumerated() {
            encoder.writer.removeAll()
            try encoder.writer.put(strings: pool.strings, &table)
            file.add(
                kind: SegmentBlockKind.pool.rawValue,
                key: number,
                rowCount: pool.count,
                encoder.writer
            )
        }
        encoder.poolCounts = pools.tables.map(\.count)
        return uses
    }

    /// The public columns of a type that may use pools, by place: those that mention things, with
    /// the kind of these, or those of the things themselves.
    private func pooledColumns(
        of index: Int,
        _ shared: SharedUse?,
        isMention: Bool
    ) -> [(place: Int, kind: String?)] {
        let type = types[index].type
        var found: [(place: Int, kind: String?)] = []
        for (place, planned) in types[index].publicFields.enumerated()
        where planned.kind == .string && shared?.field != planned.index {
            let field = type.fields[planned.index]
            if isMention, let kind = field.referenceKind {
                found.append((place, kind))
            } else if !isMention, field.referenceKind == nil,
                field.isNewID || type.subjectFieldIndex == planned.index
            {
                found.append((place, nil))
            }
        }
        return found
    }

    private func writeFields(
        _ encoder: inout ColumnEncoder,
        _ index: Int,
        _ uses: PoolUses,
        _ shared: SharedUse?,
        _ scope: ColumnScope,
        _ table: inout ReplicaTable,
        into segment: inout SegmentFileWriter,
        _ sidecar: inout SegmentFileWriter,
        _ subjects: inout SubjectChecksums
    ) throws(FormatError) {
        let type = types[index]
        let times = type.rows.map { envelope.times[Int($0)] }
        for (number, chunk) in type.chunks.enumerated() {
            let range = chunk.rows
            let fields = publicFields[index][number]
            var inner = scope
            inner.keys = KeyLayer(in: scope.keys, rows: Array(type.rows[range]))
            inner.times = Array(times[range])
            try encoder.encode(
                FieldsPart(
                    entry: type.entry,
                    gathered: fields,
                    pools: uses[index][number],
                    shared: shared?.rows(range),
                    subjectField: type.type.subjectFieldIndex ?? -1
                ),
                inner,
                &table
            )
            segment.add(
                kind: SegmentBlockKind.fields.rawValue,
                key: index,
                firstRow: chunk.firstRow,
                rowCount: chunk.rowCount,
                encoder.writer
            )
            subjects.add(fields, uses[index][number], type.type, encoder.heads)
            if let heads = encoder.heads {
                encoder.writer.removeAll()
                try heads.write(into: &encoder.writer)
                segment.add(
                    kind: SegmentBlockKind.heads.rawValue,
                    key: index,
                    firstRow: chunk.firstRow,
                    rowCount: heads.count,
                    encoder.writer
                )
            }
            guard !chunk.personalRows.isEmpty else { continue }
            var personal = inner
            personal.keys = KeyLayer(in: inner.keys, rows: chunk.personalRows)
            personal.times = chunk.personalRows.map { times[range.lowerBound + Int($0)] }
            // The segment may not depend on what personal fields mention.
            table.mayGrow = false
            let part = FieldsPart(
                entry: type.entry,
                gathered: try GatheredFields(type.personalFields, chunk.personalParts)
            )
            try encoder.encode(part, personal, &table)
            table.mayGrow = true
            sidecar.add(
                kind: SidecarBlockKind.personalFields.rawValue,
                key: index,
                firstRow: chunk.firstRow,
                rowCount: chunk.personalRows.count,
                encoder.writer
            )
        }
    }

    private func writeSchemas(
        _ encoder: inout ColumnEncoder,
        _ table: ReplicaTable,
        into file: inout SegmentFileWriter
    ) throws(FormatError) {
        var content: [UInt8] = []
        for type in types {
            let schema = type.type.canonicalSchema
            content.append(counted: schema.span.raw)
        }
        content.append(varint: UInt64(table.foreign.count))
        for replica in table.foreign { content.append(littleEndian: replica.rawValue) }
        encoder.writer.removeAll()
        try encoder.writer.put(stream: content.span)
        file.add(kind: SegmentBlockKind.schemas.rawValue, rowCount: 0, encoder.writer)
    }

    private func writeSidecar(
        _ encoder: inout ColumnEncoder,
        into file: inout SegmentFileWriter
    ) throws(FormatError) {
        if !saltNodes.isEmpty {
            encoder.writer.removeAll()
            try writeSalts(&encoder.writer)
            file.add(
                kind: SidecarBlockKind.salts.rawValue,
                rowCount: saltNodes.count,
                encoder.writer
            )
        }
        guard !erasures.isEmpty else { return }
        encoder.writer.removeAll()
        var commitments: [UInt8] = []
        for erasure in erasures { commitments.append(erasure.commitment) }
        let indices = erasures.map { Int64($0.index) }
        try encoder.writer.put(simple: indices.span, .delta)
        try encoder.writer.put(stream: commitments.span)
        file.add(
            kind: SidecarBlockKind.erased.rawValue,
            rowCount: erasures.count,
            encoder.writer
        )
    }

    private func writeSalts(_ writer: inout ColumnWriter) throws(FormatError) {
        let numbers = saltNodes.map { node in Int64(replicas.firstIndex(of: node.replica) ?? -1) }
        precondition(!numbers.contains(-1), "salts are those of replicas of the segment")
        let groups = saltNodes.map { Int64(bitPattern: $0.group) }
        let levels = saltNodes.map { Int64($0.level) }
        let indices = saltNodes.map { Int64($0.index) }
        var values: [UInt8] = []
        for node in saltNodes { node.value.write(into: &values) }
        try writer.put(simple: numbers.span, .plain)
        try writer.put(simple: groups.span, .delta)
        try writer.put(simple: levels.span, .plain)
        try writer.put(simple: indices.span, .plain)
        try writer.put(stream: values.span)
    }

    private func files(
        _ segment: SegmentFileWriter,
        _ sidecar: SegmentFileWriter,
        _ compressor: inout Compressor
    ) throws(FormatError) -> SealedSegment {
        var header = SegmentHeader(
            file: .segment,
            isPositioned: firstPosition != nil,
            eventCount: eventCount,
            firstPosition: firstPosition ?? 0,
            fileSize: 0,
            revision: 0,
            identity: SegmentIdentity(first: 0, second: 0),
            isIndexCompressed: false,
            indexSize: 0,
            storedIndexSize: 0
        )
        let index = index(of: segment.sortedBlocks).bytes
        let bytes = try segment.bytes(index: index, header, compressor: &compressor)
        header.file = .sidecar
        header.identity = try SegmentHeader.parse(bytes.span, .segment).identity
        var list: [UInt8] = []
        SegmentIndex.write(sidecar.sortedBlocks, into: &list)
        return SealedSegment(
            segment: bytes,
            sidecar: try sidecar.bytes(index: list, header, compressor: &compressor)
        )
    }

    private func index(of blocks: [SegmentBlock]) -> SegmentIndex {
        var at = TimeRange()
        for type in types {
            at.add(type.times.range.lowerBound)
            at.add(type.times.range.upperBound)
        }
        let clocks = envelope.clocks.map { UInt64(bitPattern: $0) }
        var accepted: ClosedRange<Int64>?
        if let first = envelope.accepted.first, let last = envelope.accepted.last {
            accepted = first...last
        }
        return SegmentIndex(
            types: types.map {
                SegmentType(entry: $0.entry, eventCount: $0.rows.count, at: $0.times.range)
            },
            at: at.range,
            clocks: (clocks.min() ?? 0)...(clocks.max() ?? 0),
            acceptedAt: accepted,
            replicas: indexedReplicas,
            blocks: blocks
        )
    }

    /// The replicas with all their runs, those refused among them.
    private var indexedReplicas: [SegmentReplica] {
        var found = replicas.indices.map { number in
            SegmentReplica(replica: replicas[number], runs: runs[number])
        }
        for (replica, runs) in refused.sorted(by: { $0.key < $1.key }) {
            if let number = found.firstIndex(where: { $0.replica == replica }) {
                found[number].runs += runs
                found[number].runs.sort { $0.first < $1.first }
            } else {
                found.append(SegmentReplica(replica: replica, runs: runs))
            }
        }
        return found
    }
}
